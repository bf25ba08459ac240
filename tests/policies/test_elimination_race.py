import math

import numpy as np
import pytest

from purse import worlds
from purse.kernels.random import POLICY, U, at, stream, uniform
from purse.policies import elimination_race
from purse.types import Floats, Problem
from tests.support.policies import follows
from tests.support.soak import SOAK, scale


def layer_of_round(t: int, n_layers: int, seed: int = 0) -> int:
    """Counted from 1: layer l for a number in [2^-l, 2^-(l-1)), and 1 below 2^-L."""
    key = U(at(U(stream(seed, 0, POLICY)), t))
    layer = math.floor(-math.log2(uniform(key, 0))) + 1
    return layer if layer <= n_layers else 1


class PlainRace:
    """The rule written out, layers counted from 1, every pair of arms compared."""

    def __init__(self, n_arms: int, rounds: int, delta: float = 0.05) -> None:
        self.k, self.layers = n_arms, max(1, math.ceil(math.log2(rounds)))
        self.log = math.log(4 * n_arms * rounds * self.layers / delta)
        self.active = {layer: set(range(n_arms)) for layer in range(1, self.layers + 1)}
        self.seen: dict[tuple[int, int], list[float]] = {}

    def probabilities(self, t: int) -> Floats:
        out = np.zeros(self.k)
        for layer in self.active:
            mass = 2.0**-layer + (2.0**-self.layers if layer == 1 else 0)
            stands_in = next(other for other in range(layer, self.layers + 1) if self.active[other])
            for i in self.active[stands_in]:
                out[i] += mass / len(self.active[stands_in])
        return out

    def bounds(self, layer: int, i: int) -> tuple[float, float]:
        rewards = self.seen.get((layer, i), [])
        if not rewards:
            return -math.inf, math.inf
        a = self.log / len(rewards)
        mean, width = sum(rewards) / len(rewards), a + math.sqrt(a)
        return mean - width, mean + width

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        layer = layer_of_round(t, self.layers)
        if not self.active[layer]:
            return
        self.seen.setdefault((layer, arm), []).append(reward)
        now = list(self.active[layer])
        out = {i for i in now for j in now if self.bounds(layer, i)[1] < self.bounds(layer, j)[0]}
        for below in range(1, layer + 1):
            self.active[below] -= out


def test_layers_come_with_their_probabilities() -> None:
    drawn = np.bincount([elimination_race.layer_of(i / 1024, 4) for i in range(1024)], minlength=4)
    assert drawn.tolist() == [512 + 64, 256, 128, 64]
    assert elimination_race.layer_of(0.0, 1) == elimination_race.layer_of(0.99, 1) == 0


@pytest.mark.parametrize(("n_arms", "out"), [(2, 1), (4, 40)])
def test_follows_the_formula(n_arms: int, out: int) -> None:
    world = worlds.function("bernoulli")(np.linspace(1, 0, n_arms), np.full(n_arms, 0.5))
    plain = PlainRace(n_arms, 4000)
    follows("elimination-race", plain, world, scale(1200, 3000), out=out, budget=2000)
    assert len(plain.active[1]) < n_arms


@pytest.mark.parametrize("out", [1, *([30] if SOAK else [])])
def test_follows_the_formula_where_a_layer_is_left_with_no_arm(out: int) -> None:
    # layer 1 drops arm 1 before the rewards change, a slower one drops arm 0 after it, and from
    # layer 1 too
    world = worlds.function("switching")(
        segments=[600, 10**6], rewards=[[1, 0], [0, 1]], costs=[0.5, 0.5]
    )
    plain = PlainRace(2, 5000, delta=1)
    live = follows("elimination-race:delta=1", plain, world, 4000, out=out, budget=2500)
    assert not plain.active[1]
    assert live.state.sizes[0] == 0
    assert live.state.sizes[-1] > 0
    assert live.probabilities()[1] > 0.5


def test_horizon_and_budget_give_the_rounds() -> None:
    def params(horizon: int | None, **options: float) -> object:
        problem = Problem.of(n_arms=2, budget=100, cost_min=0.5, horizon=horizon)
        return elimination_race.params(problem, **options)

    assert params(None) == (2, 8, math.log(4 * 2 * 200 * 8 / 0.05))
    assert params(64, delta=0.5) == (2, 6, math.log(4 * 2 * 64 * 6 / 0.5))
    assert params(65) == (2, 7, math.log(4 * 2 * 65 * 7 / 0.05))
    assert params(1) == (2, 1, math.log(4 * 2 / 0.05))
