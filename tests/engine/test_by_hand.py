"""Games by hand: without chance every path gives these numbers. `test_rules.py` plays `exit`,
`hold` and `retry` against a referee.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine import cpu
from purse.engine.job import make_job
from purse.types import SKIP, STOP
from purse.worlds.bernoulli import bernoulli
from purse.worlds.table import table
from tests.engine.scripts import scripted

ONE = bernoulli(rewards=[1], costs=[1])
HALF = bernoulli(rewards=[1], costs=[0.5])
THREE = bernoulli(rewards=[1, 1, 1], costs=[0.5, 0.3, 0.2])
ROWS = table(rewards=[[1], [0.5], [1]], costs=[1])
CHANGING = table(rewards=[[1], [0.5], [0.25], [0.125]], costs=[[0.5], [1], [0.5], [0.5]])
FOUR_ROWS = table(rewards=[[1, 0.5], [0.25, 1], [1, 0.125], [0.5, 1]], costs=[1, 0.5])
SEEN = table(rewards=[[0.5], [0.25], [1]], costs=[[4], [1], [2]])


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
