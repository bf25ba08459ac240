"""Rules of the machine: asks, with masks and without."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from purse import AskRefused, PurseError
from tests.support.campaign_machine import LIFE, UNIFORM, attempt, picks, rewards, shares
from tests.support.machine_reports import ReportMachine
from tests.support.reference_ledger import Drawn, Mask, Refusal, written


class AskMachine(ReportMachine):
    """Asks of all kinds; what comes must be allowed by the ledger."""

    @rule(n=st.sampled_from([1, 1, 2, 3, 12]), named=st.booleans())
    def ask(self, n: int, named: bool) -> None:
        self.ask_for(n, f"request-{next(self.requests)}" if named else None)

    @precondition(lambda self: self.whole)
    @rule(n=st.sampled_from([1, 1, 2, 12]), named=st.booleans(), data=st.data())
    def ask_for_some_arms(self, n: int, named: bool, data: st.DataObject) -> None:
        request_id = f"request-{next(self.requests)}" if named else None
        self.ask_for(n, request_id, self.draw_mask(data))

    def draw_mask(self, data: st.DataObject) -> Mask:
        """Some arms, retired ones too, and for some the most that the call may cost."""
        everybody = range(len(self.ledger.arms))
        places = data.draw(
            st.lists(st.sampled_from(everybody), unique=True, min_size=self.terms.plays)
        )
        if not data.draw(st.booleans()):
            return dict.fromkeys(places)
        share = st.sampled_from([1000, 1000, 500, 0, 1001])
        return {
            place: tuple(
                units * part // 1000 + (part > 1000)
                for units, part in zip(
                    self.ledger.arms[place].most, data.draw(st.tuples(share, share)), strict=False
                )
            )
            for place in places
        }

    @precondition(lambda self: self.whole)
    @rule(bad=st.sampled_from([[], ["nobody"], {}, {"nobody": 1}, {"red": -1}, "red", 3]))
    def ask_for_arms_that_cannot_be(self, bad: Any) -> None:
        self.refuses(lambda: self.campaign.ask(arms=bad), Refusal("InvalidInput"))

    @precondition(lambda self: self.ledger.requests)
    @rule(which=picks, other=st.sampled_from([0, 0, 0, 1]), masked=st.booleans(), data=st.data())
    def ask_again(self, which: int, other: int, masked: bool, data: st.DataObject) -> None:
        request_id = list(self.ledger.requests)[which % len(self.ledger.requests)]
        kind, *rest = self.ledger.requests[request_id]
        n, mask = rest if kind == "ask" else (1, None)
        if self.whole and not masked and other:
            mask = tuple(self.draw_mask(data).items())
        assert isinstance(n, int)
        self.ask_for(n + other * masked, request_id, None if mask is None else dict(mask))  # type: ignore[call-overload]

    def call(self, n: int, request_id: str | None, mask: Mask | None) -> list[Any]:
        more = {} if mask is None else {"arms": self.named(mask)}
        return (
            [self.campaign.ask(request_id, **more)]
            if n == 1
            else self.campaign.ask_many(n, request_id, **more)
        )

    def named(self, mask: Mask) -> Any:
        """A mask as a user would write it, in another order than that of the arms."""
        names = {self.ledger.arms[place].name: most for place, most in reversed(mask.items())}
        if None in names.values():
            return list(names)
        return {name: [written(units) for units in most or ()] for name, most in names.items()}

    def ask_for(self, n: int, request_id: str | None, mask: Mask | None = None) -> None:
        ledger = self.ledger
        ledger.expire()
        try:
            earlier = ledger.repeat(n, request_id, mask)
            if earlier is None:
                ledger.open_for_asks(mask)
        except Refusal as refusal:
            return self.refuses(lambda: self.call(n, request_id, mask), refusal)
        if earlier is not None:
            return self.check_tickets(self.call(n, request_id, mask), earlier)
        refusal = ledger.refusal(mask)
        answer = attempt(lambda: self.call(n, request_id, mask))
        if refusal is not None:
            assert isinstance(answer, AskRefused), f"{answer}, and not {refusal!r}"
            return self.is_refusal(answer, refusal)
        if isinstance(answer, AskRefused):
            assert self.refused(answer) in ledger.right_refusals(self.arms_in(str(answer)), mask)
            return None
        assert not isinstance(answer, Exception), answer
        self.take(answer, n, request_id, mask)
        return None

    def take(self, answer: list[Any], n: int, request_id: str | None, mask: Mask | None) -> None:
        """Tickets came: they must be right, and as many as there could be."""
        ledger, names = self.ledger, [arm.name for arm in self.ledger.arms]
        drawn = [
            Drawn(ticket.id, ticket.t, tuple(map(names.index, ticket.arms)), ticket.probabilities)
            for ticket in answer
        ]
        assert 1 <= len(drawn) <= n
        evenly = self.policy == UNIFORM
        self.check_tickets(answer, ledger.issue(drawn, n, request_id, mask, evenly=evenly))
        if len(drawn) < n:
            assert ledger.refusal(mask) or ledger.right_refusals(None, mask)

    def arms_in(self, message: str) -> tuple[int, ...]:
        """The arms that a refusal names."""
        named = tuple(place for place, arm in enumerate(self.ledger.arms) if arm.name in message)
        assert 1 <= len(named) <= self.terms.plays, message
        return named

    @rule(reward=rewards, parts=shares)
    def ask_and_tell(self, reward: list[float], parts: list[int]) -> None:
        self.ask_for(1, None)
        if self.has_tickets:
            ticket = self.pick(-1)
            self.tell_once(ticket, self.report(ticket, reward, parts), by_id=True)

    @precondition(lambda self: self.whole)
    @rule(ends=st.sampled_from(["fail", "fail", "settle", "void"]), parts=shares, which=picks)
    def probe_an_arm(self, ends: str, parts: list[int], which: int) -> None:
        """Ask for the arms that cool down alone, as soon as they are ready, twice."""
        cooling = [place for place in self.ledger.present if self.ledger.wait(place)]
        if not cooling or self.terms.plays > 1:
            return
        place = cooling[which % len(cooling)]
        self.harness.clock += self.ledger.wait(place)
        before = len(self.ledger.tickets)
        self.ask_for(2, None, {place: None})
        self.ask_for(1, None, {place: None})
        if len(self.ledger.tickets) > before:
            ticket = self.ledger.tickets[before + 1]
            if ends == "void":
                self.void_once(ticket)
            else:
                self.say(ends, ticket, self.report(ticket, [0.0, 0.0], parts))
            self.ask_for(1, None, {place: None})

    @precondition(lambda self: self.terms.expires_after is not None)
    @rule(settle=st.sampled_from(["tell", "void", "neither"]), reward=rewards, parts=shares)
    def ask_and_wait_too_long(self, settle: str, reward: list[float], parts: list[int]) -> None:
        self.ask_for(1, None)
        self.harness.clock += LIFE
        self.expire_now()
        if settle == "tell" and self.has_tickets:
            self.tell_once(self.pick(-1), self.report(self.pick(-1), reward, parts), by_id=True)
        if settle == "void" and self.has_tickets:
            self.void_once(self.pick(-1))

    def expire_now(self) -> None:
        assert self.campaign.expire() == self.ledger.expire()

    @precondition(lambda self: self.whole)
    @rule(masked=st.booleans(), data=st.data())
    def look_at_probabilities(self, masked: bool, data: st.DataObject) -> None:
        """An ask would choose nothing that is not shown."""
        mask = self.draw_mask(data) if masked else None
        if self.policy != UNIFORM or not hasattr(self.campaign, "probabilities"):
            return
        arms = {} if mask is None else {"arms": self.named(mask)}
        shown = attempt(lambda: self.campaign.probabilities(**arms))
        if isinstance(shown, PurseError):
            with pytest.raises(Refusal) as caught:
                self.ledger.foresee(mask)
            self.is_refusal(shown, caught.value)
        else:
            chances = self.ledger.foresee(mask)
            assert list(shown) == [arm.name for arm in self.ledger.arms]
            if self.terms.plays == 1:
                rest = (1 - sum(chances.values())) / len(chances)
                expected = [
                    chances[place] + rest if place in chances else 0 for place in range(len(shown))
                ]
                assert list(shown.values()) == pytest.approx(expected, abs=1e-12)
