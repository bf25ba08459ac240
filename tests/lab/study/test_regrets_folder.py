from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purse
import purse.engine.counterfactual
from purse.base.progress import Progress
from purse.lab.study import executors
from purse.lab.study.regrets import measure
from purse.lab.study.store import Store
from purse.worlds import bernoulli

PLAIN = "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
FOR_ONE = "these notions of regret are for one"


def same(one: purse.lab.Regrets, other: purse.lab.Regrets) -> bool:
    pairs = [(value, getattr(other.evidence, name)) for name, value in vars(one.evidence).items()]
    return one.estimates == other.estimates and all(
        np.array_equal(ours, theirs) for ours, theirs in pairs
    )


def test_the_same_call_gives_the_same_numbers_and_another_seed_others() -> None:
    first, again, other = (
        purse.lab.regrets("exp3.bwk", PLAIN, 30, n_paths=5, seed=seed) for seed in (1, 1, 2)
    )
    assert same(first, again)
    assert not same(first, other)


def test_workers_change_nothing() -> None:
    found = [
        purse.lab.regrets("uniform", PLAIN, 30, n_paths=9, n_workers=workers)
        for workers in (None, 1, 2, 7)
    ]
    assert all(same(found[0], other) for other in found[1:])


def test_it_is_the_regret_of_a_comparison() -> None:
    found = purse.lab.regrets("exp3.bwk", PLAIN, 30, n_paths=6, seed=5)
    row = purse.compare("exp3.bwk", PLAIN, budgets=30, n_paths=6, seed=5).table().to_dicts()[0]
    assert found["best_fixed_arm"] == (row["regret"], row["error"], row["low"], row["high"])


def test_policies_may_be_modules_worlds_may_be_worlds_and_budgets_text() -> None:
    plain = purse.lab.regrets("uniform", PLAIN, 20.5, n_paths=3)
    world = bernoulli(rewards=[0.9, 0.6], costs=[0.8, 0.3])
    fancy = purse.lab.regrets(purse.policies.load("uniform"), world, "20.5", n_paths=3)
    assert same(plain, fancy)
    assert (fancy.policy, fancy.world, fancy.budget) == ("uniform", "bernoulli", 20.5)


def test_with_a_folder_nothing_is_computed_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without, first = (
        purse.lab.regrets("exp3.bwk", "misleading_ratio", 30, n_paths=5, folder=folder)
        for folder in (None, tmp_path)
    )
    begun = interrupt(monkeypatch, at=1)
    again = purse.lab.regrets("exp3.bwk", "misleading_ratio", 30, n_paths=5, folder=tmp_path)
    assert begun == []
    assert same(first, without)
    assert same(first, again)


@pytest.mark.parametrize(
    "world",
    [
        PLAIN,
        "bernoulli:rewards=[.9],costs=[.8]",
        "table:rewards=[[1,0],[0,1]],costs=[.5,.5],shuffle=True",
    ],
)
def test_what_is_found_again_has_the_same_shapes_and_types(world: str, tmp_path: Path) -> None:
    fresh, found = (
        vars(purse.lab.regrets("uniform", world, 20, n_paths=1, folder=tmp_path).evidence)
        for _ in range(2)
    )
    for name, value in fresh.items():
        assert type(found[name]) is type(value)
        if isinstance(value, np.ndarray):
            assert (found[name].shape, found[name].dtype) == (value.shape, value.dtype)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"n_paths": 4},
        {"stop": "hold"},
        {"budget": 31},
        {"world": "misleading_costs"},
        {"policy": "exp3++.bwk"},
    ],
    ids=str,
)
def test_a_folder_holds_several_measurements_apart(change: dict[str, Any], tmp_path: Path) -> None:
    call = {"policy": "uniform", "world": "misleading_ratio", "budget": 30, "n_paths": 5}
    purse.lab.regrets(**call, folder=tmp_path)
    assert same(
        purse.lab.regrets(**call | change, folder=tmp_path), purse.lab.regrets(**call | change)
    )


def interrupt(monkeypatch: pytest.MonkeyPatch, at: int) -> list[str]:
    """Let the piece of work of this number be interrupted; the list grows with what was begun."""
    begun: list[str] = []
    for module, name in (
        (executors, "play_shard"),
        (purse.engine.counterfactual, "counterfactual_sums"),
    ):
        real = getattr(module, name)

        def work(*args: Any, name: str = name, real: Any = real, **kwargs: Any) -> Any:
            begun.append(name)
            if len(begun) == at:
                raise KeyboardInterrupt
            return real(*args, **kwargs)

        monkeypatch.setattr(module, name, work)
    return begun


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_an_interrupted_measurement_continues_where_it_was(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = purse.lab.regrets("uniform", PLAIN, 30, n_paths=5)
    begun = interrupt(monkeypatch, at)
    with pytest.raises(KeyboardInterrupt):
        purse.lab.regrets("uniform", PLAIN, 30, n_paths=5, folder=tmp_path)
    assert not list(tmp_path.rglob(".*"))
    assert same(purse.lab.regrets("uniform", PLAIN, 30, n_paths=5, folder=tmp_path), whole)
    # three shards and the sums, and what was interrupted once more
    shards, sums = (3, 2) if at == 4 else (4, 1)
    assert sorted(begun) == ["counterfactual_sums"] * sums + ["play_shard"] * shards


@pytest.mark.parametrize(("start", "length"), [(0.0, 1.0), (0.25, 0.5)])
@pytest.mark.parametrize("kept", [False, True], ids=["made", "found"])
def test_progress_moves_on_with_each_piece_of_work_within_the_part_that_it_was_given(
    start: float, length: float, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kept:
        purse.lab.regrets("uniform", PLAIN, 30, n_paths=5, folder=tmp_path)
    bar, parts = Progress("regret"), []
    bar.part(start, length, "mine")
    real = bar.part

    def part(start: float, length: float, title: str) -> None:
        parts.append((start, length, title))
        real(start, length, title)

    monkeypatch.setattr(bar, "part", part)
    measure(Store(tmp_path), "uniform", PLAIN, 30, n_paths=5, bar=bar)
    # the policy, two arms alone, and what the other arms were worth
    places = [start + number * length / 4 for number in range(4)]
    assert parts == [(pytest.approx(at), pytest.approx(length / 4), "mine") for at in places]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"world": "bernoulli:rewards=[.9],costs=[[.8,.1]]"}, f"has 2 resources; {FOR_ONE}"),
        (
            {"world": bernoulli(rewards=[1], costs=[[1, 1, 1]])},
            f"bernoulli has 3 resources; {FOR_ONE}",
        ),
        ({"world": "bernuli"}, "unknown world 'bernuli'; did you mean 'bernoulli'?"),
        ({"world": 3}, "world=3: must be a World"),
        ({"policy": "exp3.bwkk"}, "unknown policy 'exp3.bwkk'; did you mean 'exp3.bwk'?"),
        ({"policy": "oracle", "world": "two_worlds"}, "oracle needs the true mean efficiency"),
        ({"budget": 0}, "budget=0: must be positive"),
        ({"budget": float("nan")}, "budget=nan: must be a number"),
        ({"budget": [10, 20]}, "budget=[10, 20]: must be one positive number"),
        ({"n_paths": 0}, "n_paths=0: must be a whole number from 1 up"),
        ({"n_paths": 2.5}, "n_paths=2.5: must be a whole number"),
        ({"seed": -1}, "seed=-1: must be a whole number"),
        ({"stop": "never"}, "stop='never': must be one of 'exit', 'hold', 'retry'"),
        ({"n_workers": 0}, "n_workers=0: must be a whole number from 1 up"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_bad_input_is_refused_in_one_line_before_anything_runs(
    options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "play_shard", lambda *_: pytest.fail("it runs"))
    with pytest.raises(purse.InvalidInput) as caught:
        purse.lab.regrets(**{"policy": "uniform", "world": PLAIN, "budget": 20} | options)
    assert "\n" not in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize("n_workers", [0, -1, 1.5, "two", True])
def test_a_bad_number_of_workers_is_refused_before_a_folder_is_made_or_with_nothing_to_do(
    n_workers: Any, tmp_path: Path
) -> None:
    message = f"^n_workers={n_workers!r}: must be a whole number from 1 up$"
    with pytest.raises(purse.InvalidInput, match=message):
        purse.lab.regrets(
            "uniform", PLAIN, 20, n_paths=1, folder=tmp_path / "new", n_workers=n_workers
        )
    assert not (tmp_path / "new").exists()
    purse.lab.regrets("uniform", PLAIN, 20, n_paths=1, folder=tmp_path)
    with pytest.raises(purse.InvalidInput, match=message):
        purse.lab.regrets("uniform", PLAIN, 20, n_paths=1, folder=tmp_path, n_workers=n_workers)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(purse.PurseError, match="cannot write to folder"):
        purse.lab.regrets("uniform", PLAIN, 20, n_paths=1, folder=tmp_path / "taken")
