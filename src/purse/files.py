"""Files that are whole or not there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from purse.errors import PurseError


def make_folder(path: Path) -> Path:
    """The folder, made if it is not there; refused in one line where nothing can be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError as error:
        raise PurseError(f"cannot write to folder {str(path)!r}: {error.strerror}") from error


def write_atomically(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Write beside the target, then rename: a crash leaves the old file or the new one, and a reader sees a whole one."""
    try:
        handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise PurseError(f"cannot write {str(path)!r}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, path)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise
