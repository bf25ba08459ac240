from __future__ import annotations

import math

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine.job import make_policy
from purse.testing import check_policy
from purse.types import Floats, Problem, World
from tests.support.policies import EXACT, frequency_surprise, largest_deviation, make_live, tell_all


class PlainExp3PlusPlus:
    """The rule with losses, as its paper has it: weights from cumulative losses, and all bounds in
    every round.
    """

    def __init__(self, n_arms: int, alpha: float = 3.0, beta: float = 256.0) -> None:
        self.n_arms, self.alpha, self.beta = n_arms, alpha, beta
        self.estimates, self.pulls, self.losses = (np.zeros(n_arms) for _ in range(3))
        self.rounds_with_a_gap = 0

    def gaps(self, t: int) -> Floats:
        ucb, lcb = np.ones(self.n_arms), np.zeros(self.n_arms)
        for i in range(self.n_arms):
            if self.pulls[i]:
                radius = math.sqrt(
                    (self.alpha * math.log(t) + math.log(self.n_arms)) / (2 * self.pulls[i])
                )
                ucb[i], lcb[i] = (
                    min(1.0, self.losses[i] / self.pulls[i] + radius),
                    max(0.0, self.losses[i] / self.pulls[i] - radius),
                )
        return np.maximum(0, lcb - ucb.min())

    def probabilities(self, t: int) -> Floats:
        k = self.n_arms
        if t <= k:
            return np.eye(k)[t - 1]
        root = math.sqrt(math.log(k) / (t * k))
        weights = np.exp(-0.5 * root * (self.estimates - self.estimates.min()))
        cap = min(1 / (2 * k), 0.5 * root)
        eps = np.array(
            [
                min(cap, self.beta * math.log(t) / (t * gap**2)) if gap > 0 else cap
                for gap in self.gaps(t)
            ]
        )
        self.rounds_with_a_gap += bool((eps < cap).any())
        return (1 - eps.sum()) * weights / weights.sum() + eps

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        self.pulls[arm] += 1
        self.losses[arm] += 1 - reward
        if t > self.n_arms:
            self.estimates[arm] += (1 - reward) / probability


def problem(**changes: object) -> Problem:
    return Problem.of(**{"n_arms": 2, "budget": 100, "cost_min": 0.5, **changes})


def world_of(n_arms: int) -> World:
    return worlds.function("two_point")(
        np.linspace(0.95, 0.1, n_arms), np.linspace(0.25, 0.95, n_arms), cost_min=0.2
    )


def test_rounds_by_hand() -> None:
    live = purse.Policy("exp3++", n_arms=2, budget=100, cost_min=0.5, seed=0)
    assert tell_all(live, (1, 0.5), (0, 1)) == [0, 1]
    # the initial pulls do not enter the weights
    assert live.probabilities() == pytest.approx([0.5, 0.5], abs=1e-15)

    assert tell_all(live, (0.5, 0.8)) == [0]
    loss0 = 0.5 / 0.5  # 1
    half = 0.5 * math.sqrt(math.log(2) / (4 * 2))  # 0.1471763, both eta and eps in round 4
    # 0.4740831
    p0 = (1 - 2 * half) * math.exp(-half * loss0) / (math.exp(-half * loss0) + 1) + half
    assert p0 == pytest.approx(0.4740831, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (0, 0.5)) == [1]
    loss1 = 1 / (1 - p0)  # 1.9014412
    half = 0.5 * math.sqrt(math.log(2) / (5 * 2))  # 0.1316384
    w0, w1 = math.exp(-half * loss0), math.exp(-half * loss1)
    p0 = (1 - 2 * half) * w0 / (w0 + w1) + half  # 0.5218301
    assert p0 == pytest.approx(0.5218301, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (0, 1)) == [0]
    loss0 += 1 / p0  # 1 + 1.9163326
    half = 0.5 * math.sqrt(math.log(2) / (6 * 2))  # 0.1201689
    w0, w1 = math.exp(-half * loss0), math.exp(-half * loss1)
    p0 = (1 - 2 * half) * w0 / (w0 + w1) + half  # 0.4768669
    assert p0 == pytest.approx(0.4768669, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)


def test_a_gap_by_hand() -> None:
    live = purse.Policy("exp3++:alpha=0.01,beta=0.1", n_arms=2, budget=1000, cost_min=0.5, seed=0)
    tell_all(live, (1, 0.5), (0, 0.5))
    for _ in range(198):
        ticket = live.ask()
        live.tell(ticket, 1.0 - ticket.arm, 0.5)
    n0, n1 = live.state.pulls
    radius0, radius1 = (math.sqrt((0.01 * math.log(201) + math.log(2)) / (2 * n)) for n in (n0, n1))
    gap = (1 - radius1) - radius0  # mean losses are 0 and 1
    eps0, eps1 = 0.5 * math.sqrt(math.log(2) / 402), 0.1 * math.log(201) / (201 * gap**2)
    assert eps1 < eps0 / 2
    weight = math.exp(-0.5 * math.sqrt(math.log(2) / 402) * live.state.losses[1])
    assert live.probabilities()[1] == pytest.approx(
        (1 - eps0 - eps1) * weight / (1 + weight) + eps1, abs=1e-14
    )


@pytest.mark.parametrize("n_arms", [2, 3, 10])
@pytest.mark.parametrize("out", [1, 200])
def test_follows_the_formula_at_the_defaults(n_arms: int, out: int) -> None:
    world = world_of(n_arms)
    assert (
        largest_deviation(
            make_live(world, "exp3++"), PlainExp3PlusPlus(n_arms), world, 4000, out=out
        )
        < EXACT
    )


@pytest.mark.parametrize(("alpha", "beta"), [(3, 0.01), (0.2, 0.1)])
@pytest.mark.parametrize("out", [1, 100])
def test_follows_the_formula_where_gaps_bind(alpha: float, beta: float, out: int) -> None:
    world, plain = world_of(3), PlainExp3PlusPlus(3, alpha, beta)
    assert (
        largest_deviation(
            make_live(world, f"exp3++:alpha={alpha},beta={beta}"), plain, world, 6000, out=out
        )
        < EXACT
    )
    assert plain.rounds_with_a_gap > 2000


def test_is_blind_to_costs() -> None:
    cheap, dear = (
        purse.Policy("exp3++:beta=0.01", n_arms=3, budget=1000, cost_min=low, seed=5)
        for low in (0.5, 0.1)
    )
    rewards = np.random.default_rng(0).random(300)
    assert tell_all(cheap, *[(r, 0.5) for r in rewards]) == tell_all(
        dear, *[(r, 1.0) for r in rewards]
    )
    assert (cheap.probabilities() == dear.probabilities()).all()


def test_is_exp3pp_bwk_where_every_pull_costs_the_most_and_gaps_do_not_matter_yet() -> None:
    world = worlds.function("bernoulli")([0.9, 0.6, 0.3], [1, 1, 1])
    runs = [purse.simulate(policy, world, 1000, n_paths=5) for policy in ("exp3++", "exp3++.bwk")]
    assert (runs[0].pulls == runs[1].pulls).all()


def test_regret_over_a_fixed_number_of_rounds_is_within_the_bound() -> None:
    world = worlds.function("bernoulli")([0.5, 0.8, 0.5, 0.5], [1, 1, 1, 1])
    run = purse.simulate("exp3++", world, 10_000, n_paths=50)
    # expected regret is at most 4 sqrt(10^4 4 ln 4) + 4 = 946; learning nothing loses 2250
    error = 5 * run.gain.std(ddof=1) / math.sqrt(50)
    assert 8000 - run.gain.mean() < 946 + error


@pytest.mark.parametrize("options", ["", ":beta=0.01"])
def test_arms_come_as_often_as_their_probabilities_say(options: str) -> None:
    world = world_of(5)
    assert frequency_surprise(make_live(world, f"exp3++{options}"), world, 3000) < 4


@pytest.mark.parametrize("options", ["", ":beta=0.01,alpha=0.2"])
def test_plays_several_resources(options: str) -> None:
    check_policy(f"exp3++{options}", worlds.function("bernoulli")([0.9, 0.4], [[0.5, 1], [1, 0.5]]))


@pytest.mark.parametrize("options", ["", ":beta=0.01"])
def test_one_arm(options: str) -> None:
    live = purse.Policy(f"exp3++{options}", n_arms=1, budget=10, cost_min=0.5)
    assert tell_all(live, (1, 0.5), (0, 1), (1, 0.5), (0.5, 0.5)) == [0, 0, 0, 0]
    assert live.probabilities().tolist() == [1.0]


def test_all_reports_missing_leaves_all_arms_equal() -> None:
    live = purse.Policy("exp3++:beta=0.01", n_arms=4, budget=100, cost_min=0.5)
    for _ in range(50):
        live.ask()
    assert live.probabilities() == pytest.approx([0.25] * 4)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("beta=-1", r"^beta=-1: must be a number above 0"),
        ("beta=x", r"^beta='x': must be 'theory' or a positive number"),
        ("alpha=0", r"^alpha=0: must be a number above 0"),
        ("lam=1", r"unknown option of exp3\+\+ 'lam'"),
    ],
)
def test_options_are_checked(option: str, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=message):
        purse.Policy(f"exp3++:{option}", n_arms=2, budget=100, cost_min=0.5)


def test_refuses_several_plays() -> None:
    with pytest.raises(
        purse.InvalidInput,
        match=r"^exp3\+\+ plays problems with plays=1, and this one has plays=2$",
    ):
        make_policy("exp3++", problem(plays=2))
