"""Frames of other libraries as frames of polars, so that they are read as files are."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any, Protocol

from purse.base.optional import pl
from purse.errors import InvalidInput, invalid


class _Frame(Protocol):
    """A frame that passes on its columns as Arrow does: of pandas, polars or pyarrow."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the columns."""


Data = str | os.PathLike[str] | _Frame


def frame_of(data: Any) -> pl.DataFrame:
    """Return a frame of polars (lazy ones, too), pandas or Arrow as one of polars; categories are
    texts.

    Of pandas an index with a name is a column. Raise `InvalidInput` if it is no frame.
    """
    if isinstance(data, pl.LazyFrame):
        data = data.collect()
    frame = None
    if isinstance(data, pl.DataFrame):
        frame = data
    elif hasattr(data, "reset_index") and hasattr(data, "columns"):
        frame = _from_pandas(data)
    elif hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        with suppress(pl.exceptions.PolarsError):  # a column is no frame
            frame = pl.DataFrame(data)
    if frame is None:
        raise invalid(
            "data",
            type(data).__name__,
            "must be the path of a file, or a frame of pandas, polars or Arrow",
        )
    return frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))


def _from_pandas(data: Any) -> pl.DataFrame:
    """Return a frame of pandas as one of polars, column by column: what is missing there, in one of
    its many ways, is null, and a column with texts has nothing else.
    """
    if any(name is not None for name in data.index.names):
        data = data.reset_index()
    columns: dict[str, pl.Series] = {}
    for position, label in enumerate(data.columns):
        name, entries = str(label), data.iloc[:, position]
        if name in columns:
            raise InvalidInput(f"frame has two columns named {name!r}")
        values = entries.astype(object).where(entries.notna(), None).tolist()
        if any(isinstance(value, str) for value in values):
            values = [None if value is None else str(value) for value in values]
        columns[name] = pl.Series(name, values, strict=False)
    return pl.DataFrame(columns)
