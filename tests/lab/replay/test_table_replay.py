import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import purse
from purse.errors import InvalidInput
from purse.lab.replay.table_replay import TableReplay, default_policies
from purse.lab.study.manifest import StudyFacts, TableFacts
from tests.support import greedy_contexts
from tests.support.replays import written

WIDE = "reward_small,cost_small,reward_large,cost_large\n" + "1,1,3,2\n" * 4
FREE = pl.DataFrame({"reward_a": [1], "cost_a": [0], "reward_b": [1], "cost_b": [0]})
GREEDY = str(Path(greedy_contexts.__file__))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policies": "unifrom"}, "unknown policy 'unifrom'; did you mean 'uniform'"),
        ({"horizon": 5}, "horizon=5: must be a whole number from 1 to 4"),
        ({"budgets": -1}, "budgets=-1: must be a number above 0"),
        ({"data": FREE}, "costs=0: must be positive for at least one arm"),
    ],
)
def test_what_cannot_be_played_is_refused(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=message):
        purse.replay(**{"data": written(tmp_path, WIDE), "budgets": 5, **changes})


def test_a_table_by_hand(tmp_path: Path) -> None:
    found = purse.replay(
        written(tmp_path, WIDE), policies=["uniform"], budgets=[6, 100], n_paths=5, seed=0
    )
    frame = found.frame()
    rows = {(row["budget"], row["player"]): row for row in frame.iter_rows(named=True)}

    def told(budget: float, player: str) -> tuple[float, float, float]:
        row = rows[budget, player]
        return row["gain"], row["spent"], row["pulls"]

    best = "always large (largest reward a pull)"
    assert told(6, "always small (cheapest)") == (4, 4, 4)
    assert {told(6, name) for name in (best, "LP optimum", "hindsight optimum")} == {(9, 6, 3)}
    rich = {told(100, name) for name in (best, "hindsight optimum", "best fixed mixture")}
    assert rich == {(12, 8, 4)}
    assert rows[6, "always small (cheapest)"]["share"] == pytest.approx(4 / 9)
    assert 4 <= rows[6, "uniform"]["gain"] <= 9
    assert frame["kind"].unique().sort().to_list() == ["arm", "bound", "mixture", "policy"]
    first, answer, *rest = str(found).splitlines()
    _, head, *lines = rest[rest.index("") :]
    assert answer.startswith("B = 6: On these 4 rows uniform gains")
    assert first == "data.csv: 4 of 4 rounds in 5 random orders, 2 arms, stop=retry"
    assert " ".join(head.split()) == "budget 6 gain ± 95% of the LP spent pulls less"
    assert " ".join(lines[0].split()) == "always large (largest reward a pull) 9 100.0% 6 3"


@pytest.mark.parametrize(("better", "told"), [(1, False), (20, True)])
def test_an_answer_counts_the_chance_in_the_rows(better: int, told: bool) -> None:
    right = [1.0] * 10 + [0.0] * 15
    rewards = {"reward_a": right[::-1], "reward_b": [1.0] * better + right[better:]}
    frame = pl.DataFrame(rewards | {"cost_a": 1, "cost_b": 1})
    result = purse.replay(frame, policies="uniform", budgets=25, n_paths=20)
    differences = (frame["reward_b"] - frame["reward_a"]).to_numpy()
    row = result.frame().row(by_predicate=pl.col("player").str.starts_with("always b"), named=True)
    assert row["rival"] == "a"
    assert row["ahead"] == pytest.approx(differences.sum())
    assert row["ahead_error"] == pytest.approx(5 * differences.std(ddof=1))
    says = " ".join(str(result).split())
    assert isinstance(result, TableReplay)
    ((outcome, sentence),) = result.verdicts().values()
    assert ("On these 25 rows **buy `b` in every round**" in sentence) == told
    assert outcome == "best"
    assert ("other rows may well turn it round" in says) != told
    assert "not that of other rows" in says


def test_the_same_seed_gives_the_same_numbers_whatever_the_threads_and_a_folder_keeps_them(
    tmp_path: Path,
) -> None:
    path, there = written(tmp_path, WIDE), tmp_path / "kept"
    game: dict[str, Any] = {"policies": "uniform", "budgets": [5], "n_paths": 8, "seed": 3}
    one, two, kept = (
        purse.replay(path, **game, n_workers=workers, folder=folder).frame()
        for workers, folder in ((1, None), (2, there), (1, there))
    )
    assert one.equals(two)
    assert one.equals(kept)


def test_contextual_policies_see_the_table_and_blind_ones_do_not(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 100, 200).round(3)
    frame = pl.DataFrame(
        {
            "reward_s": (x < 50).astype(float),
            "cost_s": 1.0,
            "reward_l": (x >= 50).astype(float),
            "cost_l": 1.0,
            "x": x,
        }
    )
    game: dict[str, Any] = {"budgets": [100], "n_paths": 5}
    players = [GREEDY, "uniform"]
    with_x = purse.replay(frame, policies=players, **game, features=["x"], folder=tmp_path)
    rows = {row["player"]: row for row in with_x.frame().rows(named=True)}
    without = purse.replay(frame, policies="uniform", **game).frame()
    blind = {row["player"]: row for row in without.rows(named=True)}
    assert rows["uniform"] == blind["uniform"]
    assert rows[GREEDY]["gain"] > 85 > 65 > blind["uniform"]["gain"]
    lp = blind["LP optimum"]["gain"]
    assert rows["LP without contexts"]["gain"] == lp
    assert rows[GREEDY]["share"] == pytest.approx(rows[GREEDY]["gain"] / lp)
    assert rows["LP with contexts"]["gain"] == rows["hindsight optimum"]["gain"] == 100
    assert 90 < rows["best linear policy"]["gain"] <= 100
    note = f"features: x ({x.min():g} to {x.max():g}, the data's own)"
    assert with_x.notes == (note,)
    assert str(with_x).endswith(note)
    facts = StudyFacts.from_json(json.loads(json.dumps(with_x.study.facts.to_json())))
    assert isinstance(facts, TableFacts)
    assert facts.replay.features == note


def test_where_there_are_features_a_policy_that_sees_them_is_played_by_default() -> None:
    assert default_policies(None) == ("replan", "exp3++.prices", "uniform")
    assert default_policies(["x"]) == ("lin-ucb.price", "replan", "exp3++.prices", "uniform")
