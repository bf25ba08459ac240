"""Files that are whole or not there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
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
    scratch = path.with_name(f".{path.name}.{token_hex(6)}")
    try:
        with scratch.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
    except OSError as error:
        raise PurseError(f"cannot write {str(path)!r}: {error.strerror}") from error
    finally:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """The same for a text."""
    write_atomically(path, lambda file: file.write(text.encode()))
