"""Time zones by their names, and the version of what is known of them."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, tzinfo
from functools import lru_cache
from pathlib import Path

from purse.errors import invalid, suggest

OF_THIS_MACHINE = ("localtime", "Factory")  # names that mean another zone elsewhere, or none


@lru_cache(64)
def find_zone(name: str) -> tzinfo:
    """The time zone of a name. Raise `InvalidInput` where there is none."""
    if name == "UTC":
        return UTC  # which needs no data
    try:
        if name in OF_THIS_MACHINE:
            raise ValueError(name)
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        known = sorted(zoneinfo.available_timezones() - set(OF_THIS_MACHINE))
        hint = suggest(name, known) if known else "pip install tzdata, which knows them"
        raise invalid(
            "time_zone",
            name,
            "must be the name of a time zone, such as 'Europe/Berlin'" + f"; {hint}" * bool(hint),
        ) from None


@lru_cache(64)
def data_version(name: str) -> str:
    """The version of the data that a zone is read from, such as "2026a"; "" for UTC."""
    if name == "UTC":
        return ""
    find_zone(name)  # refuses what nobody knows, in words
    for folder in map(Path, zoneinfo.TZPATH):
        if (folder / name).is_file():
            return folder_version(folder)
    from importlib import metadata  # the package that stands in where the system has no data

    return metadata.version("tzdata")


def folder_version(folder: Path) -> str:
    """The version of a system's data, which its own files tell."""
    for file in ("tzdata.zi", "+VERSION"):  # "# version 2026a", "2026a"
        if (folder / file).is_file():
            with (folder / file).open(encoding="utf-8") as lines:
                return lines.readline().removeprefix("# version").strip()
    return "unknown"
