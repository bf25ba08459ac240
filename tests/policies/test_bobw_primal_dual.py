from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import purse
from purse import worlds
from purse.base import amounts
from purse.engine.draws import draws
from purse.kernels.exp3_p import tuned
from purse.kernels.primal_dual import project
from purse.policies import bobw_primal_dual
from purse.testing import check_policy
from purse.theory.fluid import lp_optimum
from purse.types import SKIP, Floats, Problem, Ticket, World
from tests.support.policies import EXACT, tell_all


def plain_projection(point: Floats, size: float) -> Floats:
    """The usual way: sort, and find how many stay above 0."""
    if np.maximum(point, 0).sum() <= size:
        return np.maximum(point, 0)
    falling = np.sort(point)[::-1]
    losses = (np.cumsum(falling) - size) / np.arange(1, len(point) + 1)
    return np.maximum(point - losses[np.flatnonzero(falling > losses)[-1]], 0)


class Plain:
    """The two learners written out; skipped rounds move the prices one by one."""

    def __init__(
        self,
        n_arms: int,
        budgets: list[float],
        rounds: int,
        *,
        skips: bool,
        eta: float | None = None,
    ) -> None:
        self.n_arms, self.n_actions = n_arms, n_arms + skips
        budget = min([*budgets, rounds])
        self.factors, self.rho, self.eta = (
            np.array([budget / each for each in budgets]),
            budget / rounds,
            eta or 1 / math.sqrt(rounds),
        )
        self.primal = tuned(self.n_actions, 1.0, rounds, 0.05)
        self.gains, self.p = np.zeros(self.n_actions), np.full(self.n_actions, 1 / self.n_actions)
        self.prices, self.booked = np.zeros(len(budgets)), 0

    def utility(self, worth: float) -> float:
        return (worth + 1 / self.rho) / (1 + 1 / self.rho)

    def step(self, rounds: int, cost: Floats) -> None:
        self.prices = plain_projection(
            self.prices - self.eta * (rounds * self.rho - cost), 1 / self.rho
        )

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: Floats) -> None:
        passed = max(0, t - self.booked)
        self.booked = max(self.booked, t)
        for _ in range(passed - 1):
            self.step(1, 0 * cost)
        self.gains += (passed - 1) * self.primal.beta / self.p
        if self.n_actions > self.n_arms:
            self.gains[-1] += passed * self.utility(0.0)
        self.p[arm] = probability
        self.gains += self.primal.beta / self.p
        self.gains[arm] += (
            self.utility(reward - float(self.prices @ (self.factors * cost))) / probability
        )
        weights = np.exp(self.primal.eta * (self.gains - self.gains.max()))
        self.p = (
            1 - self.primal.gamma
        ) * weights / weights.sum() + self.primal.gamma / self.n_actions
        self.step(min(1, passed), self.factors * cost)


def two_resources() -> World:
    return worlds.function("atoms")(
        probabilities=[[0.5, 0.5], [0.3, 0.7], [0.9, 0.1]],
        rewards=[[1, 0], [1, 0], [1, 0]],
        costs=[[[1, 0.2], [0.5, 0]], [[0.2, 2], [0.1, 1]], [[0.6, 1], [0.6, 1.5]]],
    )


def deviation(
    policy: str,
    plain: Plain,
    world: World,
    budget: list[float],
    horizon: int | None,
    n_rounds: int,
    *,
    out: int = 1,
) -> tuple[float, float]:
    """The largest difference of chances and prices in any round, and the largest sum of prices."""
    bounds = {"cost_min": world.cost_min / amounts.UNIT, "cost_max": world.cost_max / amounts.UNIT}
    live = purse.Policy(
        policy,
        n_arms=world.n_arms,
        budget=budget,
        n_resources=world.n_resources,
        horizon=horizon,
        stop="exit",
        **bounds,
    )
    rewards, costs = draws(world, n_rounds)
    order = np.random.default_rng(0)
    waiting: list[Ticket] = []
    worst, dearest = 0.0, 0.0
    for _ in range(n_rounds):
        worst = max(
            worst,
            *np.abs(live.state.chances - plain.p),
            *np.abs(live.state.prices - plain.prices),
        )
        dearest = max(dearest, plain.prices.sum())
        ticket = live.ask()
        assert ticket.probability == pytest.approx(plain.p[ticket.arm], abs=1e-12)
        waiting += [] if ticket.skipped else [ticket]
        while len(waiting) >= (out if out == 1 else order.integers(1, out + 1)):
            ticket = waiting.pop(order.integers(len(waiting)))
            units = costs[ticket.t - 1, ticket.arm]
            assert live.tell(
                ticket, float(rewards[ticket.t - 1, ticket.arm]), [(units / amounts.UNIT).tolist()]
            )
            plain.learn(
                ticket.t,
                ticket.arm,
                ticket.probability,
                float(rewards[ticket.t - 1, ticket.arm]),
                units * live.problem.unit_scale,
            )
    return worst, dearest


def test_three_rounds_by_hand() -> None:
    live = purse.Policy("bobw-primal-dual:eta=0.5", n_arms=2, budget=10, cost_min=0.5, seed=0)
    # T = 20, so rho = 0.5; EXP3.P as in lagrange-bwk: beta = sqrt(ln 40 / 40), 0.95 sqrt(ln 2 /
    # 40), 1.05 sqrt(2 ln 2 / 20)
    beta, rate, gamma = (
        math.sqrt(math.log(40) / 40),
        0.95 * math.sqrt(math.log(2) / 40),
        1.05 * math.sqrt(2 * math.log(2) / 20),
    )
    p, gains = [0.5, 0.5], [0.0, 0.0]
    # prices 0, 0.5 * (0.9 - 0.5) = 0.2 and 0.2 - 0.5 * (0.5 - 1) = 0.45
    # utilities (1 + 2) / 3 = 1, (1 - 0.2 * 1 + 2) / 3 = 0.93333, (0 - 0.45 * 0.6 + 2) / 3 = 0.57667
    for report, utility, price in (
        ((1, 0.9), 1, 0.2),
        ((1, 1), 0.93333, 0.45),
        ((0, 0.6), 0.57667, 0.5),
    ):
        (arm,) = tell_all(live, report)
        for i in range(2):
            gains[i] += ((utility if i == arm else 0) + beta) / p[i]
        assert live.state.gains == pytest.approx(gains, abs=1e-4)
        assert live.state.prices == pytest.approx([price])
        x = [math.exp(rate * gain) for gain in gains]
        p = [(1 - gamma) * w / sum(x) + gamma / 2 for w in x]
        assert live.state.chances == pytest.approx(p, abs=1e-4)


def test_skipped_rounds_by_hand() -> None:
    live = purse.Policy(
        "bobw-primal-dual:eta=0.5",
        n_arms=1,
        budget=10,
        cost_min=0.5,
        horizon=40,
        seed=8,
        stop="exit",
    )
    tickets = [live.ask(), live.ask(), live.ask(), live.ask()]
    assert [ticket.arm for ticket in tickets] == [0, SKIP, SKIP, 0]
    live.tell(tickets[0], 1, 1)
    # rho = 0.25: the price is 0.5 * 0.75 = 0.375, then 0.25 and 0.125 after the skipped rounds, so
    # the pull of round 4 is worth 1 - 0.125
    assert live.state.prices == pytest.approx([0.375])
    before, chances = live.state.gains.copy(), live.state.chances.copy()
    live.tell(tickets[3], 1, 1)
    assert live.state.prices == pytest.approx([0.5])
    # doing nothing is worth 4 / 5 in each of three rounds; the pull was drawn with 1/2, when
    # nothing had been reported
    beta = math.sqrt(math.log(2 / 0.05) / 80)
    bonus = [2 * beta / chances[0] + beta / 0.5, 3 * beta / chances[1]]
    assert live.state.gains - before == pytest.approx(
        [bonus[0] + (0.875 + 4) / 5 / 0.5, bonus[1] + 3 * 4 / 5]
    )


@pytest.mark.parametrize("horizon", [None, 12_000, 2000])
@pytest.mark.parametrize("out", [1, 30])
def test_follows_the_formula(out: int, horizon: int | None) -> None:
    world = worlds.function("two_point")([0.9, 0.6, 0.3], [0.6, 0.4, 0.9], cost_min=0.2)
    plain = Plain(3, [3000], horizon or 15_000, skips=horizon is not None)
    assert deviation("bobw-primal-dual", plain, world, [3000], horizon, 2000, out=out)[0] < EXACT


@pytest.mark.parametrize("horizon", [None, 8000])
@pytest.mark.parametrize("out", [1, 20])
def test_follows_the_formula_with_two_resources_and_prices_at_their_limit(
    out: int, horizon: int | None
) -> None:
    # the first resource costs at least 0.1; of the second an arm may take nothing
    rounds = horizon or 30_000
    plain = Plain(3, [3000, 2000], rounds, skips=horizon is not None, eta=1.5)
    worst, dearest = deviation(
        "bobw-primal-dual:eta=1.5", plain, two_resources(), [3000, 4000], horizon, 1500, out=out
    )
    assert worst < 1e-11  # prices are added up to 1/rho = 15
    assert dearest == pytest.approx(rounds / 2000)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.lists(st.floats(-3, 3), min_size=1, max_size=8), st.floats(0.01, 5))
def test_projection(point: list[float], size: float) -> None:
    found = np.array(point)
    project(found, size)
    assert found == pytest.approx(plain_projection(np.array(point), size), abs=1e-12)
    assert (found >= 0).all()
    assert found.sum() <= size + 1e-12


def test_projection_by_hand() -> None:
    for point, size, nearest in (
        ([0.5, -1, 0.2], 1, [0.5, 0, 0.2]),
        ([1, 1], 1, [0.5, 0.5]),
        ([3, 0.5, 2], 2, [1.5, 0, 0.5]),
        ([4], 2, [2]),
    ):
        found = np.array(point, float)
        project(found, size)
        assert found == pytest.approx(nearest)


def test_does_nothing_once_a_pull_might_not_be_paid() -> None:
    live = purse.Policy(
        "bobw-primal-dual", n_arms=1, budget=3, cost_min=0.5, horizon=40, stop="exit"
    )
    paid = 0
    for _ in range(40):
        ticket = live.ask()
        if live.left < 1:
            assert (ticket.arm, ticket.probability) == (SKIP, 1)
        elif not ticket.skipped:
            live.tell(ticket, 1, 0.7)
            paid += 1
    assert paid == 3  # after which 0.9 is left


def test_the_last_pull_that_can_be_paid_is_made() -> None:
    world = worlds.function("bernoulli")([1], [0.3])
    run = purse.simulate("bobw-primal-dual", world, 3, n_paths=20, horizon=2000)
    assert (run.pulls[:, 0] == 10).all()
    assert (run.rounds == 2000).all()


def test_without_a_horizon_play_goes_on_until_a_pull_cannot_be_paid() -> None:
    world = worlds.function("two_point")([1], [0.5], cost_min=0.25)
    assert (purse.simulate("bobw-primal-dual", world, 20, n_paths=50).spent.mean()) > 19.5


def test_parameters_as_numbers() -> None:
    known = bobw_primal_dual.params(
        Problem.of(
            n_arms=3,
            budget=[50, 400],
            cost_min=0.5,
            cost_max=[[1, 2]] * 3,
            n_resources=2,
            horizon=400,
        ),
        delta=0.1,
    )
    assert (known.rho, known.eta, known.factors.tolist()) == (0.125, 0.05, [1, 0.25])
    assert known.primal == tuned(4, 1.0, 400, 0.1)
    plenty = bobw_primal_dual.params(Problem.of(n_arms=3, budget=800, cost_min=0.5, horizon=400))
    assert (plenty.rho, plenty.factors.tolist()) == (1, [0.5])


def test_learns_to_mix_models() -> None:
    world = worlds.function("routing")([0.55, 0.75, 0.9], [0.02, 0.1, 0.6], prompts=200_000)
    run = purse.simulate("bobw-primal-dual", world, 40_000, n_paths=4)
    assert 0.9 < run.gain.mean() / lp_optimum(world, 40_000).value < 1


@pytest.mark.parametrize("horizon", [None, 200])
def test_passes_the_checks_with_two_resources(horizon: int | None) -> None:
    check_policy("bobw-primal-dual", two_resources(), horizon=horizon)


def test_one_arm() -> None:
    live = purse.Policy("bobw-primal-dual", n_arms=1, budget=10, cost_min=0.5)
    assert tell_all(live, (1, 0.5), (0, 1), (1, 0.5)) == [0, 0, 0]
    assert live.state.chances.tolist() == [1.0]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("eta=0", r"eta=0: must be a number above 0"),
        ("delta=2", r"delta=2: must be a number above 0 and at most 1"),
    ],
)
def test_options_are_checked(option: str, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=message):
        purse.Policy(f"bobw-primal-dual:{option}", n_arms=2, budget=100, cost_min=0.5)


def test_refuses_several_plays() -> None:
    with pytest.raises(
        purse.InvalidInput,
        match=r"^bobw-primal-dual plays problems with plays=1, and this one has plays=2$",
    ):
        purse.Policy("bobw-primal-dual", n_arms=3, budget=10, cost_min=0.5, plays=2)
