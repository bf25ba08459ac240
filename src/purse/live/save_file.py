"""Facts and arrays in one file: a zip of NumPy arrays and one JSON text.

The file has a version and holds no pickle.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import read_array_header_1_0, read_magic

from purse.base.files import write_atomically
from purse.errors import InvalidInput, shorten
from purse.live.damage import DAMAGE

FORMAT = 2
WITH_PARTS = 3  # versions that do not know of parts would count a settled hold twice
WITH_FEATURES = 4  # versions that do not know of contexts would learn without them
FORMATS = (FORMAT, WITH_PARTS, WITH_FEATURES)


def save(path: str | os.PathLike[str], facts: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write facts and arrays to a file, whole or not at all."""
    version = WITH_PARTS if facts.get("parts") else FORMAT
    version = WITH_FEATURES if facts.get("features") else version
    text = np.array(json.dumps({"format": version, **facts}))
    write_atomically(Path(path), lambda file: np.savez(file, facts=text, **arrays))


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the facts and the arrays that `save` wrote.

    Raise `InvalidInput` when the file cannot be read or has another format.
    """
    try:
        with Path(path).open("rb") as file, zipfile.ZipFile(file) as parts:
            size = os.fstat(file.fileno()).st_size
            if sum(part.file_size for part in parts.infolist()) > size:
                raise InvalidInput(f"{str(path)!r} would unpack to more than it holds")
            arrays = {Path(part.filename).stem: read(parts, part) for part in parts.infolist()}
        facts = json.loads(str(arrays.pop("facts")))
    except OSError as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error.strerror}") from None
    except InvalidInput:
        raise
    except (*DAMAGE, zipfile.BadZipFile):
        raise InvalidInput(f"{str(path)!r} is not a saved policy") from None
    if not isinstance(facts, dict) or "format" not in facts:
        raise InvalidInput(f"{str(path)!r} is not a saved policy")
    if facts["format"] not in FORMATS:
        raise InvalidInput(
            f"{str(path)!r} has format {shorten(repr(facts['format']))}; this version of purse "
            f"reads formats {FORMAT} to {WITH_FEATURES}"
        )
    return facts, arrays


def read(parts: zipfile.ZipFile, part: zipfile.ZipInfo) -> Any:
    """Return an array of the archive, whose header has to agree with the bytes that there are.

    Raise `ValueError` when it does not, or when the bytes are packed: `save` packs nothing.
    """
    if part.compress_type != zipfile.ZIP_STORED:
        raise ValueError("packed")
    with parts.open(part) as file:
        if read_magic(file) != (1, 0):
            raise ValueError("another version")
        shape, fortran, dtype = read_array_header_1_0(file)
        content = file.read()
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(content):
        raise ValueError("another size")
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")


def layout(arrays: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Return the type and shape of each array, by name."""
    return {name: (array.dtype, array.shape) for name, array in arrays.items()}
