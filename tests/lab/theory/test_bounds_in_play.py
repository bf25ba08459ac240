"""The theorems in play: what policies lose lies within what was proved, and beyond what was not."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.lab.theory.bound import Bound, Setting
from purse.lab.theory.bounds import (
    proposition_a,
    proposition_c,
    theorem1,
    theorem2,
    theorem4,
    theorem5,
    two_worlds,
)

PER_ARM, ONE_COST = (Setting(True, costs) for costs in ("per arm", "one"))


def value(bound: Bound) -> float:
    assert bound.value is not None
    return bound.value


@pytest.mark.parametrize(
    ("budget", "alpha"), [(100, 0.5), (60, 0.9), (60.5, 0.7), (30, 0), (30, 1)]
)
@pytest.mark.parametrize("policy", ["exp3.bwk", "exp3++.bwk", "exp3++.price", "uniform", "fixed"])
def test_theorem5_is_the_mean_loss_over_both_best_arms(
    policy: str, budget: float, alpha: float
) -> None:
    how: dict[str, Any] = {"device": "python", "seed": 3}
    lost = []
    for best in (0, 1):
        world = worlds.theorem5(budget, alpha, best=best)
        most = purse.simulate(f"fixed:arm={best}", world, budget, n_paths=1, **how).gain[0]
        assert most == 2 * value(theorem5(budget, alpha))
        lost.append(most - purse.simulate(policy, world, budget, n_paths=4, **how).gain)
    assert (lost[0] + lost[1] == most).all()
    assert np.mean(lost) == value(theorem5(budget, alpha))


def least_mean_regret(rounds: int, gap: float) -> float:
    """The mean loss of the best player that does not know which of two arms is better, by recursion
    over all that it can see.
    """
    better = 0.5 + gap

    @cache
    def lost(left: int, wins: tuple[int, int], losses: tuple[int, int]) -> float:
        if left == 0:
            return 0.0
        odds = [(better / 0.5) ** wins[arm] * ((1 - better) / 0.5) ** losses[arm] for arm in (0, 1)]
        options = []
        for arm in (0, 1):
            right = odds[arm] / sum(odds)
            pays = right * better + (1 - right) / 2
            win = (wins[0] + (arm == 0), wins[1] + (arm == 1))
            loss = (losses[0] + (arm == 0), losses[1] + (arm == 1))
            then = pays * lost(left - 1, win, losses) + (1 - pays) * lost(left - 1, wins, loss)
            options.append(gap * (1 - right) + then)
        return min(options)

    return lost(rounds, (0, 0), (0, 0))


@pytest.mark.parametrize("scale", [0.05, 0.25, 0.4])
def test_theorem2_corrected_is_below_the_loss_of_the_best_player(scale: float) -> None:
    for rounds in (2, 3, 5, 8, 12):
        lower = value(theorem2(2, rounds / 2, 0.5, form="corrected", scale=scale))
        least = least_mean_regret(rounds, scale * math.sqrt(2 / rounds))
        assert lower <= least <= scale * math.sqrt(2 * rounds) / 2


def test_theorem2_corrected_is_below_the_loss_of_exp3_bwk() -> None:
    found = []
    for best in range(3):
        world = worlds.theorem2(n_arms=3, budget=200, cost_min=0.5, best=best)
        found.append(purse.lab.regrets("exp3.bwk", world, 200, n_paths=1000, seed=best))
    lower = value(theorem2(3, 200, 0.5, form="corrected"))
    most = 0.25 * math.sqrt(3 * 200 / 0.5)
    for notion in ("pseudo_regret", "best_fixed_arm"):
        estimates = [regrets[notion] for regrets in found]
        error = math.sqrt(sum(estimate.error**2 for estimate in estimates)) / 3
        mean = sum(estimate.mean for estimate in estimates) / 3
        assert lower < mean - 3 * error < mean + 3 * error < most * 1.2
    assert 3.5 < lower < 3.7


@pytest.mark.parametrize(
    "policy", ["exp3.bwk", "exp3++.bwk", "exp3.bwk:gamma=proof", "exp3.bwk:gamma=0.3"]
)
@pytest.mark.parametrize(
    ("world", "n_arms", "cost_min", "cost_max", "setting"),
    [
        ("bernoulli:rewards=[.9,.6,.4],costs=[.8,.3,.25]", 3, 0.25, 0.8, PER_ARM),
        ("bernoulli:rewards=[1,0],costs=[1,.2]", 2, 0.2, 1, PER_ARM),
        ("bernoulli:rewards=[1,0],costs=[.5,.5]", 2, 0.5, 0.5, ONE_COST),
        ("theorem2:n_arms=3,cost_min=0.5", 3, 0.5, 0.5, ONE_COST),
    ],
)
def test_propositions_a_and_c_are_above_the_loss(
    policy: str, world: str, n_arms: int, cost_min: float, cost_max: float, setting: Setting
) -> None:
    name, _, option = policy.partition(":gamma=")
    gamma = {"": "theorem", "proof": "proof", "0.3": 0.3}[option]
    found = purse.lab.regrets(policy, world, 200, n_paths=200, seed=1)
    problem = n_arms, 200, cost_min
    known: dict[str, Any] = {"cost_max": cost_max, "policy": name, "gamma": gamma}
    reward = proposition_c(*problem, **known, setting=setting)
    assert reward.applies
    own, best = found["own_rounds"], found["best_fixed_arm"]
    assert own.mean + 3 * own.error < value(proposition_a(*problem, **known))
    assert best.mean + 3 * best.error < value(reward)
    assert value(proposition_c(*problem, **known, setting=PER_ARM)) >= value(reward)


@pytest.mark.parametrize("policy", ["exp3.bwk", "exp3++.bwk"])
def test_two_worlds_break_theorem1_and_not_proposition_a(policy: str) -> None:
    budget = 20_000
    found = [
        purse.lab.regrets(
            policy, f"two_worlds:cost_min=.1,world={world}", budget, n_paths=4, seed=0
        )
        for world in (1, 2)
    ]
    worst = max(found, key=lambda each: each["best_fixed_arm"].mean)
    stated = theorem1(2, budget, 0.1) if policy == "exp3.bwk" else theorem4(2, budget, 0.1)
    assert worst["best_fixed_arm"].low > value(two_worlds(budget, 0.1)) > value(stated)
    most = value(proposition_a(2, budget, 0.1, policy=policy))
    for each in found:
        assert each["own_rounds"].mean + 3 * each["own_rounds"].error < most
