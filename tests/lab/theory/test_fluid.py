import sys

import numpy as np
import pytest
from scipy.optimize import linprog

from purse import worlds
from purse.errors import MissingExtra
from purse.lab.theory.fluid import lp_optimum, mix


def test_the_closed_form_is_the_linear_program() -> None:
    random = np.random.default_rng(0)
    for _ in range(100):
        n_arms = int(random.integers(1, 6))
        costs = random.choice([0.0, 0.1, 0.25, 0.5, 1.0], n_arms)
        costs += (random.random(n_arms) < 0.5) * random.random(n_arms)
        rewards = random.random(n_arms)
        budget, rounds = float(random.uniform(0.5, 30)), int(random.integers(1, 60))
        best = mix(costs, rewards, budget, rounds)
        found = linprog(
            -rewards, A_ub=[costs, np.ones(n_arms)], b_ub=[budget, rounds], method="highs"
        )
        assert rewards @ best == pytest.approx(-found.fun, abs=1e-9)
        assert costs @ best <= budget + 1e-9
        assert best.sum() <= rounds + 1e-9
        assert (best > 0).sum() <= 2


def test_without_a_horizon_the_best_efficiency_takes_it_all() -> None:
    world = worlds.bernoulli(rewards=[0.9, 0.6, 0.4], costs=[0.8, 0.3, 0.25])
    found = lp_optimum(world, 300)
    assert found.value == pytest.approx(600)
    assert found.plays == pytest.approx([0, 1000, 0])


def test_several_resources_are_solved_and_both_limits_hold() -> None:
    world = worlds.function("ad_slots")(
        clicks=[0.1, 0.05, 0.2], values=[0.6, 1, 0.2], prices=[0.5, 0.9, 0.1], views=5000
    )
    found = lp_optimum(world, [100, 3000])
    assert (world.cost_means.T @ found.plays <= np.array([100, 3000]) + 1e-6).all()
    assert found.plays.sum() <= 5000 + 1e-6
    assert found.value == pytest.approx(world.reward_means @ found.plays)
    assert lp_optimum(world, [100, 3000], horizon=1000).value < found.value


def test_without_scipy_one_resource_has_an_optimum_and_several_name_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    one = "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
    assert lp_optimum(one, budget=50, horizon=100).value == pytest.approx(72)
    several = "bernoulli:rewards=[.9,.6],costs=[[.8,.1],[.3,.2]]"
    with pytest.raises(MissingExtra, match=r"several resources needs scipy: .*\[lab\]'$"):
        lp_optimum(several, budget=50, horizon=100)
