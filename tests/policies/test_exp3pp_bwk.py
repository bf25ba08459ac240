from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine.job import make_policy
from purse.policies import exp3pp_bwk
from purse.types import Floats, Problem, World
from tests.support.policies import (
    EXACT,
    frequency_surprise,
    largest_deviation,
    make_live,
    plain_rates,
    tell_all,
)

Rates = Callable[..., Floats]


class PlainExp3PlusPlusBwK:
    """Algorithm 2 as docs/readings.md reads it: weights from cumulative losses and all bounds in
    every round.
    """

    def __init__(
        self,
        rates: Rates,
        n_arms: int,
        c_min: float,
        *,
        alpha: float = 3.0,
        beta: float | None = None,
        lam: float | None = None,
        epsilon: str = "lemma",
        mixing: str = "all",
        width: str = "printed",
    ) -> None:
        self.rates, self.n_arms, self.c_min, self.epsilon, self.mixing = (
            rates,
            n_arms,
            c_min,
            epsilon,
            mixing,
        )
        self.bounds = {
            "c_min": c_min,
            "lam": lam or c_min,
            "alpha": alpha,
            "beta": beta or 256 / c_min**2,
            "direct": width == "direct",
        }
        self.losses, self.pulls, self.rewards, self.costs = (np.zeros(n_arms) for _ in range(4))
        self.rounds_with_a_gap = 0

    def explore(self, t: int) -> Floats:
        k = self.n_arms
        root = {
            "lemma": math.sqrt(math.log(k) / (t * k)),
            "printed": math.sqrt(math.log(k) / t),
            "cmin": self.c_min * math.sqrt(math.log(k) / (t * k)),
        }
        cap = min(1 / (2 * k), 0.5 * root[self.epsilon])
        rates = self.rates(t, cap, self.pulls, self.rewards, self.costs, **self.bounds)
        self.rounds_with_a_gap += bool((rates < cap).any())
        return rates

    def probabilities(self, t: int) -> Floats:
        k = self.n_arms
        if t <= k:
            return np.eye(k)[t - 1]
        gamma = 0.5 * self.c_min * math.sqrt(math.log(k) / (t * k))
        weights = np.array([math.exp(-gamma * (loss - self.losses.min())) for loss in self.losses])
        p, eps = weights / weights.sum(), self.explore(t)
        if self.mixing == "all":
            return (1 - eps.sum()) * p + eps
        mixed = (1 - (eps.sum() - eps)) * p + eps
        return mixed / mixed.sum()

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        self.pulls[arm] += 1
        self.rewards[arm] += reward
        self.costs[arm] += cost
        if t > self.n_arms:
            self.losses[arm] += (1 / self.c_min - reward / cost) / probability


def problem(**changes: object) -> Problem:
    return Problem.of(**{"n_arms": 2, "budget": 100, "cost_min": 0.5, **changes})


def world_of(n_arms: int, cost_min: float = 0.2) -> World:
    return worlds.function("two_point")(
        np.linspace(0.95, 0.1, n_arms),
        np.linspace(cost_min + 0.05, 0.95, n_arms),
        cost_min=cost_min,
    )


def written(**options: object) -> str:
    return "exp3++.bwk:" + ",".join(f"{name}={value}" for name, value in options.items())


def test_initial_pulls_are_the_arms_in_order_and_certain() -> None:
    live = purse.Policy("exp3++.bwk", n_arms=4, budget=100, cost_min=0.5)
    for i in range(4):
        assert live.probabilities().tolist() == np.eye(4)[i].tolist()
        assert tell_all(live, (1, 0.5)) == [i]


def test_three_rounds_by_hand() -> None:
    live = purse.Policy("exp3++.bwk", n_arms=2, budget=100, cost_min=0.5, seed=0)
    tell_all(live, (1, 0.5), (0, 1))
    assert live.probabilities() == pytest.approx([0.5, 0.5], abs=1e-15)

    assert tell_all(live, (0.5, 0.8)) == [0]
    loss0 = (1 / 0.5 - 0.5 / 0.8) / 0.5
    gamma = 0.5 * 0.5 * math.sqrt(math.log(2) / (4 * 2))
    eps = 0.5 * math.sqrt(math.log(2) / (4 * 2))
    p0 = (1 - 2 * eps) * math.exp(-gamma * loss0) / (math.exp(-gamma * loss0) + 1) + eps
    assert loss0 == 2.75
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (0, 0.5)) == [1]
    loss1 = (1 / 0.5 - 0) / (1 - p0)
    gamma = 0.5 * 0.5 * math.sqrt(math.log(2) / (5 * 2))
    eps = 0.5 * math.sqrt(math.log(2) / (5 * 2))
    p0 = (1 - 2 * eps) * math.exp(-gamma * loss0) / (
        math.exp(-gamma * loss0) + math.exp(-gamma * loss1)
    ) + eps
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (1, 1)) == [0]
    loss0 += (1 / 0.5 - 1) / p0
    gamma = 0.5 * 0.5 * math.sqrt(math.log(2) / (6 * 2))
    eps = 0.5 * math.sqrt(math.log(2) / (6 * 2))
    p0 = (1 - 2 * eps) * math.exp(-gamma * loss0) / (
        math.exp(-gamma * loss0) + math.exp(-gamma * loss1)
    ) + eps
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)


@pytest.mark.parametrize(
    ("epsilon", "cap"),
    [("lemma", math.log(3) / 3), ("printed", math.log(3)), ("cmin", 0.5**2 * math.log(3) / 3)],
)
def test_least_probability_by_hand(epsilon: str, cap: float) -> None:
    live = purse.Policy(f"exp3++.bwk:epsilon={epsilon}", n_arms=3, budget=10_000, cost_min=0.5)
    tell_all(live, *[(0, 1)] * 3)
    for _ in range(1500):
        ticket = live.ask()
        live.tell(ticket, float(ticket.arm == 1), 0.5)
    eps = min(1 / 6, 0.5 * math.sqrt(cap / 1504))
    assert eps < live.probabilities().min() < 1.01 * eps


@pytest.mark.parametrize(("n_arms", "n_rounds"), [(2, 10_000), (3, 30_000), (10, 10_000)])
def test_plain_formula_at_the_defaults(n_arms: int, n_rounds: int) -> None:
    world = world_of(n_arms)
    assert (
        largest_deviation(
            make_live(world, "exp3++.bwk"),
            PlainExp3PlusPlusBwK(plain_rates, n_arms, 0.2),
            world,
            n_rounds,
        )
        < EXACT
    )


GAPS_BIND = [
    (15_000, 0.2, {"beta": 0.01, "width": "direct"}),
    (8_000, 0.8, {"beta": 0.01, "width": "printed", "alpha": 0.2}),
    (8_000, 0.8, {"beta": 0.01, "width": "printed", "alpha": 0.2, "lam": 0.7, "mixing": "printed"}),
    (8_000, 0.2, {"beta": 0.01, "width": "direct", "alpha": 0.2, "lam": 0.15}),
    (8_000, 0.2, {"beta": 0.01, "width": "direct", "alpha": 0.2, "epsilon": "printed"}),
    (
        8_000,
        0.2,
        {"beta": 0.01, "width": "direct", "alpha": 0.2, "epsilon": "cmin", "mixing": "printed"},
    ),
]


@pytest.mark.parametrize(
    ("n_rounds", "c_min", "options"),
    GAPS_BIND,
    ids=lambda value: written(**value) if isinstance(value, dict) else str(value),
)
def test_plain_formula_where_gaps_bind(
    n_rounds: int, c_min: float, options: dict[str, object]
) -> None:
    world = world_of(3, c_min)
    plain = PlainExp3PlusPlusBwK(plain_rates, 3, c_min, **options)
    assert largest_deviation(make_live(world, written(**options)), plain, world, n_rounds) < EXACT
    assert plain.rounds_with_a_gap > 2000


@pytest.mark.parametrize("epsilon", ["lemma", "printed", "cmin"])
@pytest.mark.parametrize("mixing", ["all", "printed"])
def test_plain_formula_of_each_variant(epsilon: str, mixing: str) -> None:
    world = world_of(5)
    plain = PlainExp3PlusPlusBwK(plain_rates, 5, 0.2, epsilon=epsilon, mixing=mixing)
    assert (
        largest_deviation(
            make_live(world, written(epsilon=epsilon, mixing=mixing)), plain, world, 5000
        )
        < EXACT
    )


def test_plain_formula_across_the_quiet_round() -> None:
    world = world_of(3, 0.8)
    live = make_live(world, "exp3++.bwk:beta=1,width=direct,alpha=0.2")
    assert 50 < live._game.params.quiet < 1000
    plain = PlainExp3PlusPlusBwK(plain_rates, 3, 0.8, beta=1, width="direct", alpha=0.2)
    assert largest_deviation(live, plain, world, 10_000) < EXACT
    assert plain.rounds_with_a_gap > 1000


@pytest.mark.parametrize(
    "options",
    [{}, {"beta": 0.01, "width": "direct"}, {"mixing": "printed"}],
    ids=lambda options: written(**options),
)
def test_plain_formula_with_late_reports(options: dict[str, object]) -> None:
    world = world_of(3)
    plain = PlainExp3PlusPlusBwK(plain_rates, 3, 0.2, **options)
    assert (
        largest_deviation(make_live(world, written(**options)), plain, world, 10_000, out=200)
        < EXACT
    )


@pytest.mark.parametrize("order", ["reversed", "shuffled"])
def test_plain_formula_after_ten_thousand_reports_came_at_once(order: str) -> None:
    world = worlds.function("bernoulli")([0.2, 0.1], [0.5, 0.5])
    live, plain, chance = (
        make_live(world, "exp3++.bwk"),
        PlainExp3PlusPlusBwK(plain_rates, 2, 0.5),
        np.random.default_rng(0),
    )

    def report(ticket: purse.Ticket) -> None:
        reward = float(chance.random() < (0.2, 0.1)[ticket.arm])
        live.tell(ticket, reward, 0.5)
        plain.learn(ticket.t, ticket.arm, ticket.probability, reward, 0.5)

    tickets = [live.ask() for _ in range(10_000)]
    for i in np.arange(10_000)[::-1] if order == "reversed" else chance.permutation(10_000):
        report(tickets[i])
    worst = 0.0
    for t in range(10_001, 10_201):
        worst = max(worst, float(np.abs(live.probabilities() - plain.probabilities(t)).max()))
        report(live.ask())
    assert worst < EXACT


def test_plain_formula_with_costs_above_one() -> None:
    world = worlds.function("two_point")([0.9, 0.5, 0.2], [3, 2, 1.5], cost_min=1, cost_max=5)
    plain = PlainExp3PlusPlusBwK(plain_rates, 3, 0.2, beta=0.01, width="direct")
    assert (
        largest_deviation(make_live(world, "exp3++.bwk:beta=0.01,width=direct"), plain, world, 5000)
        < EXACT
    )


@pytest.mark.parametrize(
    "options",
    ["", ":beta=0.01,width=direct", ":mixing=printed", ":beta=0.01,width=direct,mixing=printed"],
)
def test_arms_come_as_often_as_their_probabilities_say(options: str) -> None:
    world = world_of(5)
    assert frequency_surprise(make_live(world, f"exp3++.bwk{options}"), world, 5000) < 4


def test_printed_mixing_sums_to_more_than_one_and_ours_does_not() -> None:
    live = purse.Policy("exp3++.bwk:mixing=printed", n_arms=5, budget=1000, cost_min=0.5)
    tell_all(live, *[(1, 0.5)] * 5)
    eps = min(1 / 10, 0.5 * math.sqrt(math.log(5) / (6 * 5)))
    as_printed = [(1 - 4 * eps) * 0.2 + eps] * 5
    assert sum(as_printed) == pytest.approx(1.1)
    assert live.probabilities().sum() == pytest.approx(1, abs=1e-15)
    for _ in range(200):
        ticket = live.ask()
        live.tell(ticket, float(ticket.arm == 0), 0.5)
        assert live.probabilities().sum() == pytest.approx(1, abs=1e-14)


def test_with_the_theorys_beta_gaps_are_not_looked_at_within_a_million_rounds() -> None:
    assert exp3pp_bwk.params(problem()).quiet > 1_000_000


@pytest.mark.parametrize(
    "options", ["", ":beta=0.01,width=direct", ":mixing=printed,epsilon=printed"]
)
def test_one_arm(options: str) -> None:
    live = purse.Policy(f"exp3++.bwk{options}", n_arms=1, budget=10, cost_min=0.5)
    assert tell_all(live, (1, 0.5), (0, 1), (1, 0.5), (0.5, 0.5)) == [0, 0, 0, 0]
    assert live.probabilities().tolist() == [1.0]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("beta=-1", r"beta=-1: must be a number above 0"),
        ("beta=0", r"beta=0: must be a number above 0"),
        ("beta=x", r"beta='x': must be 'theory' or a positive number"),
        ("alpha=0", r"alpha=0: must be a number above 0"),
        ("alpha=-3", r"alpha=-3: must be a number above 0"),
        ("lam=0.6", r"lam=0.6: must be a number above 0 and at most 0.5"),
        ("lam=0", r"lam=0: must be a number above 0 and at most 0.5"),
        ("epsilon=x", r"epsilon='x': must be one of 'lemma', 'printed', 'cmin'"),
        ("mixing=x", r"mixing='x': must be one of 'all', 'printed'"),
        ("width=x", r"width='x': must be one of 'printed', 'direct'"),
        ("bta=1", r"unknown option of exp3\+\+.bwk 'bta'; did you mean 'beta'\?"),
        ("lambda_=1", r"unknown option of exp3\+\+.bwk 'lambda_'; did you mean 'lam'\?"),
    ],
)
def test_options_are_checked(option: str, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=message):
        purse.Policy(f"exp3++.bwk:{option}", n_arms=2, budget=100, cost_min=0.5)


def test_refuses_several_plays_and_resources_in_one_line() -> None:
    with pytest.raises(
        purse.InvalidInput,
        match=r"^exp3\+\+.bwk plays problems with plays=1, and this one has plays=2$",
    ):
        make_policy("exp3++.bwk", problem(plays=2))
    with pytest.raises(
        purse.InvalidInput,
        match=r"^exp3\+\+.bwk plays problems with n_resources=1, and this one has n_resources=2$",
    ):
        make_policy("exp3++.bwk", problem(n_resources=2))
