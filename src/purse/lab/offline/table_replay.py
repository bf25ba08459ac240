"""The replay of a full table: policies on its rounds, beside what could be had.

The default stop rule is `retry`. With a horizon the first pull that cannot be paid is not the end:
a cheaper arm may serve the rounds that are left, and `exit` or `hold` would give these up.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from purse.base import html
from purse.base.files import write_atomically
from purse.base.progress import whole
from purse.base.text import align_columns, count, fold
from purse.lab.offline.baselines import references
from purse.lab.offline.feature_columns import Wanted
from purse.lab.offline.full_table import read_table, world_of_table
from purse.lab.offline.source import Source, read
from purse.lab.report.command import command
from purse.lab.report.data import Recording, TableFacts
from purse.lab.report.prose import table_replay
from purse.lab.report.prose.study import plain
from purse.lab.report.standings import cells, ranked, standings
from purse.lab.study import manifest
from purse.lab.study.compare import compare
from purse.lab.study.plan import several
from purse.lab.study.results import Study, TableStudy
from purse.policies import DEFAULT, load
from purse.types import World

if TYPE_CHECKING:
    import polars as pl

# two that reckon with a horizon, and one that does not learn
DEFAULT_POLICIES = (DEFAULT, "exp3++.prices", "uniform")
PATHS, THOROUGH_PATHS = 100, 1_000  # orders of the rows
WITH_FEATURES = "lin-ucb.price"  # comes before them where there are features


@dataclass(frozen=True, eq=False)
class TableReplay:
    """Policies on a table, and what they are measured against."""

    world: World
    stop: str
    study: TableStudy
    references: pl.DataFrame
    notes: tuple[str, ...] = ()  # what a reader has to know

    def frame(self) -> pl.DataFrame:
        """Return a row for each budget and player, policies and references alike: gain with its 95%
        interval, its share of the LP optimum, spent, pulls.
        """
        return standings(self.study)

    def publish(self, folder: Path) -> list[Path]:
        """Write the report to a folder, and its figures; the page comes first."""
        return self.study.publish(folder)

    def answers(self) -> list[str]:
        """For each budget the answer in words."""
        found = table_replay.findings(self.study)
        several = len(found) > 1
        return [plain(f"{name}: {says}" if several else says) for name, says in found.items()]

    def grids(self) -> Iterator[list[list[str]]]:
        """Yield a table for each budget as text, the largest gain first."""
        for budget, players in ranked(self.frame()).items():
            yield [
                [f"budget {budget:g}", "gain ± 95%", "of the LP", "spent", "pulls"],
                *map(cells, players),
            ]

    @property
    def summary(self) -> str:
        """What was replayed, in a line."""
        rounds = f"{self.world.horizon:,} of {self.world.n_rounds:,} rounds"
        n_paths = self.study.facts.n_paths
        return (
            f"{self.world.name}: {rounds} in {count(n_paths, 'random order')}, "
            f"{self.world.n_arms} arms, stop={self.stop}"
        )

    def __repr__(self) -> str:
        """Return what was replayed, in a line."""
        return f"<TableReplay {self.summary}>"

    def _repr_html_(self) -> str:
        """Return the answer and the tables, for notebooks."""
        parts = [html.paragraph(text) for text in (self.summary, *self.answers())]
        parts += [html.table(head, rows) for head, *rows in self.grids()]
        return "".join([*parts, *map(html.paragraph, self.notes)])

    def __str__(self) -> str:
        """Return the answer and the tables as plain text."""
        lines = [self.summary, *map(fold, self.answers())]
        for grid in self.grids():
            lines += ["", *("  ".join(row).rstrip() for row in align_columns(grid))]
        return "\n".join([*lines, *map(fold, self.notes)])


def default_policies(features: Wanted | None) -> tuple[str, ...]:
    """Return the policies that are played where none is named."""
    return DEFAULT_POLICIES if features is None else (WITH_FEATURES, *DEFAULT_POLICIES)


def replay_table(
    data: str | os.PathLike[str] | pl.DataFrame | Source,
    *,
    policies: str | ModuleType | Sequence[str | ModuleType] | None = None,
    budgets: float | Sequence[float],
    n_paths: int | None = None,
    thorough: bool = False,
    seed: int = 0,
    horizon: int | None = None,
    stop: str = "retry",
    n_workers: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    reward: str = "reward",
    cost: str = "cost",
    arm: str = "arm",
    round: str = "round",
    features: Wanted | None = None,
    per_arm: bool = False,
    read_as: Mapping[str, Any] | None = None,
) -> TableReplay:
    """Play policies on the rounds of a table, shuffled on each path, with each budget, and set them
    beside the references.

    `horizon` is the number of rounds that a player has and knows of, by default all. `n_paths` is
    100 by default, and 1,000 where it is to be `thorough`. For the names of columns and features
    see `read_table`, for the rest `purse.compare`; `read_as` are options that a source was read
    with, for the command that asks again.
    """
    source = data if isinstance(data, Source) else read(data)
    columns: dict[str, Any] = {"reward": reward, "cost": cost, "arm": arm, "round": round}
    columns |= {"features": features, "per_arm": per_arm}
    table = read_table(source, **columns)
    world = world_of_table(table, horizon=horizon)
    policies = default_policies(features) if policies is None else policies
    for policy in several(policies):
        if not isinstance(policy, str):
            load(policy)  # which refuses a class
    title = f"{world.name}: which policy spends a budget best?"
    orders = THOROUGH_PATHS if thorough else PATHS
    how: dict[str, Any] = {"n_paths": orders if n_paths is None else n_paths, "seed": seed}
    how["stop"] = stop
    with whole("replaying the table") as bar:
        bar.part(0.0, 0.6, "the policies")
        study = compare(
            policies, world, budgets=budgets, **how, n_workers=n_workers, folder=folder, title=title
        )
        bar.part(0.6, 0.4, "the arms alone, and what could be had")
        rows = references(world, study.facts.budgets, **how, n_workers=n_workers)
    how |= {"n_paths": n_paths, "thorough": thorough, "stop": None if stop == "retry" else stop}
    how |= {"horizon": horizon, **columns, **(read_as or {})}
    again = command(source.name, policies, budgets, "purse.replay", **how)
    note = "" if table.contexts is None else table.contexts.note
    notes = tuple(source.notes)
    played = as_replay(study, world, rows, again, folder, note, notes)
    return TableReplay(world, stop, played, rows, (*notes, *([note] if note else [])))


def as_replay(
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
    import polars as pl

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
