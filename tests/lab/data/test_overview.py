"""What a replay without a budget shows of files as people have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from purse.errors import InvalidInput
from purse.lab.data.overview import overview
from purse.lab.data.question import Question


def shown(folder: Path, text: str, **asked: Any) -> list[str]:
    path = folder / "data.csv"
    path.write_bytes(text.encode())
    said = overview(str(path), Question(**asked))
    return said.replace(str(path), "data.csv").splitlines()


def test_a_log_of_another_language(tmp_path: Path) -> None:
    rows = ["\ufeffDatum;Variante;Land;Gewinn;Kosten"]
    for t in range(160):
        arm = ("rot", "rot", "rot", "blau")[t % 4]
        rows.append(f"{t % 28:02}.01.2026;{arm};{'AT' if t % 3 else 'DE'};{t % 2};1.23{t % 4},50")
    rows[7] = (
        rows[7].replace(";1.2", ";n/a;1.2").replace(";0;n/a", ";n/a").replace(";1;n/a", ";n/a")
    )
    head, _, names, first, *_, hint, command = shown(tmp_path, "\r\n".join(rows))
    assert head == "data.csv: a log, one of 2 arms in 159 rounds, as it is read:"
    assert names.split("  ") == ["arm: Variante", "reward: Gewinn", "cost: Kosten"]
    assert first.split() == ["rot", "0", "1,230.5"]
    assert hint.startswith("Give --budget: the rows of data.csv cost 195,")
    assert command == (
        "  purse replay data.csv --budget 190000 --skip-empty --arm Variante --reward Gewinn "
        "--cost Kosten --probability frequency"
    )


def test_a_log_with_usual_names_says_what_is_not_used_and_supposes_the_least(
    tmp_path: Path,
) -> None:
    rows = ["id,supplier,success,amount,weight"]
    rows += [
        f'{t},s{t % 3},{"TRUE" if t % 2 else "FALSE"},"1,16{t % 3}.86",{t % 7}' for t in range(42)
    ]
    said = shown(tmp_path, "\n".join(rows))
    assert said[3].split() == ["s0", "0", "1,160.86"]
    words = " ".join(said)
    assert "not used: weight; features (--features weight) lets policies see what is known" in words
    assert "no probabilities: --probability uniform supposes that every arm was as" in words
    assert "a table with a row for each round and arm needs --round" in words
    assert said[-1].endswith("--arm supplier --reward success --cost amount --probability uniform")


def test_tables_of_either_form(tmp_path: Path) -> None:
    wide = "score_a_1,score_a_2,usd_a_1,usd_a_2\n" + "1,0.5,0.25,1\n" * 10
    said = shown(tmp_path, wide, policies=["uniform"])
    assert said[0] == "data.csv: a full table, each of 2 arms in 10 rounds, as it is read:"
    assert [line.split() for line in said[2:4]] == [
        ["reward,", "cost", "a_1", "a_2"], ["round", "1", "1,", "0.25", "0.5,", "1"],
    ]  # fmt: skip
    assert said[-1] == "  purse replay data.csv --budget 6.2 uniform --reward score --cost usd"
    even = shown(tmp_path, "reward_a,cost_a,reward_b,cost_b\n" + "1,0.01,0,0.01\n" * 25)
    assert "all rounds of data.csv cost 0.25 with every arm" in " ".join(even)
    tall = "prompt,model,solved,usd\n" + "".join(
        f"p{t},{name},{t % 2},0.5\n" for t in range(9) for name in ("x", "y")
    )
    assert shown(tmp_path, tall, round="prompt")[-1].endswith(
        "--budget 4.5 --arm model --reward solved --cost usd --round prompt"
    )


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"Werbung": ["rot", "blau"], "Treffer": [0, 1], "Aufwand": [1.5, 2.5]},
            "^frame has no column 'arm', 'reward', 'cost', .*; it has Werbung, Treffer, Aufwand; "
            "name them: --arm NAME --reward NAME --cost NAME",
        ),
        ({"x": ["p", "q"]}, "name them: --arm NAME --reward NAME --cost NAME. A log without"),
        ({"arm": ["p", "q"], "reward": 1, "cost": 0}, "every cost is 0, so there is nothing to"),
        (
            {"arm": ["p", "q"], "reward": 1, "cost": [1, -1]},
            r"row 2 \(from 1\), column 'cost': -1.0 must be",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused(columns: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        overview(pl.DataFrame(columns), Question())
