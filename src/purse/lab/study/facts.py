"""The facts about a study or a replay: the question, its surroundings and its command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from purse.errors import InvalidInput

# the order of the keys in a stored manifest; only the replay of a table has the last one
MANIFEST = (
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
    def from_json(stored: Mapping[str, Any]) -> StudyFacts:
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
        return {name: values[name] for name in MANIFEST if name in values}


@dataclass(frozen=True, kw_only=True)
class TableFacts(StudyFacts):
    """The facts about the replay of a full table."""

    replay: Recording
