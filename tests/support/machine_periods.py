"""A campaign whose budget is renewed, and a clock that jumps over boundaries, to them, and back."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.support.campaign_machine import DAY, some_periods
from tests.support.machine_verbs import CampaignMachine
from tests.support.reference_ledger import Terms

JUMPS = [DAY, 3 * DAY, 40 * DAY, -DAY, -9 * DAY]


class PeriodMachine(CampaignMachine):
    """All verbs, in periods."""

    def draw_terms(self, data: st.DataObject, resources: int | None = None) -> Terms:
        terms = super().draw_terms(data, resources)
        return terms._replace(periods=data.draw(some_periods()))

    @rule(late=st.sampled_from([0, 0, -1, 1]), verb=st.sampled_from(["ask", "expire", "look"]))
    def go_to_the_boundary(self, late: int, verb: str) -> None:
        """To the instant itself, or a moment before or after it; often the next verb is an ask."""
        _, period = self.ledger.shown()
        assert period is not None
        self.harness.clock = period.next + late
        if verb == "ask":
            self.ask_for(1, None)
        elif verb == "expire":
            self.expire_now()

    @rule(ms=st.sampled_from(JUMPS))
    def sleep(self, ms: int) -> None:
        """Over several boundaries, or back over some that were made."""
        self.harness.clock += ms
