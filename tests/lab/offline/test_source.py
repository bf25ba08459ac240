from __future__ import annotations

import csv
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from purse.errors import InvalidInput
from purse.lab.offline.source import read

ROWS = [("small", 1.0, 0.25), ("large", 0.5, 2.0)]


def written(folder: Path, name: str, content: bytes) -> str:
    path = folder / name
    path.write_bytes(content)
    return str(path)


@pytest.mark.parametrize("name", ["d.csv", "d.CSV", "d.parquet", "d.jsonl", "d.ndjson"])
def test_every_form_gives_the_same_columns(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame(ROWS, ["arm", "reward", "cost"], orient="row")
    path = tmp_path / name
    {".csv": frame.write_csv, ".parquet": frame.write_parquet}.get(
        path.suffix.lower(), frame.write_ndjson
    )(path)
    for source in (read(path), read(str(path)), read(frame)):
        assert source.labels("arm") == ["small", "large"]
        assert source.numbers("reward").tolist() == [1.0, 0.5]
        assert source.numbers("cost", above=0, high=2).tolist() == [0.25, 2.0]
        assert source.frame.columns == ["arm", "reward", "cost"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", " is empty"),
        ("a.csv", b"\n\n", " is empty"),
        ("a.csv", b"a,b\n", " has no rows"),
        ("a.csv", b"a,b,a\n1,2,3\n", " has two columns named 'a'"),
        (
            "a.csv",
            b"a,b,c\n1,2,3\n\n4,5\n",
            ", line 4: must have 3 cells, as the header has, and has 2",
        ),
        ("a.csv", b"a,b\n1,2,3\n", ", line 2: must have 2 cells, as the header has, and has 3"),
        ("a.csv", b'a,b\n1,"x\n3,z\n', ", line 2: unexpected end of data"),
        ("a.csv", b"a,b\n1,2\n1,\xff\n", ", line 3: byte 0xff is not UTF-8"),
        ("a.jsonl", b"\n", " is empty"),
        ("a.jsonl", b'{"a":1}\n\n{"a":\n', ", line 3: '{\"a\":' must be a JSON object"),
        ("a.jsonl", b'{"a":1}\n[1,2]\n', ", line 2: '[1,2]' must be a JSON object"),
        ("a.jsonl", b'{"a":NaN}\n', ", line 1: '{\"a\":NaN}' must be a JSON object"),
        ("a.ndjson", b'{"a":"\xff"}\n', ", line 1: byte 0xff is not UTF-8"),
        ("a.jsonl", b'{"a":true}\n{"a":1}\n', ": cannot parse 'true' (bool) as Int64"),
        ("a.parquet", b"no", ": is not a Parquet file: parquet: File out of specification"),
        (
            "a.xlsx",
            b"a\n1\n",
            ": must be a file that ends in .csv, .tsv, .txt, .parquet, .jsonl, .ndjson",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = written(tmp_path, name, content)
    with pytest.raises(InvalidInput) as refused:
        read(path)
    assert str(refused.value).startswith(path + message)
    assert "\n" not in str(refused.value)


def refuses(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        call()


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for data, message in (
        (tmp_path / "none.csv", r"none\.csv: cannot be read: No such file"),
        (tmp_path / "folder.csv", r"folder\.csv: cannot be read: Is a directory"),
        (3, "data='int': must be the path of a file, or a Polars frame"),
        (pl.DataFrame(), "frame has no rows"),
    ):
        refuses(partial(read, data), message)


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (b"-0.2", "-0.2"),
        (b"free", "'free'"),
        (b"nan", "'nan'"),
        (b"1e999", "'1e999'"),
        (b'"x\ny"', r"'x\ny'"),
    ],
)
def test_a_bad_number_is_named_with_line_and_column(
    tmp_path: Path, cell: bytes, shown: str
) -> None:
    text = b'arm,reward,cost\n"two\nlines",1,1\n\na,1,' + cell + b"\nb,1,2\n"
    path = written(tmp_path, "a.csv", text)
    with pytest.raises(InvalidInput) as refused:
        read(path).numbers("cost", low=0)
    message = f"{path}, line 5, column 'cost': {shown} must be a number at least 0"
    assert str(refused.value) == message


def test_rows_of_other_forms_are_named_too(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"arm": ["a", None], "cost": [1.0, -1.0], "both": [[1], [2]], "yes": [True, False]}
    )
    frame.write_parquet(tmp_path / "a.parquet")
    parquet, made = read(tmp_path / "a.parquet"), read(frame)
    lines = read(written(tmp_path, "a.jsonl", b'{"cost":1}\n\n{"arm":"x"}\n'))
    refuses(
        lambda: parquet.numbers("cost", above=0, high=5),
        r"a\.parquet, row 2, column 'cost': -1\.0 must be a number above 0 and at most 5",
    )
    refuses(
        lambda: made.labels("arm"),
        "^frame, row 2, column 'arm': is empty; give a text, or drop such rows with --skip-empty$",
    )
    refuses(
        lambda: made.labels("both"), "^frame, row 1, column 'both': .* must be a text or a number$"
    )
    refuses(
        lambda: made.numbers("yes"), "^frame, row 1, column 'yes': True must be a finite number$"
    )
    refuses(
        lambda: lines.numbers("cost"),
        r"a\.jsonl, line 3, column 'cost': is empty; give a number, or drop such rows with --skip",
    )


def test_a_missing_column_is_named_with_those_there_are() -> None:
    source = read(pl.DataFrame({"arm": ["a"], "reward": [1], "price": [2]}))
    known = "it has arm, reward, price"
    refuses(lambda: source.numbers("zzz"), f"^frame has no column 'zzz'; {known}$")
    hint = rf"{known}; did you mean 'reward'\?"
    refuses(lambda: source.labels("rewards"), f"^frame has no column 'rewards'; {hint}$")


def test_a_byte_order_mark_and_windows_line_ends_are_no_data(tmp_path: Path) -> None:
    table = read(written(tmp_path, "a.csv", b"\xef\xbb\xbfa,b\r\n1, 2 \r\n\r\n"))
    assert table.numbers("b").tolist() == [2]
    lines = read(written(tmp_path, "a.jsonl", b'\xef\xbb\xbf{"a":1}\r\n'))
    assert lines.numbers("a").tolist() == [1]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"))] * 2),
        min_size=1,
    )
)
def test_what_was_written_is_read_and_found_on_its_line(
    tmp_path: Path, rows: list[tuple[str, str]]
) -> None:
    path = tmp_path / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([("a", "b"), *rows])
    source = read(path)
    assert source.frame.rows() == [tuple(cell or None for cell in row) for row in rows]
    lines = 2 + sum(cell.count("\n") for row in rows[:-1] for cell in row) + len(rows) - 1
    assert source.where(len(rows) - 1) == f"{path}, line {lines}"
