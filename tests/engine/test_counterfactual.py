import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import purse
from purse.base.progress import Progress
from purse.compiler.kernel import kernel
from purse.engine import counterfactual, cpu
from purse.engine.counterfactual import BLOCK
from purse.engine.draws import draws
from purse.engine.job import make_job
from purse.kernels.random import U, at, uniform
from purse.types import Floats, Ints, World
from purse.worlds import make
from purse.worlds.bernoulli import bernoulli
from purse.worlds.table import table
from purse.worlds.two_point import two_point
from tests.support.processes import check_interrupt

RANDOM = two_point(rewards=[0.9, 0.6, 0.3], costs=[0.6, 0.3, 0.9], cost_min=0.2)
BETA = "beta:rewards=[.7,.5,.3],costs=[.6,.3,.25],concentration=4,cost_min=.1"
SHUFFLED = table(
    rewards=[[1, 0], [0, 1], [0.5, 0.25], [1, 1], [0, 0]],
    costs=[[4, 1], [1, 2], [0.5, 0.1], [1, 1], [3, 3]],
    shuffle=True,
)


def shadows(world: World, rounds: Ints, *, seed: int, n_workers: int | None = None) -> Floats:
    """What the arms of a world were worth; the policy and the budget of the job are of no
    importance.
    """
    return counterfactual.counterfactual_sums(
        make_job("uniform", world, 100, seed=seed), rounds, Progress("test"), n_workers
    )


def summed(world: World, rounds: Ints, seed: int) -> list[list[float]]:
    """The same in plain Python, from the tables of draws."""
    rows = []
    for path, n in enumerate(rounds.tolist()):
        rewards, units = draws(world, n, seed=seed, path=path)
        rows.append(
            [
                math.fsum(
                    r / (u / 1e9)
                    for r, u in zip(rewards[:, i].tolist(), units[:, i, 0].tolist(), strict=True)
                )
                for i in range(world.n_arms)
            ]
        )
    return rows


@pytest.mark.parametrize(
    ("world", "most"),
    [
        (RANDOM, 200),
        (SHUFFLED, 5),
        (bernoulli(rewards=[0.5], costs=[0.3]), 200),
        (bernoulli(rewards=[0.9, 0.1], costs=[1e-9, 1e6]), 200),
        ("switching:segments=[7,3],rewards=[[.9,.1],[.1,.9]],costs=[[.5,.2],[.1,.1]]", 200),
        (BETA, 200),
    ],
    ids=lambda value: value.name if isinstance(value, World) else str(value),
)
def test_they_are_the_sums_over_the_draws(world: str | World, most: int) -> None:
    place = make(world, 100)
    rounds = np.random.default_rng(0).integers(0, most + 1, 11)
    sums = shadows(place, rounds, seed=3)
    assert (sums.shape, sums.dtype) == ((11, place.n_arms), np.float64)
    np.testing.assert_allclose(sums, summed(place, rounds, 3), rtol=1e-12)


@pytest.mark.parametrize("n_paths", [1, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 3])
def test_neither_workers_nor_other_paths_change_a_number(n_paths: int) -> None:
    rounds = np.random.default_rng(1).integers(0, 300, 5 * BLOCK + 3)
    whole = shadows(RANDOM, rounds, seed=2, n_workers=1)
    for n_workers in (None, 1, 2, 3, 50):
        assert (
            shadows(RANDOM, rounds[:n_paths], seed=2, n_workers=n_workers) == whole[:n_paths]
        ).all()


def test_another_seed_and_another_path_meet_other_draws() -> None:
    # whose sums are hardly ever equal by chance
    world = make(BETA, 100)
    first, other = (shadows(world, np.full(9, 100), seed=seed) for seed in (0, 1))
    assert (first != other).all()
    assert len(np.unique(first[:, 0])) == 9


def test_without_rounds_or_paths_nothing_is_summed_and_what_was_asked_is_left_alone() -> None:
    assert shadows(RANDOM, np.zeros(6, np.int64), seed=0).tolist() == [[0, 0, 0]] * 6
    assert shadows(RANDOM, np.zeros(0, np.int64), seed=0).shape == (0, 3)
    rounds = np.array([0, 5, 0])
    rounds.setflags(write=False)
    assert shadows(RANDOM, rounds, seed=0)[[0, 2]].tolist() == [[0, 0, 0]] * 2
    assert rounds.tolist() == [0, 5, 0]


@kernel
def stairs(key: U, tables: Any, t: int, arm: int, cost: Ints) -> float:
    """Pays 1/2 for certain, at a cost that climbs with the rounds and doubles with the arm."""
    cost[0] = 1_000_000_000 * t * (arm + 1)
    return 0.5 if uniform(at(key, t), arm) < 1.0 else 0.0


def test_a_world_may_bring_a_draw_of_its_own() -> None:
    world = bernoulli(rewards=[1, 1], costs=[1, 2])
    unknown = dict.fromkeys(["costs", "reward_means", "cost_means"])
    own = replace(world, draw=stairs, cost_max=world.cost_max * 1_000, **unknown)
    assert counterfactual.compiled_sums(own).mark != counterfactual.compiled_sums(world).mark
    halves = [0, 0.5, 0.5 * (1 + 1 / 2), 0.5 * (1 + 1 / 2 + 1 / 3)]  # after 0, 1, 2 and 3 rounds
    np.testing.assert_allclose(
        shadows(own, np.arange(4), seed=0), [[half, half / 2] for half in halves]
    )
    np.testing.assert_allclose(shadows(world, np.array([3]), seed=0), [[3, 1.5]])


OWN: dict[str, tuple[str | World, float | str, float | None]] = {
    "random costs": (RANDOM, 60, None),
    "costs declared wider": (RANDOM, 60, 7),
    "thirds": (bernoulli(rewards=[0.9, 0.6, 0.3], costs=[0.3, 0.7, 1 / 3]), 100, 1.1),
    "large costs": (
        two_point(rewards=[0.9, 0.6, 0.3], costs=[60, 30, 90], cost_min=20, cost_max=250),
        30_000,
        None,
    ),
    "small costs": (bernoulli(rewards=[0.9, 0.6, 0.3], costs=[7e-9, 3e-9, 11e-9]), "0.00019", None),
    "many values": (BETA, 60, None),
    "drifting": (
        "drifting:rounds=50,rewards=[[.1,.9,.5],[.9,.2,.5]],costs=[[.3,.7,.1],[.6,.2,.9]]",
        60,
        None,
    ),
}


@pytest.mark.parametrize(("arm", "name"), [(k % 3, name) for k, name in enumerate(OWN)])
def test_a_fixed_arm_finds_its_own_efficiency_in_its_shadow_to_the_last_bit(
    name: str, arm: int
) -> None:
    world, budget, cost_max = OWN[name]
    job = make_job(f"fixed:arm={arm}", world, budget, seed=5, cost_max=cost_max)
    run = purse.simulate(f"fixed:arm={arm}", world, budget, n_paths=7, seed=5, cost_max=cost_max)
    assert run.efficiency is not None
    assert run.rounds.min() > 50
    assert (
        counterfactual.counterfactual_sums(job, run.rounds, Progress("test"))[:, arm].tolist()
        == run.efficiency.tolist()
    )


def test_while_it_works_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[float] = []
    monkeypatch.setattr(Progress, "show", lambda self, fraction, title="": told.append(fraction))
    monkeypatch.setattr(cpu, "_POLL_S", 0.001)
    counterfactual.counterfactual_sums(
        make_job("uniform", RANDOM, 100), np.full(1, 1_000_000), Progress("test")
    )
    assert told
    assert all(0 <= fraction <= 1 for fraction in told)


def test_the_paths_of_a_block_that_was_halted_are_not_summed_to_their_end() -> None:
    job, sums = make_job("uniform", RANDOM, 100), np.zeros((3, 3))
    counterfactual.compiled_sums(RANDOM)(
        RANDOM.tables,
        0,
        0,
        float(job.problem.unit_scale[0]),
        np.full(3, 10**6),
        np.zeros(1, np.int64),
        sums,
        np.ones(1, np.int64),
    )
    assert (sums[1:] == 0).all()
    # at most 5 a round, for as many rounds as pass between two looks
    assert sums[0, 0] * job.problem.unit_scale[0] * 1e9 < 5 * counterfactual._BEAT / 3


LONG = """
world = purse.worlds.bernoulli(rewards=[0.5] * 1000, costs=[0.5] * 1000)
counterfactual_sums(make_job("uniform", world, 4e9), numpy.full(50, 10**12), shown("test"), 2)
"""


def test_ctrl_c_ends_a_long_sum_within_two_seconds() -> None:
    check_interrupt(LONG, lines=3)
