"""The replay of a full table: policies on its rounds, beside what could be had.

The default stop rule is `retry`. With a horizon the first pull that cannot be paid is not the end:
a cheaper arm may serve the rounds that are left, and `exit` or `hold` would give these up.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from purse.base.files import write_atomically
from purse.base.optional import pl
from purse.base.progress import whole
from purse.base.text import count
from purse.lab.data.question import Question, Wanted
from purse.lab.data.table import FullTable, world_of_table
from purse.lab.replay.references import references
from purse.lab.result import Grid, Result, Verdict
from purse.lab.study import manifest
from purse.lab.study.compare import compare
from purse.lab.study.manifest import Recording, TableFacts
from purse.lab.study.results import Study, TableStudy
from purse.policies import DEFAULT, load
from purse.types import World

# two that reckon with a horizon, and one that does not learn
DEFAULT_POLICIES = (DEFAULT, "exp3++.prices", "uniform")
_WITH_FEATURES = "lin-ucb.price"  # comes before them if there are features


@dataclass(frozen=True, eq=False, repr=False)
class TableReplay(Result):
    """Policies on a table, and what they are measured against."""

    world: World
    stop: str
    study: TableStudy
    references: pl.DataFrame
    notes: tuple[str, ...] = ()  # what a reader has to know

    @property
    def title(self) -> str:
        """The table and its orders, in a line."""
        rounds = f"{self.world.horizon:,} of {self.world.n_rounds:,} rounds"
        n_paths = self.study.facts.n_paths
        return (
            f"{self.world.name}: {rounds} in {count(n_paths, 'random order')}, "
            f"{self.world.n_arms} arms, stop={self.stop}"
        )

    def frame(self) -> pl.DataFrame:
        """Return a row for each budget and player: gain with its 95% interval and more."""
        return self.study.standings()

    def as_dict(self) -> dict[str, Any]:
        """Return the rows of `frame()`, as JSON has them."""
        return {"rows": self.frame().to_dicts()}

    def publish(self, folder: Path) -> list[Path]:
        """Write the report to a folder, and its figures; the page comes first."""
        return self.study.publish(folder)

    def verdicts(self) -> dict[str, Verdict]:
        """For each budget who gains most."""
        return self.study.verdicts()

    def grids(self) -> Iterator[Grid]:
        """Yield a table of gains for each budget, the largest gain first."""
        return self.study.grids()

    def remarks(self) -> list[str]:
        """Return a line for each thing that a reader has to know."""
        return [*self.study.remarks(), *self.notes]


def default_policies(features: Wanted | None) -> tuple[str, ...]:
    """Return the default policies."""
    return DEFAULT_POLICIES if features is None else (_WITH_FEATURES, *DEFAULT_POLICIES)


def ask_table(
    table: FullTable,
    question: Question,
    n_workers: int | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> TableReplay:
    """Play policies on the rounds of a table, shuffled on each path, with each budget, and set them
    beside the references.
    """
    world = world_of_table(table, horizon=question.limit)
    for policy in question.players:
        if not isinstance(policy, str):
            load(policy)  # which refuses a class
    stop = question.stop or "retry"
    title = f"{world.name}: which policy spends a budget best?"
    how: dict[str, Any] = {"n_paths": question.games, "seed": question.seed, "stop": stop}
    how["n_workers"] = n_workers
    with whole("replaying the table") as bar:
        bar.part(0.0, 0.6, "the policies")
        study = compare(
            question.players, world, budgets=question.budgets, **how, folder=folder, title=title
        )
        bar.part(0.6, 0.4, "the arms alone, and what could be had")
        rows = references(world, study.facts.budgets, **how)
    again = replace(question, stop=None if stop == "retry" else stop).command(table.origin)
    note, notes = "", table.notes
    if table.contexts is not None:
        note = table.contexts.note
        notes += table.contexts.hints(world.horizon, world.n_arms)
    played = _as_replay(study, world, rows, again, folder, note, notes)
    return TableReplay(world, stop, played, rows, (*notes, *([note] if note else [])))


def _as_replay(
    study: Study,
    world: World,
    references: pl.DataFrame,
    again: str,
    folder: str | os.PathLike[str] | None,
    note: str,
    notes: Sequence[str] = (),
) -> TableStudy:
    """Return the study as the replay of its table, beside these references and with the command
    that runs it again; in its folder too. `note` says what its features are, `notes` what was taken
    for what.
    """
    (label,) = study.facts.worlds
    rows = references.select(
        pl.lit(label).alias("world"), pl.col("player").alias("name"), pl.exclude("player")
    )
    assert world.n_rounds is not None
    arms = list(world.arm_names)
    rounds = world.n_rounds, world.horizon
    recording = Recording("table", world.name, *rounds, arms, note, list(notes))
    facts = TableFacts(**{**vars(study.facts), "command": again}, replay=recording)
    if folder is not None:
        write_atomically(Path(folder) / "references.parquet", rows.write_parquet)
        manifest.save(Path(folder), facts.to_json())
    return TableStudy(study.data, {**study.frames, "references": rows}, facts)
