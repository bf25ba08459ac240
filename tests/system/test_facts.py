"""What is known about the algorithms of the field, seen in long runs with fixed seeds."""

import numpy as np
import pytest

import purse
from purse import worlds
from purse.lab.theory.growth import fit_growth
from tests.support.soak import SOAK

WORLD = worlds.bernoulli(rewards=[0.9, 0.3, 0.4], costs=[0.8, 1, 0.9])
BUDGETS = np.array([1e4, 1e5, 1e6])
OTHERS = ["fractional-kube", "kube", "ucb-bv2", "budgeted-thompson", "omega-ucb"]
POLICIES = ["ucb-bv1", *(OTHERS if SOAK else [])]


def pseudo_regrets(policy: str) -> np.ndarray:
    assert WORLD.efficiencies is not None
    assert WORLD.cost_means is not None
    loss = (WORLD.efficiencies.max() - WORLD.efficiencies) * WORLD.cost_means[:, 0]
    return np.array(
        [purse.simulate(policy, WORLD, budget, n_paths=10).pulls @ loss for budget in BUDGETS]
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_rules_for_stochastic_worlds_grow_like_log_b(policy: str) -> None:
    values = pseudo_regrets(policy)
    growth = fit_growth(BUDGETS, values)
    noise = float(
        (values.std(axis=1, ddof=1) / np.sqrt(values.shape[1]) / values.mean(axis=1)).max()
    )
    assert growth.shape == "log B"
    assert growth.misfits["log B"] < 0.01 + noise
    assert growth.misfits["√B"] > 3 * growth.misfits["log B"]
    assert growth.high < 0.25


def test_exp3_bwk_grows_like_the_root() -> None:
    growth = fit_growth(BUDGETS, pseudo_regrets("exp3.bwk"))
    assert growth.shape == "√B"
    assert growth.misfits["√B"] < 0.02
    assert growth.low < 0.5 < growth.high + 0.01
