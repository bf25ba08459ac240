"""The proofs of `replan` on the page *What is true*: the guard in all courses of small games, one
round, and constants. What can be seen in play is measured by `python -m research.paper`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from purse.kernels.replan.losses import DEARER, count_lost, displaced
from purse.kernels.replan.plan import sure_reward
from purse.kernels.small_lp import new_lp, set_limit, solve
from purse.policies import replan
from purse.types import Floats, Now, Play, Problem
from tests.support.soak import scale

SURE = 0.2  # the guard of the small games: with the usual 0.05 it would never let a rival play


class Course(NamedTuple):
    state: replan.ReplanState
    left: Floats
    gain: float = 0.0
    t: int = 1
    looked: float = 0.0  # X: money of looks after s
    charged: float = 0.0  # D of s and of what the statement for any arms counts after it


class Game:
    """Arm 0 is safe; others may answer a pull with each of `answers`, its reward and costs."""

    def __init__(self, budget: Any, costs: Any, most: Any, answers: Any, **told: Any) -> None:
        self.arms, self.horizon = len(costs), told.pop("horizon", None)
        self.reward, self.answers = told.pop("reward"), answers
        self.costs = np.atleast_1d(np.array(costs[0], float))
        kind: dict[str, Any] = {"n_arms": self.arms, "budget": budget, "horizon": self.horizon}
        kind |= {"cost_min": costs, "cost_max": most, "n_resources": len(self.costs)}
        problem = Problem.of(**kind)
        self.params = replan.params(problem, guard=SURE, **told)
        self.lp = replan.scratch(self.params, problem)
        self.first = Course(replan.init(self.params, problem), self.params.budget.copy())
        self.sure = min(self.reward, (self.reward + 0.25) / 2)

    def now(self, course: Course) -> Now:
        none, rounds = np.zeros(self.arms, np.int64), (self.horizon or math.inf) - course.t + 1
        masks = np.ones((1, self.arms), bool)
        facts = (np.uint64(0), course.t, rounds, course.left, False, masks[0], masks, none[:1])
        return Now(*facts, none, np.ones((1, 1)))

    def pulls(self, left: Floats, rounds: float) -> float:
        return min(rounds, *(left / self.costs))

    def is_exempt(self, course: Course, arm: int) -> bool:
        now, state = self.now(course), course.state
        known, lost = replan.known_arms(state), np.zeros(self.arms)
        stakes = replan.stakes_of(self.params, state, now, 0, False)
        rho = sure_reward(state.weights[0], state.means[0, 0], state.spreads[0, 0])
        uses, paid = self.lp.uses, state.paid
        count_lost(known, stakes, paid, uses, now.pending, 0, rho, lost)
        earns = state.weights[arm] > 0 and lost[arm] <= 0
        return bool(earns or displaced(known, stakes, uses, 0, arm) <= DEARER)

    def pull(self, course: Course, arm: int, planned: bool, answer: Any) -> Course | None:
        """Return the course after a pull; None if it cannot be paid."""
        reward, costs = answer[0], np.atleast_1d(np.array(answer[1], float))
        if (costs > course.left + 1e-12).any():
            return None
        looked, charged = course.looked, course.charged
        if arm > 0:
            places = max(1.0, *(costs / self.costs))
            if planned and not self.is_exempt(course, arm):
                looked, charged = 0.0, places
            else:
                charged += places
                looked += 0.0 if planned else costs[0]
        state = replan.ReplanState(*(array.copy() for array in course.state))
        play = Play(np.array([arm]), np.ones(1), np.array([float(reward)]), costs[None, :].copy())
        replan.update(self.params, state, self.lp, self.now(course), play)
        left = course.left - costs
        return Course(state, left, course.gain + reward, course.t + 1, looked, charged)

    def steps(self, course: Course) -> list[Course | None]:
        """Return all that may come next."""
        replan.plan(self.params, course.state, self.lp, self.now(course))
        chances, planned = self.lp.chances.copy(), self.lp.scales > 0
        able = [0] if course.t == 1 else [i for i in range(self.arms) if chances[i] > 1e-15]
        own = [(self.reward, self.costs)]
        return [
            self.pull(course, arm, bool(planned[arm]), answer)
            for arm in able
            for answer in (self.answers if arm else own)
        ]

    def ends(self, rng: np.random.Generator | None = None) -> Iterator[Course]:
        """All courses to their ends, or one at random if there is an `rng`."""
        courses = [self.first]
        while courses:
            course = courses.pop()
            over = self.horizon is not None and course.t > self.horizon
            after = [None] if over else self.steps(course)
            if rng is not None:
                after = [after[rng.integers(len(after))]]
            if None in after:
                yield course
            courses += [step for step in after if step is not None]

    def holds(self, course: Course) -> None:
        whole = self.pulls(self.params.budget, self.horizon or math.inf)
        kept = (1 - SURE) * self.sure * whole
        assert course.gain >= kept - self.sure * (1 + course.charged) - 1
        if self.arms == 2 and self.horizon is None and len(self.costs) == 1:
            lost = self.sure * (1 + course.looked) / self.costs[0] + 2
            assert course.gain >= kept - lost


COINS = [(0, 1), (1, 1)]
GAMES: list[tuple[Any, ...]] = [
    (2.2, [0.25, 0.3], [0.25, 1], [(0, 1), (1, 0.3)]),
    (3.2, [0.4, 1, 1], [0.4, 1, 1], COINS),
    ([2.5, 3], [[0.4, 0.3], [0.6, 0.4]], [[0.4, 0.3], [1, 1]], [(0, (1, 0.4)), (1, (0.6, 1))]),
]


@pytest.mark.parametrize("game", GAMES, ids=["two arms", "three arms", "two resources"])
@pytest.mark.parametrize("horizon", [None, 5])
def test_the_guard_keeps_its_promise_in_all_courses(game: Any, horizon: int | None) -> None:
    played = Game(*game, reward=0.7, horizon=horizon)
    ends = list(played.ends())
    assert len(ends) > 10
    for course in ends:
        played.holds(course)


@pytest.mark.parametrize("n_arms", [2, 4])
def test_and_in_longer_games_with_many_looks(n_arms: int) -> None:
    rng = np.random.default_rng(n_arms)
    for reward in (0.05, 0.6):
        costs = [0.1] + [1.0] * (n_arms - 1)
        game = Game(20.0, costs, costs, COINS, reward=reward, looks=2)
        for _ in range(scale(2, 50)):
            for course in game.ends(rng):
                game.holds(course)


def solution(gains: Floats, uses: Floats, left: Floats) -> Floats:
    lp = new_lp(*uses.shape)
    lp.gains[:], lp.uses[:] = gains, uses
    for j, amount in enumerate(left):
        set_limit(lp, j, float(amount))
    solve(lp)
    return lp.pulls


def test_one_round_on_random_programs() -> None:
    rng = np.random.default_rng(0)
    for _ in range(scale(100, 3000)):
        k, rows, least = rng.integers(1, 6), rng.integers(1, 4), rng.choice([0.05, 0.2, 0.5])
        costs, means = rng.uniform(least, 1, (k, rows)), rng.uniform(size=k)
        gains = np.clip(means + rng.normal(0, 0.3, k), 1e-9, 1)
        uses = np.clip(costs * np.exp(rng.normal(0, 0.6, (k, rows))), least, 1)
        if rows > 1:  # the last one is time
            costs[:, -1] = uses[:, -1] = 1
        left = rng.uniform(1, 200, rows)
        best, planned = solution(means, costs, left), solution(gains, uses, left)
        errors = np.maximum(means - gains, 0) + np.maximum(uses - costs, 0).max(axis=1) / least
        assert gains @ planned >= (means - errors) @ best - 1e-9
        assert best.sum() <= planned.sum() / least + 1e-9


def test_the_constants_of_looks() -> None:
    y, t = np.linspace(2.9143, 1000, 10**5), np.arange(1.0, 10**5)
    assert (1 / (2 * (y - np.sqrt(2 * y))) <= 1.71**2 / y).all()
    weighed = 0.2 * np.concatenate([[0], np.cumsum(t**0.65 / (t + 1000))[:-1]]) / t**0.15
    assert (weighed >= 0.115 * t**1.5 / (t + 1000))[39:].all()
    sums = np.cumsum(np.sqrt(t + 1000) / t**0.75)
    once = 1.71 / math.sqrt(0.115)
    assert (once * sums <= 6.73 * t**0.75 + 640 * t**0.25).all()
    assert 1.71 * math.sqrt(2 * math.e) < 4
    more = 4 / math.sqrt(0.1414)
    assert more * (4 / 3 + 4) < 56.8
    assert more * 4 * math.sqrt(250) < 680
    assert more * 126.5 < 1350
