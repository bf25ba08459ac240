from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import purse
from purse import worlds as known_worlds
from purse.lab.study import compare, shard
from purse.lab.study.plan import CHECKPOINTS
from purse.lab.study.results import Study

WORLD = purse.worlds.bernoulli(rewards=[0.9, 0.6, 0.4], costs=[0.8, 0.3, 0.25])
SMALL: dict[str, Any] = {"budgets": [20, 50], "n_paths": 6, "seed": 3}


COLUMNS = "world policy budget path gain rounds used ended efficiency left pulls regret"


@pytest.fixture(scope="module")
def both() -> Study:
    return purse.compare(["fixed:arm=1", "uniform"], {"shop": WORLD}, **SMALL)


@pytest.fixture(scope="module")
def plain() -> Study:
    return purse.compare("uniform", WORLD, **SMALL)


def test_a_row_per_world_policy_budget_and_path(both: Study) -> None:
    frame = both.frame()
    assert " ".join(frame.columns) == COLUMNS
    assert len(frame) == 2 * 2 * 6
    assert (frame["used"] <= 1).all()


def test_regret_is_against_the_best_fixed_arm_on_the_same_draws(plain: Study) -> None:
    for budget in (20.0, 50.0):
        part = plain.frame().filter(pl.col("budget") == budget)
        gain, *alone = (
            purse.simulate(policy, WORLD, budget, n_paths=6, seed=3).gain
            for policy in ("uniform", *(f"fixed:arm={arm}" for arm in range(3)))
        )
        fixed = np.array(alone)
        assert part["gain"].to_list() == gain.tolist()
        assert part["regret"].to_list() == (fixed[fixed.mean(axis=1).argmax()] - gain).tolist()


def test_arms_are_told_by_their_means_and_what_they_gain_alone(plain: Study) -> None:
    for budget in (20.0, 50.0):
        arms = plain.arms().filter(budget=budget)
        assert arms["reward"].to_list() == [0.9, 0.6, 0.4]
        assert arms["efficiency"].to_list() == pytest.approx([0.9 / 0.8, 2, 1.6])
        alone = [
            purse.simulate(f"fixed:arm={arm}", WORLD, budget, n_paths=6, seed=3).gain.mean()
            for arm in range(3)
        ]
        assert arms["gain"].to_list() == pytest.approx(alone)
        assert arms["best"].to_list() == [gain == max(alone) for gain in alone]


def test_a_study_without_a_title_is_called_what_it_compares(both: Study) -> None:
    assert both.facts.title == "fixed:arm=1 and uniform on shop"
    assert both.facts.about["uniform"]["says"].startswith("Uniform: every arm equally likely")


def test_under_retry_the_best_fixed_arm_is_alone() -> None:
    """Each arm alone gains 1 from 1.1; a player of the first one finds 0.5 left, for which the
    second steps in and pays 0.5.
    """
    world = "atoms:probabilities=[[1],[1]],rewards=[[1],[.5]],costs=[[.6],[.5]]"
    both = ["fixed:arm=0", "uniform"]
    retry = purse.compare(both, world, budgets=1.1, n_paths=4, stop="retry").frame()
    played = purse.simulate("uniform", world, 1.1, n_paths=4, stop="retry").gain.tolist()
    assert retry["gain"].to_list() == [1.5] * 4 + played
    assert retry["regret"].to_list() == [1 - 1.5] * 4 + [1 - gain for gain in played]


def test_worlds_with_different_numbers_of_arms_are_one_frame(tmp_path: Path) -> None:
    made = purse.compare("uniform", budgets=[20], n_paths=2, folder=tmp_path)
    found = purse.compare("uniform", budgets=[20], n_paths=2, folder=tmp_path)
    frame = made.frame()
    assert " ".join(frame.columns) == COLUMNS
    assert frame.schema["pulls"] == pl.List(pl.Int64)
    assert frame["world"].unique(maintain_order=True).to_list() == list(compare.DEFAULT_WORLDS)
    arms = {
        name: known_worlds.make(world, 20).n_arms for name, world in compare.DEFAULT_WORLDS.items()
    }
    assert len(set(arms.values())) > 1
    for row in frame.iter_rows(named=True):
        assert len(row["pulls"]) == arms[row["world"]]
        assert sum(row["pulls"]) == row["rounds"]
    assert found.frame().equals(frame)
    frame.write_parquet(tmp_path / "frame.parquet")
    assert pl.read_parquet(tmp_path / "frame.parquet").equals(frame)


def test_the_table_has_means_and_intervals(plain: Study) -> None:
    first = plain.table().row(0, named=True)
    values = plain.frame().filter(pl.col("budget") == 20)["regret"].to_numpy()
    assert first["n_paths"] == 6
    assert first["regret"] == pytest.approx(values.mean())
    assert first["low"] < first["regret"] < first["high"]
    assert first["error"] == pytest.approx(values.std(ddof=1) / np.sqrt(6))


def test_it_prints_as_a_table(both: Study) -> None:
    text = str(both)
    assert text.splitlines()[0].startswith("shop: regret against the best fixed arm")
    assert "B = 20" in text
    assert "fixed:arm=1" in text


def test_worlds_may_be_text_functions_of_the_budget_lists_and_named() -> None:
    worlds = {
        "text": "two_worlds:world=2",
        "function": lambda budget: purse.worlds.two_worlds(budget, world=2),
    }
    table = purse.compare("uniform", worlds, **SMALL).table()
    halves = [table.filter(table["world"] == name).drop("world") for name in worlds]
    assert halves[0].equals(halves[1])
    assert halves[0]["budget"].to_list() == [20, 50]
    listed = purse.compare("uniform", ["misleading_ratio", WORLD], **SMALL).table()
    assert listed["world"].unique(maintain_order=True).to_list() == [
        "misleading_ratio",
        "bernoulli",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"policies": []}, "nothing to compare"),
        ({"policies": ["exp3.bw"]}, "did you mean 'exp3.bwk'"),
        ({"n_workers": 0}, "n_workers=0"),
        ({"device": "tpu"}, "device='tpu': must be one of 'cpu', 'cuda'"),
        ({"on": "mars://here"}, "on='mars://here': must be one of"),
    ],
)
def test_bad_input_is_one_line_before_anything_is_written(
    tmp_path: Path, arguments: dict[str, Any], message: str
) -> None:
    given = {"policies": "uniform", "world": WORLD, "budgets": 10, "folder": tmp_path / "out"}
    with pytest.raises(purse.InvalidInput, match=message):
        purse.compare(**(given | arguments))
    assert not (tmp_path / "out").exists()


def test_one_budget_and_one_path_are_enough() -> None:
    result = purse.compare("uniform", WORLD, budgets=20, n_paths=1)
    assert "±" not in str(result).split("\n", 2)[2]


def test_gains_are_told_in_the_unit_of_the_user(plain: Study) -> None:
    """With 0.25 a reward of 0 and 2.25 one of 1, a gain is 2 G + N / 4; costs and rounds are what
    they were.
    """
    priced = purse.compare("uniform", replace(WORLD, reward_range=(0.25, 2.25)), **SMALL)
    ours, theirs = priced.frame(), plain.frame()
    assert ours["gain"].to_list() == (2 * theirs["gain"] + theirs["rounds"] / 4).to_list()
    same = ["rounds", "used", "left", "pulls"]
    assert ours.select(same).equals(theirs.select(same))
    assert priced.shares().equals(plain.shares())
    fixed = [purse.simulate(f"fixed:arm={arm}", WORLD, 50, n_paths=6, seed=3) for arm in range(3)]
    gains = np.array([2 * run.gain + run.rounds / 4 for run in fixed])
    best = gains[gains.mean(axis=1).argmax()]
    mine = ours.filter(pl.col("budget") == 50)
    assert mine["regret"].to_list() == (best - mine["gain"].to_numpy()).tolist()
    assert priced.references().row(2, named=True)["gain"] == best.mean()


def test_shares_are_those_of_all_paths_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard, "shard_size", lambda job: 4)
    found = purse.compare("uniform", WORLD, **SMALL).shares()
    run = purse.simulate("uniform", WORLD, 50, n_paths=6, seed=3, checkpoints=CHECKPOINTS)
    assert run.by_budget is not None
    pulls = np.diff(run.by_budget.pulls.sum(axis=0), axis=0, prepend=0)
    expected = (pulls / pulls.sum(axis=1, keepdims=True)).ravel().tolist()
    mine = found.filter(pl.col("budget") == 50)
    assert mine["share"].to_list() == expected
    assert mine["fraction"].unique(maintain_order=True).to_list() == [
        part / CHECKPOINTS for part in range(1, CHECKPOINTS + 1)
    ]


def test_growth_is_told_from_two_budgets_on_and_a_shape_from_three() -> None:
    def growth(budgets: list[float]) -> pl.DataFrame:
        return purse.compare("uniform", WORLD, budgets=budgets, n_paths=20).growth()

    assert len(growth([20])) == 0
    assert growth([20, 50])["shape"].to_list() == [None]
    assert growth([80, 20, 50]).equals(growth([20, 50, 80]))
    assert growth([20, 50, 80])["shape"].item() in ("log B", "log² B", "√B", "B")


def test_a_single_round_is_a_whole_study() -> None:
    def made(budget: float) -> purse.lab.World:
        return known_worlds.bernoulli(rewards=[1], costs=[budget])

    found = purse.compare("uniform", {"once": made}, budgets=[1, 2], n_paths=2)
    assert found.frame()["gain"].to_list() == [1] * 4
    assert found.shares()["fraction"].to_list() == [1, 1]
