"""Files in TOML."""

import tomllib
from pathlib import Path
from typing import Any

from purse.base.files import near_file
from purse.errors import InvalidInput


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a file. Raise `InvalidInput`, which names it, if it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise InvalidInput(f"cannot read {str(path)!r}: {why}{near_file(path)}") from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path}: {error}") from None
