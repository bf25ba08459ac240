"""Facts and arrays in one file: a zip of NumPy arrays and one JSON text.

The file has a version and holds no pickle.
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
    """Write facts and arrays to a file, whole or not at all."""
    text = np.array(json.dumps({"format": FORMAT, **facts}))
    write_atomically(Path(path), lambda file: np.savez(file, facts=text, **arrays))


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the facts and the arrays that `save` wrote.

    Raise `InvalidInput` when the file cannot be read or has another format.
    """
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
        raise InvalidInput(f"{str(path)!r} is not a saved policy") from None
    if not isinstance(facts, dict) or "format" not in facts:
        raise InvalidInput(f"{str(path)!r} is not a saved policy")
    if facts["format"] != FORMAT:
        raise InvalidInput(
            f"{str(path)!r} has format {facts['format']!r}; this version of purse reads "
            f"format {FORMAT}"
        )
    return facts, arrays


def layout(arrays: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Return the type and shape of each array, by name."""
    return {name: (array.dtype, array.shape) for name, array in arrays.items()}
