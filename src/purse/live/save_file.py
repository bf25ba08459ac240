"""Facts and arrays in one file: a zip of NumPy arrays and one JSON text.

The file has a version and holds no pickle.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from purse.base.array_file import read_arrays, write_arrays
from purse.errors import InvalidInput, shorten

FORMAT = 5


def save(path: str | os.PathLike[str], facts: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write facts and arrays to a file, whole or not at all."""
    write_arrays(path, {"format": FORMAT, **facts}, arrays)


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the facts and the arrays that `save` wrote.

    Raise `InvalidInput` when the file cannot be read or has another format.
    """
    try:
        with Path(path).open("rb") as file:
            facts, arrays = read_arrays(file, str(path), "a saved policy")
    except OSError as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error.strerror}") from None
    if facts["format"] != FORMAT:
        raise InvalidInput(
            f"{str(path)!r} has format {shorten(repr(facts['format']))}; this version of purse "
            f"reads format {FORMAT}"
        )
    return facts, arrays


def layout(arrays: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Return the type and shape of each array, by name."""
    return {name: (array.dtype, array.shape) for name, array in arrays.items()}
