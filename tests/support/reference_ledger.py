"""A reference ledger, written from the promises alone: integers and dicts. It imports nothing of
what it is held against.

It does not know the policy: it is told which arms came, and says what was held for them, or which
refusals would have been right.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

UNIT = 10**9
COUNTS = (
    "tickets",
    "held",
    "told",
    "void",
    "presumed",
    "released",
    "skipped",
    "settled",
    "failed",
    "conflicts",
    "overruns",
    "below_minimum",
)


def written(units: int) -> str:
    """Units as decimal text, without trailing zeros."""
    whole, rest = divmod(units, UNIT)
    return f"{whole}.{rest:09d}".rstrip("0").rstrip(".")


class Refusal(Exception):
    """What should be refused; its argument is the name of the error."""


class Terms(NamedTuple):
    arms: tuple[str, ...]
    resources: tuple[str, ...]
    budget: tuple[int, ...]
    least: tuple[tuple[int, ...], ...]  # per arm and resource
    most: tuple[tuple[int, ...], ...]
    plays: int = 1
    horizon: int | None = None
    expires_after: int | None = None  # ms
    on_expiry: str = "presume"
    initial: int = 0  # rounds of initial pulls


class Report(NamedTuple):
    rewards: tuple[float, ...]
    costs: tuple[tuple[int, ...], ...]  # units per play and resource


class Receipt(NamedTuple):
    ticket: int
    state: str
    duplicate: bool
    late: bool
    spent: tuple[int, ...]
    refunded: tuple[int, ...]
    overrun: tuple[int, ...]


@dataclass
class Ticket:
    id: int
    t: int
    arms: tuple[int, ...]
    held: tuple[int, ...]
    request_id: str | None
    asked_at: int
    deadline: int | None
    state: str = "held"
    report: Report | None = None  # once it is told
    rewards: tuple[float, ...] | None = None  # as soon as they are known
    costs: tuple[tuple[int, ...], ...] | None = None  # as soon as they are known
    receipt: Receipt | None = None


@dataclass
class Ledger:
    """What a campaign should say of itself after anything that was asked, told, voided, or
    forgotten.
    """

    terms: Terms
    status: str = "running"
    rounds: int = 0
    entries: int = 1  # it was created
    conflicts: int = 0
    overruns: int = 0
    below_minimum: int = 0
    tickets: dict[int, Ticket] = field(default_factory=dict)
    # what was asked under each request id
    requests: dict[str, tuple[object, ...]] = field(default_factory=dict)
    # initial pulls to be asked for again: round and arms
    waiting: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    budget: list[int] = field(default_factory=list)
    spent: list[int] = field(default_factory=list)
    overrun: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        nothing = [0] * len(self.terms.resources)
        self.budget, self.spent, self.overrun = (
            list(self.terms.budget),
            list(nothing),
            list(nothing),
        )

    # what it says

    def sum_of(self, state: str) -> list[int]:
        """What tickets in a state hold of each resource."""
        return [
            sum(ticket.held[m] for ticket in self.tickets.values() if ticket.state == state)
            for m in range(len(self.budget))
        ]

    @property
    def held(self) -> list[int]:
        return self.sum_of("held")

    @property
    def presumed(self) -> list[int]:
        return self.sum_of("presumed")

    @property
    def left(self) -> list[int]:
        parts = zip(self.budget, self.spent, self.held, self.presumed, strict=True)
        return [budget - spent - held - presumed for budget, spent, held, presumed in parts]

    def counts(self) -> dict[str, int]:
        """How many tickets there are in each state, and how often something odd was told."""
        states = [ticket.state for ticket in self.tickets.values()]
        of_states = {state: states.count(state) for state in COUNTS[1:9]}
        return {
            "tickets": len(states),
            **of_states,
            "conflicts": self.conflicts,
            "overruns": self.overruns,
            "below_minimum": self.below_minimum,
        }

    def open(self) -> list[int]:
        """How many pulls of each arm are on tickets that are held."""
        arms = [
            arm for ticket in self.tickets.values() if ticket.state == "held" for arm in ticket.arms
        ]
        return [arms.count(arm) for arm in range(len(self.terms.arms))]

    def purses(self) -> list[tuple[str, ...]]:
        """Resource, budget, spent, held, presumed, left and overrun of each purse, as text."""
        columns = zip(
            self.budget, self.spent, self.held, self.presumed, self.left, self.overrun, strict=True
        )
        return [
            (name, *map(written, units))
            for name, units in zip(self.terms.resources, columns, strict=True)
        ]

    def overdue(self, now: int) -> list[Ticket]:
        """Held past their deadline."""
        return [
            ticket
            for ticket in self.tickets.values()
            if ticket.state == "held" and ticket.deadline is not None and ticket.deadline <= now
        ]

    def alarms(self, now: int) -> set[str]:
        """The kinds of alarms that are due."""
        free = [left + held for left, held in zip(self.left, self.held, strict=True)]
        kinds = {
            "overrun": any(self.overrun),
            "presumed": any(self.presumed),
            "overdue": bool(self.overdue(now)),
            "conflict": self.conflicts > 0,
            "below-minimum": self.below_minimum > 0,
            "exhausted": self.status != "closed" and not self.could_fit(free),
        }
        return {kind for kind, due in kinds.items() if due}

    # asking

    def choices(self) -> list[tuple[int, ...]]:
        """Every set of arms that a round may play."""
        return list(combinations(range(len(self.terms.arms)), self.terms.plays))

    def need(self, arms: tuple[int, ...]) -> tuple[int, ...]:
        """The most that arms may cost."""
        return tuple(sum(self.terms.most[arm][m] for arm in arms) for m in range(len(self.budget)))

    def fits(self, arms: tuple[int, ...], units: list[int]) -> bool:
        return all(need <= there for need, there in zip(self.need(arms), units, strict=True))

    def could_fit(self, units: list[int]) -> bool:
        """Whether some arms could be paid; with several plays it is enough that each resource alone
        could pay some.
        """
        if self.terms.plays == 1:
            return any(self.fits(arms, units) for arms in self.choices())
        return all(
            any(self.need(arms)[m] <= there for arms in self.choices())
            for m, there in enumerate(units)
        )

    def expire(self, now: int) -> int:
        """Holds past their deadline are presumed spent, or released where that was chosen."""
        due = self.overdue(now)
        for ticket in due:
            ticket.state = "presumed" if self.terms.on_expiry == "presume" else "released"
        self.entries += len(due)
        return len(due)

    def known(self, request_id: str | None, what: tuple[object, ...]) -> bool:
        """Whether this was asked before; something else under the same id is a conflict."""
        earlier = self.requests.get(request_id) if request_id is not None else None
        if earlier is not None and earlier != what:
            raise Refusal("Conflict")
        return earlier is not None

    def repeat(self, n: int, request_id: str | None) -> list[Ticket] | None:
        """The tickets of an ask that is repeated, or None where it is new."""
        if not self.known(request_id, ("ask", n)):
            return None
        found = [ticket for ticket in self.tickets.values() if ticket.request_id == request_id]
        if all(ticket.state in ("void", "released") for ticket in found):
            raise Refusal("Conflict")
        return found

    def open_for_asks(self) -> None:
        if self.status != "running":
            raise Refusal("CampaignPaused" if self.status == "paused" else "CampaignClosed")
        if not self.waiting and self.rounds == self.terms.horizon:
            raise Refusal("HorizonReached")

    def right_refusals(self, arms: tuple[int, ...] | None) -> set[str]:
        """What may be said instead of a ticket, given the arms that were chosen, or any."""
        free = [left + held for left, held in zip(self.left, self.held, strict=True)]
        chosen = (
            [arms] if arms is not None else [self.waiting[0][1]] if self.waiting else self.choices()
        )
        return {
            "BudgetHeld" if self.fits(choice, free) else "BudgetExhausted"
            for choice in chosen
            if not self.fits(choice, self.left)
        }

    def issue(
        self,
        tickets: list[tuple[int, int, tuple[int, ...]]],
        n: int,
        request_id: str | None,
        now: int,
    ) -> list[Ticket]:
        """Tickets with the arms that were chosen: id, round and arms (none where the round was
        skipped); checks that they could be issued.
        """
        issued = []
        deadline = None if self.terms.expires_after is None else now + self.terms.expires_after
        for number, t, arms in tickets:
            assert number not in self.tickets, f"ticket {number} was issued before"
            if self.waiting:
                expected = self.waiting.pop(0)
                assert (t, arms) == expected, (
                    f"round {t} with {arms} was asked again, not {expected}"
                )
            else:
                self.rounds += 1
                assert t == self.rounds, f"round {t} followed round {self.rounds - 1}"
                assert self.terms.horizon is None or t <= self.terms.horizon, (
                    f"round {t} is beyond the horizon"
                )
            if arms:
                assert len(set(arms)) == self.terms.plays, (
                    f"{arms} are not {self.terms.plays} different arms"
                )
                assert self.fits(arms, self.left), f"{arms} need {self.need(arms)} of {self.left}"
            ticket = Ticket(
                number,
                t,
                arms,
                self.need(arms),
                request_id,
                now,
                deadline,
                "held" if arms else "skipped",
            )
            self.tickets[number] = ticket
            issued.append(ticket)
        self.entries += 1
        if request_id is not None:
            self.requests[request_id] = ("ask", n)
        return issued

    # telling

    def find(self, id: int) -> Ticket:
        ticket = self.tickets.get(id)
        if ticket is None or ticket.state == "skipped":
            raise Refusal("TicketError")
        return ticket

    def conflict(self) -> Refusal:
        """What was said first stands, and what was said now is kept."""
        self.conflicts += 1
        self.entries += 1
        return Refusal("Conflict")

    def tell(self, id: int, report: Report) -> Receipt:
        """Both at once; what was known before has to be the same."""
        ticket = self.find(id)
        if ticket.state == "told":
            if report == ticket.report:
                return self.answer(ticket, duplicate=True)
            raise self.conflict()
        if (
            ticket.state == "failed"
            or ticket.costs not in (None, report.costs)
            or ticket.rewards not in (None, report.rewards)
        ):
            raise self.conflict()
        self.pay(ticket, report.costs)
        return self.complete(ticket, report.rewards)

    def settle(self, id: int, costs: tuple[tuple[int, ...], ...]) -> Receipt:
        """The money is known."""
        ticket = self.find(id)
        if ticket.costs is not None:
            if ticket.costs == costs:
                return self.answer(ticket, duplicate=True)
            raise self.conflict()
        self.pay(ticket, costs)
        if ticket.rewards is not None:
            return self.complete(ticket, ticket.rewards)
        return self.turn(ticket, "settled")

    def reward(self, id: int, rewards: tuple[float, ...]) -> Receipt:
        """The reward is known; with the cost it makes a report, but not of what failed."""
        ticket = self.find(id)
        if ticket.rewards is not None:
            if ticket.rewards == rewards:
                return self.answer(ticket, duplicate=True)
            raise self.conflict()
        if ticket.state == "settled":
            return self.complete(ticket, rewards)
        ticket.rewards = rewards
        return self.turn(ticket, ticket.state)

    def fail(self, id: int, costs: tuple[tuple[int, ...], ...]) -> Receipt:
        """The call did not work."""
        ticket = self.find(id)
        if ticket.state == "failed" and ticket.costs == costs:
            return self.answer(ticket, duplicate=True)
        if ticket.state not in ("held", "presumed"):
            raise self.conflict()
        self.pay(ticket, costs, failed=True)
        if ticket.t <= self.terms.initial:
            self.waiting.append((ticket.t, ticket.arms))
        return self.turn(ticket, "failed")

    def complete(self, ticket: Ticket, rewards: tuple[float, ...]) -> Receipt:
        assert ticket.costs is not None
        ticket.rewards, ticket.report = rewards, Report(rewards, ticket.costs)
        return self.turn(ticket, "told")

    def turn(self, ticket: Ticket, state: str) -> Receipt:
        """A ticket in a state, by one more entry."""
        self.entries += 1
        ticket.state = state
        return self.answer(ticket)

    def answer(self, ticket: Ticket, *, duplicate: bool = False) -> Receipt:
        """What was spent, refunded and overrun, where the cost is known."""
        nothing = (0,) * len(self.budget)
        paid = ticket.receipt or Receipt(ticket.id, "", False, False, nothing, nothing, nothing)
        if ticket.costs is None and ticket.state in ("void", "released"):
            paid = paid._replace(refunded=ticket.held)
        return paid._replace(state=ticket.state, duplicate=duplicate)

    def pay(
        self, ticket: Ticket, play_costs: tuple[tuple[int, ...], ...], *, failed: bool = False
    ) -> None:
        """Up to the hold it is spent, the rest is overrun; where the hold is gone all of it is.
        What was paid before is paid. A call that failed may cost less than any other.
        """
        if ticket.costs is not None:
            return
        costs = [sum(play[m] for play in play_costs) for m in range(len(self.budget))]
        hold = ticket.held if ticket.state in ("held", "presumed") else (0,) * len(costs)
        spent = [min(cost, units) for cost, units in zip(costs, hold, strict=True)]
        over = [cost - paid for cost, paid in zip(costs, spent, strict=True)]
        self.spent = [before + paid for before, paid in zip(self.spent, spent, strict=True)]
        self.overrun = [before + more for before, more in zip(self.overrun, over, strict=True)]
        self.overruns += any(over)
        self.below_minimum += not failed and any(
            cost < least
            for arm, play in zip(ticket.arms, play_costs, strict=True)
            for cost, least in zip(play, self.terms.least[arm], strict=True)
        )
        refunded = [units - paid for units, paid in zip(hold, spent, strict=True)]
        ticket.costs = play_costs
        ticket.receipt = Receipt(
            ticket.id, "", False, ticket.state != "held",
            tuple(spent), tuple(refunded), tuple(over),
        )  # fmt: skip

    def void(self, id: int) -> Receipt:
        """Only this releases a hold for which nothing was spent."""
        ticket = self.find(id)
        if ticket.state in ("told", "settled", "failed"):
            raise self.conflict()
        if ticket.state in ("void", "released"):
            return self.answer(ticket, duplicate=True)
        if ticket.t <= self.terms.initial:
            self.waiting.append((ticket.t, ticket.arms))
        return self.turn(ticket, "void")

    # the rest

    def top_up(self, units: tuple[int, ...], request_id: str | None) -> None:
        if self.known(request_id, ("top_up", units)):
            return
        if self.status == "closed":
            raise Refusal("CampaignClosed")
        self.budget = [before + more for before, more in zip(self.budget, units, strict=True)]
        self.entries += 1
        if request_id is not None:
            self.requests[request_id] = ("top_up", units)

    def switch(self, status: str) -> None:
        """Pause, resume or close; closed is for good."""
        if self.status == status:
            return
        if self.status == "closed":
            raise Refusal("CampaignClosed")
        self.status = status
        self.entries += 1
