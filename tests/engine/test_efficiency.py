from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import purse
from purse.engine.draws import draws
from purse.engine.job import make_job
from purse.types import Ints, World
from purse.worlds.bernoulli import bernoulli
from purse.worlds.two_point import two_point
from tests.support.scripts import scripted

WORLD = two_point(rewards=[0.9, 0.6, 0.3], costs=[0.6, 0.3, 0.9], cost_min=0.2)
DEAR = two_point(rewards=[0.9, 0.6, 0.3], costs=[2, 1, 3.5], cost_min=0.5, cost_max=4)
TINY = two_point(rewards=[0.9, 0.6, 0.3], costs=[3e-6, 2e-6, 4e-6], cost_min=1e-6, cost_max=5e-6)


def replayed(
    world: World,
    budget: float,
    script: list[list[int]],
    path: int,
    *,
    seed: int,
    stop: str = "exit",
    most: int = 2_000,
) -> tuple[float, int, int]:
    """The sum of reward per cost, the rounds and the spent units of one path of a script, in plain
    Python.
    """
    rewards, units = draws(world, min(most, world.n_rounds or most), seed=seed, path=path)
    left, parts, played = round(budget * 10**9), [], 0
    for t in range(len(rewards)):
        arms = script[t % len(script)]
        costs = [int(units[t, arm, 0]) for arm in arms]
        if (stop == "hold" and sum(int(world.cost_max[arm, 0]) for arm in arms) > left) or sum(
            costs
        ) > left:
            break
        left -= sum(costs)
        parts += [
            float(rewards[t, arm]) / (cost / 10**9) for arm, cost in zip(arms, costs, strict=True)
        ]
        played += 1
    return math.fsum(parts), played, round(budget * 10**9) - left


def check(
    run: purse.lab.Run, world: World, budget: float, script: list[list[int]], *, stop: str = "exit"
) -> None:
    assert run.efficiency is not None
    assert (run.efficiency.shape, run.efficiency.dtype) == ((run.n_paths,), np.float64)
    for path in range(run.n_paths):
        total, rounds, spent = replayed(world, budget, script, path, seed=run.seed, stop=stop)
        assert (run.rounds[path], run.spent_units[path, 0]) == (rounds, spent)
        assert run.efficiency[path] == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("stop", ["exit", "hold"])
@pytest.mark.parametrize(
    "script", [[[0], [2], [1], [1]], [[0, 1]], [[2, 0], [1, 2], [0, 1]]], ids=str
)
@pytest.mark.parametrize(
    ("world", "budget"),
    [(WORLD, 30.5), (DEAR, 90), (TINY, 1e-4)],
    ids=["costs up to 1", "costs up to 4", "tiny costs"],
)
def test_it_is_the_replayed_sum_of_reward_per_cost_of_every_play(
    world: World, budget: float, script: list[list[int]], stop: str
) -> None:
    run = purse.simulate(
        scripted(script),
        world,
        budget=budget,
        n_paths=5,
        seed=6,
        stop=stop,
        plays=len(script[0]),
        device="python",
    )
    check(run, world, budget, script, stop=stop)


@pytest.mark.parametrize("plays", [1, 2])
@pytest.mark.parametrize("cost_max", [4, 7, 1_000, [4, 5, 8]], ids=str)
def test_a_wider_cost_max_that_policies_are_told_does_not_change_it(
    cost_max: Any, plays: int
) -> None:
    script = [[0], [1]] if plays == 1 else [[0, 1], [1, 2]]
    run = purse.simulate(
        scripted(script),
        DEAR,
        budget=60,
        n_paths=3,
        seed=2,
        plays=plays,
        cost_max=cost_max,
        device="python",
    )
    check(run, DEAR, 60, script)


def test_a_wider_cost_min_does_not_change_it() -> None:
    check(
        purse.simulate(
            scripted([[0], [1]]), WORLD, budget=20, n_paths=3, cost_min=0.001, device="python"
        ),
        WORLD,
        20,
        [[0], [1]],
    )


@pytest.mark.parametrize(
    "policy", ["exp3++.bwk", "exp3++.price", "exp3.bwk", "fixed", "ucb-bv1", "uniform"]
)
def test_a_live_policy_that_meets_the_same_draws_adds_up_the_same(policy: str) -> None:
    job = make_job(policy, DEAR, 60, seed=8)
    run = purse.simulate(policy, DEAR, budget=60, n_paths=1, seed=8, device="python")
    live = purse.Policy.of(job.problem, policy, seed=8, stop="exit")
    rewards, units = draws(DEAR, 200, seed=8)
    parts: list[float] = []
    for _ in range(int(run.rounds[0])):
        ticket = live.ask()
        cost: Ints = units[ticket.t - 1, ticket.arm, 0]
        assert live.tell(ticket, rewards[ticket.t - 1, ticket.arm], cost / 1e9)
        parts.append(float(rewards[ticket.t - 1, ticket.arm] / (cost / 1e9)))
    assert run.efficiency is not None
    assert run.efficiency[0] == pytest.approx(math.fsum(parts), rel=1e-12)


@pytest.mark.parametrize("costs", [[[1, 1], [0.5, 2]], [[0, 1], [1, 0]]], ids=str)
def test_with_several_resources_there_is_none(costs: list[list[float]]) -> None:
    run = purse.simulate(
        "uniform", bernoulli(rewards=[0.9, 0.4], costs=costs), budget=10, n_paths=3, device="python"
    )
    assert run.efficiency is None
    assert (run.gain > 0).all()
