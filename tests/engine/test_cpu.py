import time
from functools import partial

import numpy as np
import pytest

import purse
from purse.engine.cpu import in_threads
from purse.worlds.two_point import two_point
from tests.support.processes import check_interrupt

WORLD = two_point(rewards=[0.9, 0.6, 0.3, 0.5], costs=[0.6, 0.3, 0.9, 0.5], cost_min=0.2)


def same(one: purse.lab.Run, other: purse.lab.Run, n_paths: int) -> bool:
    pairs = [
        (getattr(one, name), getattr(other, name))
        for name in ("gain", "rounds", "spent_units", "pulls", "ended", "efficiency")
    ]
    for seen, again in ((one.by_round, other.by_round), (one.by_budget, other.by_budget)):
        assert seen is not None
        assert again is not None
        assert (seen.checkpoints == again.checkpoints).all()
        pairs += list(zip(seen[1:], again[1:], strict=True))
    return all(
        len(theirs) >= n_paths and (ours[:n_paths] == theirs[:n_paths]).all()
        for ours, theirs in pairs
    )


@pytest.mark.parametrize(
    ("n_workers", "block"), [(1, 1), (1, 37), (2, None), (2, 5), (3, 1), (3, 1_000)]
)
def test_neither_workers_nor_blocks_change_a_number(n_workers: int, block: int | None) -> None:
    plain, other = (
        purse.simulate("ucb-bv1", WORLD, budget=80, n_paths=37, seed=1, checkpoints=5, **how)
        for how in ({"n_workers": 1}, {"n_workers": n_workers, "block": block})
    )
    assert same(plain, other, 37)


@pytest.mark.parametrize("stop", ["exit", "hold", "retry"])
def test_a_path_does_not_depend_on_how_many_there_are(stop: str) -> None:
    few, many, others = (
        purse.simulate("ucb-bv1", WORLD, 80, n_paths=n, seed=seed, checkpoints=5, stop=stop)
        for n, seed in ((5, 1), (200, 1), (5, 2))
    )
    assert same(few, many, 5)
    assert not same(few, others, 5)
    assert len(np.unique(many.gain)) > 5


def watch(halt: np.ndarray, seen: list[int]) -> None:
    """Work until told to stop, or for so long that something must be wrong."""
    until = time.monotonic() + 30
    while halt[0] == 0 and time.monotonic() < until:
        time.sleep(0.001)
    seen.append(int(halt[0]))


@pytest.mark.parametrize("where", ["glance", "task"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_tells_all_threads_to_stop_and_waits_for_them(
    where: str, error: type[BaseException]
) -> None:
    halt, seen = np.zeros(1, np.int64), list[int]()

    def fail() -> None:
        raise error

    tasks = [partial(watch, halt, seen) for _ in range(2)]
    with pytest.raises(error):
        in_threads(
            [*tasks, *([fail] if where == "task" else [])],
            3,
            halt,
            fail if where == "glance" else lambda: None,
        )
    assert seen == [1, 1]


def test_tasks_that_have_not_begun_when_one_fails_do_not_begin() -> None:
    halt, begun = np.zeros(1, np.int64), list[int]()

    def fail() -> None:
        time.sleep(0.01)
        raise ValueError

    def late(number: int) -> None:
        time.sleep(0.05)
        begun.append(number)

    with pytest.raises(ValueError):  # noqa: PT011 - it is the one above
        in_threads([fail, *(partial(late, number) for number in range(100))], 1, halt, lambda: None)
    assert len(begun) < 50
    assert halt[0] == 1


def test_what_went_well_is_not_told_to_stop() -> None:
    halt, done = np.zeros(1, np.int64), list[int]()
    in_threads([partial(done.append, number) for number in range(20)], 3, halt, lambda: None)
    assert sorted(done) == list(range(20))
    assert halt[0] == 0
    in_threads([], 3, halt, lambda: None)


LONG = """
world = purse.worlds.bernoulli(rewards=[0.5] * {0}, costs=[0.5] * {0})
purse.simulate("ucb-bv1", world, budget=4e9, n_paths=50)
"""


@pytest.mark.parametrize("n_arms", [2, 50_000])
def test_ctrl_c_ends_a_long_simulation_within_two_seconds(n_arms: int) -> None:
    check_interrupt(LONG.format(n_arms), lines=10)
