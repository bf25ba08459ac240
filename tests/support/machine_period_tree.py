"""Campaigns and accounts that are renewed, each at boundaries of its own."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.support.campaign_machine import picks, some_periods
from tests.support.machine_periods import PeriodMachine
from tests.support.machine_tree import TreeMachine
from tests.support.reference_ledger import Periods, Units


class PeriodTreeMachine(TreeMachine, PeriodMachine):
    """Refunds of holds that have ended on one level and not on another."""

    def draw_periods(self, data: st.DataObject, budget: Units) -> Periods | None:
        return data.draw(st.one_of(some_periods(), st.none()))

    @rule(which=picks, late=st.sampled_from([0, -1, 1]))
    def go_to_the_boundary_of_an_account(self, which: int, late: int) -> None:
        """To the instant itself, or a moment before or after it."""
        _, period = self.trees[which % len(self.trees)].shown()
        if period is not None:
            self.harness.clock = period.next + late
