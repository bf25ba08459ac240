"""Replays as users call them."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import purse
from purse.lab.replay.log_result import LogResult
from purse.lab.replay.table_replay import TableReplay
from purse.lab.study.manifest import Recording
from tests.support.replays import EVEN_LOG

pytestmark = pytest.mark.usefixtures("few_replicates")
ROWS = len(EVEN_LOG)


TABLE = "round,arm,reward,cost\n" + "".join(
    f"{t},a&b,{t % 2},1\n{t},large,3,2\n" for t in range(12)
)


@pytest.fixture(scope="module")
def found() -> LogResult:
    result = purse.replay(EVEN_LOG, budgets=30, policies="fixed:arm=0", n_paths=4)
    assert isinstance(result, LogResult)
    return result


def test_a_replay_has_the_log_itself_and_each_arm_alone(found: LogResult) -> None:
    rows = {row["policy"]: row for row in found.frame().to_dicts()}
    kinds = {"fixed:arm=0": "policy", "always a": "arm", "always b": "arm", "as logged": "log"}
    assert {name: row["kind"] for name, row in rows.items()} == kinds
    gains = {name: row["estimate"] for name, row in rows.items()}
    assert gains == pytest.approx(
        {"fixed:arm=0": 30, "always a": 30, "always b": 45, "as logged": 40}
    )
    assert found.facts.policies == ["fixed:arm=0"]
    assert "Buy b in every round: it is estimated to gain 45 ± " in str(found)


def test_a_log_is_played_for_as_many_rounds_as_it_has(found: LogResult) -> None:
    assert found.log.horizon == ROWS
    assert found.frame()["rounds"].max() == 30
    options: dict[str, Any] = {"budgets": 900, "policies": "fixed:arm=0", "n_paths": 4}
    assert purse.replay(EVEN_LOG, **options).frame()["rounds"].max() == ROWS
    free = purse.replay(EVEN_LOG, **options, horizon="none")
    assert free.frame()["rounds"].max() == 900
    (warning,) = free.warnings
    assert warning.startswith("frame: the log has 200 rounds, and games of fixed:arm=0 with a ")


def test_a_log_without_probabilities() -> None:
    bare = EVEN_LOG.drop("probability")
    options: dict[str, Any] = {"budgets": 30, "policies": "fixed:arm=0", "n_paths": 4}
    by_share = "share of the rows"
    for named, says in (({}, by_share), ("uniform", "1/2 in each round"), ("frequency", by_share)):
        found = purse.replay(bare, **options, **({"probability": named} if named else {}))
        assert found.frame().filter(policy="always b")["estimate"][0] == 45
        (warning,) = found.warnings
        assert says in warning
    skewed = bare.filter(pl.Series(np.arange(ROWS) % 8 % 2 + (np.arange(ROWS) % 8 == 0) > 0))
    with pytest.raises(purse.InvalidInput, match=r"arm 'b' has 80\.0% of the rows, 6\.71 standard"):
        purse.replay(skewed, **options, probability="uniform")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> TableReplay:
    path = tmp_path_factory.mktemp("data") / "table.csv"
    path.write_text(TABLE)
    both = ["uniform", "fixed:arm=1"]
    found = purse.replay(path, budgets=[4, 10], policies=both, n_paths=3, horizon=10, stop="exit")
    assert isinstance(found, TableReplay)
    return found


@pytest.fixture(scope="module")
def log() -> LogResult:
    rows = {
        "arm": ["a", "b"] * 60 + ["<c>"],
        "reward": [1.0, 3.0] * 60 + [1.0],
        "cost": [1, 2] * 60 + [1],
        "probability": [0.5] * 120 + [0.01],
    }
    found = purse.replay(
        pl.DataFrame(rows), budgets=[4], policies=["fixed:arm=1", "fixed:arm=0"], n_paths=3, seed=2
    )
    assert isinstance(found, LogResult)
    return found


def test_references_keep_their_intervals_in_the_study(table: TableReplay) -> None:
    known = table.study.references().drop("world").rename({"name": "player"})
    assert known.equals(table.references.select("player", pl.exclude("player")))


def test_a_log_knows_what_was_asked(log: LogResult) -> None:
    facts = log.facts
    assert facts.replay == Recording("log", "frame", 121, 121, ["<c>", "a", "b"])
    assert facts.policies == ["fixed:arm=1", "fixed:arm=0"]
    assert (facts.budgets, facts.stop, facts.seed) == ([4.0], "retry", 2)
    assert "purse" in facts.versions


def test_notebooks_show_the_tables_escaped(table: TableReplay, log: LogResult) -> None:
    shown = table._repr_html_()
    assert shown.startswith(
        "<p>table.csv: 10 of 12 rounds in 3 random orders, 2 arms, stop=exit</p><p>B = 4: "
    )
    assert shown.count("<table>") == 2
    assert "always a&amp;b" in shown
    shown = log._repr_html_()
    assert shown.startswith(
        "<p>frame: 121 logged rounds of 3 arms; games of at most 121 rounds</p><p>The log does "
    )
    assert "plays arm &#x27;&lt;c&gt;&#x27;, whose effective sample size is 1, below 30" in shown
    assert "<c>" not in shown
