import math

import numpy as np
import pytest

import purse
from purse import worlds
from purse.lab.theory.contexts import lp_with_contexts, lp_without_contexts
from purse.policies import lin_ucb_price
from purse.types import Floats
from tests.support.context_rows import (
    Answers,
    budget_of,
    context_of,
    live_on,
    rows_of,
    share_of_optimum,
)

NAME = lin_ucb_price.NAME


class Plain:
    """The rule written out: regressions are solved anew in every round. One resource."""

    def __init__(self, live: purse.Policy, horizon: int) -> None:
        problem = live.problem
        self.least = (problem.cost_min * problem.unit_scale)[:, 0]
        self.most = (problem.cost_max * problem.unit_scale)[:, 0]
        self.unit = float(problem.unit_scale[0]) * 1e9
        self.budget, self.horizon = problem.b, horizon
        self.seen: list[list[tuple[Floats, float, float]]] = [[] for _ in self.least]
        self.shares: list[float] = []
        self.spent = self.earned = self.squares = 0.0

    def tell(self, arm: int, x: Floats, reward: float, cost: float) -> None:
        cost *= self.unit
        if not self.seen[arm]:
            self.shares.append(math.log(cost / self.most[arm]))
        self.seen[arm].append((x, reward, cost))
        self.spent, self.earned = self.spent + cost, self.earned + reward
        self.squares += (cost * self.horizon / self.budget - 1) ** 2

    def noise(self, arm: int, signal: int, prior: float) -> tuple[Floats, float]:
        """The coefficients of a signal, and the sum of squared surprises."""
        n = len(self.seen[arm][0][0])
        inverse: Floats = np.eye(n)
        found: Floats = np.zeros(n)
        squares = 0.0
        found[-1] = prior
        for x, *values in self.seen[arm]:
            z = inverse @ x
            scale = 1 / (1 + x @ z)
            error = float(values[signal] - found @ x)
            squares += float(scale) * error**2
            found, inverse = found + scale * error * z, inverse - scale * np.outer(z, z)
        return found, squares

    def scores(self, t: int, x: Floats) -> Floats:
        left = self.budget - self.spent
        share = math.exp(np.mean(self.shares)) if self.shares else 0.5
        n_reports = sum(map(len, self.seen))
        over = self.spent * self.horizon / self.budget - (t - 1)
        price = 0.2 * over / math.sqrt(1 + self.squares + (t - 1 - n_reports))
        price = min(1.0, max(0.0, price)) * self.horizon / self.budget
        scores = np.zeros(len(self.seen))
        for i, reports in enumerate(self.seen):
            costs = [cost for _, _, cost in reports]
            mean = float(np.mean(costs)) if reports else share * self.most[i]
            rounds = self.horizon - t + 1
            pulls = min(rounds, left / max(mean, self.least[i])) / len(self.seen)
            if not reports:
                level = 0.5 * math.log(1 + pulls)
                guess = share * self.most[i]
                low = min(guess, math.sqrt(max(self.least[i], 0.01 * guess) * guess))
                u = 1 - 1 / (1 + math.sqrt(pulls))
                cost = max(self.least[i], low / (1 + math.sqrt(level) + level))
            else:
                a = np.array([row for row, _, _ in reports])
                square = x @ np.linalg.inv(np.eye(len(x)) + a.T @ a) @ x
                level = 0.5 * math.log(1 + pulls / len(x) ** 2 / max(1.0, 1 / square - 1))
                width = []
                for signal, top in ((0, 1.0), (1, max(costs))):
                    found, squares = self.noise(i, signal, costs[0] if signal else 0.5)
                    variance = (squares + top * top / 4) / (len(reports) + 1)
                    step = math.sqrt(2 * level * variance * square) + level * top * square / 3
                    width.append((float(found @ x), float(step)))
                (reward, more), (cost, less) = width
                u = min(1.0, max(0.0, reward + more))
                cost = max(cost, 0.01 * mean)
                low = max(self.least[i], cost * cost / (cost + less))
                cost = float(min(self.most[i], low))
            scores[i] = u - price * cost
        return scores


def test_each_choice_by_the_formula_written_out() -> None:
    world = rows_of(60)
    live = live_on(f"{NAME}:guard=0", world, 12, 60)
    plain, answers, skipped = Plain(live, 60), Answers(world, 60), 0
    for t in range(1, 26):
        x = np.array([*context_of(world, t), 1.0])
        scores = plain.scores(t, x)
        ticket = live.ask(context=context_of(world, t))
        np.testing.assert_allclose(live._game.scratch.scores, scores, rtol=1e-9, atol=1e-12)
        if scores.max() < 0:
            assert ticket.skipped
            skipped += 1
            continue
        assert ticket.arm == scores.argmax()
        plain.tell(ticket.arm, x, *answers.tell(live, ticket))
    assert 0 < skipped < 20


@pytest.mark.parametrize(
    ("policy", "least"), [(NAME, 0.965), ("lin-ts.price", 0.965), ("lin-ucb.resolve", 0.97)]
)
def test_share_of_the_optimum_in_a_linear_world(policy: str, least: float) -> None:
    world = worlds.function("linear_contexts")()
    shares = share_of_optimum(policy, world, 0.2)
    assert shares.mean() > least, shares
    blind = lp_without_contexts(world, budget_of(world, 0.2))
    assert shares.mean() > 1.25 * blind / lp_with_contexts(world, budget_of(world, 0.2))


def test_a_dear_arm_is_not_tried_where_the_money_would_not_last() -> None:
    # the budget is two pulls of the dear arm; the cheap one alone earns 0.5 in every round
    world = worlds.function("routing")(quality=[0.5, 0.9], prices=[0.001, 0.6], prompts=1000)
    run = purse.simulate(NAME, world, 1.2, n_paths=20, stop="retry")
    assert run.gain.mean() > 0.93 * 500
