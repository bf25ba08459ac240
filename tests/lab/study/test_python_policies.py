"""Comparisons of policies that are classes: played with all others, and never kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import purse
from purse.errors import InvalidInput
from purse.lab.study import manifest
from purse.types import Now
from tests.support.players import Greedy


class First(Greedy):
    """Takes the first arm."""

    def choose(self, now: Now) -> Any:
        return 0


def test_a_class_is_compared_on_the_draws_of_all_others() -> None:
    study = purse.compare(
        {"class": First, "kernel": "fixed:arm=0"}, "misleading_ratio", budgets=[10, 30], n_paths=5
    )
    table = study.table()
    ours, theirs = (table.filter(policy=label).drop("policy") for label in ("class", "kernel"))
    assert ours.equals(theirs)
    assert study.facts.about["class"] == {"spec": "First", "says": "Takes the first arm."}
    assert study.facts.study is None


def test_two_classes_of_one_name_are_two_policies() -> None:
    def made(arm: int) -> type[Greedy]:
        class Always(Greedy):
            def choose(self, now: Now) -> Any:
                return arm

        return Always

    chosen = {"0": made(0), "1": made(1)}
    study = purse.compare(chosen, "misleading_ratio", budgets=30, n_paths=3)
    pulls = study.data.collect().select("policy", "pulls").rows()
    assert {(policy, counts[int(policy)] > 0) for policy, counts in pulls} == {
        ("0", True),
        ("1", True),
    }
    assert all(counts[1 - int(policy)] == 0 for policy, counts in pulls)


def test_what_a_class_played_is_not_kept(tmp_path: Path) -> None:
    calls = []

    class Counted(Greedy):
        def choose(self, now: Now) -> Any:
            calls.append(now.t)
            return super().choose(now)

    def play() -> purse.lab.Study:
        return purse.compare(
            [Counted, "uniform"], "misleading_ratio", budgets=10, n_paths=3, folder=tmp_path
        )

    first, n_calls = play(), len(calls)
    kept = sorted(path.name for path in (tmp_path / "shards").iterdir())
    planned = json.loads((tmp_path / manifest.NAME).read_text())["shards"]
    assert {f"{name}.parquet" for name in planned} == {n for n in kept if "trace" not in n}
    second = play()
    assert len(calls) == 2 * n_calls
    assert sorted(path.name for path in (tmp_path / "shards").iterdir()) == kept
    assert first.data.collect().equals(second.data.collect())


def test_a_cluster_refuses_a_class_before_anything_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    with pytest.raises(
        InvalidInput, match=r"^on='ray': Greedy is a class, which plays on this mac"
    ):
        purse.compare(Greedy, "misleading_ratio", budgets=10, on="ray", folder=folder)
    assert not folder.exists()


def test_a_comparison_in_plain_python_has_the_same_numbers_and_finds_them_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    how: dict[str, Any] = {"budgets": 10, "n_paths": 3, "folder": tmp_path}
    here = purse.compare("uniform", "misleading_ratio", **how, device="python")
    monkeypatch.setattr("purse.engine.cpu.play_rows", None)
    there = purse.compare("uniform", "misleading_ratio", **how)
    assert here.data.collect().equals(there.data.collect())
    monkeypatch.undo()
    fresh = purse.compare("uniform", "misleading_ratio", **{**how, "folder": None})
    assert here.data.collect().equals(fresh.data.collect())
