"""Rules of the machine: asks, with masks and without; time, money, arms and files."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from purse import AskRefused, PurseError
from tests.support.machine_base import (
    BAD_CONTEXTS,
    DAY,
    LIFE,
    UNIFORM,
    WITHIN,
    attempt,
    picks,
    rewards,
    shares,
)
from tests.support.machine_reports import ReportMachine
from tests.support.reference_ledger import Context, Drawn, Mask, Refusal, Units, written
from tests.support.reference_terms import labels_of

BAD_MASKS: list[Any] = [[], ["nobody"], {}, {"nobody": 1}, {"red": -1}, "red", 3, [["red"]]]
PASSES = [1, 1_000, 7_000, 20_000, LIFE - 1, LIFE, LIFE + 1, WITHIN, DAY, -DAY, -DAY]
NAMES = ["red", "green", "blue", "white", "black"]
lows, highs = st.sampled_from([None, 1000, 500, 0]), st.sampled_from([500, 2000, None, 1000])


class AskMachine(ReportMachine):
    """Asks of all kinds; what comes must be allowed by the ledger."""

    @rule(n=st.sampled_from([1, 1, 2, 3, 12]), named=st.booleans())
    def ask(self, n: int, named: bool) -> None:
        self.ask_for(n, f"request-{next(self.requests)}" if named else None)

    @rule(n=st.sampled_from([1, 1, 2, 12]), named=st.booleans(), data=st.data())
    def ask_for_some_arms(self, n: int, named: bool, data: st.DataObject) -> None:
        request_id = f"request-{next(self.requests)}" if named else None
        self.ask_for(n, request_id, self.draw_mask(data))

    def draw_mask(self, data: st.DataObject) -> Mask:
        """Some arms, retired ones too, and for some the most that the call may cost."""
        everybody = range(len(self.ledger.arms))
        places = data.draw(st.lists(st.sampled_from(everybody), unique=True, min_size=1))
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

    @rule(data=st.data(), past=st.integers(1, 5), which=picks)
    def say_what_cannot_be(self, data: st.DataObject, past: int, which: int) -> None:
        """Arms, tickets and reports that are not there or not possible: each is refused."""
        bad = data.draw(st.sampled_from(BAD_MASKS))
        good = self.as_asked(self.draw_contexts(1))
        self.refuses(lambda: self.campaign.ask(arms=bad, **good), Refusal("InvalidInput"))
        context = data.draw(st.sampled_from(BAD_CONTEXTS))
        if self.terms.features is None:
            context = [1, 1]
        self.refuses(lambda: self.campaign.ask(context=context), Refusal("InvalidInput"))
        self.use_a_ticket_that_was_never_issued(past)
        if self.has_tickets:
            self.tell_what_cannot_be(which, data)

    @precondition(lambda self: self.ledger.requests)
    @rule(which=picks, other=st.sampled_from([0, 0, 0, 1]), masked=st.booleans(), data=st.data())
    def ask_again(self, which: int, other: int, masked: bool, data: st.DataObject) -> None:
        request_id = list(self.ledger.requests)[which % len(self.ledger.requests)]
        kind, *rest = self.ledger.requests[request_id]
        n, mask, seen = rest if kind == "ask" else (1, None, None)
        if not masked and other:
            mask = tuple(self.draw_mask(data).items())
        assert isinstance(n, int)
        n += other * masked
        contexts = self.draw_contexts(n)
        if contexts is not None and isinstance(seen, tuple) and self.random.random() < 0.8:
            contexts = [self.said(context) for context in seen] + contexts[len(seen) :]
        masked_arms: Any = None if mask is None else dict(mask)  # type: ignore[call-overload]
        self.ask_for(n, request_id, masked_arms, contexts)

    def draw_contexts(self, n: int) -> list[Context] | None:
        """As many as are asked for, where there are features; some values are outside."""
        if self.terms.features is None:
            return None
        lengths, codes = (-1.0, 0.0, 3000.0, 8000.0, 9000.0), (-2.0, 0.0, 0.5, 1000.0)
        return [(self.random.choice(lengths), self.random.choice(codes)) for _ in range(n)]

    def said(self, seen: Context) -> Context:
        """A context that is seen so, in other words than the first time."""
        low, high = self.terms.features or (0.0, 0.0)
        first = low + (seen[0] + 1) / 2 * (high - low)
        return first + 7 * (first == high) - 7 * (first == low), seen[1]

    def as_asked(self, contexts: list[Context] | None) -> dict[str, Any]:
        """Contexts as the arguments of an ask, by name or in order."""
        if contexts is None:
            return {}
        if len(contexts) > 1:
            return {"contexts": [list(context) for context in contexts]}
        return {"context": dict(zip(("length", "code"), contexts[0], strict=True))}

    def call(
        self, n: int, request_id: str | None, mask: Mask | None, contexts: list[Context] | None
    ) -> list[Any]:
        more = {} if mask is None else {"arms": self.named(mask)}
        more |= {**self.as_asked(contexts), "labels": labels_of(request_id)}
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

    def ask_for(
        self,
        n: int,
        request_id: str | None,
        mask: Mask | None = None,
        contexts: list[Context] | None = None,
    ) -> None:
        ledger = self.ledger
        contexts = contexts or self.draw_contexts(n)
        ledger.expire()
        try:
            earlier = ledger.repeat(n, request_id, mask, contexts)
            if earlier is None:
                ledger.open_for_asks(mask)
        except Refusal as refusal:
            return self.refuses(lambda: self.call(n, request_id, mask, contexts), refusal)
        if earlier is not None:
            return self.check_tickets(self.call(n, request_id, mask, contexts), earlier)
        expected = ledger.refusal(mask)
        answer = attempt(lambda: self.call(n, request_id, mask, contexts))
        if expected is not None:
            assert isinstance(answer, AskRefused), f"{answer}, and not {expected!r}"
            return self.is_refusal(answer, expected)
        assert not isinstance(answer, Exception), answer
        self.take(answer, n, request_id, mask, contexts)
        return None

    def take(
        self,
        answer: list[Any],
        n: int,
        request_id: str | None,
        mask: Mask | None,
        contexts: list[Context] | None,
    ) -> None:
        """Tickets came: they must be right, and as many as there could be."""
        ledger, names = self.ledger, [arm.name for arm in self.ledger.arms]
        drawn = [
            Drawn(
                ticket.id,
                ticket.t,
                None if ticket.skipped else names.index(ticket.arm),
                ticket.probability,
            )
            for ticket in answer
        ]
        assert 1 <= len(drawn) <= n
        evenly = self.policy == UNIFORM
        issued = ledger.issue(drawn, n, request_id, mask, contexts, evenly=evenly)
        self.check_tickets(answer, issued)
        if len(drawn) < n:
            assert ledger.refusal(mask)

    @rule(reward=rewards, parts=shares)
    def ask_and_tell(self, reward: float, parts: list[int]) -> None:
        self.ask_for(1, None)
        if self.has_tickets:
            ticket = self.pick(-1)
            self.tell_once(ticket, self.report(ticket, reward, parts), by_id=True)

    @rule(
        which=picks,
        ends=st.lists(st.sampled_from(["fail", "break", "settle", "void"]), min_size=1, max_size=3),
        parts=shares,
        early=st.sampled_from([0, 0, 1]),
    )
    def break_an_arm(self, which: int, ends: list[str], parts: list[int], early: int) -> None:
        """Ask for one arm alone; its calls fail, one after another, as soon as it is ready, and
        once a moment too early; those in flight fail, too.
        """
        present = self.ledger.present
        only: Mask = {present[which % len(present)]: None}
        for end in ["fail", *ends]:
            before = len(self.ledger.tickets)
            self.ask_for(2, None, only)
            for number in range(before + 1, len(self.ledger.tickets) + 1):
                ticket = self.ledger.tickets[number]
                if ticket.arm is None:
                    continue  # its round passed
                if end == "void":
                    self.void_once(ticket)
                else:
                    self.say(end, ticket, self.report(ticket, 0.0, parts))
                self.ask_for(1, None, only)
            self.harness.clock += max(0, self.ledger.wait(next(iter(only))) - early)

    @precondition(lambda self: self.terms.reward_within is not None)
    @rule(reward=rewards, parts=shares, ms=st.sampled_from([WITHIN, WITHIN - 1, DAY, -DAY]))
    def wait_for_a_reward(self, reward: float, parts: list[int], ms: int) -> None:
        """A cost comes, and its reward too late, or just in time."""
        self.ask_for(1, None)
        if not self.has_tickets:
            return
        ticket = self.pick(-1)
        report = self.report(ticket, reward, parts)
        self.say("settle", ticket, report)
        self.harness.clock += ms
        self.expire_now()
        self.say("reward", ticket, report)
        self.tell_once(ticket, report, by_id=True)

    @rule(n=st.sampled_from([21, 19]), void=st.booleans())
    def ask_in_silence(self, n: int, void: bool) -> None:
        """Many tickets of one cheap arm, and nobody says what they bring."""
        arms = self.ledger.arms
        cheap = min(self.ledger.present, key=lambda place: arms[place].most)
        self.ask_for(n, None, {cheap: None})
        self.ask_for(4, None)
        if void and self.has_tickets:
            self.void_once(self.pick(-1))
            self.ask_for(4, None)

    @precondition(lambda self: self.terms.expires_after is not None)
    @rule(settle=st.sampled_from(["tell", "void", "neither"]), reward=rewards, parts=shares)
    def ask_and_wait_too_long(self, settle: str, reward: float, parts: list[int]) -> None:
        self.ask_for(1, None)
        self.harness.clock += LIFE
        self.expire_now()
        if settle == "tell" and self.has_tickets:
            self.tell_once(self.pick(-1), self.report(self.pick(-1), reward, parts), by_id=True)
        if settle == "void" and self.has_tickets:
            self.void_once(self.pick(-1))

    def expire_now(self) -> None:
        assert self.campaign.expire() == self.ledger.expire()

    @rule(masked=st.booleans(), data=st.data())
    def look_at_probabilities(self, masked: bool, data: st.DataObject) -> None:
        """An ask would choose nothing that is not shown."""
        mask = self.draw_mask(data) if masked else None
        if self.policy != UNIFORM:
            return
        arms = {} if mask is None else {"arms": self.named(mask)}
        arms |= self.as_asked(self.draw_contexts(1))
        # who looks sees the boundaries that are due, and makes none; the clock is this machine's
        ledger = deepcopy(self.ledger, {id(self): self})
        ledger.begin()
        shown = attempt(lambda: self.campaign.probabilities(**arms))
        if isinstance(shown, PurseError):
            with pytest.raises(Refusal) as caught:
                ledger.foresee(mask)
            self.is_refusal(shown, caught.value)
        else:
            chances = ledger.foresee(mask)
            assert list(shown) == [arm.name for arm in ledger.arms]
            rest = (1 - sum(chances.values())) / len(chances)
            expected = [
                chances[place] + rest if place in chances else 0 for place in range(len(shown))
            ]
            assert list(shown.values()) == pytest.approx(expected, abs=1e-12)


class CampaignMachine(AskMachine):
    """All verbs: those of asks and reports, and of time, money, arms and files."""

    @rule(ms=st.sampled_from(PASSES))
    def time_passes(self, ms: int) -> None:
        self.harness.clock += ms
        if ms % 2:
            self.expire_now()

    @rule(units=st.sampled_from([1, 500_000_000, 2_000_000_000]), named=st.booleans())
    def top_up(self, units: int, named: bool) -> None:
        self.top_up_with(
            (units,) * len(self.terms.resources),
            f"request-{next(self.requests)}" if named else None,
        )

    @precondition(lambda self: self.ledger.requests)
    @rule(which=picks, more=st.sampled_from([0, 0, 1]))
    def top_up_again(self, which: int, more: int) -> None:
        request_id = list(self.ledger.requests)[which % len(self.ledger.requests)]
        kind, *rest = self.ledger.requests[request_id]
        units = rest[0] if kind == "top_up" else (1,) * len(self.terms.resources)
        assert isinstance(units, tuple)
        self.top_up_with(tuple(unit + more for unit in units), request_id)

    def top_up_with(self, units: Units, request_id: str | None) -> None:
        amounts = dict(zip(self.terms.resources, map(written, units), strict=True))
        self.same(
            lambda: self.campaign.top_up(amounts, request_id),
            lambda: self.ledger.top_up(units, request_id),
        )

    @rule(to=st.sampled_from(["paused", "running"] * 4 + ["ended"]))
    def switch(self, to: str) -> None:
        change = {
            "paused": self.campaign.pause,
            "running": self.campaign.resume,
            "ended": self.campaign.end,
        }[to]
        self.same(change, lambda: self.ledger.switch(to))

    @rule(
        verb=st.sampled_from(["set_arm", "add_arm"]),
        name=st.sampled_from(NAMES),
        low=lows,
        high=highs,
    )
    def change_an_arm(self, verb: str, name: str, low: int | None, high: int | None) -> None:
        """A new arm, one that comes back, or other costs: some of what is wanted cannot be."""
        place = next((k for k, arm in enumerate(self.ledger.arms) if arm.name == name), -1)
        near = self.ledger.arms[place]
        least = None if low is None else tuple(units * low // 1000 for units in near.least)
        most = None if high is None else tuple(units * high // 1000 for units in near.most)
        costs = {
            field: [written(units) for units in bound]
            for field, bound in (("cost_min", least), ("cost_max", most))
            if bound is not None
        }
        self.same(
            lambda: getattr(self.campaign, verb)(name, **costs),
            lambda: getattr(self.ledger, verb)(name, least, most),
        )

    @rule(name=st.sampled_from(NAMES[:3]))
    def retire_an_arm(self, name: str) -> None:
        self.same(lambda: self.campaign.retire_arm(name), lambda: self.ledger.retire_arm(name))

    @rule(drop=st.booleans())
    def reopen(self, drop: bool) -> None:
        if drop:
            self.harness.drop_checkpoints(self.name)
        self.campaign = self.harness.open(self.name)
