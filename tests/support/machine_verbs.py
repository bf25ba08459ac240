"""Rules of the machine: time, money, arms and files."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.support.campaign_machine import DAY, LIFE, WITHIN, picks
from tests.support.machine_asks import AskMachine
from tests.support.reference_ledger import Units, written

PASSES = [1, 1_000, 7_000, 20_000, LIFE - 1, LIFE, LIFE + 1, WITHIN, DAY, -DAY, -DAY]
NAMES = ["red", "green", "blue", "white", "black"]
lows, highs = st.sampled_from([None, 1000, 500, 0]), st.sampled_from([500, 2000, None, 1000])


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
        self.top_up_with(tuple(unit + more for unit in units), request_id)  # type: ignore[attr-defined]

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
