"""Balanced exploration by hand, beside a linear program's solver, and where it wins and loses."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import purse
from purse.kernels.concave_hull import best_mixture
from purse.policies.balanced_exploration import BalancedScratch, most_of, set_shares
from purse.testing import check_policy
from purse.types import Floats
from tests.support.knapsack_learners import follow, four_arms
from tests.support.policies import make_live, tell_all
from tests.support.soak import scale

Box = tuple[Floats, Floats, Floats, Floats]  # r-, r+, c-, c+, each (K,)


def best(limit: float, costs: Floats, rewards: Floats) -> tuple[float, Floats]:
    """The most that a mixture pays within the limit, and the mixture."""
    shares = np.zeros(len(costs))
    best_mixture(limit, costs, rewards, shares)
    return float(shares @ rewards), shares


def shares_of(pace: float, box: Box) -> Floats:
    """The mean mixture of the policy for these bounds."""
    low_rewards, high_rewards, low_costs, high_costs = box
    room = np.zeros((2, len(low_rewards)))
    scratch = BalancedScratch(high_rewards, low_rewards, high_costs, low_costs, *room)
    set_shares(pace, scratch, scratch.mixture)
    return scratch.shares


def test_a_round_by_hand() -> None:
    live = purse.Policy(
        "balanced-exploration:c_rad=0.04", n_arms=2, budget=50, cost_min=0.01, horizon=100
    )
    assert live.probabilities().tolist() == [0.5, 0.5]
    (arm,) = tell_all(live, (0.25, 0.04))
    bounds = live.state
    assert (bounds.pulls[arm], bounds.pulls.sum()) == (1, 1)
    # rad(.25, 1) = .1 + .04 and rad(.04, 1) = .04 + .04
    assert bounds.low_rewards[arm] == pytest.approx(0.11)
    assert bounds.high_rewards[arm] == pytest.approx(0.39)
    assert (bounds.low_costs[arm], bounds.high_costs[arm]) == (0, pytest.approx(0.12))
    # rho = .5 and V- = .11, for which the arm need not be played all the time: it may pay .39, so
    # all of both arms is possible
    assert live.probabilities().tolist() == [0.5, 0.5]


def test_two_arms_by_hand() -> None:
    box = tuple(map(np.array, ([0.76, 0.11], [1, 0.39], [0.76, 0], [1, 0.12])))
    # V-: the better arm per c+ is the second; rho = .5 lies on the way from (.12, .11) to (1, .76)
    least = 0.11 + 0.65 * (0.5 - 0.12) / 0.88
    # the hull at c-, r+: from (0, .39) to (.76, 1), and on, level. The first arm gets .5 / .76 and
    # leaves no money; of the second the level line allows q with .39 q + (1 - q) = V-
    first, second = 0.5 / 0.76, (1 - least) / 0.61
    expected = [(first + 1 - second) / 2, (second + 1 - first) / 2]
    assert shares_of(0.5, box) == pytest.approx(expected)
    assert expected == pytest.approx([0.3295, 0.6705], abs=1e-4)


def random_box(draw: np.random.Generator) -> Box:
    k = int(draw.integers(1, 7))
    ends = draw.random((2, 2, k))
    if draw.random() < 0.3:  # ends of the range, ties and points
        ends = np.round(3 * ends) / 3
    low, high = ends.min(axis=0), ends.max(axis=0)
    return low[0], np.maximum(high[0], 0.01), low[1], np.maximum(high[1], 0.01)


def test_the_closed_form_is_what_a_solver_of_linear_programs_finds() -> None:
    draw = np.random.default_rng(1)
    inside = 0
    for _ in range(300):
        box, pace = random_box(draw), float(draw.uniform(0.05, 1))
        low_rewards, high_rewards, low_costs, high_costs = box
        k = len(low_rewards)
        least, _ = best(pace, high_costs, low_rewards)
        rows = np.array([low_costs, -high_rewards, np.ones(k)])
        for x in range(k):
            solved = linprog(-np.eye(k)[x], rows, [pace, -least, 1], method="highs")
            assert most_of(pace, least, low_costs, high_rewards, x) == pytest.approx(
                -solved.fun, abs=1e-7
            )
        shares = shares_of(pace, box)
        assert (shares >= 0).all()
        assert (rows @ shares <= np.array([pace, -least, 1]) + 1e-9).all()
        for _ in range(3):  # the best mixture of any means within the bounds is among them
            rewards, costs = (
                low + draw.random(k) * (high - low)
                for low, high in ((low_rewards, high_rewards), (low_costs, high_costs))
            )
            _, mixture = best(pace, costs, rewards)
            assert (rows @ mixture <= np.array([pace, -least, 1]) + 1e-9).all()
            inside += 1
    assert inside == 900


class PlainBalanced:
    """The rule written out, with the most of an arm by halving."""

    def __init__(self, c_rad: float, pace: float, skips: bool) -> None:
        self.c_rad, self.pace, self.skips = c_rad, pace, skips
        self.reports: list[list[tuple[float, float]]] = [[] for _ in range(4)]
        self.low, self.high = np.zeros((2, 4)), np.ones((2, 4))  # rewards, costs
        self.solve()

    def solve(self) -> None:
        least, _ = best(self.pace, self.high[1], self.low[0])
        shares = np.zeros(4)
        for x in range(4):
            q, mixture = self.most(x, least)
            shares += (q * np.eye(4)[x] + (1 - q) * mixture) / 4
        total = shares.sum()
        self.p = np.append(shares, 1 - total) if self.skips else np.append(shares / total, 0)

    def most(self, x: int, least: float) -> tuple[float, Floats]:
        low, high = 0.0, 1.0
        for _ in range(60):
            q = (low + high) / 2
            rest = (self.pace - q * self.low[1, x]) / max(1 - q, 1e-300)
            paid = q * self.high[0, x] + (1 - q) * best(rest, self.low[1], self.high[0])[0]
            low, high = (q, high) if rest > 0 and paid >= least else (low, q)
        rest = (self.pace - low * self.low[1, x]) / max(1 - low, 1e-300)
        return low, best(max(rest, 1e-12), self.low[1], self.high[0])[1]

    def gap(self, live: purse.Policy) -> float:
        chances = self.p[:4]
        shares = live.state.shares
        return float(np.abs((shares if self.skips else shares / shares.sum()) - chances).max())

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: Any) -> None:
        self.reports[arm].append((reward, cost))
        n = len(self.reports[arm])
        for row, mean in enumerate(np.mean(self.reports[arm], axis=0)):
            rad = math.sqrt(self.c_rad * mean / n) + self.c_rad / n
            low = max(self.low[row, arm], mean - rad, 0)
            high = min(self.high[row, arm], mean + rad, 1)
            if low <= high:
                self.low[row, arm], self.high[row, arm] = low, high
        self.solve()


@pytest.mark.parametrize(("out", "horizon"), [(30, 30_000), (1, None)])
def test_follows_the_formula(out: int, horizon: int | None) -> None:
    budget, pace = (9000, 0.3) if horizon else (6000, 0.2)
    policy = "balanced-exploration:c_rad=0.1"
    live = make_live(four_arms(), policy, budget=budget, horizon=horizon)
    plain = PlainBalanced(0.1, pace, horizon is not None)
    follow(live, plain, four_arms(), scale(200, 1000), out=out, near=1e-9)


def test_bounds_that_would_cross_stay() -> None:
    live = purse.Policy("balanced-exploration:c_rad=0.0001", n_arms=1, budget=50, cost_min=0.5)
    tell_all(live, *[(1, 1)] * 20)
    low = live.state.low_rewards[0]
    tell_all(live, *[(0, 0.5)] * 30)
    assert live.state.low_rewards[0] == low
    assert low <= live.state.high_rewards[0]


@pytest.mark.parametrize(
    ("world", "budget", "least", "most"),
    [
        # the best is a mixture of two arms, and both go on being explored
        ("routing:quality=[.55,.75,.9],prices=[.02,.1,.6],prompts=2000", 400, 1.02, 1.2),
        # many arms that may be the best for long
        (f"bernoulli:rewards={[0.9, *[0.5] * 11]},costs={[0.5] * 12}", 300, 0.6, 0.9),
    ],
)
def test_where_it_wins_and_where_it_loses(
    world: str, budget: float, least: float, most: float
) -> None:
    gains = [
        purse.simulate(name, world, budget, n_paths=3, seed=1, device="python").gain.mean()
        for name in ("balanced-exploration:c_rad=1", "ucb-bwk:c_rad=1")
    ]
    assert least < gains[0] / gains[1] < most


def test_passes_the_checks_with_a_horizon() -> None:
    check_policy("balanced-exploration:c_rad=0.05", horizon=150, quick=True)
