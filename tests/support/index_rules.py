"""What the tests of the index rules share: rounds by hand, defaults and edges."""

from __future__ import annotations

import pytest

import purse
from purse import policies
from purse.types import Problem
from tests.support.policies import index_edges, refuses, scores, tell_all


def rounds_by_hand(
    policy: str, third: list[float], fourth: list[float], fifth: list[float], *, rel: float
) -> None:
    """The indices before rounds 3, 4 and 5, where arm 0 pays 1 for 0.5 and then nothing for 1, and
    arm 1 the other way round.
    """
    live = purse.Policy(policy, n_arms=2, budget=100, cost_min=0.5, seed=0)
    assert tell_all(live, (1, 0.5), (0, 1)) == [0, 1]
    for index in (third, fourth):
        assert scores(live) == pytest.approx(index, rel=rel)
        assert tell_all(live, (0, 1)) == [0]
    assert scores(live) == pytest.approx(fifth, rel=rel)  # the other arm's turn
    assert tell_all(live, (1, 0.5), (0, 1)) == [1, 1]
    # t = 7: both have 3 pulls, 1 in reward, 2.5 in cost: a tie
    assert live.probabilities().tolist() == [0.5, 0.5]


def edges(
    policy: str,
    default: tuple[float, ...],
    *options: str,
    allowed: str = "must be a number above 0",
) -> None:
    """The parameters where c_min is 0.5, the edges of an index rule, and what it refuses."""
    assert policies.load(policy).params(Problem.of(n_arms=2, budget=1, cost_min=0.5)) == default
    index_edges(policy)
    refuses(policy, *options, allowed=allowed)
