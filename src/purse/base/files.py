"""Files that are whole or not there."""

import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO

from purse.errors import PurseError, suggest

PARTS = ".parts-"  # how scratch folders begin
_SCRATCH = rf"\..+\.[0-9a-f]{{12}}|{re.escape(PARTS)}.+"
_ABANDONED = 3600  # seconds
_PUBLIC, PRIVATE = 0o666, 0o600  # what users may do, before the umask; all of them, or the owner


def make_folder(path: Path) -> Path:
    """Return the folder, made if it is missing. Raise `PurseError` if nothing can be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError as error:
        raise PurseError(f"cannot write to folder {str(path)!r}: {error.strerror}") from error


def near_file(path: str | Path) -> str:
    """Write the question for a file beside this one that has nearly its name; no text if there is
    none, or if this one is there.
    """
    here = Path(path)
    if here.exists() or not here.parent.is_dir():
        return ""
    hint = suggest(here.name, (other.name for other in here.parent.iterdir()))
    return f"; {hint}" if hint else ""


def remove_abandoned(folder: Path) -> None:
    """Remove what killed processes left here, untouched for an hour."""
    for path in folder.glob(".*"):
        with suppress(OSError):  # another process may be sweeping, too
            if (
                re.fullmatch(_SCRATCH, path.name)
                and time.time() - path.stat().st_mtime > _ABANDONED
            ):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def write_atomically(path: Path, write: Callable[[BinaryIO], Any], mode: int = _PUBLIC) -> None:
    """Write beside the target, then rename: a reader sees the whole old file or new one."""
    scratch = path.with_name(f".{path.name}.{token_hex(6)}")
    try:
        with open(scratch, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
    except OSError as error:
        raise PurseError(f"cannot write {str(path)!r}: {error.strerror}") from error
    finally:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes, mode: int = _PUBLIC) -> None:
    """Write bytes in the same way."""
    write_atomically(path, lambda file: file.write(content), mode)


def write_text(path: Path, text: str, mode: int = _PUBLIC) -> None:
    """Write a text in the same way."""
    write_bytes(path, text.encode(), mode)


def sync_folder(folder: Path) -> None:
    """Have the names of new files in a folder on disk, too."""
    if hasattr(os, "O_DIRECTORY"):
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
