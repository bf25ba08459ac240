"""The data that reports are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from purse.errors import InvalidInput

if TYPE_CHECKING:
    import polars as pl

# the order of the keys in a stored manifest; only the replay of a table has the last one
MANIFEST = (
    "title", "policies", "worlds", "budgets", "n_paths", "seed", "stop", "delay", "study",
    "command", "versions", "machine", "shards", "made", "about", "replay",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What was asked, with what it was answered, and how to ask again."""

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
    """The rounds that somebody recorded: a full table of all arms, or a log of one arm a round."""

    kind: str  # "table" or "log"
    data: str  # the name of the file
    rounds: int
    horizon: int | None
    arms: Sequence[str]
    features: str = ""  # of its contexts, with their ranges and classes; nothing where it has none
    notes: Sequence[str] = ()  # what was taken for what when it was read


@dataclass(frozen=True, kw_only=True)
class StudyFacts(Facts):
    """The facts about a study, which its folder keeps as JSON."""

    worlds: Mapping[str, str]  # how each is written, by its label
    study: str | None  # the study file; None where policies or worlds were Python objects
    shards: Sequence[str]
    # of each policy, by its label: `spec`, how it is written, and `says`, what it is
    about: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @staticmethod
    def from_json(stored: Mapping[str, Any]) -> StudyFacts:
        """Read the facts from a stored manifest; those of a table's replay are `TableFacts`.

        Raise `InvalidInput` where another version of purse has written them.
        """
        kind = TableFacts if "replay" in stored else StudyFacts
        if missing := [each.name for each in fields(kind) if each.name not in stored]:
            raise InvalidInput(
                f"another version of purse made this study: its manifest has no {missing[0]!r}; "
                "make the study again"
            )
        known = {each.name: stored[each.name] for each in fields(kind)}
        if kind is TableFacts:
            known["replay"] = Recording(**stored["replay"])
        return kind(**known)

    def to_json(self) -> dict[str, Any]:
        """Write the facts as a manifest stores them."""
        known = asdict(self)
        for name in ("features", "notes") if "replay" in known else ():
            if not known["replay"][name]:
                del known["replay"][name]
        return {name: known[name] for name in MANIFEST if name in known}


@dataclass(frozen=True, kw_only=True)
class TableFacts(StudyFacts):
    """The facts about the replay of a full table."""

    replay: Recording


@dataclass(frozen=True, kw_only=True)
class LogFacts(Facts):
    """The facts about the replay of a log."""

    replay: Recording
    replicates: int  # logs that were drawn again from it


@dataclass(frozen=True, eq=False)
class StudyData:
    """The runs of a study, the frames made from them, and the facts about the study.

    The runs are read when a method needs them.
    """

    outcome: ClassVar[str] = "regret"  # what single runs are measured by

    data: pl.LazyFrame
    frames: Mapping[str, pl.DataFrame]
    facts: StudyFacts

    def lazy(self) -> pl.LazyFrame:
        """Return the runs of `frame()` as a lazy frame, for results that do not fit into memory."""
        return self.data

    def frame(self) -> pl.DataFrame:
        """Return a row per world, budget, policy and path.

        Its columns are gain, rounds, the part of the budget that was used, and regret.
        """
        return self.data.collect()

    def table(self) -> pl.DataFrame:
        """Return a row per world, budget and policy.

        Its columns are mean gain and mean regret with 95% intervals, the rest of the budget, and
        rounds.
        """
        return self.frames["table"]

    def shares(self) -> pl.DataFrame:
        """Return each arm's share of the pulls: a row per arm and slice of the budget.

        The rows are grouped by world, budget and policy.
        """
        return self.frames["shares"]

    def growth(self) -> pl.DataFrame:
        """Return the growth of regret with the budget: a row per world and policy.

        Its columns are the slope of log regret against log budget, and the shape that fits best.
        """
        return self.frames["growth"]

    def bounds(self) -> pl.DataFrame:
        """Return the bounds on each policy's regret: a row per world, budget, policy and theorem.

        Its columns are the value of the bound and whether it applies there.
        """
        return self.frames["bounds"]

    def references(self) -> pl.DataFrame:
        """Return the gains of the yardsticks: a row per world, budget and yardstick."""
        return self.frames["references"]

    def arms(self) -> pl.DataFrame:
        """Return what each arm is: a row per world, budget and arm.

        Its columns are the mean reward and cost of a pull, reward per cost, what the arm gains
        alone, and whether it is the best arm alone.
        """
        return self.frames["arms"]


@dataclass(frozen=True, eq=False)
class TableData(StudyData):
    """The replay of a full table: a study of one world, whose reader asks what could be had."""

    outcome: ClassVar[str] = "gain"

    facts: TableFacts


class LogData(Protocol):
    """The estimates that a log gives for policies."""

    @property
    def facts(self) -> LogFacts:
        """What was asked, how it was answered, and how to ask again."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """A line for each reason to doubt all of it."""

    @property
    def notes(self) -> tuple[str, ...]:
        """A line for each thing that a reader of the estimates has to know."""

    def frame(self) -> pl.DataFrame:
        """Return a row for each policy, budget and method."""

    def arms(self) -> pl.DataFrame:
        """Return a row for each arm."""
