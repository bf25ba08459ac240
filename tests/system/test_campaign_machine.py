"""Random sequences of calls on a campaign, in every kind of storage and over HTTP, held against the
reference ledger after every step.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.support.contexts import SEES
from tests.support.machine_base import INITIAL, UNIFORM
from tests.support.machine_tree import PeriodMachine, PeriodTreeMachine, TreeMachine
from tests.support.machine_verbs import CampaignMachine
from tests.support.soak import scale
from tests.support.storages import StorageHarness


def run(machine: type[CampaignMachine], harness: StorageHarness, policy: str, part: int) -> None:
    """A machine in a storage, with one part of its examples."""
    # what goes wrong in one harness mostly does in the quick one, too
    phases = [Phase.generate, Phase.shrink] if harness.quick else [Phase.generate]
    rules = settings(
        max_examples=scale(max(1, harness.examples // part), 20 * harness.examples // part),
        stateful_step_count=scale(30, 60),
        deadline=None,
        derandomize=True,
        database=None,
        phases=phases,
    )
    run_state_machine_as_test(
        type("Machine", (machine,), {"harness": harness, "policy": policy}), settings=rules
    )


@pytest.mark.parametrize("policy", [UNIFORM, INITIAL])
@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres", "http"])
def test_no_sequence_of_calls_breaks_the_books(
    make_harness: Callable[[str], StorageHarness], kind: str, policy: str
) -> None:
    part = (1 if policy == UNIFORM else 2) * (1 if kind == "memory" else 2)
    run(CampaignMachine, make_harness(kind), policy, part)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_nor_do_they_where_the_policy_sees_contexts(
    make_harness: Callable[[str], StorageHarness], kind: str
) -> None:
    run(CampaignMachine, make_harness(kind), SEES, 2 if kind == "memory" else 4)


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres", "http"])
def test_nor_do_they_where_campaigns_share_accounts(
    make_harness: Callable[[str], StorageHarness], kind: str
) -> None:
    """On every level nothing is overspent, and all figures are those of the ledgers."""
    run(TreeMachine, make_harness(kind), UNIFORM, 5 if kind == "memory" else 6)


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres", "http"])
def test_nor_do_they_where_budgets_are_renewed(
    make_harness: Callable[[str], StorageHarness], kind: str
) -> None:
    """Boundaries are made once and in order, whatever the clock does."""
    run(PeriodMachine, make_harness(kind), UNIFORM, 5 if kind == "memory" else 6)


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_nor_do_they_where_accounts_are_renewed_too(
    make_harness: Callable[[str], StorageHarness], kind: str
) -> None:
    """Each level has its own boundaries."""
    run(PeriodTreeMachine, make_harness(kind), UNIFORM, 5 if kind == "memory" else 6)
