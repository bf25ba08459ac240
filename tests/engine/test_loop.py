from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import purse
from purse.engine import cpu
from purse.engine.draws import draws
from purse.engine.job import make_job
from purse.types import SKIP, Ints
from purse.worlds.bernoulli import bernoulli
from purse.worlds.table import table
from purse.worlds.two_point import two_point
from tests.support.scripts import scripted


def diary(policy: str, world: purse.lab.World, **options: Any) -> np.ndarray:
    """(rounds, 4) What the policy of path 0 was told: round, probability, reward and cost."""
    job = make_job(policy, world, **options)
    _, state = cpu.play_block(job.as_python(), 1)
    return state.diary[0][state.diary[0, :, 0] > 0]


def test_skipped_rounds_are_not_told_to_the_policy() -> None:
    told = diary(
        scripted([[0], [SKIP], [0]]), bernoulli(rewards=[1], costs=[1]), budget=10, horizon=6
    )
    assert told[:, 0].tolist() == [1, 3, 4, 6]


def test_policies_see_costs_in_largest_costs() -> None:
    world = table(rewards=[[0.5], [0.25], [1]], costs=[[4], [1], [2]])
    assert diary(scripted([[0]]), world, budget=40).tolist() == [
        [1, 1, 0.5, 1],
        [2, 1, 0.25, 0.25],
        [3, 1, 1, 0.5],
    ]


def test_a_wider_cost_max_changes_what_policies_see() -> None:
    world = table(rewards=[[0.5], [0.25]], costs=[[4], [1]])
    assert diary(scripted([[0]]), world, budget=40, cost_max=8)[:, 3].tolist() == [0.5, 0.125]


def test_nothing_is_learnt_from_a_pull_that_cannot_be_paid() -> None:
    world = table(rewards=[[1], [1], [1]], costs=[[1], [2], [1]])
    assert diary(scripted([[0]]), world, budget=2)[:, 0].tolist() == [1]


def test_after_a_retry_the_policy_is_told_the_arm_that_was_paid_and_its_probability() -> None:
    told = diary(
        scripted([[0]]), bernoulli(rewards=[0, 1, 1], costs=[1, 0.5, 0.5]), budget=1.5, stop="retry"
    )
    assert told.tolist() == [[1, 1, 0, 1], [2, 0.5, 1, 0.5]]


def check_marks(
    run: purse.lab.Run, rewards: np.ndarray, units: np.ndarray, arms: np.ndarray
) -> None:
    """Both trajectories of path 0 against cumulative sums, for one play a round without skips."""
    n, n_arms = int(run.rounds[0]), rewards.shape[1]
    t, chosen = np.arange(n), arms[:n]
    gain = np.append(0, np.cumsum(rewards[t, chosen]))
    spent = np.vstack([np.zeros_like(units[0, 0]), np.cumsum(units[t, chosen], axis=0)])
    pulls = np.vstack([np.zeros(n_arms, int), np.cumsum(np.eye(n_arms, dtype=int)[chosen], axis=0)])
    limits = [
        [int(b) * 10**9 * j // len(run.by_budget.checkpoints) for b in run.budget]
        for j in range(1, len(run.by_budget.checkpoints) + 1)
    ]
    at_budget = [int(np.flatnonzero((spent <= limit).all(axis=1))[-1]) for limit in limits]
    at_round = [min(int(mark), n) for mark in run.by_round.checkpoints]
    for seen, standing in ((run.by_round, at_round), (run.by_budget, at_budget)):
        assert seen.rounds[0].tolist() == standing
        np.testing.assert_allclose(seen.gain[0], gain[standing], rtol=1e-12)
        np.testing.assert_allclose(seen.spent[0], spent[standing] / 10**9, rtol=1e-12)
        assert (seen.pulls[0] == pulls[standing]).all()


RANDOM = two_point(rewards=[0.7, 0.4, 0.2], costs=[0.5, 0.3, 0.9], cost_min=0.15)
TWO_RESOURCES = bernoulli(rewards=[0.7, 0.4], costs=[[0.3, 2], [0.5, 0.1]])


@pytest.mark.parametrize("stop", ["exit", "hold"])
@pytest.mark.parametrize(
    ("world", "budget", "script", "marks"),
    [
        *((RANDOM, 50, [0, 2, 1, 1], marks) for marks in (1, 2, 7, 40)),
        (TWO_RESOURCES, [30, 60], [0, 1, 1], 13),
    ],
)
def test_marks_match_a_plain_recomputation(
    world: purse.lab.World, budget: Any, script: list[int], marks: int, stop: str
) -> None:
    rewards, units = draws(world, 1_000, seed=6)
    policy = scripted([[arm] for arm in script])
    run = purse.simulate(
        policy, world, budget, n_paths=3, seed=6, checkpoints=marks, stop=stop, device="python"
    )
    check_marks(run, rewards, units, np.tile(script, 250))


def test_one_dear_pull_may_pass_several_marks() -> None:
    run = purse.simulate(
        "fixed", table(rewards=[[1], [0.5]], costs=[[1], [8]]), budget=10, n_paths=1, checkpoints=10
    )
    assert run.by_budget is not None
    assert run.by_budget.checkpoints.tolist() == [j / 10 for j in range(1, 11)]
    assert run.by_budget.rounds.tolist() == [[1] * 8 + [2, 2]]


def test_the_last_mark_is_the_end_of_every_path() -> None:
    world = two_point(rewards=[0.7, 0.4], costs=[0.5, 0.3], cost_min=0.1)
    for stop in ("exit", "hold", "retry"):
        run = purse.simulate("uniform", world, budget=20, n_paths=50, checkpoints=9, stop=stop)
        for seen in (run.by_round, run.by_budget):
            assert seen is not None
            assert (seen.gain[:, -1] == run.gain).all()
            assert (seen.rounds[:, -1] == run.rounds).all()
            assert (seen.spent[:, -1] == run.spent).all()
            assert (seen.pulls[:, -1] == run.pulls).all()


@pytest.mark.parametrize(
    ("cost", "budget", "marks", "by_round", "by_budget"),
    [
        (1e8, 1e9, 10, None, list(range(1, 11))),  # a large budget does not overflow
        (0.1, 100, 4, [1, 10, 100, 1_000], [250, 500, 750, 1_000]),  # rounds are log-spaced
    ],
)
def test_marks_by_hand(
    cost: float, budget: float, marks: int, by_round: list[int] | None, by_budget: list[int]
) -> None:
    world = bernoulli(rewards=[1], costs=[cost])
    run = purse.simulate("fixed", world, budget, n_paths=1, checkpoints=marks)
    assert run.by_round is not None
    assert run.by_budget is not None
    assert run.by_budget.rounds.tolist() == [by_budget]
    if by_round is not None:
        assert run.by_round.checkpoints.tolist() == by_round
        assert run.by_round.gain.tolist() == [by_round]


def test_the_last_mark_is_the_end_when_rounds_were_skipped() -> None:
    run = purse.simulate(
        *(scripted([[0], [SKIP]]), bernoulli(rewards=[1], costs=[1]), 10),
        n_paths=1,
        horizon=100,
        checkpoints=4,
        device="python",
    )
    for seen in (run.by_round, run.by_budget):
        assert seen is not None
        assert seen.gain[0, -1] == run.gain[0] == 10


def test_without_marks_there_are_no_trajectories() -> None:
    run = purse.simulate("fixed", bernoulli(rewards=[1], costs=[1]), budget=3, n_paths=1)
    assert run.by_round is None
    assert run.by_budget is None


def test_marks_do_not_change_the_numbers() -> None:
    world = two_point(rewards=[0.7, 0.4], costs=[0.5, 0.3], cost_min=0.1)
    plain, marked = (
        purse.simulate("uniform", world, budget=50, n_paths=20, checkpoints=marks)
        for marks in (0, 11)
    )
    assert (plain.gain == marked.gain).all()
    assert (plain.spent_units == marked.spent_units).all()


# reward per cost


DEAR = two_point(rewards=[0.9, 0.6, 0.3], costs=[2, 1, 3.5], cost_min=0.5, cost_max=4)


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
