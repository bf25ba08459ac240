"""Facts and arrays in one file: a zip of NumPy arrays and one JSON text, versioned, without pickle."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from purse.errors import InvalidInput
from purse.files import write_atomically

FORMAT = 1


def save(path: str | os.PathLike[str], facts: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write a snapshot, whole or not at all."""
    text = np.array(json.dumps({"format": FORMAT, **facts}))
    write_atomically(Path(path), lambda file: np.savez(file, facts=text, **arrays))


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read what `save` wrote: the facts and the arrays."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        facts = json.loads(str(arrays.pop("facts")))
    except FileNotFoundError:
        raise InvalidInput(f"{str(path)!r} does not exist") from None
    except (AttributeError, EOFError, KeyError, OSError, ValueError, zipfile.BadZipFile) as error:
        raise InvalidInput(f"{str(path)!r} is not a snapshot: {error}") from None
    if facts.get("format") != FORMAT:
        raise InvalidInput(f"{str(path)!r} has format {facts.get('format')!r}; this version of purse reads format {FORMAT}")
    return facts, arrays
