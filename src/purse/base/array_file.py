"""Facts and arrays in one file: a zip of NumPy arrays and one JSON text. It holds no pickle."""

import json
import math
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib.format import read_array_header_1_0, read_magic

from purse.base.files import write_atomically
from purse.errors import InvalidInput

# what reading a damaged file may raise
DAMAGE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)


def write_arrays(
    path: str | os.PathLike[str], facts: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write facts and arrays to a file, whole or not at all."""
    text = np.array(json.dumps(facts))
    write_atomically(Path(path), lambda file: np.savez(file, facts=text, **arrays))


def read_arrays(file: BinaryIO, name: str, what: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the facts and the arrays that `write_arrays` wrote.

    name, what   how to name the file in an error, and what it should be, such as "a saved policy"

    Raise `InvalidInput` when the file holds something else.
    """
    try:
        with zipfile.ZipFile(file) as parts:
            size = file.seek(0, os.SEEK_END)
            if sum(part.file_size for part in parts.infolist()) > size:
                raise InvalidInput(f"{name!r} would unpack to more than it holds")
            arrays = {
                Path(part.filename).stem: _read_part(parts, part) for part in parts.infolist()
            }
        facts = json.loads(str(arrays.pop("facts")))
    except InvalidInput:
        raise
    except (*DAMAGE, zipfile.BadZipFile):
        raise InvalidInput(f"{name!r} is not {what}") from None
    if not isinstance(facts, dict) or "format" not in facts:
        raise InvalidInput(f"{name!r} is not {what}")
    return facts, arrays


def _read_part(parts: zipfile.ZipFile, part: zipfile.ZipInfo) -> Any:
    """Return an array of the archive, whose header has to agree with the bytes that there are.

    Raise `ValueError` when it does not, or when the bytes are packed: `write_arrays` packs nothing.
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
