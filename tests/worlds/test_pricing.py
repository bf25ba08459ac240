from __future__ import annotations

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine.draws import draws


def test_pricing_sells_at_the_price_and_no_sale_costs_nothing() -> None:
    world = worlds.pricing(prices=[2, 4, 8], chances=[0.9, 0.5, 0.1], customers=1000)
    assert world.horizon == 1000
    assert (world.cost_min.ravel().tolist(), world.cost_max.ravel().tolist()) == (
        [0, 0, 0],
        [10**9] * 3,
    )
    rewards, costs = draws(world, 1000)
    for arm, price in enumerate((0.25, 0.5, 1.0)):
        sold = costs[:, arm, 0] == 10**9
        assert set(rewards[sold, arm]) == {price}
        assert set(rewards[~sold, arm]) == {0.0}
        assert set(costs[~sold, arm, 0]) == {0}
        chance = (0.9, 0.5, 0.1)[arm]
        assert abs(sold.mean() - chance) < 4 * np.sqrt(chance * (1 - chance) / 1000)


def test_a_stock_cannot_be_oversold_and_the_game_ends_with_the_customers() -> None:
    world = worlds.pricing(prices=[2, 4], chances=[0.9, 0.5], customers=300)
    run = purse.simulate("uniform", world, 50, n_paths=10)
    assert (run.spent[:, 0] == 50).all()
    plenty = purse.simulate("uniform", world, 1000, n_paths=10)
    assert (plenty.rounds == 300).all()


def test_policies_that_divide_by_the_least_cost_refuse_what_may_be_free() -> None:
    for policy in ("exp3.bwk", "exp3++.bwk", "exp3++.price", "ucb-bv1"):
        with pytest.raises(
            purse.InvalidInput, match="cost_min=0: this policy needs every pull to cost something"
        ):
            purse.simulate(policy, worlds.example("pricing"), 10, n_paths=1)
    with pytest.raises(purse.InvalidInput, match="pulls that cost nothing"):
        purse.lab.regrets("uniform", worlds.example("pricing"), 10, n_paths=1)
    with pytest.raises(purse.InvalidInput, match="must be positive"):
        worlds.bernoulli(rewards=[0.5], costs=[0])
