"""Index rules: every arm once, then the arm with the largest index."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest

import purse
from purse import policies
from purse.kernels.index_rules import FIRST
from purse.types import Floats, Problem
from tests.support.policies import EXACT, index_deviation, index_edges, refuses, tell_all

ABOVE_0, PART = "must be a number above 0", "must be a number above 0 and at most 1"


def c_ucb(alpha: float, t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    return (rewards[i] + alpha * math.sqrt(math.log(t - 1) / pulls[i])) / costs[i]


def i_ucb(alpha: float, t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    return rewards[i] / costs[i] + alpha * math.sqrt(math.log(t - 1) / pulls[i])


def m_ucb(alpha: float, t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    x = alpha * math.sqrt(math.log(t - 1) / pulls[i])
    return min(rewards[i] + x, 1) / (costs[i] - x) if x < costs[i] else math.inf


def mrcb(kappa: float, *told: Any) -> float:
    return m_ucb(math.sqrt(kappa), *told)


def budget_ucb(lam: float, t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    x = math.sqrt(2 * math.log(t - 1) / pulls[i])
    more = min(rewards[i] + x, 1) / max(costs[i] - x, lam)
    return (rewards[i] + x + x * more) / costs[i]


def ucb_bv1(lam: float, t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    eta = math.sqrt(math.log(t - 1) / pulls[i])
    return rewards[i] / costs[i] + (1 + 1 / lam) * eta / (lam - eta) if eta < lam else math.inf


def ucb_bv2(_: None, t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    lam = min(cost for cost in costs if not math.isnan(cost))
    eta = math.sqrt(math.log(t - 1) / pulls[i])
    return (
        rewards[i] / costs[i] + (1 / lam) * (1 + 1 / (lam - eta)) * eta if eta < lam else math.inf
    )


def ucb_sc(_: None, t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    a = math.log(t) / (2 * pulls[i])
    if costs[i] <= math.sqrt(a):
        return math.inf
    b = math.sqrt(a / (rewards[i] ** 2 + costs[i] ** 2 - a))
    return (rewards[i] + b * costs[i]) / (costs[i] - b * rewards[i])


def wilson(n: float, mean: float, z: float, sign: int) -> float:
    hits, misses = n * mean, n - n * mean
    return (hits + z**2 / 2) / (n + z**2) + sign * z / (n + z**2) * math.sqrt(
        hits * misses / n + z**2 / 4
    )


def omega_ucb(rho: float, t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    z = math.sqrt(2 * rho * math.log(t))
    return min(1.0, wilson(pulls[i], rewards[i], z, 1)) / wilson(pulls[i], costs[i], z, -1)


def b_greedy(_: float, t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    return rewards[i] / costs[i]


class Rule(NamedTuple):
    """An index written out, and what is said of its one option.

    values    for which the policy is held to the index
    default   the parameters if the least cost is 0.5
    wrong     values that are refused, with what is allowed
    """

    score: Callable[..., float]
    option: str
    values: tuple[Any, ...]
    default: tuple[float, ...]
    wrong: str = ""
    allowed: str = ABOVE_0


RULES = {
    "b-greedy": Rule(b_greedy, "alpha", (0, 1, 10), (2.0,), "-1 x", "must be a number at least 0"),
    "budget-ucb": Rule(budget_ucb, "lam", (0.2, 0.5), (0.5,), "0 1.5 x", PART),
    "c-ucb": Rule(c_ucb, "alpha", (0.125, 1.0), (0.125**2,), "0 -1 x"),
    "i-ucb": Rule(i_ucb, "alpha", (0.25, 1.0), (0.25**2,), "0 -1 x"),
    "m-ucb": Rule(m_ucb, "alpha", (0.0625, 0.25, 1.0), (0.25**2,), "0 -1 x"),
    "mrcb": Rule(mrcb, "kappa", (2e-4, 0.25), (2e-4,), "0 -1 x"),
    "omega-ucb": Rule(omega_ucb, "rho", (0.25, 1.0), (2.0,), "0 -1 x"),
    "ucb-bv1": Rule(ucb_bv1, "lam", (0.2, 1.0), (0.5,), "0 -1 1.5 x", PART),
    "ucb-bv2": Rule(ucb_bv2, "", (None,), (2,)),
    "ucb-sc": Rule(ucb_sc, "", (None,), (2,)),
}


@pytest.mark.parametrize(
    ("policy", "value"), [(name, value) for name, rule in RULES.items() for value in rule.values]
)
def test_follows_the_formula(policy: str, value: Any) -> None:
    score, option, *_ = RULES[policy]
    policy += f":{option}={value}" if option else ""

    def explore(t: int, n_arms: int) -> float:
        return min(1.0, value * n_arms / t) if score is b_greedy else 0.0

    # the index of ucb-bv1 rounds ties of dear arms otherwise
    dear = score is not ucb_bv1
    assert index_deviation(policy, partial(score, value), explore=explore, dear=dear) < EXACT


@pytest.mark.parametrize("policy", RULES)
def test_edges_and_refusals(policy: str) -> None:
    rule = RULES[policy]
    problem = Problem.of(n_arms=2, budget=100, cost_min=0.5)
    assert policies.load(policy).params(problem) == rule.default
    index_edges(policy)
    wrong = [f"{rule.option}={value}" for value in rule.wrong.split()]
    refuses(policy, *wrong, allowed=rule.allowed)


def scores(live: purse.Policy) -> list[float]:
    """The indices behind the next choice."""
    live.probabilities()
    return live._game.scratch.scores.tolist()


def test_rounds_by_hand() -> None:
    live = purse.Policy("ucb-bv1:lam=1", n_arms=2, budget=100, cost_min=0.5, seed=0)
    assert tell_all(live, (1, 0.5), (0, 1)) == [0, 1]
    # t = 3: eta = sqrt(ln 2 / 1) = 0.833 < 1, D = (2, 0) + 2 * 0.833 / 0.167 = (11.95, 9.95)
    assert scores(live) == pytest.approx([11.95, 9.95], abs=0.01)
    assert live.probabilities().tolist() == [1, 0]
    assert tell_all(live, (0, 1)) == [0]
    # t = 4: eta_0 = sqrt(ln 3 / 2) = 0.741, D_0 = 1 / 1.5 + 2 * 0.741 / 0.259 = 6.39; eta_1 =
    # sqrt(ln 3) = 1.048 >= 1, so D_1 is infinite
    assert scores(live) == pytest.approx([6.39, FIRST], abs=0.01)
    assert live.probabilities().tolist() == [0, 1]
    assert tell_all(live, (1, 0.5)) == [1]
    # t = 5: eta = sqrt(ln 4 / 2) = 0.833 for both, and both have 1 / 1.5: a tie
    assert live.probabilities().tolist() == [0.5, 0.5]


def test_omega_ucb_cancels_nothing_at_a_tiny_cost() -> None:
    live = purse.Policy("omega-ucb", n_arms=1, budget=10, cost_min=1e-9)
    tell_all(live, *[(1, 1e-9)] * 3)
    # w+ = 1, and w-(s) = s^2 / N / (s + z^2 / 2 + z sqrt(s (N - s) / N + z^2 / 4)) is s^2 / N / z^2
    # for s = 3e-9, up to 1e-8
    assert scores(live) == pytest.approx([2 * math.log(4) * 3 / 9e-18], rel=1e-7)
