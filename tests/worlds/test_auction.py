from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine.draws import draws

OPTIONS: dict[str, Any] = {
    "bids": [0.1, 0.3, 0.5],
    "rivals": [0.2, 0.3, 0.6, 0],
    "chances": [0.4, 0.3, 0.2, 0.1],
    "conversion": 0.25,
    "auctions": 1000,
}


def test_means_by_hand() -> None:
    world = worlds.auction(**OPTIONS)
    # a bid wins against rivals up to its height: 0; 0, .2 and .3; the same
    assert world.reward_means == pytest.approx([0.25 * 0.1, 0.25 * 0.8, 0.25 * 0.8])
    assert world.cost_means is not None
    assert world.cost_means.ravel() == pytest.approx([0, 0.4 * 0.2 + 0.3 * 0.3, 0.17])
    assert (world.horizon, world.costs) == (1000, None)
    assert world.cost_min.ravel().tolist() == [0, 0, 0]
    assert world.cost_max.ravel().tolist() == [0, 300_000_000, 300_000_000]


def test_a_win_costs_the_rival_bid_and_a_loss_nothing() -> None:
    world = worlds.auction(**OPTIONS | {"bids": [0.3, 0.9], "conversion": 0.5})
    n_rounds = 4000
    rewards, units = draws(world, n_rounds)
    costs = units[:, :, 0] / 1e9
    assert set(costs[:, 0]) == {0.0, 0.2, 0.3}
    assert set(costs[:, 1]) == {0.0, 0.2, 0.3, 0.6}
    for arm, lost in ((0, 0.2), (1, 0.0)):
        for price, chance in ((0.2, 0.4), (0.3, 0.3), (0.0, 0.1 + lost)):
            seen = (costs[:, arm] == price).mean()
            assert abs(seen - chance) < 4 * np.sqrt(chance * (1 - chance) / n_rounds)
        won = costs[:, arm] > 0
        assert abs(rewards[won, arm].mean() - 0.5) < 4 * 0.5 / np.sqrt(won.sum())
    # nobody pays for an auction that was lost
    sure = worlds.auction(**OPTIONS | {"conversion": 1, "rivals": [0.2, 0.3, 0.6, 0.7]})
    rewards, units = draws(sure, n_rounds)
    assert ((rewards == 1) == (units[:, :, 0] > 0)).all()


def test_little_money_asks_for_low_bids_and_much_for_high_ones() -> None:
    world = worlds.auction(
        bids=[0.1, 0.9], rivals=[0.1, 0.9], chances=[0.5, 0.5], conversion=1, auctions=100
    )
    assert purse.lab.theory.fluid.lp_optimum(world, 5).plays.tolist() == pytest.approx([100, 0])
    assert purse.lab.theory.fluid.lp_optimum(world, 50).plays.tolist() == pytest.approx([0, 100])


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("bids", [0.1, 0], "must be positive"),
        ("bids", [], "must have 1 dimension and at least one entry"),
        ("bids", [[0.1]], "must have 1 dimension and at least one entry"),
        ("bids", [0.1, 0.19], "must have a bid that can win at a positive price"),
        ("rivals", [0.1, 0.2, 0.3, -0.1], "must not be negative"),
        ("rivals", [0.1, 0.2], "chances has 4 entries, and rivals has 2"),
        ("rivals", [0, 0, 0, 0], "must have a bid that can win at a positive price"),
        ("chances", [0.4, 0.3, 0.2, 0.2], "must sum to 1, and not to 1.1"),
        ("chances", [1.4, 0, 0, -0.4], "must lie between 0 and 1"),
        ("conversion", 1.5, "must be a number at least 0 and at most 1"),
        ("conversion", nan, "must be a number at least 0 and at most 1"),
        ("auctions", 0, "must be a whole number from 1 up"),
    ],
)
def test_a_bad_value_is_refused(field: str, value: Any, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=message):
        worlds.auction(**OPTIONS | {field: value})
