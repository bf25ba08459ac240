import math

import numpy as np
import pytest

import purse
from purse import worlds
from purse.types import Floats
from tests.support.knapsack_learners import pairs_come_equally_often
from tests.support.policies import follows, passes
from tests.support.soak import scale


class Plain:
    """The formula written out, with the arms sorted by their index."""

    def __init__(self, n_arms: int, plays: int, c_min: float) -> None:
        self.plays, self.c_min, self.told = plays, c_min, set[tuple[int, int]]()
        self.pulls, self.rewards, self.costs = np.zeros((3, n_arms))

    def probabilities(self, t: int) -> Floats:
        n_arms = len(self.pulls)
        if (t - 1) * self.plays < n_arms:
            first = (t - 1) * self.plays + np.arange(self.plays)
            return np.isin(np.arange(n_arms), first % n_arms).astype(float)
        index, low = np.full(n_arms, math.inf), self.c_min
        for i in np.flatnonzero(self.pulls):
            x = math.sqrt((self.plays + 1) * math.log(t) / self.pulls[i])
            if x < low:
                index[i] = self.rewards[i] / self.costs[i] + x * (1 + 1 / low) / (low - x)
        last = np.sort(index)[-self.plays]
        above, level = index > last, index == last
        return above + level * (self.plays - above.sum()) / level.sum()

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        assert (t, arm) not in self.told  # an arm comes once a round
        self.told.add((t, arm))
        self.pulls[arm] += 1
        self.rewards[arm] += reward
        self.costs[arm] += cost


def test_every_pair_is_equally_likely_while_all_are_infinite() -> None:
    live = purse.Policy("ucb-mb", n_arms=4, plays=2, budget=1000, cost_min=1)
    for _ in range(2):
        live.tell(live.ask(), [0, 1], [1, 1])
    pairs_come_equally_often(live)


@pytest.mark.parametrize(("n_arms", "plays"), [(3, 1), (5, 2), (5, 3), (3, 3)])
def test_follows_the_formula(n_arms: int, plays: int) -> None:
    world = worlds.function("two_point")(
        np.linspace(0.95, 0.2, n_arms), np.linspace(0.85, 0.95, n_arms), cost_min=0.8
    )
    plain = Plain(n_arms, plays, 0.8)
    follows("ucb-mb", plain, world, scale(1000, 3000), out=30 if plays == 2 else 1, plays=plays)
    # so the indices were finite
    assert plays == n_arms or plain.pulls.max() > 2 * plain.pulls.min()


def test_the_initial_rounds_pull_every_arm() -> None:
    live = purse.Policy("ucb-mb", n_arms=5, plays=2, budget=100, cost_min=0.5)
    assert [live.ask().arms for _ in range(3)] == [(0, 1), (2, 3), (4, 0)]
    assert live.probabilities() == pytest.approx([0.4] * 5)  # no report has come yet


@pytest.mark.parametrize("plays", [2, 3, 4])
def test_passes_the_checks_with_several_plays(plays: int) -> None:
    passes("ucb-mb", plays=plays)
