"""Facts and arrays in one file: a zip of NumPy arrays and one JSON text, versioned, without
pickle.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import read_array

from purse.base.files import write_atomically
from purse.errors import InvalidInput

FORMAT = 2


def save(path: str | os.PathLike[str], facts: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write a snapshot, whole or not at all."""
    text = np.array(json.dumps({"format": FORMAT, **facts}))
    write_atomically(Path(path), lambda file: np.savez(file, facts=text, **arrays))


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read what `save` wrote: the facts and the arrays."""
    try:
        with Path(path).open("rb") as file, zipfile.ZipFile(file) as parts:
            arrays = {
                Path(name).stem: read_array(parts.open(name), allow_pickle=False)
                for name in parts.namelist()
            }
        facts = json.loads(str(arrays.pop("facts")))
    except OSError as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error.strerror}") from None
    except (EOFError, KeyError, NotImplementedError, ValueError, zipfile.BadZipFile, zlib.error):
        raise InvalidInput(f"{str(path)!r} is not a snapshot") from None
    if not isinstance(facts, dict) or "format" not in facts:
        raise InvalidInput(f"{str(path)!r} is not a snapshot")
    if facts["format"] != FORMAT:
        raise InvalidInput(
            f"{str(path)!r} has format {facts['format']!r}; this version of purse reads "
            f"format {FORMAT}"
        )
    return facts, arrays


def layout(arrays: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Names, types and shapes."""
    return {name: (array.dtype, array.shape) for name, array in arrays.items()}
