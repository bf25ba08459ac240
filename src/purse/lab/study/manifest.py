"""The manifest of a study's folder: its plan, the versions it is made with, and its progress."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from purse._version import __version__
from purse.base.files import write_text
from purse.base.validation import usable_cores
from purse.errors import InvalidInput

NAME = "manifest.json"
SHARDS = "shards"  # the folder for them
PACKAGES = ("numba", "numpy", "polars", "scipy")


def surroundings() -> dict[str, Any]:
    """Return the versions and the machine."""
    versions = {"python": platform.python_version(), "purse": __version__}
    versions |= {name: version(name) for name in PACKAGES if find_spec(name)}
    return {
        "versions": versions,
        "machine": {"system": f"{platform.system()} {platform.machine()}", "cores": usable_cores()},
    }


def now() -> str:
    """Return the time, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def save(folder: Path, facts: dict[str, Any]) -> None:
    """Write the manifest."""
    write_text(folder / NAME, json.dumps(facts, indent=1, ensure_ascii=False) + "\n")


def load(folder: Path) -> dict[str, Any]:
    """Read the manifest. Raise `InvalidInput` if the folder has none."""
    try:
        facts = json.loads((folder / NAME).read_text(encoding="utf-8"))
        return {**facts, "made": facts["made"], "shards": facts["shards"]}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InvalidInput(
            f"{str(folder)!r} holds no study: it has no {NAME} that can be read; `purse lab "
            "run study.toml` makes one"
        ) from error


def study(folder: Path) -> str:
    """Return the study file of a folder's plan; refuse one of Python objects."""
    text = load(folder)["study"]
    if text is None:
        raise InvalidInput(
            f"the study in {str(folder)!r} has policies or worlds that were not given as "
            "text; run what made it again"
        )
    return str(text)


def standing(folder: Path) -> str:
    """Return how many of the planned shards are there, in words."""
    done, planned, size = progress_of(folder)
    return f"{done:,} of {planned:,} shards are there ({size / 1e6:,.1f} MB)"


def progress_of(folder: Path) -> tuple[int, int, int]:
    """Return how many of the planned shards are there, all planned ones, and the bytes."""
    facts = load(folder)
    planned = set(facts["shards"])
    sizes = {
        name: entry.stat().st_size
        for place in (folder.absolute().parent / SHARDS, folder / SHARDS)
        if place.is_dir()
        for entry in os.scandir(place)
        if (name := entry.name.removesuffix(".parquet")) in planned
    }
    # a finished study needs its shards no more
    done = len(sizes) if facts["made"] is None else len(planned)
    return done, len(planned), sum(sizes.values())
