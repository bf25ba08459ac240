"""How the reference ledger takes reports, from the table of verbs and states alone."""

from __future__ import annotations

from tests.support.reference_books import Books
from tests.support.reference_terms import (
    LONGEST,
    Arm,
    CoolDown,
    Receipt,
    Refusal,
    Report,
    Ticket,
    Units,
)

OPEN = ("held", "presumed")  # states in which money is set apart


class Reporting(Books):
    """What reports do."""

    def find(self, id: int) -> Ticket:
        self.begin()
        ticket = self.tickets.get(id)
        if ticket is None or ticket.state == "skipped":
            raise Refusal("TicketError")
        return ticket

    def arm_of(self, ticket: Ticket) -> Arm:
        assert ticket.arm is not None
        return self.arms[ticket.arm]

    def conflict(self) -> Refusal:
        """What was said first stands, and what was said now is kept."""
        self.conflicts += 1
        self.alarm("conflict")
        self.book()
        return Refusal("Conflict")

    def tell(self, id: int, report: Report) -> Receipt:
        """Both at once; what was known before has to be the same."""
        ticket = self.find(id)
        if ticket.state == "told" and report == ticket.report:
            return self.answer(ticket, duplicate=True)
        if (
            ticket.state in ("told", "failed")
            or ticket.costs not in (None, report.costs)
            or ticket.reward not in (None, report.reward)
        ):
            raise self.conflict()
        self.pay(ticket, report.costs)
        return self.complete(ticket, report.reward)

    def settle(self, id: int, costs: Units) -> Receipt:
        """The money is known."""
        ticket = self.find(id)
        if ticket.costs is not None:
            if ticket.costs == costs:
                return self.answer(ticket, duplicate=True)
            raise self.conflict()
        self.pay(ticket, costs)
        if ticket.reward is not None:
            return self.complete(ticket, ticket.reward)
        if self.terms.reward_within is not None:
            ticket.deadline = self.clock() + self.terms.reward_within
        return self.turn(ticket, "settled")

    def reward(self, id: int, reward: float) -> Receipt:
        """The reward is known; with the cost it makes a report, but not of what failed, nor of what
        was given up.
        """
        ticket = self.find(id)
        if ticket.reward is not None:
            if ticket.reward == reward:
                return self.answer(ticket, duplicate=True)
            raise self.conflict()
        if ticket.state == "settled":
            return self.complete(ticket, reward)
        self.learn_reward(ticket, reward)
        return self.turn(ticket, ticket.state)

    def fail(self, id: int, costs: Units) -> Receipt:
        """The call did not work: the arm cools down, unless the call was asked for before it last
        did.
        """
        ticket = self.find(id)
        if ticket.state == "failed" and ticket.costs == costs:
            return self.answer(ticket, duplicate=True)
        if ticket.state not in OPEN:
            raise self.conflict()
        self.pay(ticket, costs, failed=True)
        self.lose(ticket)
        arm, first = self.arm_of(ticket), self.terms.cooldown
        last = arm.cooling
        if first is not None and (last is None or ticket.id > last.seen):
            again = last is not None and not last.over
            length = min(2 * last.length, LONGEST) if again and last else first
            arm.cooling = CoolDown(self.clock(), length, len(self.tickets))
        return self.turn(ticket, "failed")

    def void(self, id: int) -> Receipt:
        """Only this releases a hold for which nothing was spent."""
        ticket = self.find(id)
        if ticket.costs is not None:
            raise self.conflict()
        if ticket.state == "void":
            return self.answer(ticket, duplicate=True)
        self.lose(ticket)
        return self.turn(ticket, "void")

    def expire(self) -> int:
        """Holds past their deadline are presumed spent; rewards that did not come in time count as
        what the terms say.
        """
        self.begin()
        held, settled = self.overdue(), self.overdue("settled")
        for ticket in held:
            self.turn(ticket, "presumed")
        for ticket in settled:
            assert self.terms.missing is not None
            self.complete(ticket, self.terms.missing)
        return len(held) + len(settled)

    def lose(self, ticket: Ticket) -> None:
        """A ticket brought nothing: its arms owe an initial pull again."""
        ticket.gone = True
        if ticket.initial:
            self.arm_of(ticket).owes = True

    def learn_reward(self, ticket: Ticket, reward: float) -> None:
        """A reward is known; it is counted once where it is outside the range."""
        if ticket.reward is None and self.terms.range is not None:
            low, high = self.terms.range
            if not low <= reward <= high:
                self.outside_range += 1
                self.alarm("outside-range")
        ticket.reward = reward

    def complete(self, ticket: Ticket, reward: float) -> Receipt:
        assert ticket.costs is not None
        self.learn_reward(ticket, reward)
        ticket.report = Report(reward, ticket.costs)
        return self.turn(ticket, "told")

    def turn(self, ticket: Ticket, state: str) -> Receipt:
        """A ticket in a state, by one more entry."""
        if ticket.state in OPEN and state == "void":
            self.give_back(ticket, ticket.held)
        ticket.state = state
        self.book()
        return self.answer(ticket)

    def answer(self, ticket: Ticket, *, duplicate: bool = False) -> Receipt:
        """What was spent, refunded and overrun, where the cost is known."""
        nothing = (0,) * len(self.budget)
        paid = ticket.receipt or Receipt(ticket.id, "", False, False, nothing, nothing, nothing)
        if ticket.costs is None and ticket.state == "void":
            paid = paid._replace(refunded=ticket.held)
        return paid._replace(state=ticket.state, duplicate=duplicate)

    def pay(self, ticket: Ticket, costs: Units, *, failed: bool = False) -> None:
        """Up to the hold it is spent, the rest is overrun; where the hold is gone all of it is.
        What was paid before is paid. A call that failed may cost less than any other; one that
        worked ends a cool-down that began before it was asked for.
        """
        if ticket.costs is not None:
            return
        hold = ticket.held if ticket.state in OPEN else (0,) * len(costs)
        spent = [min(cost, units) for cost, units in zip(costs, hold, strict=True)]
        over = [cost - paid for cost, paid in zip(costs, spent, strict=True)]
        self.spent = [before + paid for before, paid in zip(self.spent, spent, strict=True)]
        self.overrun = [before + more for before, more in zip(self.overrun, over, strict=True)]
        if any(over):
            self.overruns += 1
            self.alarm("overrun")
        arm = self.arm_of(ticket)
        if not failed and any(cost < least for cost, least in zip(costs, arm.least, strict=True)):
            self.below_minimum += 1
            self.alarm("below-minimum")
        if arm.cooling and not failed and ticket.id > arm.cooling.seen:
            arm.cooling.over = True
        refunded = [units - paid for units, paid in zip(hold, spent, strict=True)]
        if ticket.state in OPEN:
            self.give_back(ticket, refunded)
        ticket.costs, ticket.paid_from = costs, ticket.state
        ticket.receipt = Receipt(
            ticket.id, "", False, ticket.state != "held",
            tuple(spent), tuple(refunded), tuple(over),
        )  # fmt: skip
