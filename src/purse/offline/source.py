"""Rows of a file, and refusals that say where in it something is wrong."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from purse.errors import InvalidInput, invalid, shorten
from purse.types import Floats

if TYPE_CHECKING:
    import polars as pl

INF = math.inf
LINES = (".jsonl", ".ndjson")  # one JSON object per line
ENDINGS = (".csv", ".parquet", *LINES)
MARK = b"\xef\xbb\xbf"  # of UTF-8, which some programs put before the first byte


@dataclass(frozen=True)
class Source:
    """The rows of a file, or of a frame, as they were read."""

    path: Path
    frame: pl.DataFrame

    def numbers(
        self, column: str, *, above: float = -INF, low: float = -INF, high: float = INF
    ) -> Floats:
        """(rows,) The column as finite numbers with above < number, low <= number <= high."""
        import polars as pl

        entries = self.column(column)
        if entries.dtype == pl.String:
            values = entries.str.strip_chars().cast(pl.Float64, strict=False)
        elif entries.dtype.is_numeric():
            values = entries.cast(pl.Float64, strict=False)
        else:
            values = pl.Series(column, [None] * len(entries), pl.Float64)
        array = values.fill_null(math.nan).to_numpy()
        good = np.isfinite(array) & (array > above) & (array >= low) & (array <= high)
        if not good.all():
            row = int(np.argmin(good))
            ends = (("above", above), ("at least", low), ("at most", high))
            limits = [f"{word} {limit:g}" for word, limit in ends if math.isfinite(limit)]
            value = float(array[row]) if np.isfinite(array[row]) else entries[row]
            allowed = "number " + " and ".join(limits) if limits else "finite number"
            raise self.refuse(row, column, value, f"must be a {allowed}")
        return np.array(array)

    def labels(self, column: str) -> list[str]:
        """The column as text, without blanks around it; no cell may be empty."""
        import polars as pl

        entries = self.column(column)
        if entries.dtype.is_nested():
            raise self.refuse(0, column, entries[0], "must be a text or a number")
        texts = entries.cast(pl.String).str.strip_chars().replace("", None)
        if texts.null_count():
            raise self.refuse(int(texts.is_null().arg_max() or 0), column, None, "must be a text")
        return texts.to_list()

    def column(self, name: str) -> pl.Series:
        """The column of this name; where there is none, the refusal lists those that there are."""
        if name not in self.frame.columns:
            near = get_close_matches(name, self.frame.columns, 1, 0.4)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InvalidInput(
                f"{self.path} has no column {name!r}; it has "
                f"{shorten(', '.join(self.frame.columns))}{hint}"
            )
        return self.frame[name]

    def where(self, row: int) -> str:
        """Where the row (from 0) stands: its line in the file, counting header and blank lines, or
        its number from 1 where there are no lines.
        """
        ending = self.path.suffix.lower()
        if ending not in (".csv", *LINES):
            return f"{self.path}, row {row + 1}"
        lines = records(self.path) if ending == ".csv" else filled_lines(self.path)
        wanted = row + (ending == ".csv")  # the header is a record too
        line, _ = next(islice(lines, wanted, None))
        return f"{self.path}, line {line}"

    def refuse(self, row: int, column: str, value: object, allowed: str) -> InvalidInput:
        """The error for the value in this row (from 0) and column; None is an empty cell."""
        text = "an empty cell" if value is None else shorten(" ".join(repr(value).split()))
        return InvalidInput(f"{self.where(row)}, column {column!r}: {text} {allowed}")


def read(path: str | os.PathLike[str] | pl.DataFrame) -> Source:
    """The rows of a .csv, .parquet, .jsonl or .ndjson file, or of a Polars frame.

    Cells of a CSV file stay text until they are asked for as numbers. Blank lines are no rows.
    """
    import polars as pl

    if isinstance(path, pl.DataFrame):
        return filled(Source(Path("frame"), path))
    if not isinstance(path, (str, os.PathLike)):
        raise invalid("data", type(path).__name__, "must be the path of a file, or a Polars frame")
    place = Path(path)
    ending = place.suffix.lower()
    if ending not in ENDINGS:
        raise InvalidInput(f"{place}: must be a file that ends in {', '.join(ENDINGS)}")
    try:
        with place.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise InvalidInput(f"{place} is empty")
            readers = {".csv": read_csv, ".parquet": read_parquet}
            frame = readers.get(ending, read_lines)(place, file)
    except OSError as error:
        raise InvalidInput(f"{place}: cannot be read: {error.strerror or error}") from None
    return filled(Source(place, frame))


def filled(source: Source) -> Source:
    """The source, which must have rows and columns."""
    if source.frame.is_empty():
        raise InvalidInput(f"{source.path} has no rows")
    return source


def read_csv(place: Path, file: BinaryIO) -> pl.DataFrame:
    """The rows as text. Polars fills short and blank lines up with nulls: with one in the last
    column, or a refusal, records are read one by one.
    """
    import polars as pl

    _, header = next(records(place), (0, []))
    if not header:
        raise InvalidInput(f"{place} is empty")
    for name in header:
        if header.count(name) > 1:
            raise InvalidInput(f"{place} has two columns named {name!r}")
    try:
        frame = pl.read_csv(file, infer_schema=False)
    except pl.exceptions.PolarsError:
        frame = None
    if frame is not None and frame.columns == header and not frame[header[-1]].null_count():
        return frame
    rows = []
    for line, fields in records(place):
        if len(fields) != len(header):
            raise InvalidInput(
                f"{place}, line {line}: must have {len(header)} cells, as the header has, "
                f"and has {len(fields)}"
            )
        rows.append([cell or None for cell in fields])
    return pl.DataFrame(rows[1:], dict.fromkeys(header, pl.String), orient="row")


def read_lines(place: Path, file: BinaryIO) -> pl.DataFrame:
    """The rows of a file with one JSON object per line; a field that a line lacks is null."""
    import polars as pl

    if file.read(len(MARK)) != MARK:
        file.seek(0)
    try:
        return pl.read_ndjson(file, infer_schema_length=None)
    except pl.exceptions.PolarsError as error:
        refused = first_line(error)
    line = 0
    for line, text in filled_lines(place):
        try:
            good = isinstance(json.loads(text, parse_constant=no_constant), dict)
        except ValueError:
            good = False
        if not good:
            raise InvalidInput(
                f"{place}, line {line}: {shorten(text.strip(), 60)!r} must be a JSON object"
            )
    raise InvalidInput(f"{place}: {refused}" if line else f"{place} is empty")


def no_constant(word: str) -> float:
    """Refuses NaN and Infinity, which Python reads and JSON has not."""
    raise ValueError(word)


def read_parquet(place: Path, file: BinaryIO) -> pl.DataFrame:
    """The rows of a Parquet file."""
    import polars as pl

    try:
        return pl.read_parquet(file)
    except pl.exceptions.PolarsError as error:
        raise InvalidInput(f"{place}: is not a Parquet file: {first_line(error)}") from None


def first_line(error: BaseException) -> str:
    """The beginning of what a library says."""
    return shorten(str(error).strip().partition("\n")[0])


def lines(place: Path) -> Iterator[tuple[int, str]]:
    """The lines of the file with their numbers from 1."""
    with place.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield number, (line.removeprefix(MARK) if number == 1 else line).decode()
            except UnicodeDecodeError as error:
                raise InvalidInput(
                    f"{place}, line {number}: byte {error.object[error.start]:#04x} is not UTF-8"
                ) from None


def filled_lines(place: Path) -> Iterator[tuple[int, str]]:
    """The lines that are not blank."""
    return ((number, line) for number, line in lines(place) if line.strip())


def records(place: Path) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV file, header included and blank lines not, each with the line on which
    it begins: quoted cells may span several.
    """
    reader = csv.reader((text for _, text in lines(place)), strict=True)
    begins = 1
    try:
        for fields in reader:
            if fields:
                yield begins, fields
            begins = reader.line_num + 1
    except csv.Error as error:
        raise InvalidInput(f"{place}, line {begins}: {error}") from None
