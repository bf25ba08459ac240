from __future__ import annotations

import math

import numpy as np
import pytest

import purse
from purse.policies import lin_cbwk
from purse.types import Problem
from tests.support.context_rows import Answers, context_of, live_equals_engine, live_on, rows_of
from tests.support.soak import SOAK

ROUNDS = 300


def test_the_radius_of_theory() -> None:
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
def test_coefficients_are_those_of_least_squares(model: str) -> None:
    world = rows_of(ROUNDS, per_arm=True)
    live = live_on(f"lin-cbwk:radius=0.3,model={model}", world, 120, ROUNDS)
    answers, scale = Answers(world, ROUNDS), live.problem.unit_scale[0] * 1e9
    rows: list[list[list[float]]] = [[] for _ in live.state.reports]
    for t in range(1, ROUNDS - 30):
        ticket = live.ask(context=context_of(world, t))
        if not ticket.skipped:
            reward, cost = answers.tell(live, ticket)
            group = 0 if model == "shared" else ticket.arm
            rows[group].append([*context_of(world, t)[ticket.arm], 1, reward, cost * scale])
    for found, table in zip(live.state.coefficients, map(np.array, rows), strict=True):
        x, y = table[:, :3], table[:, 3:]
        theirs = np.linalg.solve(np.eye(3) + x.T @ x, x.T @ y)
        assert found == pytest.approx(theirs.T, abs=1e-10)


@pytest.mark.skipif(not SOAK, reason="`square-cbwk` stands for all: contexts have their own loop")
def test_live_equals_engine() -> None:
    live_equals_engine("lin-cbwk:radius=1", rows_of(ROUNDS), 120, ROUNDS)
    live_equals_engine("lin-cbwk:model=shared,radius=1", rows_of(ROUNDS, per_arm=True), 60)
