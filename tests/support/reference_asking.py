"""How the reference ledger takes asks. It does not know the policy: it says which arms may be
chosen, or which refusal is right, and is told which arms came.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.support.reference_books import Books, fit
from tests.support.reference_terms import LONGEST, Context, Mask, Refusal, Ticket, Units


class Drawn(NamedTuple):
    """A ticket that was given out; no arm where the round was skipped."""

    id: int
    t: int
    arm: int | None
    chance: float


class Asking(Books):
    """What may be given out."""

    def repeat(
        self,
        n: int,
        request_id: str | None,
        mask: Mask | None,
        contexts: list[Context] | None = None,
    ) -> list[Ticket] | None:
        """The tickets of an ask that is repeated, or None where it is new."""
        if not self.known(request_id, asked(n, mask, self.seen(contexts))):
            return None
        found = [ticket for ticket in self.tickets.values() if ticket.request_id == request_id]
        if all(ticket.state in ("void", "failed") for ticket in found):
            raise Refusal("Conflict")
        return found

    def open_for_asks(self, mask: Mask | None) -> None:
        for level in reversed(self.levels):
            if level.status != "running":
                raise Refusal("CampaignPaused" if level.status == "paused" else "CampaignEnded")
        self.check_mask(mask)

    @property
    def at_horizon(self) -> bool:
        """Whether this period has had all of its rounds."""
        period = self.shown()[1]
        return self.rounds - (period.rounds if period else 0) == self.terms.horizon

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
        """The arms that may be chosen now."""
        places = self.present if mask is None else sorted(mask)
        room = self.room
        fitting = [place for place in places if fit(self.need(place, mask), room)]
        if not fitting:
            freed = self.freed
            waits = any(fit(self.need(place, mask), freed) for place in places)
            raise Refusal("BudgetHeld" if waits else "BudgetExhausted")
        places = fitting
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
        """For how many ms an arm is not allowed."""
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
        try:
            self.allowed(mask)
        except Refusal as refusal:
            return refusal
        if self.at_horizon:
            return Refusal("HorizonReached")
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
                units / whole for units, whole in zip(self.need(place, mask), budget, strict=True)
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
            initial = self.check(drawn, mask, evenly=evenly)
            held, state = (0,) * len(self.budget), "skipped"
            if drawn.arm is not None:
                held, state = self.need(drawn.arm, mask), "held"
                self.arms[drawn.arm].owes = False
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
        self.entries += len(issued)
        if request_id is not None:
            self.requests[request_id] = asked(n, mask, seen)
        return issued


def asked(n: int, mask: Mask | None, seen: tuple[Context, ...] | None) -> tuple[object, ...]:
    """What was asked for, in a form that can be compared."""
    return "ask", n, None if mask is None else tuple(sorted(mask.items())), seen
