"""Games by hand, rounds and checkpoints of paths; `test_rules.py` plays against a referee."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine import cpu
from purse.engine.draws import draws
from purse.engine.job import make_job
from purse.types import SKIP, STOP
from purse.worlds.bernoulli import bernoulli
from purse.worlds.table import table
from purse.worlds.two_point import two_point
from tests.support.policies import scripted

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


HALF = bernoulli(rewards=[1], costs=[0.5])
THREE = bernoulli(rewards=[1, 1, 1], costs=[0.5, 0.3, 0.2])
ROWS = table(rewards=[[1], [0.5], [1]], costs=[1])
CHANGING = table(rewards=[[1], [0.5], [0.25], [0.125]], costs=[[0.5], [1], [0.5], [0.5]])
FOUR_ROWS = table(rewards=[[1, 0.5], [0.25, 1], [1, 0.125], [0.5, 1]], costs=[1, 0.5])


def play(
    policy: str, world: purse.lab.World, budget: Any, **options: Any
) -> Callable[[], purse.lab.Run]:
    return partial(purse.simulate, policy, world, budget, n_paths=2, device="python", **options)


# how a game is played, and what each of its two paths gives
GAMES: dict[str, tuple[Callable[[], purse.lab.Run], dict[str, Any]]] = {
    "a horizon ends the game and money stays": (
        play("fixed", HALF, 100, horizon=7),
        {"rounds": 7, "spent": [3.5], "ended": False},
    ),
    "a horizon beyond the budget changes nothing": (
        play("fixed", HALF, 10, horizon=1_000),
        {"rounds": 20},
    ),
    "a table ends": (play("fixed", ROWS, 10), {"rounds": 3, "gain": 2.5, "ended": True}),
    "the last unit on the last row": (play("fixed", ROWS, 3), {"spent": [3], "ended": False}),
    "skipped rounds pass for nothing": (
        play(scripted([[0], [SKIP], [1], [SKIP]]), FOUR_ROWS, 10, horizon=4),
        {
            "gain": 1.125,
            "pulls": [1, 1],
            "spent": [1.5],
            "rounds": 4,
            "efficiency": 1 / 1 + 0.125 / 0.5,
        },
    ),
    "a skip is free under hold when nothing fits": (
        play(scripted([[0], [SKIP], [SKIP]]), ONE, 1, horizon=3, stop="hold"),
        {"rounds": 3, "pulls": [1]},
    ),
    "stop ends the game": (
        play(scripted([[0], [0], [STOP], [0]]), ONE, 10),
        {"rounds": 2, "spent": [2], "ended": False},
    ),
    "stop may come first": (
        play(scripted([[STOP]]), FOUR_ROWS, 10, checkpoints=3),
        {"rounds": 0, "gain": 0, "spent": [0], "efficiency": 0},
    ),
    "what is left is seen in largest costs": (
        play(scripted([[0]], stop_below=8.75), SEEN, 40),
        {"rounds": 3},
    ),
    "and a hundredth below": (play(scripted([[0]], stop_below=8.76), SEEN, 40), {"rounds": 2}),
    "hold goes by the declared dearest cost": (
        play("fixed", CHANGING, 2.2, stop="hold", cost_max=2),
        {"gain": 1, "rounds": 1, "spent": [0.5], "pulls": [1]},
    ),
    # 1.2 buys arm 0 twice; 0.2 is left, into which only arm 2 fits, once; then none does
    "fit plays on with the arms that fit": (
        play("fixed:arm=0", THREE, 1.2, stop="fit"),
        {"pulls": [2, 0, 1], "spent": [1.2]},
    ),
    # arms 0, 1, 2 cost 1.0 together; of 1.7 that leaves 0.7, into which 0 fits and then 1 does not
    "fit skips plays that do not fit together": (
        play(scripted([[0, 1, 2], [0, 1, 2], [-2, -2, -2]]), THREE, 1.7, plays=3, stop="fit"),
        {"pulls": [2, 1, 1], "rounds": 2, "gain": 4},
    ),
    "a policy may play fewer arms than plays": (
        play(scripted([[0, 1], [1, -1], [2, -1]]), THREE, 1.3, plays=2),
        {"pulls": [1, 2, 1], "gain": 4},
    ),
}


@pytest.mark.parametrize("name", GAMES)
def test_a_game_by_hand(name: str) -> None:
    simulate, expected = GAMES[name]
    run = simulate()
    assert {field: getattr(run, field).tolist() for field in expected} == {
        field: [pytest.approx(value, rel=1e-15)] * 2 for field, value in expected.items()
    }


@pytest.mark.parametrize(
    ("world", "budget", "pulls"),
    [
        (bernoulli(rewards=[1], costs=[0.1]), 1_000, [10_000]),
        (bernoulli(rewards=[1], costs=["0.000000001"]), "0.000000002", [2]),  # to the last unit
        (bernoulli(rewards=[1, 1], costs=[0.5, 0.6]), "0.499999999", [0, 0]),
    ],
)
@pytest.mark.parametrize("stop", ["exit", "hold", "retry"])
def test_pulls_when_the_budget_ends(
    world: purse.lab.World, budget: Any, pulls: list[int], stop: str
) -> None:
    run = purse.simulate("fixed", world, budget, n_paths=2, stop=stop)
    assert run.pulls.tolist() == [pulls] * 2
    assert run.gain.tolist() == run.rounds.tolist() == [sum(pulls)] * 2
    assert (run.spent_units == pulls @ world.cost_min).all()


# masks: rule `fit`, outages, initial pulls, fewer plays than m


THREE_ARMS = "bernoulli:rewards=[1,1,1],costs=[.5,.3,.2]"
THREE_RESOURCES = "bernoulli:rewards=[1,1,1],costs=[[.5,1,1],[.3,1,1],[.2,1,1]]"


def test_fit_looks_at_declared_maxima_not_at_draws() -> None:
    world = worlds.two_point(rewards=[1, 1], costs=[0.3, 0.3], cost_min=0.2, cost_max=1)
    run = purse.simulate("ucb-bv1", world, budget=5, n_paths=50, seed=1, stop="fit")
    assert (run.spent <= 5).all()
    assert (run.spent > 4).all()
    assert (5 - run.spent < 1).all()


@pytest.mark.parametrize("script", ["[[0,-1,1]]", "[[0,-2,-1]]", "[[0,3,1]]"])
def test_other_gaps_among_the_plays_are_faults(script: str) -> None:
    with pytest.raises(purse.PurseError, match="chose no arm, or one that does not exist"):
        purse.simulate(
            scripted(script), THREE_RESOURCES, budget=[9, 9, 9], n_paths=1, plays=3, device="python"
        )


@pytest.mark.parametrize("script", [[[0, 1, 2]], [[2, 1, 0]]], ids=str)
def test_a_policy_that_plays_a_masked_arm_is_faulty(script: list[list[int]]) -> None:
    world = worlds.outages(THREE_ARMS, up=[[0, 1, 1]], segments=1)
    with pytest.raises(purse.PurseError, match="does not exist"):
        purse.simulate(scripted(script), world, budget=9, n_paths=1, plays=3, device="python")


def test_an_initial_pull_waits_until_its_arm_is_up() -> None:
    # rounds 1-2: arms 1 and 2 are up, 3-4: all; ucb-bv1 owes 0, 1, 2: 1 and 2 first, then 0
    world = worlds.outages(THREE_ARMS, up=[[0, 1, 1], [1, 1, 1]], segments=[2, 2])
    job = make_job("ucb-bv1", world, 1.0)
    results, state = cpu.play_block(job, 1)
    assert results.pulls.tolist() == [[1, 1, 1]]
    assert state.pulls.tolist() == [[1, 1, 1]]
    later = worlds.outages(THREE_ARMS, up=[[0, 1, 1], [1, 1, 1]], segments=[3, 2])
    results, _ = cpu.play_block(make_job("ucb-bv1", later, 1.3), 1)
    assert results.pulls[0, 0] == 1  # round 3 chose among 1 and 2, round 4 made the pull it owed


def test_blocks_and_stretches_do_not_change_what_is_owed() -> None:
    world = worlds.outages(THREE_ARMS, up=[[0, 1, 1], [1, 1, 1]], segments=[5, 2])
    runs = [
        purse.simulate("ucb-bv1", world, 30, n_paths=9, seed=2, n_workers=n, block=block)
        for n, block in ((1, 9), (2, 2))
    ]
    assert (runs[0].pulls == runs[1].pulls).all()
    job = make_job("ucb-bv1", world, 30, seed=2)
    often = job._replace(game=job.game._replace(check_every=1))
    assert (cpu.play_block(often, 9)[0].pulls == runs[0].pulls).all()


@pytest.mark.parametrize("stop", ["exit", "hold", "retry", "fit"])
def test_masked_arms_are_never_pulled(stop: str) -> None:
    world = worlds.outages(THREE_ARMS, up=[[0, 1, 0], [0, 0, 1]], segments=1)
    for policy in ("uniform", "exp3.bwk", "ucb-bv1", "primal-dual-bwk"):
        run = purse.simulate(policy, world, 7, n_paths=5, seed=0, stop=stop, device="python")
        assert (run.pulls[:, 0] == 0).all()
        assert (np.abs(run.pulls[:, 1] - run.pulls[:, 2]) <= 1).all() or stop in ("retry", "fit")
