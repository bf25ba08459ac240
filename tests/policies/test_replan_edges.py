"""Corners of `replan`: nothing costs, nothing is left, one arm, equal arms, caps, open tickets."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import purse
from purse.base import amounts
from tests.support.known_costs import caps_hold
from tests.support.plain_replan import CALM
from tests.support.policies import tell_all
from tests.support.soak import SOAK


def play(live: purse.Policy, n_rounds: int, reward: float, cost: Any) -> None:
    """Play rounds; chances are sound in each of them."""
    for _ in range(n_rounds):
        is_sound(live)
        live.tell(live.ask(), reward, cost)
    is_sound(live)


def is_sound(live: purse.Policy, allowed: list[int] | None = None) -> None:
    chances = live.probabilities(allowed)
    assert ((chances >= 0) & (chances <= 1)).all()
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    assert all(np.isfinite(array).all() for array in live.state)


@pytest.mark.parametrize("reward", [0, 1])
def test_pulls_that_cost_nothing(reward: float) -> None:
    live = purse.Policy("replan", n_arms=3, budget=5, cost_min=0, horizon=200)
    play(live, 199, reward, 0)
    two = purse.Policy("replan", n_arms=3, budget=[5, 5], cost_min=0, horizon=60, n_resources=2)
    play(two, 20, reward, [0, 0.1])
    play(two, 20, reward, [0, 0])


@pytest.mark.parametrize("horizon", [None, 100])
@pytest.mark.parametrize("spent", [1, 0.5])
def test_nothing_is_left(horizon: int | None, spent: float) -> None:
    live = purse.Policy("replan", n_arms=3, budget=3, cost_min=0.5, horizon=horizon, stop="exit")
    play(live, int(3 / spent), 0.5, spent)
    assert live.left == 0
    assert not live.tell(live.ask(), 1, 0.5)
    two = purse.Policy(
        "replan", n_arms=2, budget=[3, 9], cost_min=0.5, n_resources=2, horizon=horizon, stop="exit"
    )
    play(two, int(3 / spent), 0.5, [spent, 0.5])


def test_a_cost_above_what_was_declared() -> None:
    live = purse.Policy("replan", n_arms=3, budget=100, cost_min=0.1, stop="exit")
    live._game.game.holds[:] = 50 * amounts.UNIT  # it is told costs of 50 largest ones
    for cost in (20, 0.1, 30, 5):
        play(live, 1, 1, cost)
        live._left_units[:] += 20 * amounts.UNIT  # and left may be more than the budget was
    assert live.state.tops[:, 1].max() == pytest.approx(30)


def test_a_top_up_makes_it_as_curious_as_one_who_had_it_all() -> None:
    small, large = (purse.Policy(CALM, n_arms=2, budget=b, cost_min=0.1) for b in (10, 100))
    for live in (small, large):
        for arm in (0, 1, 1, 1):
            live.tell(live.ask([arm]), 0.1 * (1 + arm), 0.3)
    is_sound(small)
    before = small._game.scratch.gains.copy()
    small._left_units[:] += 90 * amounts.UNIT
    assert small.probabilities().tolist() == large.probabilities().tolist()
    lp, other = small._game.scratch, large._game.scratch
    assert (lp.gains.tolist(), lp.pulls.tolist()) == (other.gains.tolist(), other.pulls.tolist())
    assert (lp.gains > before).all()
    is_sound(small)


@pytest.mark.parametrize("horizon", [None, 50])
def test_one_arm_and_one_allowed_arm(horizon: int | None) -> None:
    alone = purse.Policy("replan", n_arms=1, budget=10, cost_min=0.5, horizon=horizon)
    assert tell_all(alone, (1, 0.5), (0, 1), (1, 0.5)) == [0, 0, 0]
    assert alone.probabilities().tolist() == [1.0]
    live = purse.Policy("replan", n_arms=4, budget=10, cost_min=0.5, horizon=horizon)
    for arm in (2, 0, 2, 3):
        assert live.probabilities([arm]) == pytest.approx(np.eye(4)[arm], abs=1e-15)
        live.tell(live.ask([arm]), 0, 1)
        is_sound(live, [1, arm])
        assert live.probabilities([1, 3])[[0, 2]].tolist() == [0, 0]


@pytest.mark.parametrize("n_resources", [1, 2])
@pytest.mark.parametrize("horizon", [None, 80])
def test_equal_arms_share_equally(horizon: int | None, n_resources: int) -> None:
    live = purse.Policy(
        "replan", n_arms=5, budget=50, cost_min=0.5, horizon=horizon, n_resources=n_resources
    )
    assert live.probabilities() == pytest.approx([0.2] * 5, abs=1e-15)
    for arm in range(5):
        live.tell(live.ask([arm]), 0.3, [0.5] * n_resources)
    assert live.probabilities() == pytest.approx([0.2] * 5, abs=1e-15)


@pytest.mark.parametrize("stop", ["hold", "exit"])
def test_open_tickets_are_spread_over_equal_arms(stop: str) -> None:
    live = purse.Policy(CALM, n_arms=5, budget=100, cost_min=0.5, stop=stop)
    tickets = [live.ask() for _ in range(10)]
    assert Counter(ticket.arm for ticket in tickets) == dict.fromkeys(range(5), 2)
    for ticket in reversed(tickets):
        live.tell(ticket, 0.5, 0.5)
    again = [live.ask().arm for _ in range(10)]
    assert max(Counter(again).values()) <= 4


def test_caps_hold_and_all_that_they_allow_is_spent() -> None:
    # under `retry` the game draws the last arms; for `fit` another loop is compiled
    caps_hold("replan", ("exit", "hold", *(["fit"] if SOAK else [])))


def test_open_tickets_count_against_caps() -> None:
    live = purse.Policy("replan", n_arms=3, budget=100, cost_min=0.5, caps=[3, 1, 0])
    tickets = [live.ask() for _ in range(4)]
    assert Counter(ticket.arm for ticket in tickets) == {0: 3, 1: 1}
    with pytest.raises(purse.AskRefused):
        live.ask()
    live.void(tickets[-1])
    assert live.ask().arm == tickets[-1].arm
    assert not live.probabilities().any()
