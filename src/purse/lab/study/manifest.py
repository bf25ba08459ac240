"""The facts about a study or a replay, and the manifest that keeps them in a study's folder."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
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
_PACKAGES = ("numba", "numpy", "polars", "scipy")
# the order of the keys in a stored manifest; only the replay of a table has the last one
_MANIFEST = (
    "title", "policies", "worlds", "budgets", "n_paths", "seed", "stop", "delay", "study",
    "command", "versions", "machine", "shards", "made", "about", "replay",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts of a result: the question, the versions that answered it, and how to ask again."""

    title: str
    policies: Sequence[str]
    budgets: Sequence[float]
    n_paths: int
    seed: int
    stop: str
    command: str
    versions: Mapping[str, str]
    machine: Mapping[str, Any]
    made: str | None  # when it was finished, as ISO 8601 writes a time
    delay: int | str = 0  # rounds by which reports came late, as users write them


@dataclass(frozen=True)
class Recording:
    """Recorded rounds: a full table of all arms, or a log of one arm a round."""

    kind: str  # "table" or "log"
    data: str  # the name of the file
    rounds: int
    horizon: int | None
    arms: Sequence[str]
    features: str = ""  # of its contexts, with their ranges and classes; empty without contexts
    notes: Sequence[str] = ()  # what was taken for what when it was read


@dataclass(frozen=True, kw_only=True)
class StudyFacts(Facts):
    """The facts about a study, which its folder keeps as JSON."""

    worlds: Mapping[str, str]  # how each is written, by its label
    study: str | None  # the study file; None if policies or worlds were Python objects
    shards: Sequence[str]
    # of each policy, by its label: `spec`, how it is written, and `says`, what it is
    about: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @staticmethod
    def from_json(stored: Mapping[str, Any]) -> "StudyFacts":
        """Read the facts from a stored manifest; those of a table's replay are `TableFacts`.

        Raise `InvalidInput` where another version of purse has written them.
        """
        kind = TableFacts if "replay" in stored else StudyFacts
        if missing := [field.name for field in fields(kind) if field.name not in stored]:
            raise InvalidInput(
                f"another version of purse made this study: its manifest has no {missing[0]!r}; "
                "make the study again"
            )
        values = {field.name: stored[field.name] for field in fields(kind)}
        if kind is TableFacts:
            values["replay"] = Recording(**stored["replay"])
        return kind(**values)

    def to_json(self) -> dict[str, Any]:
        """Write the facts as a manifest stores them."""
        values = asdict(self)
        for name in ("features", "notes") if "replay" in values else ():
            if not values["replay"][name]:
                del values["replay"][name]
        return {name: values[name] for name in _MANIFEST if name in values}


@dataclass(frozen=True, kw_only=True)
class TableFacts(StudyFacts):
    """The facts about the replay of a full table."""

    replay: Recording


def surroundings() -> dict[str, Any]:
    """Return the versions and the machine."""
    versions = {"python": platform.python_version(), "purse": __version__}
    versions |= {name: version(name) for name in _PACKAGES if find_spec(name)}
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
        for folder_of_shards in (folder.absolute().parent / SHARDS, folder / SHARDS)
        if folder_of_shards.is_dir()
        for entry in os.scandir(folder_of_shards)
        if (name := entry.name.removesuffix(".parquet")) in planned
    }
    # a finished study needs its shards no more
    done = len(sizes) if facts["made"] is None else len(planned)
    return done, len(planned), sum(sizes.values())
