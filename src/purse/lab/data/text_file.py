"""Lines and records of text files: CSV with any usual separator, and JSON lines."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from purse.base.optional import pl
from purse.errors import InvalidInput, shorten

_MARK = b"\xef\xbb\xbf"  # of UTF-8, which some programs put before the first byte
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
DECIMALS = (",", ".")
# what stands for an empty cell in a column of numbers, in any case
MISSING = ("n/a", "#n/a", "na", "nan", "null", "none", "-", "–")
BY_COMMAS = "commas are decimal commas"
_TRUTH = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0, "1": 1.0, "0": 0.0}
_BLANKS = r"[ '’\x{a0}\x{202f}]"  # between thousands
_SPACED = rf"^[-+]?[1-9]\d{{0,2}}(?:{_BLANKS}\d{{3}})+(?:[.,]\d+)?$"
_POWER = r"(?:[eE][-+]?\d+)?"
# decimal commas with points at thousands, and decimal points with commas at thousands
_BY_COMMA = rf"^[-+]?(?:[1-9]\d{{0,2}}(?:\.\d{{3}})+|\d*)(?:,\d+)?{_POWER}$"
_BY_POINT = r"^[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$"
_EITHER_COMMA, EITHER_POINT = (rf"^[-+]?[1-9]\d{{0,2}}{mark}\d{{3}}$" for mark in (",", r"\."))


@dataclass(frozen=True)
class Piped:
    """The bytes of standard input, or of a packed file, as a file that can be opened."""

    content: bytes
    name: str = "stdin"
    written: str = "-"  # as a command names it

    @property
    def suffix(self) -> str:
        """The ending that a file with this content would have."""
        if self.written != "-":
            return Path(self.name).suffix
        return ".jsonl" if self.content.lstrip(_MARK + b" \r\n\t").startswith(b"{") else ".csv"

    def open(self, mode: str) -> BinaryIO:
        """Return the content from its beginning."""
        assert mode == "rb"
        return io.BytesIO(self.content)

    def __str__(self) -> str:
        return "standard input" if self.written == "-" else self.written


File = Path | Piped


def unpacked(path: Path) -> Piped:
    """Return the content of a .gz file. Raise `InvalidInput` if it is cut off, or none."""
    try:
        with gzip.open(path) as file:
            return Piped(file.read(), path.stem, str(path))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidInput(f"{path}: is cut off, or not packed by gzip: {error}") from None


def _lines(path: File) -> Iterator[tuple[int, str]]:
    """Yield the lines of the file with their numbers from 1."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield number, (line.removeprefix(_MARK) if number == 1 else line).decode()
            except UnicodeDecodeError as error:
                byte = f"byte {error.object[error.start]:#04x}"
                raise InvalidInput(
                    f"{path}, line {number}: {byte} is not UTF-8; save the file as UTF-8, in "
                    "Excel as CSV UTF-8"
                ) from None


def filled_lines(path: File) -> Iterator[tuple[int, str]]:
    """Return the lines that are not blank."""
    return ((number, line) for number, line in _lines(path) if line.strip())


def records(path: File, separator: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Yield the records of a CSV file, header included, each with the line on which it begins."""
    texts = (text for _, text in _lines(path))
    reader = csv.reader(texts, strict=True, delimiter=separator)
    begins = 1
    try:
        for fields in reader:
            if fields:
                yield begins, fields
            begins = reader.line_num + 1
    except csv.Error as error:
        raise InvalidInput(f"{path}, line {begins}: {error}") from None


def find_separator(path: File) -> str:
    """Return the separator that gives the header most cells; in a .tsv file, tabs."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    return max(SEPARATORS, key=lambda separator: _header_size(path, separator))


def _header_size(path: File, separator: str) -> int:
    """Return how many cells the header has with this separator; 0 if it cannot be read."""
    try:
        return len(next(records(path, separator), (0, []))[1])
    except InvalidInput:
        return 0


def read_csv(path: File, separator: str) -> pl.DataFrame:
    """Return the rows as text, under names without blanks around them. Polars fills short and blank
    lines up with nulls: with one in the last column, or a refusal, records are read one by one.
    """
    _, raw = next(records(path, separator), (0, []))
    header = [name.strip() for name in raw]
    if not header:
        raise InvalidInput(f"{path} is empty")
    for name in header:
        if header.count(name) > 1:
            raise InvalidInput(f"{path} has two columns named {name!r}")
    try:
        with path.open("rb") as file:
            frame = pl.read_csv(file, infer_schema=False, separator=separator)
    except pl.exceptions.PolarsError:
        frame = None
    if frame is not None and frame.columns == raw and not frame[raw[-1]].null_count():
        return frame.rename(dict(zip(raw, header, strict=True)))
    rows = []
    for line, fields in records(path, separator):
        if len(fields) != len(header):
            raise InvalidInput(
                f"{path}, line {line}: must have {len(header)} cells, as the header has, "
                f"and has {len(fields)}"
            )
        rows.append([cell or None for cell in fields])
    return pl.DataFrame(rows[1:], dict.fromkeys(header, pl.String), orient="row")


def read_lines(path: File) -> pl.DataFrame:
    """Return the rows of a file with one JSON object per line; a missing field is null."""
    with path.open("rb") as file:
        if file.read(len(_MARK)) != _MARK:
            file.seek(0)
        try:
            return pl.read_ndjson(file, infer_schema_length=None)
        except pl.exceptions.PolarsError as error:
            refused = first_line(error)
    line = 0
    for line, text in filled_lines(path):
        try:
            good = isinstance(json.loads(text, parse_constant=_no_constant), dict)
        except ValueError:
            good = False
        if not good:
            raise InvalidInput(
                f"{path}, line {line}: {shorten(text.strip(), 60)!r} must be a JSON object"
            )
    raise InvalidInput(f"{path}: {refused}" if line else f"{path} is empty")


def read_json(path: File) -> pl.DataFrame:
    """Return the rows of a JSON file: a list of objects, or an object with one such list, as pages
    of an API have it.
    """
    with path.open("rb") as file:
        text = file.read().removeprefix(_MARK)
    try:
        content = json.loads(text.decode(), parse_constant=_no_constant)
    except ValueError as error:
        raise InvalidInput(f"{path}: is no JSON, or cut off: {error}") from None
    if isinstance(content, dict):
        lists = [part for part in content.values() if isinstance(part, list)]
        content = lists[0] if len(lists) == 1 else None
    if not isinstance(content, list) or not all(isinstance(row, dict) for row in content):
        raise InvalidInput(f"{path}: must be a list of JSON objects, or an object with one list")
    return pl.DataFrame(content, infer_schema_length=None, strict=False)


def _no_constant(word: str) -> float:
    """Refuses NaN and Infinity, which Python reads and JSON has not."""
    raise ValueError(word)


def first_line(error: BaseException) -> str:
    """Return the beginning of what a library says."""
    return shorten(str(error).strip().partition("\n")[0])


class _Cells(NamedTuple):
    """A column as numbers."""

    values: pl.Series  # null where a cell is empty or no number
    note: str = ""  # how they were written, if not as numbers usually are
    wrong: tuple[int, str] | None = None  # a row, and what is wrong with it


def blanked(entries: pl.Series, words: Sequence[str] = ()) -> pl.Series:
    """Return the entries with null for each that is empty: texts of blanks, or one of these words
    in lower case, and NaN; texts are without blanks around them.
    """
    if entries.dtype == pl.String:
        texts = entries.str.strip_chars()
        empty = texts.str.to_lowercase().is_in(["", *words])
        return pl.select(pl.when(~empty).then(texts)).to_series().alias(entries.name)
    return entries.fill_nan(None) if entries.dtype.is_float() else entries


def read_cells(entries: pl.Series, *, truth: bool = False, decimal: str | None = None) -> _Cells:
    """Return a column of texts, numbers or true and false as numbers.

    truth     whether true, yes, false and no are 1 and 0
    decimal   the mark before decimals of texts; None: as the column tells
    """
    if entries.dtype.is_numeric() or (truth and entries.dtype == pl.Boolean):
        return _Cells(blanked(entries.cast(pl.Float64, strict=False)))
    if entries.dtype != pl.String:
        return _Cells(pl.Series(entries.name, [None] * len(entries), pl.Float64))
    texts = blanked(entries, MISSING)
    values = texts.cast(pl.Float64, strict=False)
    if decimal != "," and values.null_count() == texts.null_count():
        return _Cells(values)
    words = texts.str.to_lowercase()
    if truth and words.drop_nulls().is_in(list(_TRUTH)).all():
        return _Cells(
            words.replace_strict(_TRUTH, default=None, return_dtype=pl.Float64),
            "true and yes are 1, false and no are 0",
        )
    notes = []
    spaced = texts.str.contains(_SPACED).fill_null(False)
    if spaced.any():
        notes.append("blanks between thousands are left out")
        bare = texts.str.replace_all(_BLANKS, "")
        texts = pl.select(pl.when(spaced).then(bare).otherwise(texts)).to_series()
    mark, wrong = _decimal_mark(texts) if decimal is None else (decimal, None)
    if wrong is not None:
        return _Cells(values, wrong=wrong)
    usual, thousands = (_BY_COMMA, ".") if mark == "," else (_BY_POINT, ",")
    fits = texts.str.contains(usual).fill_null(False)
    bare = texts.str.replace_all(thousands, "", literal=True).str.replace(",", ".", literal=True)
    if mark == ",":
        notes.append(BY_COMMAS)
        texts = pl.select(pl.when(fits).then(bare).otherwise(None)).to_series()
    elif fits.any():
        notes.append("commas between thousands are left out")
        texts = pl.select(pl.when(fits).then(bare).otherwise(texts)).to_series()
    return _Cells(texts.cast(pl.Float64, strict=False), ", ".join(notes))


def _decimal_mark(texts: pl.Series) -> tuple[str, tuple[int, str] | None]:
    """Return the mark before the decimals of a column, or a row with what is wrong with it."""
    comma = texts.str.contains(",").fill_null(False)
    either = texts.str.contains(_EITHER_COMMA).fill_null(False)
    by_point = texts.str.contains(_BY_POINT).fill_null(False) & ~either
    by_comma = texts.str.contains(_BY_COMMA).fill_null(False) & comma & ~either
    point = texts.str.contains(r"\.").fill_null(False) & ~comma
    by_point |= point & ~texts.str.contains(EITHER_POINT).fill_null(False)
    if by_comma.any() and by_point.any():
        rare = by_comma if by_comma.sum() < by_point.sum() else by_point
        has, other = ("comma", "points") if rare is by_comma else ("point", "commas")
        row = int(rare.arg_max() or 0)
        return ".", (row, f"has a decimal {has}, and other cells of the column {other}")
    if by_comma.any():
        return ",", None
    if either.any() and not by_point.any() and not point.any():
        row = int(either.arg_max() or 0)
        text = texts[row]
        small, large = text.replace(",", "."), text.replace(",", "")
        return ".", (
            row,
            f"may be {small} or {large}; say which with decimal (--decimal , or --decimal .)",
        )
    return ".", None
