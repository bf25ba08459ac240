"""UCB-BwK, which mixes arms at a pace, and with a sliding window."""

import math
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.kernels.concave_hull import best_mixture
from purse.policies import sw_ucb_bwk, ucb_bwk
from purse.testing import check_policy
from purse.types import Floats, Problem, Ticket, World
from tests.support.knapsack_learners import Reports, follow, four_arms
from tests.support.policies import make_live
from tests.support.soak import scale


class PlainUcb:
    """The formula written out; the linear program is solved anew in every round."""

    def __init__(self, c_rad: float, pace: float, skips: bool) -> None:
        self.c_rad, self.pace, self.skips = c_rad, pace, skips
        self.reports: list[list[tuple[float, float]]] = [[] for _ in range(4)]
        self.solve()

    def rad(self, mean: float, n: int) -> float:
        return math.sqrt(self.c_rad * mean / n) + self.c_rad / n

    def solve(self) -> None:
        upper, lower, self.shares = np.ones(4), np.zeros(4), np.zeros(4)
        for i, reports in enumerate(self.reports):
            if n := len(reports):
                reward, cost = (sum(each) / n for each in zip(*reports, strict=True))
                upper[i] = min(1.0, reward + self.rad(reward, n))
                lower[i] = max(0.0, cost - self.rad(cost, n))
        best_mixture(self.pace, lower, upper, self.shares)
        total = self.shares.sum()
        self.p = (
            np.append(self.shares, 1 - total) if self.skips else np.append(self.shares / total, 0)
        )

    def gap(self, live: purse.Policy) -> float:
        return float(np.abs(live.state.shares - self.shares).max())

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: Any) -> None:
        self.reports[arm].append((reward, cost))
        self.solve()


@pytest.mark.parametrize(("out", "horizon"), [(30, 30_000), (1, None)])
def test_follows_the_formula(out: int, horizon: int | None) -> None:
    budget, pace = (9000, 0.3) if horizon else (6000, 0.2)
    live = make_live(four_arms(), "ucb-bwk:c_rad=0.05", budget=budget, horizon=horizon)
    plain = PlainUcb(0.05, pace, horizon is not None)
    follow(live, plain, four_arms(), scale(500, 2000), out=out)


def test_the_default_radius() -> None:
    problem = {"n_arms": 3, "budget": 50, "cost_min": 0.5}
    assert ucb_bwk.params(Problem.of(**problem, horizon=200)) == (math.log(3 * 200), 0.25, True)
    assert ucb_bwk.params(Problem.of(**problem)) == (math.log(3 * 100), 0.5, False)


@pytest.mark.parametrize("horizon", [150, 20])
def test_passes_the_checks_with_a_horizon(horizon: int) -> None:
    check_policy("ucb-bwk:c_rad=0.05,eps=0.1", horizon=horizon, quick=True)


def test_plays_where_a_pull_may_cost_nothing() -> None:
    world = worlds.function("pricing")([2, 4, 6], [0.8, 0.6, 0.4], customers=2000)
    assert (purse.simulate("ucb-bwk:c_rad=0.2", world, 600, n_paths=5).spent > 500).all()


# the policy's sums are whole numbers of 2^-40, and the shares divide by differences of costs
NEAR = 1e-9


class PlainWindow:
    """The formula written out: all reports are kept, and those of the last w rounds are added up
    anew in every round.
    """

    def __init__(self, n_arms: int, c_rad: float, pace: float, window: int) -> None:
        self.n_arms, self.c_rad, self.pace, self.window = n_arms, c_rad, pace, window
        self.reports: list[tuple[int, int, float, float]] = []

    def shares(self, t: int) -> Floats:
        upper, lower = np.ones(self.n_arms), np.zeros(self.n_arms)
        self.reports = [report for report in self.reports if report[0] >= t - self.window]
        for i in range(self.n_arms):
            mine = [(reward, cost) for _, arm, reward, cost in self.reports if arm == i]
            if mine:
                # exact sums, so that ties are ties
                reward, cost = (math.fsum(each) / len(mine) for each in zip(*mine, strict=True))
                width = math.sqrt(self.c_rad / (len(mine) + 1))
                upper[i], lower[i] = min(1.0, reward + width), max(0.0, cost - width)
        out = np.zeros(self.n_arms)
        best_mixture(self.pace, lower, upper, out)
        return out

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: Any) -> None:
        self.reports.append((t, arm, reward, cost))


def ask(live: purse.Policy) -> tuple[Ticket, Floats]:
    """The ticket of the next round, and the shares that it was drawn from: those in the scratch
    where the choice wrote them, else those of the state.
    """
    fresh = live._game.scratch.shares
    fresh[:] = np.nan
    ticket = live.ask()
    return ticket, live.state.shares if np.isnan(fresh).all() else fresh


def deviation(
    live: purse.Policy, plain: PlainWindow, world: World, n_rounds: int, *, out: int = 1
) -> tuple[float, int]:
    """The largest difference of shares in any round, and how many rounds were skipped."""
    reports = Reports(live, plain.learn, world, n_rounds, out)
    worst, skipped = 0.0, 0
    for t in range(1, n_rounds + 1):
        chances, wanted = live.probabilities(), plain.shares(t)
        every = 1.0 if live.problem.horizon else wanted.sum()
        ticket, shares = ask(live)
        worst = max(worst, *np.abs(shares - wanted), *np.abs(chances - wanted / every))
        skipped += ticket.skipped
        reports.add(ticket)
    return worst, skipped


def live_for(options: str, n_arms: int = 2, budget: float = 40, **told: Any) -> purse.Policy:
    told = {"cost_min": 0.1, "horizon": 100, "stop": "exit", **told}
    return purse.Policy(f"sw-ucb-bwk:{options}", n_arms=n_arms, budget=budget, **told)


@pytest.mark.parametrize(
    ("window", "out", "horizon"),
    [(7, 1, None), (150, 1, 30_000), (150, 40, None), (30, 40, 30_000), (3000, 5, 30_000)],
)
def test_a_window_follows_the_formula(window: int, out: int, horizon: int | None) -> None:
    n_rounds = scale(500, 1500)
    budget, pace = (4500, 0.15) if horizon else (6000, 0.2)
    policy = f"sw-ucb-bwk:c_rad=0.4,window={window}"
    live = make_live(four_arms(), policy, budget=budget, horizon=horizon)
    worst, skipped = deviation(
        live, PlainWindow(4, 0.4, pace, window), four_arms(), n_rounds, out=out
    )
    assert worst < NEAR
    assert skipped > n_rounds / 5 if horizon and window >= 150 else horizon or skipped == 0


def test_a_report_that_comes_too_late_is_not_learnt_from() -> None:
    live = live_for("window=3")
    tickets = [live.ask() for _ in range(4)]
    live.tell(tickets[3], 1, 1)
    live.tell(tickets[0], 1, 1)
    assert live.state.pulls.sum() == 1
    live.tell(tickets[1], 1, 1)
    assert live.state.pulls.sum() == 2


def test_defaults_of_the_window() -> None:
    def params(budget: float, cost_min: float = 0.5, horizon: int | None = None) -> Any:
        return sw_ucb_bwk.params(
            Problem.of(n_arms=8, budget=budget, cost_min=cost_min, horizon=horizon)
        )

    c_rad = 2 * math.log(12 * 8 * 1000**3)
    assert params(500, horizon=1000) == pytest.approx((c_rad, 0.5, True, 200))
    assert params(500) == pytest.approx((c_rad, 0.5, False, 200))
    assert params(3).window == 6
    assert params(1e9, 0.001).window == sw_ucb_bwk.LONGEST


@pytest.mark.parametrize("options", ["window=9,c_rad=0.2", "window=120"])
def test_a_window_passes_the_checks_with_a_horizon(options: str) -> None:
    check_policy(f"sw-ucb-bwk:{options}", horizon=150, quick=True)
