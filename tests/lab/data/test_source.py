import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from purse.errors import InvalidInput
from purse.lab.data.reading import read
from tests.support.soak import scale

WANTED = {name: name for name in ("arm", "reward", "cost", "round", "probability")}
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


@pytest.mark.parametrize(
    ("cell", "shown"), [(b"-0.2", "-0.2"), (b"1e999", "'1e999'"), (b'"x\ny"', r"'x\ny'")]
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


def test_words_for_nothing_are_empty_among_numbers_and_others_where_they_are_named(
    tmp_path: Path,
) -> None:
    rows = ["arm;cost", "none;1", "a;n/a", "a;-", "a; NaN ", "b;", "b;weg", "b;2"]
    path = written(tmp_path, "a.csv", "\n".join(rows).encode())
    with pytest.raises(InvalidInput, match=r"line 3, column 'cost': 'n/a' is empty; give a number"):
        read(path).numbers("cost")
    left = read(path).without_empty(["cost"], ["arm"])
    with pytest.raises(
        InvalidInput, match=r"line 7, column 'cost': 'weg' must be .* empty \(--empty weg\)$"
    ):
        left.numbers("cost")
    left = read(path, empty="WEG").without_empty(["cost"], ["arm"])
    assert (left.labels("arm"), left.numbers("cost").tolist()) == (["none", "b"], [1, 2])
    assert left.notes[1].startswith(
        "5 of 7 rows are left out, since a cell is empty or '-' or 'NaN' or 'n/a'; that is fair"
    )
    numbers = pl.DataFrame({"arm": ["a", "b"], "cost": [1.0, float("nan")]})
    assert read(numbers).without_empty(["cost"], ["arm"]).labels("arm") == ["a"]


@pytest.mark.parametrize("library", ["pandas", "lazy", "arrow", "batch"])
def test_frames_are_read_as_files_are(tmp_path: Path, library: str) -> None:
    columns = {"arm": ["a", None, "b"], "cost": ["1,5", "n/a", "2"], "reward": [1.0, None, 0.5]}
    if library == "pandas":
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(columns)
        frame["kind"] = pandas.Categorical(["x", "y", "x"])
        frame = frame.set_index("arm")
    elif library == "lazy":
        frame = (
            pl.DataFrame(columns)
            .with_columns(kind=pl.Series(["x", "y", "x"], dtype=pl.Categorical))
            .lazy()
        )
    else:
        pyarrow = pytest.importorskip("pyarrow")
        kinds = pyarrow.array(["x", "y", "x"]).dictionary_encode()
        make = pyarrow.table if library == "arrow" else pyarrow.record_batch
        frame = make({**columns, "kind": kinds})
    source = read(frame)
    with pytest.raises(
        InvalidInput, match=r"^frame, row 2 \(from 1\), column 'cost': 'n/a' is empty; give"
    ):
        source.numbers("cost")
    with pytest.raises(
        InvalidInput, match=r"^frame, row 2 \(from 1\), column 'reward': is empty; give"
    ):
        source.numbers("reward")
    left = source.without_empty(["cost", "reward"], ["arm"])
    assert (left.labels("arm"), left.labels("kind")) == (["a", "b"], ["x", "x"])
    assert left.numbers("cost").tolist() == [1.5, 2]
    assert left.numbers("reward").tolist() == [1, 0.5]


def test_two_columns_of_a_name_are_refused_in_frames_too() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InvalidInput, match="frame has two columns named 'a'"):
        read(pandas.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(
        InvalidInput, match=r"^data='Series': must be the path of a file, or a frame"
    ):
        read(pandas.Series([1.0]))


MADE = pl.DataFrame(
    {"arm": ["a", None], "cost": [1.0, -1.0], "both": [[1], [2]], "yes": [True, False]}
)
LINES = b'{"cost":1}\n\n{"arm":"x"}\n'
EMPTY = "is empty; give a {}, or drop such rows with skip_empty \\(--skip-empty\\)$"
HAS = "it has arm, cost, both, yes"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: read("none.csv"), r"^none\.csv: cannot be read: No such file"),
        (lambda: read("folder.csv"), r"^folder\.csv: cannot be read: Is a directory"),
        (
            lambda: read(3),
            "^data='int': must be the path of a file, or a frame of pandas, polars or Arrow",
        ),
        (lambda: read(pl.DataFrame()), "^frame has no rows"),
        (
            lambda: read("a.parquet").numbers("cost", above=0, high=5),
            r"^a\.parquet, row 2 \(from 1\), column 'cost': -1\.0 must be a number above 0 and at "
            "most 5",
        ),
        (
            lambda: read(MADE).labels("arm"),
            f"^frame, row 2 \\(from 1\\), column 'arm': {EMPTY.format('text')}",
        ),
        (
            lambda: read(MADE).labels("both"),
            "^frame, row 1 \\(from 1\\), column 'both': .* must be a text or a number$",
        ),
        (
            lambda: read(MADE).numbers("yes"),
            "^frame, row 1 \\(from 1\\), column 'yes': True must be a finite number$",
        ),
        (
            lambda: read("a.jsonl").numbers("cost"),
            rf"^a\.jsonl, line 3, column 'cost': {EMPTY.format('number')}",
        ),
        (lambda: read(MADE).numbers("zzz"), f"^frame has no column 'zzz'; {HAS}$"),
        (
            lambda: read(MADE).labels("arms"),
            rf"^frame has no column 'arms'; {HAS}; did you mean 'arm'\?$",
        ),
    ],
)
def test_what_is_no_file_no_row_or_no_column_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[[], Any], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.csv").mkdir()
    MADE.write_parquet("a.parquet")
    Path("a.jsonl").write_bytes(LINES)
    with pytest.raises(InvalidInput, match=message):
        call()


def test_a_byte_order_mark_and_windows_line_ends_are_no_data(tmp_path: Path) -> None:
    table = read(written(tmp_path, "a.csv", b"\xef\xbb\xbfa,b\r\n1, 2 \r\n\r\n"))
    assert table.numbers("b").tolist() == [2]
    lines = read(written(tmp_path, "a.jsonl", b'\xef\xbb\xbf{"a":1}\r\n'))
    assert lines.numbers("a").tolist() == [1]


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=scale(20, 100),
)
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
