"""What the reference ledger knows: tickets, arms and money, and what it says of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.support.reference_accounts import Account
from tests.support.reference_levels import Level
from tests.support.reference_periods import Sums
from tests.support.reference_terms import (
    STATES,
    Arm,
    Context,
    Terms,
    Ticket,
    Units,
    labels_of,
    written,
)

DAY = 86_400_000  # ms


@dataclass
class Books(Level):
    """What a campaign should say of itself."""

    terms: Terms
    clock: Callable[[], int]  # ms
    account: Account | None = None
    status: str = "running"
    rounds: int = 0
    entries: int = 1  # it was created
    conflicts: int = 0
    overruns: int = 0
    below_minimum: int = 0
    outside_range: int = 0
    clipped: int = 0
    # ms: the last report that caused an alarm, by its kind
    alarmed: dict[str, int] = field(default_factory=dict)
    tickets: dict[int, Ticket] = field(default_factory=dict)
    arms: list[Arm] = field(default_factory=list)
    # what was asked under each request id
    requests: dict[str, tuple[object, ...]] = field(default_factory=dict)
    spent: list[int] = field(default_factory=list)
    overrun: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        terms = self.terms
        self.resources = terms.resources
        self.open_level(terms.budget, terms.periods)
        self.spent, self.overrun = [0] * len(self.budget), [0] * len(self.budget)
        self.arms = [
            Arm(name, least, most, owes=terms.initial)
            for name, least, most in zip(terms.arms, terms.least, terms.most, strict=True)
        ]
        if self.account is not None:
            self.account.children.append(self)

    @property
    def levels(self) -> list[Level]:
        """All whose budgets it takes from, from the top down to itself."""
        return [*(self.account.levels if self.account else []), self]

    @property
    def room(self) -> list[int]:
        """The least that is left on a level."""
        return [min(column) for column in zip(*(each.left for each in self.levels), strict=True)]

    @property
    def freed(self) -> list[int]:
        """The least that would be left on a level if nothing were held."""
        return [min(column) for column in zip(*(each.free for each in self.levels), strict=True)]

    def give_back(self, ticket: Ticket, units: Units | list[int]) -> None:
        """The rest of a hold comes back on every level."""
        for level, number in zip(self.levels, ticket.periods, strict=True):
            level.refund(units, number)

    def sums(self) -> Sums:
        return Sums(self.spent, self.held, self.presumed, self.overrun)

    def issued(self) -> list[tuple[Ticket, int]]:
        return [(ticket, ticket.periods[-1]) for ticket in self.tickets.values()]

    @property
    def places(self) -> int:
        return self.terms.capacity or len(self.terms.arms)

    @property
    def present(self) -> list[int]:
        return [place for place, arm in enumerate(self.arms) if not arm.retired]

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

    def counts(self) -> dict[str, int]:
        """How many tickets there are in each state, and how often something odd happened."""
        states = [ticket.state for ticket in self.tickets.values()]
        return {
            "tickets": len(states),
            **{state: states.count(state) for state in STATES},
            "conflicts": self.conflicts,
            "overruns": self.overruns,
            "below_minimum": self.below_minimum,
            "outside_range": self.outside_range,
            "clipped": self.clipped,
        }

    def labels(self) -> dict[tuple[str, str], tuple[object, ...]]:
        """Tickets, and of each resource spent, held, presumed and overrun, of each label."""
        found: dict[tuple[str, str], list[Ticket]] = {}
        for ticket in self.tickets.values():
            for label in (labels_of(ticket.request_id) or {}).items():
                found.setdefault(label, []).append(ticket)
        return {
            label: (
                len(tickets),
                *(
                    tuple(written(sum(column)) for column in zip(*rows, strict=True))
                    for rows in zip(*(ticket.money() for ticket in tickets), strict=True)
                ),
            )
            for label, tickets in sorted(found.items())
        }

    def seen(self, contexts: list[Context] | None) -> tuple[Context, ...] | None:
        """Contexts as they are seen: the range is -1 to 1, and what is outside is at its end."""
        if contexts is None or self.terms.features is None:
            return None
        low, high = self.terms.features
        half = (high - low) / 2
        return tuple(
            ((min(high, max(low, first)) - low) / half - 1, second) for first, second in contexts
        )

    def extremes(self) -> list[tuple[float, float]]:
        """The least and the most of each number of all contexts."""
        contexts = [each.context for each in self.tickets.values() if each.context is not None]
        return [(min(column), max(column)) for column in zip(*contexts, strict=True)]

    def open(self) -> list[int]:
        """How many pulls of each arm are on tickets of which something is still expected."""
        states = ("held", "presumed", "settled")
        arms = [each.arm for each in self.tickets.values() if each.state in states]
        return [arms.count(arm) for arm in range(self.places)]

    def overdue(self, state: str = "held") -> list[Ticket]:
        """In a state past their deadline; a ticket that is settled has one where rewards have."""
        if state == "settled" and self.terms.reward_within is None:
            return []
        return [
            ticket
            for ticket in self.tickets.values()
            if ticket.state == state
            and ticket.deadline is not None
            and ticket.deadline <= self.clock()
        ]

    def silent(self, place: int) -> int:
        """Tickets of an arm that has never brought a reward; 0 where it has."""
        mine = [ticket for ticket in self.tickets.values() if place == ticket.arm]
        heard = any(each.report and each.paid_from in ("held", "presumed") for each in mine)
        return 0 if heard else sum(not ticket.gone for ticket in mine)

    def cooling(self) -> list[tuple[str, int, int]]:
        """Arms that have not recovered, until when each cools down, and how long; not retired
        ones.
        """
        return [
            (arm.name, arm.cooling.begun + arm.cooling.length, arm.cooling.length)
            for arm in self.arms
            if arm.cooling and not arm.cooling.over and not arm.retired
        ]

    def alarms(self) -> set[str]:
        """The kinds of alarms that are due."""
        silent = [self.silent(place) for place in range(len(self.arms))]
        kinds = {
            "overrun": self.is_recent("overrun"),
            "presumed": any(self.presumed),
            "overdue": bool(self.overdue()),
            "conflict": self.is_recent("conflict"),
            "below-minimum": self.is_recent("below-minimum"),
            "outside-range": self.is_recent("outside-range"),
            "cooling-down": bool(self.cooling()),
            "silent": any(count >= 20 and 5 * count >= len(self.tickets) for count in silent),
            "exhausted": self.status != "ended" and not self.could_fit(self.free),
        }
        return {kind for kind, due in kinds.items() if due}

    def alarm(self, kind: str) -> None:
        """A report came that a person should look at, within a day."""
        self.alarmed[kind] = self.clock()

    def is_recent(self, kind: str) -> bool:
        return self.clock() < self.alarmed.get(kind, -DAY) + DAY

    def could_fit(self, units: list[int]) -> bool:
        """Whether an arm could be paid."""
        return any(fit(self.arms[place].most, units) for place in self.present)


def fit(need: Units | list[int], units: list[int]) -> bool:
    return all(part <= there for part, there in zip(need, units, strict=True))
