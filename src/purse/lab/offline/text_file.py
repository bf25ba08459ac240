"""Lines and records of text files: CSV with any usual separator, and JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from purse.errors import InvalidInput, shorten

if TYPE_CHECKING:
    import polars as pl

MARK = b"\xef\xbb\xbf"  # of UTF-8, which some programs put before the first byte
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True)
class Piped:
    """What came through standard input, as a file that can be opened."""

    content: bytes
    name: str = "stdin"

    @property
    def suffix(self) -> str:
        """The ending that a file with this content would have."""
        return ".jsonl" if self.content.lstrip(MARK + b" \r\n\t").startswith(b"{") else ".csv"

    def open(self, mode: str) -> BinaryIO:
        """Return the content from its beginning."""
        assert mode == "rb"
        return io.BytesIO(self.content)

    def __str__(self) -> str:
        return "standard input"


Place = Path | Piped


def lines(place: Place) -> Iterator[tuple[int, str]]:
    """Yield the lines of the file with their numbers from 1."""
    with place.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield number, (line.removeprefix(MARK) if number == 1 else line).decode()
            except UnicodeDecodeError as error:
                raise InvalidInput(
                    f"{place}, line {number}: byte {error.object[error.start]:#04x} is not UTF-8"
                ) from None


def filled_lines(place: Place) -> Iterator[tuple[int, str]]:
    """Return the lines that are not blank."""
    return ((number, line) for number, line in lines(place) if line.strip())


def records(place: Place, separator: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Yield the records of a CSV file, header included and blank lines not, each with the line on
    which it begins: quoted cells may span several.
    """
    texts = (text for _, text in lines(place))
    reader = csv.reader(texts, strict=True, delimiter=separator)
    begins = 1
    try:
        for fields in reader:
            if fields:
                yield begins, fields
            begins = reader.line_num + 1
    except csv.Error as error:
        raise InvalidInput(f"{place}, line {begins}: {error}") from None


def find_separator(place: Place) -> str:
    """Return what separates the cells: of the usual separators the one that gives the header most
    of them; tabs in a file that ends in .tsv.
    """
    if place.suffix.lower() == ".tsv":
        return "\t"
    return max(SEPARATORS, key=lambda separator: header_size(place, separator))


def header_size(place: Place, separator: str) -> int:
    """Return how many cells the header has with this separator; 0 if it cannot be read."""
    try:
        return len(next(records(place, separator), (0, []))[1])
    except InvalidInput:
        return 0


def read_csv(place: Place, separator: str) -> pl.DataFrame:
    """Return the rows as text, under names without blanks around them. Polars fills short and blank
    lines up with nulls: with one in the last column, or a refusal, records are read one by one.
    """
    import polars as pl

    _, raw = next(records(place, separator), (0, []))
    header = [name.strip() for name in raw]
    if not header:
        raise InvalidInput(f"{place} is empty")
    for name in header:
        if header.count(name) > 1:
            raise InvalidInput(f"{place} has two columns named {name!r}")
    try:
        with place.open("rb") as file:
            frame = pl.read_csv(file, infer_schema=False, separator=separator)
    except pl.exceptions.PolarsError:
        frame = None
    if frame is not None and frame.columns == raw and not frame[raw[-1]].null_count():
        return frame.rename(dict(zip(raw, header, strict=True)))
    rows = []
    for line, fields in records(place, separator):
        if len(fields) != len(header):
            raise InvalidInput(
                f"{place}, line {line}: must have {len(header)} cells, as the header has, "
                f"and has {len(fields)}"
            )
        rows.append([cell or None for cell in fields])
    return pl.DataFrame(rows[1:], dict.fromkeys(header, pl.String), orient="row")


def read_lines(place: Place) -> pl.DataFrame:
    """Return the rows of a file with one JSON object per line; a missing field is null."""
    import polars as pl

    with place.open("rb") as file:
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


def first_line(error: BaseException) -> str:
    """Return the beginning of what a library says."""
    return shorten(str(error).strip().partition("\n")[0])
