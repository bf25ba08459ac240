from __future__ import annotations

import signal
import subprocess
import sys

import numpy as np
import pytest

import purse
from purse.engine.cpu import usable_cores
from purse.environments import two_point

WORLD = two_point(rewards=[0.9, 0.6, 0.3, 0.5], costs=[0.6, 0.3, 0.9, 0.5], cost_min=0.2)


def same(one: purse.Run, other: purse.Run, n_paths: int) -> bool:
    pairs = [(getattr(one, name), getattr(other, name)) for name in ("gain", "rounds", "spent_units", "pulls", "ended")]
    for seen, again in ((one.by_round, other.by_round), (one.by_budget, other.by_budget)):
        assert seen is not None
        assert again is not None
        assert (seen.marks == again.marks).all()
        pairs += list(zip(seen[1:], again[1:], strict=True))
    return all(len(theirs) >= n_paths and (ours[:n_paths] == theirs[:n_paths]).all() for ours, theirs in pairs)


@pytest.mark.parametrize("policy", ["exp3.bwk", "exp3++.bwk"])
@pytest.mark.parametrize(("n_workers", "block"), [(1, 1), (1, 37), (2, None), (2, 5), (3, None), (3, 1), (3, 1_000)])
def test_neither_workers_nor_blocks_change_a_number(policy: str, n_workers: int, block: int | None) -> None:
    plain = purse.simulate(policy, WORLD, budget=80, n_paths=37, seed=1, marks=5, n_workers=1)
    assert same(plain, purse.simulate(policy, WORLD, budget=80, n_paths=37, seed=1, marks=5, n_workers=n_workers, block=block), 37)


@pytest.mark.parametrize("stop", ["exit", "hold", "retry"])
def test_a_path_does_not_depend_on_how_many_there_are(stop: str) -> None:
    few, many = (purse.simulate("exp3++.bwk", WORLD, budget=80, n_paths=n, seed=1, marks=5, stop=stop) for n in (5, 200))
    assert same(few, many, 5)
    assert len(np.unique(many.gain)) > 5


def test_the_same_call_gives_the_same_numbers_and_another_seed_others() -> None:
    first, again, other = (purse.simulate("exp3.bwk", WORLD, budget=80, n_paths=20, seed=seed, marks=2) for seed in (3, 3, 4))
    assert same(first, again, 20)
    assert not same(first, other, 20)


def test_there_is_a_core_to_use() -> None:
    assert usable_cores() >= 1


LONG = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import purse, purse.progress
purse.progress.Progress.show = lambda self, fraction: print("running", flush=True)
world = purse.environments.bernoulli(rewards=[0.5] * {n_arms}, costs=[0.5] * {n_arms})
purse.simulate({policy!r}, world, budget=4e9, n_paths=50)
"""


@pytest.mark.parametrize(("policy", "n_arms"), [("uniform", 2), ("exp3++.bwk", 50_000)])
def test_ctrl_c_ends_a_long_simulation_within_two_seconds(policy: str, n_arms: int) -> None:
    command = [sys.executable, "-c", LONG.format(policy=policy, n_arms=n_arms)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert [child.stdout.readline() for _ in range(10)] == ["running\n"] * 10
            child.send_signal(signal.SIGINT)
            _, errors = child.communicate(timeout=2)
        finally:
            child.kill()
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert child.returncode != 0
