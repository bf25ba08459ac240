"""Rows of a file, and refusals that say where in it something is wrong."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from purse.base.optional import pl
from purse.errors import InvalidInput, listed, shorten, suggest
from purse.lab.data.text_file import (
    MISSING,
    File,
    Piped,
    blanked,
    filled_lines,
    read_cells,
    records,
)
from purse.types import Bools, Floats, Ints

_INF = math.inf
LINES = (".jsonl", ".ndjson")  # one JSON object per line
_TIME = r"^\d{4}-\d\d-\d\d"
TEXTS = (".csv", ".tsv", ".txt")  # cells between separators
_EMPTY = "is empty; give a {}, or drop such rows with skip_empty (--skip-empty)"
_LONGEST_WORD = 20  # that is offered as one for an empty cell


@dataclass(frozen=True)
class Source:
    """The rows of a file, or of a frame, as they were read."""

    path: File
    frame: pl.DataFrame
    separator: str = ","
    decimal: str | None = None  # the mark before decimals; None: as each column tells
    rows_left: Ints | None = None  # the rows of the file that are left; None: all, in their order
    currency: str = ""  # before an amount of costs, if an export says it
    size: str = ""  # the column of the tokens of requests, if an export has it
    sample: str = ""  # a column of rewards that may be empty: not every row was judged
    # how cells were read and which rows are left out, each note with the columns that it is about
    columns_of_note: dict[str, list[str]] = field(default_factory=dict)

    def numbers(
        self,
        column: str,
        *,
        above: float = -_INF,
        low: float = -_INF,
        high: float = _INF,
        truth: bool = False,
        optional: bool = False,
    ) -> Floats:
        """(rows,) The column as finite numbers with above < number, low <= number <= high.

        truth      whether true and false are 1 and 0
        optional   whether empty cells are NaN; else they are refused
        """
        entries, empty = self.column(column), self.empty(column)
        if not optional:
            self.check_filled(column, blanked(entries, MISSING), "number")
        values, note, wrong = read_cells(entries, truth=truth, decimal=self.decimal)
        if wrong is not None:
            raise self.refuse(wrong[0], column, entries[wrong[0]], wrong[1])
        array = values.fill_null(math.nan).to_numpy()
        good = np.isfinite(array) & (array > above) & (array >= low) & (array <= high)
        good |= empty.to_numpy()
        if not good.all():
            row = int(np.argmin(good))
            ends = (("above", above), ("at least", low), ("at most", high))
            limits = [f"{word} {limit:g}" for word, limit in ends if math.isfinite(limit)]
            value = float(array[row]) if np.isfinite(array[row]) else entries[row]
            allowed = "number " + " and ".join(limits) if limits else "finite number"
            hint = _hint(value) if np.isnan(array[row]) else ""
            raise self.refuse(row, column, value, f"must be a {allowed}{hint}")
        self.add_note(note, column)
        return np.array(array)

    def empty(self, column: str) -> pl.Series:
        """(rows,) Whether a cell of a column of numbers is empty."""
        return blanked(self.column(column), MISSING).is_null()

    def check_filled(self, column: str, entries: pl.Series, kind: str, more: str = "") -> None:
        """Refuse the first null among the entries of a column.

        more   what else can be done about it
        """
        if entries.null_count():
            row = int(entries.is_null().arg_max() or 0)
            value = self.column(column)[row]
            word = f"{value!r} " if isinstance(value, str) and value.strip() else ""
            raise InvalidInput(
                f"{self.where(row)}, column {column!r}: {word}{_EMPTY.format(kind)}{more}"
            )

    def labels(self, column: str) -> list[str]:
        """Return the column as text, without blanks around it; no cell may be empty."""
        return self.texts(column).to_list()

    def numbered(self, column: str) -> tuple[list[str], Ints]:
        """Return the labels of a column, each once, and (rows,) the number of each row's label; a
        list of the labels of all rows would take as much memory as all the rest.
        """
        texts = self.texts(column)
        names = texts.unique().to_list()
        numbers = texts.replace_strict(names, range(len(names)), return_dtype=pl.Int64)
        return names, np.array(numbers.to_numpy())

    def groups(self, column: str) -> Ints:
        """(rows,) The number of each row's group; a row with an empty cell is one of its own."""
        texts = blanked(self.column(column).cast(pl.String))
        alone = pl.Series(np.arange(len(texts))).cast(pl.String) + " alone"
        whole = pl.select(pl.coalesce(texts, alone)).to_series()
        return np.array(whole.rank("dense").to_numpy(), np.int64)

    def texts(self, column: str) -> pl.Series:
        """Return the labels of a column as a series."""
        entries = self.column(column)
        if entries.dtype.is_nested():
            raise self.refuse(0, column, entries[0], "must be a text or a number")
        texts = blanked(entries.cast(pl.String))
        self.check_filled(column, texts, "text")
        return texts

    def column(self, name: str) -> pl.Series:
        """Return the column of this name. The refusal of another name lists the columns."""
        if name not in self.frame.columns:
            hint = suggest(name, self.frame.columns)
            there = f"it has {listed(self.frame.columns)}{hint and '; '}{hint}"
            raise InvalidInput(f"{self.path} has no column {name!r}; {there}")
        return self.frame[name]

    def without_empty(
        self, numbers: Sequence[str], texts: Sequence[str], group: str | None = None
    ) -> Source:
        """Return the source without the rows that have an empty cell in one of these columns, and
        those of the same group.

        group   a column; its value says which rows belong together
        """
        gone, words = np.zeros(len(self.frame), np.bool_), set[str]()
        for column in (*numbers, *texts):
            entries = self.column(column)
            empty = blanked(entries, () if column in texts else MISSING).is_null()
            gone |= empty.to_numpy()
            if entries.dtype == pl.String:
                words |= set(entries.filter(empty).drop_nulls().str.strip_chars())
        if not gone.any():
            return self
        if group is not None:
            names = self.column(group)
            gone |= names.is_in(names.filter(pl.Series(gone)).implode()).fill_null(True).to_numpy()
        if gone.all():
            raise InvalidInput(
                f"{self.path}: every row has an empty cell; skip_empty (--skip-empty) leaves none"
            )
        also = "".join(f" or {word!r}" for word in sorted(words - {""}))
        self.add_note(
            f"{gone.sum():,} of {len(gone):,} rows are left out, since a cell is empty{also}; that "
            "is fair if what is missing has nothing to do with the reward or the cost"
        )
        return self.only(~gone)

    def only(self, rows: Bools | Ints) -> Source:
        """Return the source with these rows alone, or in this order."""
        before = np.arange(len(self.frame)) if self.rows_left is None else self.rows_left
        numbers = np.arange(len(self.frame))[rows]
        return replace(self, frame=self.frame[numbers], rows_left=before[rows])

    def is_time(self, column: str) -> bool:
        """Return whether a column has times, all of them: no numbers, which may be durations."""
        entries = self.column(column)
        if entries.dtype == pl.String:
            return bool(entries.str.contains(_TIME).fill_null(False).all())
        return entries.dtype in (pl.Date, pl.Datetime) and not entries.null_count()

    def in_order(self, time: str) -> Source:
        """Return the source with its rows in the order of a column of times: numbers, or texts that
        begin with the year.

        Raise `InvalidInput` if a time is neither.
        """
        times = self.texts(time) if self.column(time).dtype == pl.String else self.column(time)
        if times.dtype == pl.String:
            numbers = times.cast(pl.Float64, strict=False)
            times = times if numbers.null_count() else numbers
        if times.dtype == pl.String and (wrong := ~times.str.contains(_TIME)).any():
            row = int(wrong.arg_max() or 0)
            allowed = "must be a time that begins with the year, such as 2026-11-19 08:30:00"
            raise self.refuse(row, time, times[row], allowed)
        if times.is_sorted():
            return self
        self.add_note(f"rows are put in the order of {time!r}")
        return self.only(times.arg_sort(nulls_last=True).to_numpy())

    def check_once(self, column: str) -> None:
        """Refuse the second row with the same text in a column of ids."""
        texts = self.texts(column)
        if (again := ~texts.is_first_distinct()).any():
            row = int(again.arg_max() or 0)
            first = self.where(int((texts == texts[row]).arg_max() or 0))
            raise self.refuse(row, column, texts[row], f"is there twice, first in {first}")

    @property
    def name(self) -> str:
        """How to name the data in a command."""
        return self.path.written if isinstance(self.path, Piped) else str(self.path)

    def add_note(self, note: str, *columns: str) -> None:
        """Add a note on how the data is read, once, or for each of several columns."""
        if note:
            about = self.columns_of_note.setdefault(note, [])
            about += [column for column in columns if column not in about]

    @property
    def notes(self) -> list[str]:
        """A line for each note."""
        return [
            f"{'column' if len(about) == 1 else 'columns'} {', '.join(map(repr, about))}: {note}"
            if about
            else note
            for note, about in self.columns_of_note.items()
        ]

    def where(self, row: int) -> str:
        """Return the position of a row (from 0): its line in the file, or its number from 1."""
        row = row if self.rows_left is None else int(self.rows_left[row])
        ending = self.path.suffix.lower()
        if ending not in (*TEXTS, *LINES):
            return f"{self.path}, row {row + 1} (from 1)"
        cells = ending in TEXTS
        lines = records(self.path, self.separator) if cells else filled_lines(self.path)
        line, _ = next(islice(lines, row + cells, None))  # the header is a record too
        return f"{self.path}, line {line}"

    def refuse(self, row: int, column: str, value: object, allowed: str) -> InvalidInput:
        """Return the error for the value in this row (from 0) and column; None is an empty cell."""
        text = "an empty cell" if value is None else shorten(" ".join(repr(value).split()))
        return InvalidInput(f"{self.where(row)}, column {column!r}: {text} {allowed}")


def _hint(value: object) -> str:
    """Return the way to mend a text among numbers: an amount in digits alone, or an empty cell."""
    if not isinstance(value, str) or not value.isprintable() or len(value) > _LONGEST_WORD:
        return ""
    if any(map(str.isdigit, value)):
        return "; write the number alone, such as 0.5, 0,5 or 1,234.50, without a currency or %"
    return f"; if it stands for an empty cell: empty (--empty {shlex.quote(value)})"
