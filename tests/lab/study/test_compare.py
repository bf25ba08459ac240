import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import purse
from purse import worlds as known_worlds
from purse.lab.study import manifest, shard
from purse.lab.study.plan import _CHECKPOINTS
from purse.lab.study.results import Study
from purse.lab.theory import contexts
from purse.types import Now
from tests.support.policies import Greedy

WORLD = purse.worlds.bernoulli(rewards=[0.9, 0.6, 0.4], costs=[0.8, 0.3, 0.25])
CLASSES = known_worlds.function("class_contexts")(classes=3, arms=2, rows=20, horizon=60)
NAMES = [contexts.WITHOUT, contexts.LINEAR, contexts.WITH]
SMALL: dict[str, Any] = {"budgets": [20, 50], "n_paths": 6, "seed": 3}
COLUMNS = "world policy budget path gain rounds used ended efficiency left pulls regret"


@pytest.fixture(scope="module")
def plain() -> Study:
    return purse.compare("uniform", WORLD, **SMALL)


def test_a_row_per_world_policy_budget_and_path(plain: Study) -> None:
    frame = plain.frame()
    assert " ".join(frame.columns) == COLUMNS
    assert len(frame) == 2 * 6
    assert (frame["used"] <= 1).all()


@pytest.mark.parametrize("budget", [20.0, 50.0])
def test_regret_is_against_the_best_fixed_arm_on_the_same_draws(
    plain: Study, budget: float
) -> None:
    part, arms = (frame.filter(budget=budget) for frame in (plain.frame(), plain.arms()))
    gain, *alone = (
        purse.simulate(policy, WORLD, budget, n_paths=6, seed=3).gain
        for policy in ("uniform", *(f"fixed:arm={arm}" for arm in range(3)))
    )
    means = [gains.mean() for gains in alone]
    best = int(np.argmax(means))
    assert part["gain"].to_list() == gain.tolist()
    assert part["regret"].to_list() == (alone[best] - gain).tolist()
    assert arms["gain"].to_list() == pytest.approx(means)
    assert arms["best"].to_list() == [arm == best for arm in range(3)]
    assert arms["reward"].to_list() == [0.9, 0.6, 0.4]
    assert arms["efficiency"].to_list() == pytest.approx([0.9 / 0.8, 2, 1.6])


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


def test_worlds_may_be_text_or_functions_of_the_budget() -> None:
    worlds = {
        "text": "two_worlds:world=2",
        "function": lambda budget: purse.worlds.two_worlds(budget, world=2),
    }
    table = purse.compare("uniform", worlds, **SMALL).table()
    halves = [table.filter(table["world"] == name).drop("world") for name in worlds]
    assert halves[0].equals(halves[1])
    assert halves[0]["budget"].to_list() == [20, 50]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"policies": []}, "nothing to compare"),
        ({"policies": ["exp3.bw"]}, "did you mean 'exp3.bwk'"),
        ({"n_workers": 0}, "n_workers=0"),
        ({"device": "tpu"}, "device='tpu': must be one of 'cpu', 'cuda'"),
        ({"on": "mars://here"}, "on='mars://here': must be ray"),
        ({"policies": Greedy, "on": "ray"}, "on='ray': Greedy is a class, which plays on this"),
    ],
)
def test_bad_input_is_one_line_before_anything_is_written(
    tmp_path: Path, arguments: dict[str, Any], message: str
) -> None:
    given = {"policies": "uniform", "world": WORLD, "budgets": 10, "folder": tmp_path / "out"}
    with pytest.raises(purse.InvalidInput, match=message):
        purse.compare(**(given | arguments))
    assert not (tmp_path / "out").exists()


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
    monkeypatch.setattr(shard, "_shard_size", lambda job: 4)
    found = purse.compare("uniform", WORLD, **SMALL).shares()
    run = purse.simulate("uniform", WORLD, 50, n_paths=6, seed=3, checkpoints=_CHECKPOINTS)
    assert run.by_budget is not None
    pulls = np.diff(run.by_budget.pulls.sum(axis=0), axis=0, prepend=0)
    expected = (pulls / pulls.sum(axis=1, keepdims=True)).ravel().tolist()
    mine = found.filter(pl.col("budget") == 50)
    assert mine["share"].to_list() == expected
    assert mine["fraction"].unique(maintain_order=True).to_list() == [
        part / _CHECKPOINTS for part in range(1, _CHECKPOINTS + 1)
    ]


def test_growth_is_told_from_two_budgets_on_and_a_shape_from_three() -> None:
    def growth(budgets: list[float]) -> pl.DataFrame:
        return purse.compare("uniform", WORLD, budgets=budgets, n_paths=20).growth()

    assert len(growth([20])) == 0
    assert growth([20, 50])["shape"].to_list() == [None]
    assert growth([80, 20, 50]).equals(three := growth([20, 50, 80]))
    assert three["shape"].item() in ("log B", "log² B", "√B", "B")


def test_a_single_round_is_a_whole_study() -> None:
    def made(budget: float) -> purse.lab.World:
        return known_worlds.bernoulli(rewards=[1], costs=[budget])

    found = purse.compare("uniform", {"once": made}, budgets=[1, 2], n_paths=2)
    assert found.frame()["gain"].to_list() == [1] * 4
    assert found.shares()["fraction"].to_list() == [1, 1]


@pytest.fixture(scope="module")
def seen() -> Study:
    blind = known_worlds.function("bernoulli")(rewards=[0.9, 0.6], costs=[0.8, 0.3])
    return purse.compare(
        "uniform", {"seen": CLASSES, "blind": blind}, budgets=[10, 20], n_paths=5, seed=1
    )


def test_references_have_each_optimum_under_its_own_name(seen: Study) -> None:
    known = seen.references().filter(world="seen", budget=20)
    assert known["name"].to_list()[1:] == NAMES
    gains = dict(zip(known["name"], known["gain"], strict=True))
    assert gains[contexts.WITH] == contexts.lp_with_contexts(CLASSES, 20)
    assert gains[contexts.WITHOUT] == contexts.lp_without_contexts(CLASSES, 20)
    assert gains[contexts.LINEAR] == contexts.best_linear_policy(CLASSES, 20)
    plain = seen.references().filter(world="blind", budget=20)
    assert plain["name"].to_list()[1:] == ["LP optimum"]


def test_tables_tell_regret_and_share_against_the_lp_with_contexts(seen: Study) -> None:
    (grid,) = seen.optimum_grids()
    assert grid.title == "seen"
    assert grid.head == ["regret (share) against the LP with contexts", "B = 10", "B = 20"]
    assert [row[0] for row in grid.rows] == ["uniform", contexts.WITHOUT, contexts.LINEAR]
    gain = seen.table().filter(world="seen", budget=20)["gain"].item()
    share = gain / contexts.lp_with_contexts(CLASSES, 20)
    assert grid.rows[0][2].endswith(f"({share:.1%})")
    text = str(seen)
    assert text.count("regret, mean ± 95%") == 2
    assert text.count("regret (share) against the LP with contexts") == 1
    assert seen._repr_html_().count("<table") == 3
    page = purse.compare("uniform", {"seen": CLASSES}, budgets=[10], n_paths=5).html()
    assert page.count("Regret against the LP with contexts in seen") == 1


def test_regrets_count_against_each_optimum() -> None:
    found = purse.lab.regrets("uniform", CLASSES, 20, n_paths=5, seed=1)
    for name, optimum in zip(
        ("lp_without_contexts", "best_linear_policy", "lp_with_contexts"),
        contexts.optima(CLASSES, 20).values(),
        strict=True,
    ):
        assert found[name].mean == pytest.approx(optimum - found.evidence.gain.mean())
        assert any(line.startswith(name) for line in str(found).splitlines())
    assert "greedy" not in found.estimates
    plain = purse.lab.regrets("uniform", "bernoulli:rewards=[.9,.6],costs=[.8,.3]", 20, n_paths=5)
    assert "lp_with_contexts" not in plain.estimates


def always(arm: int) -> type[Greedy]:
    class Always(Greedy):
        """Takes one arm."""

        def choose(self, now: Now) -> Any:
            return arm

    return Always


def test_classes_are_compared_on_the_draws_of_all_others_and_may_have_one_name() -> None:
    chosen = {"class 0": always(0), "0": "fixed:arm=0", "class 1": always(1), "1": "fixed:arm=1"}
    study = purse.compare(chosen, "misleading_ratio", budgets=[10, 30], n_paths=5)
    tables = [study.table().filter(policy=label).drop("policy") for label in chosen]
    assert tables[0].equals(tables[1])
    assert tables[2].equals(tables[3])
    assert not tables[0].equals(tables[2])
    assert study.facts.about["class 0"] == {"spec": "Always", "says": "Takes one arm."}
    assert study.facts.study is None


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
