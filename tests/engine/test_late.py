"""Games whose reports come late: by hand, against a live policy, and without any delay."""

import math
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purse
from purse.compiler.jit import bind
from purse.engine import cpu
from purse.engine.delay import Delay, parse_delay
from purse.engine.job import Job, make_job
from purse.engine.late.loop import _extra_turns, new_room
from purse.testing.games import _standard_world, check_same, half_down
from purse.testing.late import _play_live
from purse.types import STOP_RULES, Ints, World
from purse.worlds.bernoulli import bernoulli
from purse.worlds.outages import outages
from purse.worlds.table import table
from tests.support.paths import LEAST_PENDING
from tests.support.policies import bits_of, scripted
from tests.support.soak import SOAK

WORLD = _standard_world()
ONE = bernoulli(rewards=[1], costs=[1])
ROWS = table(rewards=[[1], [0.5], [0.25], [0.125]], costs=[[0.5], [1], [0.5], [0.1]])
PAIR = table(rewards=[[1, 0], [0.5, 0], [0.25, 0.125]], costs=[[0.5, 0.2], [1, 0.2], [1, 0.2]])
# a late loop takes seconds to compile: plain Python plays, but for `ucb-bv1` in long games; these
# have initial pulls, want the open tickets, and neither
POLICIES = ["ucb-bv1", LEAST_PENDING, "uniform"]
MORE = ["exp3.bwk", "exp3++.bwk", "primal-dual-bwk"] if SOAK else []

# policy, world, budget, options | what each path gives
GAMES: dict[str, tuple[str, World, float, dict[str, Any], dict[str, Any]]] = {
    # round 3 cannot be paid and ends the asking; round 4 is out already, and fits
    "exit pays what still fits": (
        scripted([[0]]),
        ROWS,
        1.6,
        {"delay": 1},
        {"gain": 1.625, "rounds": 3, "spent": [1.6], "pulls": [3], "ended": False},
    ),
    # turns 1, 2: asked; 3: 0.5 is left; 4: round 1 is told, round 3 asked; 7: told, 0.5 is left
    "hold waits for the next report": (
        scripted([[0]]),
        ROWS,
        2.5,
        {"delay": 2, "stop": "hold"},
        {"gain": 1.75, "rounds": 3, "spent": [2], "pulls": [3]},
    ),
    # round 3 passes, and round 4 is asked for instead
    "hold lets rounds pass where there is a horizon": (
        scripted([[0]]),
        ROWS,
        2.5,
        {"delay": 2, "stop": "hold", "horizon": 4},
        {"gain": 1.625, "rounds": 4, "spent": [1.6], "pulls": [3]},
    ),
    # the last round is not paid in turn 5, and asked for again after all others
    "retry asks again after the last round": (
        scripted([[0]]),
        PAIR,
        1.7,
        {"delay": 1, "stop": "retry"},
        {"gain": 1.625, "rounds": 3, "spent": [1.7], "pulls": [2, 1]},
    ),
    # in round 1 only arm 0 is up; 0.5 is left while it is held
    "fit sees what is held": (
        "uniform",
        outages(bernoulli(rewards=[1, 1], costs=[1, 0.4]), [[1, 0], [1, 1]], [1, 9]),
        1.5,
        {"delay": 1, "stop": "fit"},
        {"gain": 2, "rounds": 2, "spent": [1.4], "pulls": [1, 1]},
    ),
    "a stop is final when nothing is out": (
        scripted([[0], [0], [0], [-2]]),
        ONE,
        10,
        {"delay": 3},
        {"gain": 3, "rounds": 3},
    ),
    # rounds 2 and 6 are skipped; in round 4 the policy stops, but a ticket is out
    "a stop lets the round pass while a ticket is out": (
        scripted([[0], [-1], [0], [-2]]),
        ONE,
        10,
        {"delay": 1, "horizon": 6},
        {"gain": 3, "rounds": 6, "spent": [3]},
    ),
    "the reports that are out at the horizon are told": (
        scripted([[0]]),
        ONE,
        10,
        {"delay": 50, "horizon": 4, "stop": "hold"},
        {"gain": 4, "rounds": 4, "ended": False},
    ),
    "those at the end of the world, too": (
        scripted([[0]]),
        ROWS,
        10,
        {"delay": 50},
        {"gain": 1.875, "rounds": 4, "ended": True},
    ),
}


@pytest.mark.parametrize("name", GAMES)
def test_a_late_game_by_hand(name: str) -> None:
    policy, world, budget, options, expected = GAMES[name]
    run = purse.simulate(policy, world, budget, n_paths=2, device="python", **options)
    assert {field: getattr(run, field).tolist() for field in expected} == {
        field: [pytest.approx(value, rel=1e-15)] * 2 for field, value in expected.items()
    }


def play_block(job: Job, n_paths: int) -> Any:
    return cpu.play_block(job if SOAK else job.as_python(), n_paths)


@pytest.mark.parametrize(
    ("policy", "options"),
    [("ucb-bv1", {"horizon": 90}), ("uniform", {"plays": 2}), *((policy, {}) for policy in MORE)],
)
def test_the_late_loop_without_delay_is_the_plain_game(
    policy: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    places = (WORLD, half_down(WORLD)) if SOAK else (half_down(WORLD),)
    jobs = [
        make_job(policy, world, 40.3, seed=3, stop=stop, checkpoints=6, delay=0, **options)
        for stop in STOP_RULES
        for world in places
    ]
    plain = [bits_of(play_block(job, 4)) for job in jobs]
    assert {module_of(job) for job in jobs} == {"purse.engine.loop"}
    monkeypatch.setattr(Delay, "is_late", True)
    assert {module_of(job) for job in jobs} == {"purse.engine.late.loop"}
    for job, expected in zip(jobs, plain, strict=True):
        assert bits_of(play_block(job, 4)) == expected, job.problem.stop


def module_of(job: Job) -> str:
    """The module of what plays a path of the job."""
    return str(cpu.compiled_loop(job).function.py_func.__globals__["play"].__module__)


def test_machine_code_and_plain_python_play_the_same_late_games() -> None:
    for stop in STOP_RULES:
        job = make_job("ucb-bv1", WORLD, 20.3, seed=3, stop=stop, checkpoints=4, delay=3)
        assert bits_of(cpu.play_block(job, 3)) == bits_of(cpu.play_block(job.as_python(), 3))


@pytest.mark.parametrize("policy", [*POLICIES, *MORE], ids=lambda policy: Path(policy).stem)
@pytest.mark.parametrize("stop", STOP_RULES)
@pytest.mark.parametrize(
    ("delay", "budget", "horizon"),
    [(3, 9.25, None), ("geometric:6", 8.3, None), ("geometric:6", 8.3, 60), (9, 6.1, 40)],
)
def test_the_engine_plays_as_a_live_policy(
    policy: str, stop: str, delay: Any, budget: float, horizon: int | None
) -> None:
    refusals = repeats = 0
    for seed, world in product(range(3), (WORLD, half_down(WORLD))):
        job = make_job(policy, world, budget, seed=seed, stop=stop, horizon=horizon, delay=delay)
        results, state = play_block(job, 1)
        live, rounds, pulls, refused, repeated = _play_live(job, policy, world)
        check_same(policy, rounds, pulls, live, results, state)
        assert live.tickets == []
        refusals += refused
        repeats += repeated
    assert (refusals > 0) == (stop in ("hold", "fit"))  # rounds waited, or passed
    assert (repeats > 0) == (stop == "retry")


@pytest.mark.parametrize("stop", STOP_RULES)
@pytest.mark.parametrize("delay", [1, 40, "geometric:0.5", "geometric:40"])
def test_no_late_game_overspends_and_pulls_add_up(stop: str, delay: Any) -> None:
    run = purse.simulate("ucb-bv1", WORLD, 13.7, n_paths=100, seed=1, stop=stop, delay=delay)
    assert (run.spent_units <= 13_700_000_000).all()
    assert (run.spent_units > 12_000_000_000).all()
    assert (run.pulls.sum(axis=1) == run.rounds).all()
    assert (run.gain <= run.rounds).all()
    assert run.delay == delay


@pytest.mark.parametrize(("delay", "stop"), [(7, "hold"), ("geometric:7", "retry")])
def test_neither_workers_nor_blocks_nor_more_paths_change_a_number(delay: Any, stop: str) -> None:
    runs = [
        purse.simulate(
            "ucb-bv1", WORLD, 30, n_paths=n, seed=2, stop=stop, delay=delay, checkpoints=4, **how
        )
        for n, how in (
            (37, {"n_workers": 1}),
            (37, {"n_workers": 4}),
            (37, {"n_workers": 2, "block": 5}),
            (90, {"n_workers": 1}),
        )
    ]
    for run in runs[1:]:
        for name in ("gain", "rounds", "spent_units", "pulls", "ended", "efficiency"):
            assert (getattr(run, name)[:37] == getattr(runs[0], name)).all(), name
        assert (run.by_budget.gain[:37] == runs[0].by_budget.gain).all()
        assert (run.by_round.spent[:37] == runs[0].by_round.spent).all()
    assert len(np.unique(runs[0].gain)) > 5


def test_checkpoints_end_with_the_results() -> None:
    run = purse.simulate("ucb-bv1", WORLD, 30, n_paths=20, delay="geometric:7", checkpoints=5)
    for seen in (run.by_round, run.by_budget):
        assert (seen.gain[:, -1] == run.gain).all()
        assert (seen.spent[:, -1] == run.spent).all()
        assert (np.diff(seen.rounds, axis=1) >= 0).all()
        assert (seen.pulls.sum(axis=2) == seen.rounds).all()
    assert (run.by_budget.spent[:, :-1, 0] <= [6, 12, 18, 24]).all()
    assert (run.by_budget.spent[:, :-1, 0] > np.array([6, 12, 18, 24]) - 1).all()


def fill_extras(room: Any, seed: int, out: Ints) -> None:
    for path in range(out.shape[0]):
        for t in range(out.shape[1]):
            out[path, t] = _extra_turns(room, seed, path, t + 1, 0)


@pytest.mark.parametrize("mean", [0.5, 3, 1000])
def test_geometric_delays_have_their_mean_and_their_chances(mean: float) -> None:
    job = make_job("uniform", ONE, 1, delay=("geometric", mean))
    extras = np.zeros((40, 1000), np.int64)
    bind(fill_extras)(new_room(job), 7, extras)
    n, q = extras.size, mean / (1 + mean)
    assert abs(extras.mean() - mean) < 4 * math.sqrt(mean * (1 + mean) / n)
    for k in (0, int(mean), int(3 * mean)):
        expected = 1 - q ** (k + 1)
        error = math.sqrt(expected * (1 - expected) / n)
        assert abs((extras <= k).mean() - expected) < 4 * error
    assert extras.max() <= job.delay.maximum
    assert len({tuple(row) for row in extras.tolist()}) == 40


def test_the_largest_geometric_delay_has_a_place() -> None:
    for mean in (0.001, 0.5, 7, 10_000):
        most = math.log(2**-53) / math.log(mean / (1 + mean))
        assert most <= parse_delay(("geometric", mean)).maximum <= most + 2


@pytest.mark.parametrize(
    ("delay", "value"),
    [(0, 0), (3.0, 3), ("12", 12), (np.int64(4), 4), (10_000, 10_000)]
    + [(given, "geometric:2.5") for given in ("geometric:2.5", ("geometric", 2.5))]
    + [("geometric:3", "geometric:3"), (["geometric", 3], "geometric:3")],
)
def test_a_delay_is_written_in_several_ways(delay: Any, value: int | str) -> None:
    assert parse_delay(delay).value == value
    assert parse_delay(parse_delay(delay).value) == parse_delay(delay)


BAD_NUMBERS = [-1, 1.5, 10_001, True, None, math.nan, math.inf]
BAD_TEXTS = [
    *("", "soon", "-1", "1.5", "10001", ":3", "uniform:3", "geometric", "geometric:"),
    *("geometric:-1", "geometric:0", "geometric:10001", "geometric:nan", "geometric:3:3"),
]
BAD_PAIRS = [("geometric",), ("geometric", "3"), ("uniform", 3), (3, 3), [3], (), {}]


@pytest.mark.parametrize("delay", [*BAD_NUMBERS, *BAD_TEXTS, *BAD_PAIRS], ids=str)
def test_bad_delays_are_refused_in_one_line(delay: Any) -> None:
    with pytest.raises(purse.InvalidInput) as caught:
        purse.simulate("uniform", WORLD, 10, delay=delay)
    assert str(caught.value) == (
        f"delay={delay!r}: must be a whole number of rounds from 0 to 10000, or 'geometric:MEAN' "
        "with a mean from 0.001 to 10000"
    )


def test_a_gpu_plays_no_late_games() -> None:
    message = r"^device='cuda': must be 'cpu' with delay=3; leave out one of the two$"
    with pytest.raises(purse.InvalidInput, match=message):
        purse.simulate("uniform", WORLD, 10, delay=3, device="cuda")
    with pytest.raises(purse.InvalidInput, match=message):
        purse.compare("uniform", WORLD, budgets=10, delay=3, device="cuda")


def test_a_policy_that_chooses_no_arm_is_named() -> None:
    with pytest.raises(purse.PurseError, match=r"scripted\.py.* chose no arm, or one that does"):
        purse.simulate(scripted([[0], [7]]), ONE, 10, n_paths=2, delay=2, device="python")


def test_a_world_that_breaks_its_bounds_is_named() -> None:
    world = replace(ONE, tables=ONE.tables._replace(rewards=2 * ONE.tables.rewards))
    with pytest.raises(
        purse.PurseError, match="not allowed, or bernoulli drew what is out of bounds; "
    ):
        purse.simulate("uniform", world, 10, n_paths=2, delay=2, device="python")
