from __future__ import annotations

import numpy as np
import pytest

import purse
from purse.policies.classes_resolve import EARLY, EVERY
from purse.types import Floats
from tests.support.context_rows import Answers, context_of, live_equals_engine, live_on, rows_of
from tests.support.soak import SOAK

ROUNDS = 300


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


def test_means_are_those_of_a_regression_without_a_constant() -> None:
    world = rows_of(ROUNDS, one_hot=True)
    live, answers = live_on("classes.resolve", world, 120, ROUNDS), Answers(world, ROUNDS)
    scale = live.problem.unit_scale[0] * 1e9
    rows: list[list[list[float]]] = [[], [], []]
    solved_at = 0
    for t in range(1, ROUNDS - 30):  # the budget may end a little before the rounds do
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
    return np.clip(costs, least, most) * ROUNDS / known.b


@pytest.mark.skipif(not SOAK, reason="`square-cbwk` stands for all: contexts have their own loop")
def test_live_equals_engine() -> None:
    live_equals_engine("classes.resolve", rows_of(ROUNDS, one_hot=True), 120, ROUNDS)
    live_equals_engine("classes.resolve", rows_of(ROUNDS, one_hot=True), 60)


def test_refuses_a_context_per_arm() -> None:
    with pytest.raises(purse.InvalidInput, match=r"^classes\.resolve needs one context for all"):
        purse.Policy("classes.resolve", n_arms=2, budget=9, cost_min=1, features=1, per_arm=True)
