import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine import cpu
from purse.engine.job import make_job
from purse.policies import exp3_m_b
from purse.testing import check_policy
from purse.types import Floats, Problem
from tests.support.exp3_learners import problem, world_of
from tests.support.policies import EXACT, follows, make_live
from tests.support.soak import SOAK, scale

ROUNDS = scale(300, 1000)
MORE = [2, 4] if SOAK else []  # for each number of plays everything is compiled again


class Plain:
    """The rule written out in 50 digits: weights that cannot overflow, and a cap that is found by
    trying every number of arms.
    """

    def __init__(self, n_arms: int, plays: int, gamma: float) -> None:
        self.n_arms, self.plays, self.gamma = n_arms, plays, gamma
        self.log_weights = [0.0] * n_arms
        self.frozen: dict[int, set[int]] = {}

    def cut(self, weights: list[Decimal]) -> tuple[list[Decimal], set[int]]:
        """The weights after the cap, and the arms at it."""
        gamma = Decimal(self.gamma)
        share = (1 / Decimal(self.plays) - gamma / self.n_arms) / (1 - gamma)
        if max(weights) < share * sum(weights):
            return weights, set()
        order = sorted(range(self.n_arms), key=lambda i: -weights[i])
        for n in range(1, self.n_arms):
            if n * share >= 1:
                break
            cap = share * sum(weights[i] for i in order[n:]) / (1 - n * share)
            if weights[order[n]] < cap <= weights[order[n - 1]]:
                return [min(weight, cap) for weight in weights], set(order[:n])
        raise AssertionError("no cap fits")

    def probabilities(self, t: int) -> Floats:
        if self.plays == self.n_arms or self.gamma == 1:
            self.frozen[t] = set()
            return np.full(self.n_arms, self.plays / self.n_arms)
        with localcontext() as context:
            context.prec = 50
            weights, self.frozen[t] = self.cut([Decimal(x).exp() for x in self.log_weights])
            gamma = Decimal(self.gamma)
            return np.array(
                [
                    float(self.plays * ((1 - gamma) * weight / sum(weights) + gamma / self.n_arms))
                    for weight in weights
                ]
            )

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        if arm not in self.frozen[t] and self.plays < self.n_arms:
            self.log_weights[arm] += (
                self.plays * self.gamma / self.n_arms * (reward - cost) / probability
            )


def known(**changes: object) -> Problem:
    return problem(**{"n_arms": 4, "plays": 2, **changes})


def with_log_weights(log_weights: list[float], gamma: float, plays: int) -> purse.Policy:
    world = world_of(len(log_weights))
    live = make_live(world, f"exp3.m.b:gamma={gamma}", plays=plays, seed=2)
    state, top = live.state, max(log_weights)
    state.log_weights[:], state.shift[0] = log_weights, top
    state.weights[:] = [math.exp(max(-708, x - top)) for x in log_weights]
    return live


@pytest.mark.parametrize(("reward", "cost"), [(1, 0.1), (0, 1)])
@pytest.mark.parametrize("plays", [1, 3])
def test_weights_stay_those_of_the_log_weights_far_up_and_far_down(
    plays: int, reward: float, cost: float
) -> None:
    world = worlds.function("bernoulli")([reward, *[reward / 2] * 3], [cost] * 4)
    _, state = cpu.play_block(
        make_job(
            "exp3.m.b:gamma=0.5", world, cost * plays * 8_000, plays=plays, cost_min=0.1, cost_max=1
        ),
        2,
    )
    top = state.log_weights.max(axis=1, keepdims=True)
    assert (np.abs(state.log_weights).max(axis=1) > 2 * exp3_m_b.FAR).all()
    assert (np.abs(top - state.shift) <= exp3_m_b.FAR + 1).all()
    assert state.weights == pytest.approx(
        np.exp(np.maximum(-708, state.log_weights - state.shift)), rel=1e-12
    )


@pytest.mark.parametrize(
    ("changes", "gamma"),
    [
        ({}, 0.1270268),  # g = 100 0.5 / 0.5 = 100; sqrt(4 ln 2 / (1.71828 100)) = 0.12703
        # g = 100 0.8 / 0.2 = 400; sqrt(4 ln 4 / (1.71828 400)) = 0.08982
        ({"plays": 1, "cost_min": 0.2}, 0.0898215),
        ({"budget": 400, "cost_min": 2, "cost_max": 4}, 0.1270268),  # counts in largest costs
        ({"budget": 1}, 1),
        ({"cost_min": 1}, 1),
        ({"plays": 4}, 0),
        ({"plays": 4, "cost_min": 1}, 0),
    ],
)
def test_gamma_as_numbers(changes: dict[str, object], gamma: float) -> None:
    assert exp3_m_b.params(known(**changes)).gamma == pytest.approx(gamma, abs=1e-7)
    assert exp3_m_b.params(known(**changes), gamma=0.25).gamma == 0.25


@pytest.mark.parametrize(
    ("n_arms", "plays", "gamma", "out"),
    [
        *((4, 1, 0.2, 30), (5, 2, 0.1, 1), (5, 3, 0.5, 30), (4, 3, 0.3, 1), (3, 3, 0.5, 1)),
        *((4, 2, 1, 30), (4, 2, 0, 1)),
    ],
)
def test_follows_the_formula(n_arms: int, plays: int, gamma: float, out: int) -> None:
    plain = Plain(n_arms, plays, gamma)
    follows(f"exp3.m.b:gamma={gamma}", plain, world_of(n_arms), ROUNDS, out=out, plays=plays)
    # some arms were at the cap
    assert (1 < plays < n_arms and 0 < gamma < 1) == any(plain.frozen.values())


@pytest.mark.parametrize("plays", sorted({1, 2, 3, *MORE}))
@pytest.mark.parametrize("gamma", [0.01, 0.5, 0.99])
@pytest.mark.parametrize(
    "log_weights",
    [
        [1000, 10, 0, 0, 0],
        [0, 0, 0, 0, 1e6],
        [3000, 2000, 1000, 0, -1000],
        [-5000, -5000, -5000, -5001, -5900],
        [0, 0, 0, 0, 0],
        [2, 2, 2, 2, -1e5],
        [800, 400, 399, 398, 0],
    ],
)
def test_weights_of_any_size_are_capped_as_the_formula_says(
    log_weights: list[float], gamma: float, plays: int
) -> None:
    live, plain = with_log_weights(log_weights, gamma, plays), Plain(5, plays, gamma)
    plain.log_weights = log_weights
    wanted = plain.probabilities(1)
    assert np.abs(live.probabilities() - wanted).max() < EXACT
    assert set(np.flatnonzero(live.probabilities() == 1)) == plain.frozen[1]


@pytest.mark.parametrize("plays", [3, *MORE])
def test_passes_the_checks_with_several_plays(plays: int) -> None:
    check_policy("exp3.m.b:gamma=0.5", plays=plays, quick=True)
