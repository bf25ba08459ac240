from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

import purse
from purse import worlds
from purse.base import amounts
from purse.engine.draws import draws
from purse.testing import check_policy
from purse.types import Floats, Ticket, World
from tests.support.policies import EXACT, make_live, tell_all


class Plain:
    """The formula written out, with the arms sorted by their index."""

    def __init__(self, n_arms: int, plays: int, c_min: float) -> None:
        self.plays, self.c_min = plays, c_min
        self.pulls, self.rewards, self.costs = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms)

    def probabilities(self, t: int) -> Floats:
        n_arms = len(self.pulls)
        if (t - 1) * self.plays < n_arms:
            return np.isin(
                np.arange(n_arms), [((t - 1) * self.plays + k) % n_arms for k in range(self.plays)]
            ).astype(float)
        index = np.full(n_arms, math.inf)
        for i in range(n_arms):
            x = (
                math.sqrt((self.plays + 1) * math.log(t) / self.pulls[i])
                if self.pulls[i]
                else math.inf
            )
            if x < self.c_min:
                index[i] = self.rewards[i] / self.costs[i] + x * (1 + 1 / self.c_min) / (
                    self.c_min - x
                )
        last = np.sort(index)[-self.plays]
        above, level = index > last, index == last
        return above + level * (self.plays - above.sum()) / level.sum()

    def learn(self, arm: int, reward: float, cost: float) -> None:
        self.pulls[arm] += 1
        self.rewards[arm] += reward
        self.costs[arm] += cost


def deviation(live: purse.Policy, plain: Plain, world: World, n_rounds: int, out: int) -> float:
    """The largest difference between the two in any round, with up to `out` tickets out that are
    told in a random order.
    """
    rewards, costs = draws(world, n_rounds)
    order = np.random.default_rng(0)
    waiting: list[Ticket] = []
    worst = 0.0
    for t in range(1, n_rounds + 1):
        chances = plain.probabilities(t)
        worst = max(worst, float(np.abs(live.probabilities() - chances).max()))
        waiting.append(live.ask())
        arms = list(waiting[-1].arms)
        assert len(set(arms)) == plain.plays
        worst = max(worst, float(np.abs(np.array(waiting[-1].probabilities) - chances[arms]).max()))
        while len(waiting) >= order.integers(1, out + 1):
            ticket = waiting.pop(order.integers(len(waiting)))
            arms = list(ticket.arms)
            paid, units = rewards[ticket.t - 1, arms], costs[ticket.t - 1, arms, 0]
            assert live.tell(ticket, paid, units[:, None] / amounts.UNIT)
            for arm, reward, unit in zip(arms, paid, units, strict=True):
                plain.learn(arm, float(reward), float(unit * live.problem.unit_scale[0]))
    return worst


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


def test_rounds_by_hand() -> None:
    live = known([12, 20, 5], [0, 18, 1], [12, 20, 5], t=3, plays=2)
    # t = 3: x = sqrt(3 ln 3 / (12, 20, 5)) = (0.524, 0.406, 0.812), U = (0, 0.9, 0.2) + 2 x / (1 -
    # x) = (2.20, 2.27, 8.83)
    assert live.probabilities().tolist() == [0, 1, 1]
    ticket = live.ask()
    assert (ticket.arms, ticket.probabilities) == ((1, 2), (1.0, 1.0))
    assert live.tell(ticket, [0, 0], [[1], [1]])
    # t = 4: N = (12, 21, 6), x = sqrt(3 ln 4 / N) = (0.589, 0.445, 0.833), U = (0, 0.857, 0.167) +
    # 2 x / (1 - x) = (2.86, 2.46, 10.11)
    assert live.probabilities().tolist() == [1, 0, 1]
    assert live.tell(live.ask(), [1, 0], [[1], [1]])
    assert live.state.pulls.tolist() == [13, 21, 7]
    assert live.state.rewards.tolist() == [1, 18, 1]
    assert live.state.costs.tolist() == [13, 21, 7]
    # t = 5: x = sqrt(3 ln 5 / N) = (0.609, 0.479, 0.831), U = (0.077, 0.857, 0.143) + 2 x / (1 - x)
    # = (3.20, 2.70, 9.94)
    assert live.probabilities().tolist() == [1, 0, 1]
    live.t = 1999
    # t = 2000: 3 ln 2000 = 22.8 > N for all three: all are infinite
    assert live.probabilities() == pytest.approx([2 / 3] * 3)


def test_a_sure_arm_and_two_that_share_the_last_place() -> None:
    # arm 0 is infinite at N = 3 < 3 ln t; arms 1 to 3 have N = 3 ln t / 0.36, so x = 0.6; arms 1
    # and 2 are equal, and arm 3 never paid
    live = known([3, 1, 1, 1], [0, 4, 4, 0], [3, 8, 8, 8], t=3, plays=2)
    counts = np.zeros(4)
    for _ in range(2000):
        live.state.slopes[1:] = 0.6 / math.sqrt(3 * math.log(live.t + 1))
        assert live.probabilities().tolist() == [1, 0.5, 0.5, 0]
        ticket = live.ask()
        assert ticket.probabilities == (1.0, 0.5)
        counts[list(ticket.arms)] += 1
        live.void(ticket)
    assert counts[0] == 2000
    assert counts[3] == 0
    assert abs(counts[1] - 1000) < 4 * math.sqrt(2000 / 4)


def test_every_pair_is_equally_likely_while_all_are_infinite() -> None:
    live = known([1, 1, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1], t=3, plays=2)
    counts = dict.fromkeys(combinations(range(4), 2), 0)
    for _ in range(6000):
        ticket = live.ask()
        assert ticket.probabilities == (0.5, 0.5)
        counts[ticket.arms] += 1  # type: ignore[index]
        live.void(ticket)
    assert all(
        abs(count - 1000) < 4 * math.sqrt(6000 * (1 / 6) * (5 / 6)) for count in counts.values()
    )


@pytest.mark.parametrize(("n_arms", "plays"), [(3, 1), (5, 2), (5, 3), (4, 4)])
@pytest.mark.parametrize("out", [1, 30])
def test_follows_the_formula(n_arms: int, plays: int, out: int) -> None:
    world = worlds.function("two_point")(
        np.linspace(0.95, 0.2, n_arms), np.linspace(0.85, 0.95, n_arms), cost_min=0.8
    )
    live, plain = make_live(world, "ucb-mb", plays=plays), Plain(n_arms, plays, 0.8)
    assert deviation(live, plain, world, 3000, out) < EXACT
    # so the indices were finite
    assert plays == n_arms or plain.pulls.max() > 2 * plain.pulls.min()


def test_the_initial_rounds_pull_every_arm() -> None:
    live = purse.Policy("ucb-mb", n_arms=5, plays=2, budget=100, cost_min=0.5)
    assert [live.ask().arms for _ in range(3)] == [(0, 1), (2, 3), (4, 0)]
    assert live.probabilities() == pytest.approx([0.4] * 5)  # no report has come yet


@pytest.mark.parametrize("plays", [2, 3, 4])
def test_passes_the_checks_with_several_plays(plays: int) -> None:
    check_policy("ucb-mb", plays=plays)


def test_all_arms_as_plays() -> None:
    live = purse.Policy("ucb-mb", n_arms=3, plays=3, budget=100, cost_min=0.5)
    for _ in range(10):
        ticket = live.ask()
        assert (ticket.arms, ticket.probabilities) == ((0, 1, 2), (1.0, 1.0, 1.0))
        live.tell(ticket, [1, 0, 0.5], [[0.5], [0.5], [1]])


def test_one_arm() -> None:
    live = purse.Policy("ucb-mb", n_arms=1, budget=10, cost_min=0.5)
    assert tell_all(live, (1, 0.5), (0, 1), (1, 0.5)) == [0, 0, 0]
    assert live.probabilities().tolist() == [1.0]


def test_has_no_options() -> None:
    with pytest.raises(purse.InvalidInput, match=r"unknown option of ucb-mb 'lam'; there are none"):
        purse.Policy("ucb-mb:lam=1", n_arms=2, budget=10, cost_min=0.5)


def test_refuses_several_resources() -> None:
    with pytest.raises(
        purse.InvalidInput,
        match=r"^ucb-mb plays problems with n_resources=1, and this one has n_resources=2$",
    ):
        purse.Policy("ucb-mb", n_arms=3, budget=10, cost_min=0.5, n_resources=2)
