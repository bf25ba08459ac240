"""The reading of a file or a frame, whatever its form, as rows of texts and numbers."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from purse.base import validation
from purse.base.files import near_file
from purse.base.optional import pl
from purse.errors import InvalidInput
from purse.lab.data import otel
from purse.lab.data.frame import Data, frame_of
from purse.lab.data.source import LINES, TEXTS, Source
from purse.lab.data.text_file import (
    DECIMALS,
    SEPARATORS,
    File,
    Piped,
    blanked,
    filled_lines,
    find_separator,
    first_line,
    read_csv,
    read_json,
    read_lines,
    unpacked,
)

_PACKED = ".gz"  # after one of the endings
_ENDINGS = (*TEXTS, ".parquet", *LINES, ".json")


def read(data: Data, *, decimal: str | None = None, empty: str | Sequence[str] = ()) -> Source:
    """Return the rows of a .csv, .tsv, .txt, .parquet, .jsonl, .ndjson or .json file, packed as .gz
    or not, of a frame (pandas, polars, Arrow), or of what comes through standard input, "-": text
    with separators, or JSON lines. What is nested in JSON is flat by one level: usage.cost.

    decimal   the mark before decimals, "," or "."; None: as each column tells
    empty     further words that stand for an empty cell, in any column and in any case

    Cells of a text stay text until they are asked for as numbers. Blank lines are no rows.
    """
    if decimal is not None:
        validation.choice("decimal", decimal, DECIMALS)
    path: File = Path("frame")
    separator = ","
    if not isinstance(data, (str, os.PathLike)):
        frame = frame_of(data)
    else:
        path = Piped(sys.stdin.buffer.read()) if str(data) == "-" else Path(data)
        try:
            if path.suffix.lower() == _PACKED:
                path = unpacked(Path(data))
            ending = path.suffix.lower()
            if ending not in _ENDINGS:
                ends = ", ".join(_ENDINGS)
                raise InvalidInput(f"{path}: must be a file that ends in {ends}, or such a .gz")
            with path.open("rb") as file:
                if not file.read(1):
                    raise InvalidInput(f"{path} is empty")
            if ending in TEXTS:
                separator = find_separator(path)
                frame = read_csv(path, separator)
            elif ending == ".parquet":
                frame = _read_parquet(path)
            elif any(mark in next(filled_lines(path), (0, ""))[1] for mark in otel.MARKS):
                frame = otel.read_spans(path)
            else:
                frame = read_json(path) if ending == ".json" else read_lines(path)
        except OSError as error:
            why = f"{error.strerror or error}{near_file(str(data))}"
            raise InvalidInput(f"{path}: cannot be read: {why}") from None
    if frame.is_empty():
        raise InvalidInput(f"{path} has no rows")
    frame = _flat(frame)
    words = [word.strip().lower() for word in ([empty] if isinstance(empty, str) else empty)]
    texts = [entries for entries in frame if words and entries.dtype == pl.String]
    frame = frame.with_columns(blanked(entries, words) for entries in texts)
    source = Source(path, frame, separator, decimal)
    source.add_note("" if separator == "," else f"cells are separated by {SEPARATORS[separator]}")
    return source


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with the fields of nested columns as columns of their own."""
    columns: list[pl.Series] = []
    for entries in frame:
        if entries.dtype == pl.Struct:
            inner = entries.struct.unnest()
            columns += [inner[name].alias(f"{entries.name}.{name}") for name in inner.columns]
        else:
            columns.append(entries)
    return pl.DataFrame(columns) if len(columns) != len(frame.columns) else frame


def _read_parquet(path: File) -> pl.DataFrame:
    """Return the rows of a Parquet file."""
    try:
        with path.open("rb") as file:
            return pl.read_parquet(file)
    except pl.exceptions.PolarsError as error:
        raise InvalidInput(f"{path}: is not a Parquet file: {first_line(error)}") from None
