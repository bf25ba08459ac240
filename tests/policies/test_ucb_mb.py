from __future__ import annotations

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


def known(
    pulls: list[float], rewards: list[float], costs: list[float], *, t: int, plays: int
) -> purse.Policy:
    """A live policy that has these sums before round t, and may cost 1 only."""
    live = purse.Policy("ucb-mb", n_arms=len(pulls), plays=plays, budget=1000, cost_min=1, seed=0)
    live.t = t - 1
    live._game.workspace.owed[:] = 0  # no initial pull is left
    live.state.pulls[:], live.state.rewards[:], live.state.costs[:] = pulls, rewards, costs
    live.state.bases[:], live.state.slopes[:] = np.array(rewards) / costs, 1 / np.sqrt(pulls)
    return live


def test_a_sure_arm_and_two_that_share_the_last_place() -> None:
    # arm 0 is infinite at N = 3 < 3 ln t; arms 1 to 3 have N = 3 ln t / 0.36, so x = 0.6; arms 1
    # and 2 are equal, and arm 3 never paid
    live = known([3, 1, 1, 1], [0, 4, 4, 0], [3, 8, 8, 8], t=3, plays=2)
    counts = np.zeros(4)
    for _ in range(500):
        live.state.slopes[1:] = 0.6 / math.sqrt(3 * math.log(live.t + 1))
        assert live.probabilities().tolist() == [1, 0.5, 0.5, 0]
        ticket = live.ask()
        assert ticket.probabilities == (1.0, 0.5)
        counts[list(ticket.arms)] += 1
        live.void(ticket)
    assert counts[0] == 500
    assert counts[3] == 0
    assert abs(counts[1] - 250) < 4 * math.sqrt(500 / 4)


def test_every_pair_is_equally_likely_while_all_are_infinite() -> None:
    live = known([1, 1, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1], t=3, plays=2)
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


def test_all_arms_as_plays() -> None:
    live = purse.Policy("ucb-mb", n_arms=3, plays=3, budget=100, cost_min=0.5)
    for _ in range(10):
        ticket = live.ask()
        assert (ticket.arms, ticket.probabilities) == ((0, 1, 2), (1.0, 1.0, 1.0))
        live.tell(ticket, [1, 0, 0.5], [[0.5], [0.5], [1]])
