from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purse
from purse.engine import cpu
from purse.engine.draws import draws
from purse.engine.job import make_job
from purse.types import SKIP
from purse.worlds.bernoulli import bernoulli
from purse.worlds.table import table
from purse.worlds.two_point import two_point
from tests.engine.scripts import scripted

ONE = bernoulli(rewards=[1], costs=[1])
SEEN = table(rewards=[[0.5], [0.25], [1]], costs=[[4], [1], [2]])
DEAR = table(rewards=[[1], [1], [1]], costs=[[1], [2], [1]])
OTHERS = bernoulli(rewards=[0, 1, 1], costs=[1, 0.5, 0.5])


@pytest.mark.parametrize(
    ("script", "world", "options", "told"),
    [  # rounds that are skipped are not told
        (
            [[0], [SKIP], [0]],
            ONE,
            {"budget": 10, "horizon": 6},
            [[t, 1, 1, 1] for t in (1, 3, 4, 6)],
        ),
        # costs are parts of the largest that is declared
        ([[0]], SEEN, {"budget": 40}, [[1, 1, 0.5, 1], [2, 1, 0.25, 0.25], [3, 1, 1, 0.5]]),
        ([[0]], SEEN, {"budget": 5, "cost_max": 8}, [[1, 1, 0.5, 0.5], [2, 1, 0.25, 0.125]]),
        # nothing is learnt from what cannot be paid; after a retry from what was paid instead
        ([[0]], DEAR, {"budget": 2}, [[1, 1, 1, 0.5]]),
        ([[0]], OTHERS, {"budget": 1.5, "stop": "retry"}, [[1, 1, 0, 1], [2, 0.5, 1, 0.5]]),
    ],
)
def test_what_a_policy_is_told(
    script: list[list[int]], world: purse.lab.World, options: dict[str, Any], told: list[Any]
) -> None:
    """Round, probability, reward and cost of every pull, on path 0."""
    job = make_job(scripted(script), world, **options)
    _, state = cpu.play_block(job.as_python(), 1)
    assert state.diary[0][state.diary[0, :, 0] > 0].tolist() == told


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


PYTHON = {"device": "python"}
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
    run, plain = (
        purse.simulate(policy, world, budget, n_paths=3, seed=6, checkpoints=n, stop=stop, **PYTHON)
        for n in (marks, 0)
    )
    check_marks(run, rewards, units, np.tile(script, 250))
    assert plain.by_round is plain.by_budget is None
    assert (plain.gain == run.gain).all()
    assert (plain.spent_units == run.spent_units).all()


def test_one_dear_pull_may_pass_several_marks() -> None:
    run = purse.simulate(
        "fixed", table(rewards=[[1], [0.5]], costs=[[1], [8]]), budget=10, n_paths=1, checkpoints=10
    )
    assert run.by_budget is not None
    assert run.by_budget.checkpoints.tolist() == [j / 10 for j in range(1, 11)]
    assert run.by_budget.rounds.tolist() == [[1] * 8 + [2, 2]]


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


@pytest.mark.parametrize(
    ("policy", "options"),
    [("uniform", {"stop": "retry"}), (scripted([[0], [SKIP]]), {"horizon": 100})],
    ids=["retry", "skips"],
)
def test_the_last_mark_is_the_end_of_every_path(policy: str, options: dict[str, Any]) -> None:
    run = purse.simulate(policy, RANDOM, 20, n_paths=9, checkpoints=9, **options, **PYTHON)
    for seen in (run.by_round, run.by_budget):
        for name in ("gain", "spent", "pulls"):
            assert (getattr(seen, name)[:, -1] == getattr(run, name)).all()
