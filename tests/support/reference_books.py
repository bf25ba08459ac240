"""What the reference ledger knows of tickets, arms and money, and how it takes asks: it says which
arms may be chosen, or which refusal is right, and is told which arms came.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.support.reference_levels import HOUR, Account, Level, Sums
from tests.support.reference_terms import (
    LONGEST,
    STATES,
    Arm,
    Context,
    Mask,
    Refusal,
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
    # of each ticket, which places it could have had with money enough
    masks: list[tuple[bool, ...]] = field(default_factory=list)
    taught: list[tuple[int, Units, Units]] = field(default_factory=list)
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
        """The least that is left on a level, at least nothing."""
        columns = zip(*(each.left for each in self.levels), strict=True)
        return [max(0, min(column)) for column in columns]

    @property
    def freed(self) -> list[int]:
        """The least that would be left on a level if nothing were held, at least nothing."""
        columns = zip(*(each.free for each in self.levels), strict=True)
        return [max(0, min(column)) for column in columns]

    def give_back(self, ticket: Ticket, units: Units | list[int]) -> None:
        """The rest of a hold comes back on every level."""
        for level, number in zip(self.levels, ticket.periods, strict=True):
            level.refund(units, number)

    def move_money(self) -> None:
        """Something changes on every level."""
        for level in self.levels:
            level.see_clock()

    def sums(self) -> Sums:
        return Sums(self.spent, self.held, self.presumed, self.overrun)

    def issued(self) -> list[tuple[Ticket, int]]:
        return [(ticket, ticket.periods[-1]) for ticket in self.tickets.values()]

    @property
    def places(self) -> int:
        return max(self.terms.capacity or len(self.terms.arms), len(self.arms))

    @property
    def present(self) -> list[int]:
        return [place for place, arm in enumerate(self.arms) if not arm.retired]

    def recount(self, whole: list[int]) -> None:
        """Let tickets that could have had the whole of the arms have those that are there now."""
        for number, mask in enumerate(self.masks):
            every, more = all(mask[place] for place in whole), self.places - len(mask)
            self.masks[number] = tuple(
                place in self.present and (every or up)
                for place, up in enumerate(mask + (False,) * more)
            )

    def sum_of(self, state: str) -> list[int]:
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
        """The least and the most of each number of all contexts, the first in its own unit."""
        contexts = [each.context for each in self.tickets.values() if each.context is not None]
        ends = [(min(column), max(column)) for column in zip(*contexts, strict=True)]
        if ends and self.terms.features is not None:
            low, high = self.terms.features
            least, most = (float(f"{low + (end + 1) / 2 * (high - low):.6g}") for end in ends[0])
            ends[0] = least, most
        return ends

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
        silent = [self.silent(place) for place in range(len(self.arms))]
        kinds = {
            "overrun": self.is_recent("overrun"),
            "overdrawn": min(self.left) < 0,
            "dearer": any(arm.declared and not arm.retired for arm in self.arms),
            "presumed": any(self.presumed),
            "overdue": bool(self.overdue()),
            "conflict": self.is_recent("conflict"),
            "below-minimum": self.is_recent("below-minimum"),
            "outside-range": self.is_recent("outside-range"),
            "cooling-down": bool(self.cooling()),
            "silent": any(count >= 20 and 5 * count >= len(self.tickets) for count in silent),
            "clock": self.was_ahead(),
        }
        return {kind for kind, due in kinds.items() if due}

    def state(self) -> str:
        """What its status should be, if the policy has not ended the game."""
        if self.is_over:
            return "ended"
        for level in reversed(self.levels):
            if level.status != "running":
                return level.status
        if self.at_horizon:
            return "ended" if self.shown()[1] is None else "exhausted"
        return "running" if self.could_fit(self.freed) else "exhausted"

    def costs(self) -> list[Units]:
        stops = [level.status for level in reversed(self.levels) if level.status != "running"]
        over = self.at_horizon and self.shown()[1] is None and not stops
        if self.is_over or stops[:1] == ["ended"] or over:
            return []
        return [self.arms[place].most for place in self.present]

    @property
    def at_horizon(self) -> bool:
        """Whether this period has had all of its rounds."""
        period = self.shown()[1]
        return self.rounds - (period.rounds if period else 0) == self.terms.horizon

    @property
    def is_over(self) -> bool:
        """Whether its time is over; it may come again if a clock was ahead."""
        return self.terms.until is not None and self.clock() >= self.terms.until

    def alarm(self, kind: str) -> None:
        """A report came that a person should look at, within a day."""
        self.alarmed[kind] = self.clock()

    def see_clock(self) -> None:
        """If a clock was ahead, its alarms end a day from now."""
        if self.clock() + HOUR < self.changed:
            self.alarmed = {kind: min(at, self.clock()) for kind, at in self.alarmed.items()}
        super().see_clock()

    def is_recent(self, kind: str) -> bool:
        return self.clock() < self.alarmed.get(kind, -DAY) + DAY

    def bounds(self, place: int) -> tuple[Units, Units]:
        """The floor and the ceiling of a place as the terms say; one that was free at first has the
        widest.
        """
        floors = self.terms.least
        ceilings = self.terms.ceiling or self.terms.most
        if place < len(floors):
            return floors[place], ceilings[place]
        return (
            tuple(map(min, zip(*floors, strict=True))),
            tuple(map(max, zip(*ceilings, strict=True))),
        )

    def widened(self, arms: list[Arm] | None = None) -> list[tuple[int, Units, Units]]:
        """What the policy has to know of arms that the terms do not say; a ceiling is doubled."""
        rows = []
        for place, arm in enumerate(self.arms if arms is None else arms):
            floor, ceiling = self.bounds(place)
            low, high = tuple(map(min, floor, arm.least)), ceiling
            while not fit(arm.most, list(high)):
                high = tuple(
                    max(1, 2 * top) if most > top else top
                    for most, top in zip(arm.most, high, strict=True)
                )
            if place >= (self.terms.capacity or len(self.terms.arms)) or (low, high) != (
                floor, ceiling,
            ):  # fmt: skip
                rows.append((place, low, high))
        return rows

    def hand_over(self) -> None:
        """Before an ask, a policy takes over that knows what arms may cost by now."""
        if self.widened() != self.taught:
            self.taught = self.widened()
            self.write()

    def could_fit(self, units: list[int]) -> bool:
        return any(fit(self.arms[place].most, units) for place in self.present)


def fit(need: Units | list[int], units: list[int]) -> bool:
    return all(part <= there for part, there in zip(need, units, strict=True))


class Drawn(NamedTuple):
    """A ticket that was given out; no arm where the round was skipped."""

    id: int
    t: int
    arm: int | None
    chance: float


class Asking(Books):
    def repeat(
        self,
        n: int,
        request_id: str | None,
        mask: Mask | None,
        contexts: list[Context] | None = None,
    ) -> list[Ticket] | None:
        """The tickets of an ask that is repeated, or None where it is new."""
        self.hand_over()
        issued = [ticket for ticket in self.tickets.values() if ticket.request_id == request_id]
        seen, earlier = self.seen(contexts), self.requests.get(request_id or "", (None,))[-1]
        if isinstance(seen, tuple) and isinstance(earlier, tuple):
            # a context without a ticket is not kept, so another one in its place is no conflict
            seen = seen[: len(issued)] + earlier[len(issued) :]
        if not self.known(request_id, asked(n, mask, seen)):
            return None
        if all(ticket.broken or ticket.state in ("void", "failed") for ticket in issued):
            raise Refusal("Conflict")
        return issued

    def open_for_asks(self, mask: Mask | None) -> None:
        if self.is_over:
            raise Refusal("CampaignEnded")
        for level in reversed(self.levels):
            if level.status != "running":
                raise Refusal("CampaignPaused" if level.status == "paused" else "CampaignEnded")
        if self.at_horizon:
            raise Refusal("HorizonReached")
        self.check_mask(mask)

    def check_mask(self, mask: Mask | None) -> None:
        """Refuse arms that are gone, and calls that may cost more than their arm ever does."""
        for place, most in (mask or {}).items():
            arm = self.arms[place]
            if arm.retired or (most is not None and not fit(most, list(arm.most))):
                raise Refusal("InvalidInput")

    def need(self, place: int, mask: Mask | None) -> Units:
        """The most that an arm may cost in an ask."""
        return (mask or {}).get(place) or self.arms[place].most

    def allowed(self, mask: Mask | None) -> list[int]:
        places = self.present if mask is None else sorted(mask)
        room = self.room
        fitting = [place for place in places if fit(self.need(place, mask), room)]
        if not fitting:
            freed = self.freed
            waits = any(fit(self.need(place, mask), freed) for place in places)
            raise Refusal("BudgetHeld" if waits else "BudgetExhausted")
        return self.ready(fitting)

    def ready(self, places: list[int]) -> list[int]:
        """Those of some arms that do not cool down and are not left out for their silence."""
        waits_ms = {place: self.wait(place) for place in places}
        if min(waits_ms.values()) > 0:
            raise Refusal("ArmsCoolingDown", min(waits_ms.values()))
        places = [place for place in places if not waits_ms[place]]
        heard = [
            place
            for place in places
            if (count := self.silent(place)) < 20 or 5 * count < len(self.tickets) + 1
        ]
        return heard or places

    def wait(self, place: int) -> int:
        cooling, now = self.arms[place].cooling, self.clock()
        if cooling is None or cooling.over:
            return 0
        if cooling.begun <= now < cooling.begun + cooling.length:
            return cooling.begun + cooling.length - now
        probes = [
            ticket
            for ticket in self.tickets.values()
            if place == ticket.arm and ticket.id > cooling.seen
        ]
        if not probes or probes[-1].state != "held":
            return 0
        since = now - probes[-1].asked_at
        return min(cooling.length, LONGEST - since) if 0 <= since < LONGEST else 0

    def refusal(self, mask: Mask | None) -> Refusal | None:
        """Why nothing may be given out, whatever the policy wants."""
        if self.at_horizon:
            return Refusal("HorizonReached")
        try:
            self.allowed(mask)
        except Refusal as refusal:
            return refusal
        return None

    def foresee(self, mask: Mask | None) -> dict[int, float]:
        """The chances of exploration for all that the next ask may choose."""
        self.check_mask(mask)
        return self.chances(mask)

    def chances(self, mask: Mask | None) -> dict[int, float]:
        """The chance of each arm to be drawn by exploration."""
        allowed = self.allowed(mask)
        if self.terms.explore is None:
            return dict.fromkeys(allowed, 0.0)
        budget = self.budget_of_period()
        costs = {
            place: max(
                units / whole
                for units, whole in zip(self.need(place, mask), budget, strict=True)
                if whole > 0
            )
            for place in allowed
        }
        least = min(costs.values())
        return {
            place: self.terms.explore / len(allowed) * (least / cost if cost else 1)
            for place, cost in costs.items()
        }

    def check(self, drawn: Drawn, mask: Mask | None, *, evenly: bool) -> bool:
        """Whether this ticket could be given out, with its chance where arms are drawn evenly;
        return whether it is an initial pull.
        """
        place, allowed = drawn.arm, self.allowed(mask)
        assert not self.at_horizon, f"{drawn} is beyond the horizon"
        self.rounds += 1
        assert drawn.t == self.rounds, f"{drawn} followed round {self.rounds - 1}"
        if place is None:
            assert self.terms.horizon is not None, "only a horizon ends a game of skips"
            assert self.terms.skip, f"{drawn} passes"
            return False
        assert place in allowed, f"{drawn} is none of {allowed}"
        explored = self.chances(mask)
        owing = [place for place in allowed if self.arms[place].owes]
        if owing and not self.terms.explore:
            assert place == owing[0], f"{drawn} came before the initial pull of {owing[0]}"
        if evenly:
            expected = explored[place] + (1 - sum(explored.values())) / len(allowed)
            assert abs(drawn.chance - expected) < 1e-12, f"{drawn}: {expected} was the chance"
        return self.arms[place].owes

    def issue(
        self,
        tickets: list[Drawn],
        n: int,
        request_id: str | None,
        mask: Mask | None,
        contexts: list[Context] | None = None,
        *,
        evenly: bool,
    ) -> list[Ticket]:
        """Tickets with the arms that were chosen; checks that they could be issued."""
        now = self.clock()
        deadline = None if self.terms.expires_after is None else now + self.terms.expires_after
        issued, seen = [], self.seen(contexts)
        for number, drawn in enumerate(tickets):
            assert drawn.id == len(self.tickets) + 1, f"ticket {drawn.id} is out of order"
            could = self.ready(self.present if mask is None else sorted(mask))
            self.masks.append(tuple(place in could for place in range(self.places)))
            initial = self.check(drawn, mask, evenly=evenly)
            held, state = (0,) * len(self.budget), "skipped"
            if drawn.arm is not None:
                held, state = self.need(drawn.arm, mask), "held"
                self.arms[drawn.arm].owes = False
                self.move_money()
            assert fit(held, self.room), f"{drawn} needs {held} of {self.room}"
            ticket = Ticket(
                drawn.id, drawn.t, drawn.arm, held, request_id, now, deadline, initial, state
            )
            if seen is not None and contexts is not None and self.terms.features is not None:
                low, high = self.terms.features
                ticket.context = seen[number]
                self.clipped += not low <= contexts[number][0] <= high
            ticket.periods = tuple(each.period.number if each.period else 0 for each in self.levels)
            self.tickets[drawn.id] = ticket
            issued.append(ticket)
        self.write(len(issued))
        if request_id is not None:
            self.requests[request_id] = asked(n, mask, seen)
        return issued


def asked(n: int, mask: Mask | None, seen: tuple[Context, ...] | None) -> tuple[object, ...]:
    """What was asked for, in a form that can be compared."""
    return "ask", n, None if mask is None else tuple(sorted(mask.items())), seen
