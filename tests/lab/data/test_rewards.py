"""Rewards from a file beside the log, and logs whose columns do not say enough."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.lab.data.test_formats import opened, refused
from tests.support import exports


def test_a_sample_of_rewards_leaves_the_other_rows_without(tmp_path: Path) -> None:
    path = exports.spend_log(tmp_path / "s.csv")
    some = exports.judged(tmp_path / "some.csv", every=3)
    log = opened(path, rewards=some)
    assert np.isfinite(log.reward).sum() == 190
    assert "190 of 570 rows have a reward" in " ".join(log.notes)
    # with a budget policies are played on what is known
    known = opened(path, rewards=some, budgets=1, probability="frequency")
    assert len(known) == 190
    assert np.isfinite(known.reward).all()


def test_plain_columns_and_a_judged_frame(tmp_path: Path) -> None:
    log = pl.DataFrame({"id": [3, 1, 2], "model": ["a", "b", "a"], "usd": [0.1, 0.2, 0.3]})
    judged = tmp_path / "j.csv"
    judged.write_text("Id,who,good\n1,me,yes\n3,you,no\n9,you,no\n")
    for rewards, said in ((judged, ", in "), (pl.read_csv(judged), "")):
        found = opened(log, rewards=rewards, on="id", reward="good")
        assert found.currency == "$"
        assert found.reward.tolist()[:2] == [0, 1]
        assert np.isnan(found.reward[2])
        assert f"2 of 3 rows have a reward{said}" in found.notes[-1]


@pytest.mark.parametrize(
    ("text", "asked", "message"),
    [
        ("id,a,b\n1,1,1\n", {"on": "id"}, "has the columns a, b beside 'id'; say which one is"),
        ("id,a\n1,1\n1,0\n", {"on": "id"}, "line 3, column 'id': '1' is there twice, first in"),
        ("id,a\n7,1\n", {"on": "id"}, "none of its ids is one of frame"),
        ("id,a\n1,1\n", {}, "needs on (--on), the column of ids in both files; both files have id"),
        ("id,a\n1,1\n", {"on": "idd"}, "frame has no column 'idd'; it has id, model, cost; did"),
        ("ids,a\n1,1\n", {"on": "id"}, "j.csv has no column 'id'; it has ids, a; did you mean"),
        ("id,a\n1,good\n", {"on": "id"}, "j.csv, line 2, column 'a': 'good' must be a finite numb"),
        ("", {"on": "id"}, "j.csv is empty"),
    ],
)
def test_files_of_rewards_that_do_not_fit(
    text: str, asked: dict[str, str], message: str, tmp_path: Path
) -> None:
    log = pl.DataFrame({"id": [1, 2], "model": ["a", "b"], "cost": [0.1, 0.2]})
    judged = tmp_path / "j.csv"
    judged.write_text(text)
    assert message in refused(log, rewards=judged, **asked)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"reward": "scroe"}, "frame has no column 'scroe'; it has model, cost, score, currency; "
         "did you mean 'score'?"),
        ({"reward": "scroe", "budgets": 1}, "did you mean 'score'?"),
        ({"reward": "score", "block": "sesion"}, "has no column 'sesion'"),
        ({}, "no column says how good an answer was; it has model, cost, score, currency; if "
         "'score' does, name it: --reward score; else bring"),
        ({"reward": "score"}, "row 2 (from 1), column 'currency': 'EUR' must be 'USD', as in the "
         "first row: costs need one currency"),
    ],
)  # fmt: skip
def test_named_columns_come_first_and_no_reward_is_guessed(
    asked: dict[str, Any], message: str
) -> None:
    log = pl.DataFrame({"model": ["a", "b"], "cost": 1, "score": 1, "currency": ["USD", "EUR"]})
    assert message in refused(log, **asked)


def test_totals_are_preferred_and_tokens_and_times_never_taken() -> None:
    log = pl.DataFrame(
        {
            "model_id": ["d"] * 2,
            "price_ms": [5, 5],
            "cost_tokens": [7, 7],
            "input_cost": [1.0, 1.0],
            "totalCost": [3.0, 2.0],
            "model": ["a", "b"],
            "reward": [1, 0],
        }
    )
    found = opened(log)
    assert found.arms == ("a", "b")
    assert found.cost[:, 0].tolist() == [3 * 10**9, 2 * 10**9]


def test_nested_fields_are_columns_by_one_level(tmp_path: Path) -> None:
    path = tmp_path / "n.jsonl"
    path.write_text(
        '{"model": "a", "usage": {"cost": 0.5, "total_tokens": 9}, "feedback": {"score": 1}}\n'
        '{"model": "b", "usage": {"cost": 0.25, "total_tokens": 9}, "feedback": {"score": 0}}\n'
    )
    assert "if 'feedback.score' does, name it: --reward feedback.score" in refused(path)
    log = opened(path, reward="feedback.score")
    assert log.cost[:, 0].tolist() == [5 * 10**8, 25 * 10**7]
    assert log.reward.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv.gz", b"\x1f\x8b\x08\x00\x00\x00", "is cut off, or not packed by gzip"),
        ("x.csv.gz", b"arm,reward", "is cut off, or not packed by gzip"),
        ("x.json", b'[{"arm": "a"', "is no JSON, or cut off"),
        ("x.json", b'{"a": [1], "b": [2]}', "must be a list of JSON objects, or an object"),
        ("x.jsonl", b'{"resourceSpans": [', "line 1: "),
        ("x.jsonl", b'{"resourceSpans": []}', "has no span with gen_ai.request.model"),
        ("x.doc.gz", b"", "must be a file that ends in"),
    ],
)  # fmt: skip
def test_files_that_are_cut_off(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert message in refused(tmp_path / name)
