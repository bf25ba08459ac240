from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purse
import purse.engine.counterfactual
from purse.base.progress import Progress
from purse.base.text import first_paragraph
from purse.lab.study import executors
from purse.lab.study.regrets import measure
from purse.lab.study.store import Store
from purse.lab.theory.notions import NOTIONS

PLAIN = "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
MEANS = {"best_efficiency", "pseudo_regret", "paper_pseudo_regret"}
FOR_ONE = "these notions of regret are for one"


def same(one: purse.lab.Regrets, other: purse.lab.Regrets) -> bool:
    pairs = [(value, getattr(other.evidence, name)) for name, value in vars(one.evidence).items()]
    return one.estimates == other.estimates and all(
        np.array_equal(ours, theirs) for ours, theirs in pairs
    )


def test_the_same_call_gives_the_same_numbers_whatever_the_workers_and_another_seed_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call: dict[str, Any] = {"policy": "uniform", "world": PLAIN, "budget": 30, "n_paths": 6}
    first, kept, other = (
        purse.lab.regrets(**call, seed=seed, n_workers=workers, folder=folder)
        for seed, workers, folder in ((5, 1, None), (5, 3, tmp_path), (6, 1, None))
    )
    assert same(first, kept)
    assert not same(first, other)
    told = {"policy": purse.policies.load("uniform"), "budget": "30"}
    assert same(first, purse.lab.regrets(**call | told, seed=5))
    row = purse.compare("uniform", PLAIN, budgets=30, n_paths=6, seed=5).table().to_dicts()[0]
    # with a folder nothing is computed twice
    begun = interrupt(monkeypatch, at=1)
    found = purse.lab.regrets(**call, seed=5, folder=tmp_path)
    assert begun == []
    assert same(found, first)
    assert found["best_fixed_arm"] == (row["regret"], row["error"], row["low"], row["high"])


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


@pytest.mark.parametrize("at", [2, 4])
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


def test_progress_moves_on_with_each_piece_of_work_within_the_part_that_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bar, parts = Progress("regret"), list[tuple[float, float, str]]()
    bar.part(0.25, 0.5, "mine")
    monkeypatch.setattr(bar, "part", lambda *part: parts.append(part))
    measure(Store(tmp_path), "uniform", PLAIN, 30, n_paths=5, bar=bar)
    # the policy, two arms alone, and what the other arms were worth
    assert parts == [(0.25 + number / 8, 0.125, "mine") for number in range(4)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"world": "bernoulli:rewards=[.9],costs=[[.8,.1]]"}, f"has 2 resources; {FOR_ONE}"),
        ({"world": "pricing:prices=[1],chances=[.5],customers=9"}, "pulls that cost nothing"),
        ({"world": "bernuli"}, "unknown world 'bernuli'; did you mean 'bernoulli'?"),
        ({"policy": "exp3.bwkk"}, "unknown policy 'exp3.bwkk'; did you mean 'exp3.bwk'?"),
        ({"budget": [10, 20]}, "budget=[10, 20]: must be one positive number"),
        ({"n_paths": 0}, "n_paths=0: must be a whole number from 1 up"),
        ({"seed": -1}, "seed=-1: must be a whole number"),
        ({"stop": "never"}, "stop='never': must be one of 'exit', 'hold', 'retry'"),
        ({"device": "tpu"}, "device='tpu': must be one of"),
        ({"n_workers": 0}, "n_workers=0: must be a whole number from 1 up"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_bad_input_is_refused_in_one_line_before_anything_runs(
    options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(executors, "play_shard", lambda *_: pytest.fail("it runs"))
    call = {"policy": "uniform", "world": PLAIN, "budget": 20, "folder": tmp_path / "new"}
    with pytest.raises(purse.InvalidInput) as caught:
        purse.lab.regrets(**call | options)
    assert "n_workers" not in options or not (tmp_path / "new").exists()
    assert "\n" not in str(caught.value)
    assert message in str(caught.value)


def test_one_path_has_means_and_no_intervals() -> None:
    found = purse.lab.regrets("uniform", PLAIN, 20, n_paths=1)
    for each in found.estimates.values():
        assert math.isfinite(each.mean)
        assert all(map(math.isnan, each[1:]))
    assert "±" not in str(found)
    assert "nan" not in str(found)
    assert str(found).startswith(f"uniform on {PLAIN}: 1 path, budget 20\n")
    many = str(purse.lab.regrets("uniform", PLAIN, 1, n_paths=1000))
    assert many.splitlines()[0].endswith(": 1,000 paths, budget 1")


@pytest.mark.parametrize(
    ("notion", "hint"),
    [
        ("line1", "did you mean 'line_1'?"),
        # not on this world
        (
            "greedy",
            "known: best_fixed_arm, efficiency_sums, leftover, line_1, line_2, optimum, "
            "own_clock, own_rounds, paper_arm, round_gap",
        ),
    ],
)
def test_a_notion_that_is_not_there_is_refused_with_the_nearest_that_is(
    notion: str, hint: str
) -> None:
    found = purse.lab.regrets("uniform", "two_worlds", 20, n_paths=2)
    with pytest.raises(purse.InvalidInput) as caught:
        found[notion]
    assert str(caught.value) == f"unknown notion of regret on this world {notion!r}; {hint}"


@pytest.mark.parametrize("world", [PLAIN, "same_costs"])
def test_it_prints_every_notion_with_what_it_is(world: str) -> None:
    found = purse.lab.regrets("fixed:arm=1", world, 20, n_paths=4)
    head, columns, *lines = str(found).splitlines()
    assert columns.split() == ["regret", "mean", "±", "95%", "what", "it", "is"]
    assert head == f"fixed:arm=1 on {world}: 4 paths, budget 20"
    assert [line.split()[0] for line in lines] == list(found.estimates)
    without = set() if world == PLAIN else MEANS | {"greedy", "knapsack"}
    assert list(found.estimates) == [name for name in NOTIONS if name not in without]
    for name, line in zip(found.estimates, lines, strict=True):
        assert line.count("±") == 1
        assert line.endswith(first_paragraph(NOTIONS[name].__doc__))
    assert len({line.index("±") for line in lines}) == 1
    shown = found._repr_html_()
    assert shown.startswith(f"<p>{head}</p><table>")
    assert all(f">{name}</td>" in shown for name in found.estimates)
