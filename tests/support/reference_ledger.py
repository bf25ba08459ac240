"""A reference ledger, written from the promises alone: integers and dicts. It imports nothing of
what it is held against.

It does not know the policy: it is told which arms came, and says what was held for them, or which
refusals would have been right.
"""

from tests.support.reference_books import Asking, Books, Drawn, fit
from tests.support.reference_levels import Account
from tests.support.reference_terms import (
    LONGEST,
    Arm,
    Context,
    CoolDown,
    Mask,
    Periods,
    Receipt,
    Refusal,
    Report,
    Terms,
    Ticket,
    Units,
    written,
)

OPEN = ("held", "presumed")  # states in which money is set apart
__all__ = [
    "Account", "Context", "Drawn", "Ledger", "Mask", "Periods", "Receipt", "Refusal", "Report",
    "Terms", "Ticket", "Units", "written",
]  # fmt: skip


class Reporting(Books):
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
        self.write()
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

    def fail(self, id: int, costs: Units | None) -> Receipt:
        """The call did not work: the arm cools down, unless the call was asked for before it last
        did. Without costs the money stays where it is.
        """
        ticket = self.find(id)
        if (ticket.state == "failed" or ticket.broken) and costs in (None, ticket.costs):
            return self.answer(ticket, duplicate=True)
        if ticket.state not in OPEN:
            raise self.conflict()
        if costs is not None:
            self.pay(ticket, costs, failed=True)
        self.lose(ticket)
        arm, first = self.arm_of(ticket), self.terms.cooldown
        last = arm.cooling
        if first is not None and (last is None or ticket.id > last.seen):
            again = last is not None and not last.over
            length = min(2 * last.length, LONGEST) if again and last else first
            arm.cooling = CoolDown(self.clock(), length, len(self.tickets))
        return self.turn(ticket, ticket.state if costs is None else "failed")

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
        """A ticket brought nothing: its arms owe an initial pull again, once."""
        if ticket.initial and not ticket.gone:
            self.arm_of(ticket).owes = True
        ticket.gone = True

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
        if ticket.state in OPEN and state != ticket.state:
            self.move_money()
        ticket.state = state
        self.write()
        return self.answer(ticket)

    def answer(self, ticket: Ticket, *, duplicate: bool = False) -> Receipt:
        """What was spent, refunded and overrun, where the cost is known."""
        nothing = (0,) * len(self.budget)
        paid = ticket.receipt or Receipt(ticket.id, "", False, False, nothing, nothing, nothing)
        if ticket.costs is None and ticket.state == "void":
            paid = paid._replace(refunded=ticket.held)
        return paid._replace(state=ticket.state, duplicate=duplicate)

    def pay(self, ticket: Ticket, costs: Units, *, failed: bool = False) -> None:
        """All of it is spent; what is above the hold is overrun, too: all of it if the hold is
        gone. An arm that cost more than it might may cost so much from then on. What was paid
        before is paid. A call that failed may cost less than any other; one that worked ends a
        cool-down that began before it was asked for.
        """
        if ticket.costs is not None:
            return
        self.move_money()
        hold = ticket.held if ticket.state in OPEN else (0,) * len(costs)
        over = [max(0, cost - units) for cost, units in zip(costs, hold, strict=True)]
        self.spent = [before + paid for before, paid in zip(self.spent, costs, strict=True)]
        self.overrun = [before + more for before, more in zip(self.overrun, over, strict=True)]
        if any(over):
            self.overruns += 1
            self.alarm("overrun")
            self.expect(ticket, costs)
        arm = self.arm_of(ticket)
        if not failed and any(cost < least for cost, least in zip(costs, arm.least, strict=True)):
            self.below_minimum += 1
            self.alarm("below-minimum")
        if arm.cooling and not failed and ticket.id > arm.cooling.seen:
            arm.cooling.over = True
        back = [units - paid for units, paid in zip(hold, costs, strict=True)]
        self.give_back(ticket, back)
        refunded = [max(0, units) for units in back]
        ticket.costs, ticket.paid_from = costs, ticket.state
        ticket.receipt = Receipt(
            ticket.id, "", False, ticket.state != "held",
            costs, tuple(refunded), tuple(over),
        )  # fmt: skip

    def expect(self, ticket: Ticket, costs: Units) -> None:
        """An arm may cost what it has cost."""
        arm = self.arm_of(ticket)
        if not fit(costs, list(arm.most)):
            arm.declared = arm.declared or arm.most
            arm.most = tuple(map(max, arm.most, costs))


class Ledger(Asking, Reporting):
    """What a campaign should say of itself after anything that was asked, told, voided, changed or
    forgotten.
    """

    def add_arm(self, name: str, least: Units | None, most: Units | None) -> None:
        """A new arm, which owes its initial pull; or a retired one that comes back."""
        self.begin()
        self.refuse_ended()
        names = [arm.name for arm in self.arms]
        place = names.index(name) if name in names else len(names)
        floor, ceiling = self.bounds(place)
        if place < len(names):
            arm = self.arms[place]
            bounds = self.checked(place, least, most, arm.least, arm.most)
            if arm.retired:
                whole, arm.retired, arm.declared = self.present, False, None
                self.recount(whole)
                arm.least, arm.most = bounds
                self.write()
            elif bounds != (arm.least, arm.most):
                raise Refusal("InvalidInput")
            return
        bounds = self.checked(place, least, most, floor, ceiling)
        whole = self.present
        self.arms.append(Arm(name, *bounds, owes=self.terms.initial))
        self.recount(whole)
        self.write()

    def retire_arm(self, name: str) -> None:
        """An arm must be left."""
        arm = self.arms[self.place_of(name)]
        if arm.retired:
            return
        if len(self.present) == 1:
            raise Refusal("InvalidInput")
        whole, arm.retired = self.present, True
        self.recount(whole)
        self.write()

    def set_arm(self, name: str, least: Units | None, most: Units | None) -> None:
        """What it may cost from now on."""
        place = self.place_of(name)
        arm = self.arms[place]
        bounds = self.checked(place, least, most, arm.least, arm.most)
        if arm.declared or bounds != (arm.least, arm.most):
            arm.least, arm.most = bounds
            arm.declared = None
            self.write()

    def place_of(self, name: str) -> int:
        self.begin()
        self.refuse_ended()
        names = [arm.name for arm in self.arms]
        if name not in names:
            raise Refusal("InvalidInput")
        return names.index(name)

    def checked(
        self, place: int, least: Units | None, most: Units | None, floor: Units, ceiling: Units
    ) -> tuple[Units, Units]:
        """Costs, those that are not given as before, if the least is at most the most, and the
        policy can play with them: without a horizon no pull is free.
        """
        most = most or ceiling
        least = least or tuple(map(min, floor, most))
        if min(least) < 0 or not fit(least, list(most)):
            raise Refusal("InvalidInput")
        arms = [*self.arms[:place], Arm("", least, most), *self.arms[place + 1 :]]
        if self.terms.horizon is None and any(not any(low) for _, low, _ in self.widened(arms)):
            raise Refusal("InvalidInput")
        return least, most
