"""Policies that see contexts: SquareCBwK, linCBwK and classes."""

import math

import numpy as np
import pytest

import purse
from purse import worlds
from purse.policies import lin_cbwk, square_cbwk
from purse.policies.classes_resolve import EARLY, EVERY
from purse.testing import check_policy
from purse.types import Floats, Problem
from tests.support.context_rows import Answers, context_of, live_equals_engine, live_on, rows_of
from tests.support.soak import SOAK, scale

ROUNDS, MORE = scale(200, 400), 300


class Plain:
    """The formula written out: both regressions are solved anew in every round."""

    def __init__(self, live: purse.Policy, g: float, horizon: int | None) -> None:
        problem = live.problem
        self.least = (problem.cost_min * problem.unit_scale)[:, 0]
        self.most = (problem.cost_max * problem.unit_scale)[:, 0]
        self.scale, self.budget, self.horizon = 1 / problem.cost_max.max() * 1e9, problem.b, horizon
        self.g, self.n_arms = g, problem.n_arms
        self.seen: list[list[tuple[Floats, float, float]]] = [[] for _ in range(self.n_arms)]
        self.spent, self.earned, self.squares, self.n_reports = 0.0, 0.0, 0.0, 0

    def price(self, t: int) -> float:
        """In reward per cost."""
        if self.horizon is None:
            middle = (self.least + self.most).mean() / 2
            return (0.5 + self.earned) / (middle + self.spent)
        rate = self.horizon / self.budget
        over = self.spent * rate - (t - 1)
        q = 1 + self.squares + (t - 1 - self.n_reports)
        return min(1.0, max(0.0, 0.3 * over / math.sqrt(q))) * rate

    def probabilities(self, t: int, context: list[float]) -> tuple[Floats, float]:
        """The probability of each arm, and the largest gap times gamma."""
        x = np.array([*context, 1.0])
        scores = np.zeros(self.n_arms)
        for i, reports in enumerate(self.seen):
            start = np.zeros((2, len(x)))
            start[:, -1] = 0.5, reports[0][2] if reports else 0.0
            a = np.array([row for row, _, _ in reports]).reshape(-1, len(x))
            b = np.array([values for _, *values in reports]).reshape(-1, 2)
            inverse = np.linalg.inv(np.eye(len(x)) + a.T @ a)
            reward, cost = (start.T + inverse @ a.T @ (b - a @ start.T)).T @ x
            cost = min(self.most[i], max(self.least[i], cost))
            scores[i] = min(1.0, max(0.0, reward)) - self.price(t) * cost
        values = scores if self.horizon is None else np.append(scores, 0.0)
        gamma = self.g * math.sqrt(self.n_arms * (self.horizon or t) / len(x))
        chances = 1 / (len(values) + gamma * (values.max() - values))
        best = values.argmax()
        chances[best] = 0.0
        chances[best] = 1 - chances.sum()
        return chances[: self.n_arms], gamma * float(np.ptp(values))

    def learn(self, arm: int, context: list[float], reward: float, cost: float) -> None:
        cost *= self.scale
        self.seen[arm].append((np.array([*context, 1.0]), reward, cost))
        self.spent += cost
        self.earned += reward
        self.n_reports += 1
        if self.horizon is not None:
            self.squares += (cost * self.horizon / self.budget - 1) ** 2


@pytest.mark.parametrize(("horizon", "g"), [(ROUNDS, 1), (None, 0.05)])
def test_follows_the_formula(horizon: int | None, g: float) -> None:
    world = rows_of(ROUNDS)
    budget = 0.3 * ROUNDS if horizon else 1e6
    live = live_on(f"square-cbwk:g={g}", world, budget, horizon)
    plain, answers = Plain(live, g, horizon), Answers(world, ROUNDS)
    skipped = 0
    for t in range(1, ROUNDS - 50):  # the budget may end a little before the rounds do
        context = context_of(world, t)
        ours = live.probabilities(context=context)
        theirs, gap = plain.probabilities(t, context)
        assert ours == pytest.approx(theirs, abs=1e-9)
        assert ours.min() >= 1 / (3 + (horizon is not None) + gap) - 1e-9
        if horizon is None:
            assert abs(ours.sum() - 1) < 1e-12
        ticket = live.ask(context=context)
        if ticket.skipped:
            skipped += 1
            assert abs(ours.sum() + ticket.probability - 1) < 1e-12
        else:
            assert ticket.probability == ours[ticket.arm]
            plain.learn(ticket.arm, context, *answers.tell(live, ticket))
    assert (skipped > 0) == (horizon is not None)


def test_live_equals_engine() -> None:
    live_equals_engine("square-cbwk", rows_of(ROUNDS), 0.3 * ROUNDS, ROUNDS)
    live_equals_engine("square-cbwk", rows_of(ROUNDS, per_arm=True), 0.15 * ROUNDS)
    if SOAK:  # contexts have a loop of their own, for which one policy stands for all
        live_equals_engine("lin-cbwk:radius=1", rows_of(300), 120, 300)
        live_equals_engine("lin-cbwk:model=shared,radius=1", rows_of(300, per_arm=True), 60)
        live_equals_engine("classes.resolve", rows_of(300, one_hot=True), 120, 300)
        live_equals_engine("classes.resolve", rows_of(300, one_hot=True), 60)


@pytest.mark.skipif(not SOAK, reason="another number of resources is compiled again")
def test_two_resources_have_two_prices() -> None:
    live = purse.Policy(
        "square-cbwk", n_arms=2, n_resources=2, budget=[50, 50], cost_min=0.1, horizon=100, seed=1
    )
    live.tell(live.ask(), 1, [0.2, 0.9])
    chances = live.probabilities()
    assert live._game.scratch.prices[0] == 0 < live._game.scratch.prices[1] < 1
    assert 0 < chances.sum() < 1
    check_policy("square-cbwk", worlds.function("bernoulli")([0.9, 0.4], [[0.5, 1], [1, 0.5]]))


def test_gamma_of_square_cbwk() -> None:
    known = Problem.of(n_arms=3, budget=100, cost_min=0.5, horizon=400, n_features=3)
    assert square_cbwk.params(known).gamma == pytest.approx(16 * math.sqrt(300))
    assert square_cbwk.params(known, g=2).gamma == pytest.approx(2 * math.sqrt(300))


def test_the_radius_of_lin_cbwk_in_theory() -> None:
    known = Problem.of(n_arms=3, budget=100, cost_min=0.5, horizon=400, n_features=1, per_arm=True)
    for model, numbers in (("arm", 6), ("shared", 2)):
        found = lin_cbwk.params(known, model=model)
        assert (found.radius, found.numbers, found.z) == (lin_cbwk.THEORY, numbers, 4)
    live = purse.Policy("lin-cbwk", n_arms=2, budget=100, cost_min=0.1, horizon=400, features=1)
    live.probabilities(context=[0.001])
    beta = math.sqrt(4 * math.log((1 + 1 * 4 * 1) * 400)) + 2
    assert beta > 1  # so that all rewards are 1
    assert live._game.scratch.scores == pytest.approx([1 - 4 / 2 * 0.1] * 2)
    radius = lin_cbwk.radius_at.py_func  # type: ignore[attr-defined]
    assert radius(lin_cbwk.params(live.problem), 1, 1) == pytest.approx(beta)
    assert radius(lin_cbwk.params(live.problem, radius=3), 1, 1) == 3


@pytest.mark.parametrize("model", ["arm", "shared"])
def test_coefficients_of_lin_cbwk_are_those_of_least_squares(model: str) -> None:
    world = rows_of(MORE, per_arm=True)
    live = live_on(f"lin-cbwk:radius=0.3,model={model}", world, 120, MORE)
    answers, scale = Answers(world, MORE), live.problem.unit_scale[0] * 1e9
    rows: list[list[list[float]]] = [[] for _ in live.state.reports]
    for t in range(1, MORE - 30):
        ticket = live.ask(context=context_of(world, t))
        if not ticket.skipped:
            reward, cost = answers.tell(live, ticket)
            group = 0 if model == "shared" else ticket.arm
            rows[group].append([*context_of(world, t)[ticket.arm], 1, reward, cost * scale])
    for found, table in zip(live.state.coefficients, map(np.array, rows), strict=True):
        x, y = table[:, :3], table[:, 3:]
        theirs = np.linalg.solve(np.eye(3) + x.T @ x, x.T @ y)
        assert found == pytest.approx(theirs.T, abs=1e-10)


def best_base(seen: Floats, rewards: Floats, costs: Floats, rounds: float) -> float:
    """The least price in [0, 1] at which the rounds seen cost at most so many: a fine search."""

    def spent(price: float) -> float:
        values = np.concatenate([np.zeros((len(seen), 1)), rewards - price * costs], axis=1)
        paid = np.concatenate([np.zeros((len(seen), 1)), costs], axis=1)
        return float(seen @ paid[np.arange(len(seen)), values.argmax(axis=1)])

    low, high = 0.0, 1.0
    if spent(low) <= rounds:
        return 0.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (low, middle) if spent(middle) <= rounds else (middle, high)
    return high


def test_means_of_classes_are_those_of_a_regression_without_a_constant() -> None:
    world = rows_of(MORE, one_hot=True)
    live, answers = live_on("classes.resolve", world, 120, MORE), Answers(world, MORE)
    scale = live.problem.unit_scale[0] * 1e9
    rows: list[list[list[float]]] = [[], [], []]
    solved_at = 0
    for t in range(1, MORE - 30):  # the budget may end a little before the rounds do
        context = context_of(world, t)
        ticket = live.ask(context=context)
        if not ticket.skipped:
            reward, cost = answers.tell(live, ticket)
            rows[ticket.arm].append([*context, 1 - sum(context), reward, cost * scale])
            n_reports = sum(map(len, rows))
            if n_reports < EARLY or n_reports % EVERY == 0:
                solved_at = t
                seen, rewards, costs = live.state.seen.copy(), *np.zeros((2, 3, 3))
                for i, reports in enumerate(rows):
                    rewards[:, i], costs[:, i] = ridge_means(np.array(reports).reshape(-1, 5))
                base = best_base(seen, rewards, clipped(live, costs), t)
                assert live.state.base[0] == pytest.approx(base, abs=1e-6)
    assert solved_at > EARLY
    for i, reports in enumerate(rows):
        means = live.state.coefficients[i::3, :, 0]
        assert means == pytest.approx(np.array(ridge_means(np.array(reports))).T, abs=1e-12)


def ridge_means(table: Floats) -> tuple[Floats, Floats]:
    """The coefficients of reward and cost on three one-hot columns, ridge 1, from 1/2 and from the
    first cost of the class.
    """
    x, y = table[:, :3], table[:, 3:]
    start = np.full((3, 2), [0.5, 0.0])
    for z in range(3):
        if x[:, z].any():
            start[z, 1] = y[x[:, z].argmax(), 1]
    found = start + np.linalg.solve(np.eye(3) + x.T @ x, x.T @ (y - x @ start))
    return found[:, 0], found[:, 1]


def clipped(live: purse.Policy, costs: Floats) -> Floats:
    """Costs (Z, K) within their bounds, in rounds of pace."""
    known = live.problem
    least, most = (bound[:, 0] * known.unit_scale[0] for bound in (known.cost_min, known.cost_max))
    return np.clip(costs, least, most) * MORE / known.b


def test_refuses_a_context_per_arm() -> None:
    with pytest.raises(purse.InvalidInput, match=r"^classes\.resolve needs one context for all"):
        purse.Policy("classes.resolve", n_arms=2, budget=9, cost_min=1, features=1, per_arm=True)
