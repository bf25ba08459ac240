r"""A full table: what every arm returned and cost in every round, so that any policy can be played
on it.

Two forms, told apart by whether there is a column `arm`:

    wide    a row for each round:            reward_small, cost_small, reward_large, cost_large
    long    a row for each round and arm:    round, arm, reward, cost

Features are further columns. In the long form a feature must be the same in all rows of a round,
unless each arm has its own; in the wide form each arm's own has a column, such as length_small.

Each path meets the rows in a random order of its own. Their number T, or a smaller `horizon`, is
known to the players: both money and rounds run out.

Rewards are any numbers. Policies see them divided by the largest; only where some are negative are
they shifted, too, since zero has to stay what a round without a pull is worth. Costs are rounded to
units of 1e-9; one that would round to nothing is refused, because a purse would take it for free.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from purse.base import amounts, validation
from purse.errors import InvalidInput, invalid
from purse.lab.offline.column_names import name_them
from purse.lab.offline.feature_columns import Contexts, Wanted, read_contexts
from purse.lab.offline.source import Source, read
from purse.types import Floats, Ints, World
from purse.worlds._tables import make_world

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class FullTable:
    """Rewards and costs of K arms in T rounds."""

    name: str
    arms: tuple[str, ...]
    rewards: Floats  # (T, K) in the user's unit
    costs: Ints  # (T, K) units
    contexts: Contexts | None = None


def read_table(
    data: str | os.PathLike[str] | pl.DataFrame | Source,
    *,
    reward: str = "reward",
    cost: str = "cost",
    arm: str = "arm",
    round: str = "round",
    features: Wanted | None = None,
    per_arm: bool = False,
) -> FullTable:
    """Return the table in a file or frame of either form. `reward`, `cost`, `arm` and `round` name
    its columns; in the wide form they begin their names.

    features, per_arm   the columns that are features, see `read_contexts`, and whether each arm has
                        its own
    """
    source = data if isinstance(data, Source) else read(data)
    columns = source.frame.columns
    if per_arm and features is None:
        raise invalid("per_arm", per_arm, "needs features")
    if arm in columns:
        table = read_long(source, reward, cost, arm, round, features, per_arm)
    else:
        table = read_wide(source, reward, cost, arm)
        if features is not None:
            taken = [name for name in columns if name.startswith((f"{reward}_", f"{cost}_"))]
            found = read_contexts(
                source, features, arms=table.arms, per_arm=per_arm, spread=True, taken=taken
            )
            table = replace(table, contexts=found)
    if len(table.arms) == 1:
        only = table.arms[0]
        raise InvalidInput(f"{source.path} has one arm, {only!r}: there is nothing to choose")
    return table


def read_wide(source: Source, reward: str, cost: str, arm: str) -> FullTable:
    """Return the table from a pair of columns for each arm; a column without its other half is
    refused, since an arm would be missing.
    """
    columns = source.frame.columns
    starts = f"{reward}_", f"{cost}_"
    halves = [(column, start) for column in columns for start in starts if column.startswith(start)]
    arms = list(dict.fromkeys(column.removeprefix(start) for column, start in halves))
    if not arms:
        raise name_them(source, {"arm": arm, "reward": reward, "cost": cost})
    rewards = np.stack([source.numbers(f"{reward}_{name}", truth=True) for name in arms], axis=1)
    costs = np.stack([cost_units(source, f"{cost}_{name}") for name in arms], axis=1)
    return FullTable(source.path.name, tuple(arms), rewards, costs)


def read_long(
    source: Source,
    reward: str,
    cost: str,
    arm: str,
    round: str,
    features: Wanted | None,
    per_arm: bool,
) -> FullTable:
    """Return the table from a row for each round and arm, both in the order in which they first
    appear.
    """
    rounds, arms = source.labels(round), source.labels(arm)
    values, units = source.numbers(reward, truth=True), cost_units(source, cost)
    round_numbers = {label: number for number, label in enumerate(dict.fromkeys(rounds))}
    arm_numbers = {label: number for number, label in enumerate(dict.fromkeys(arms))}
    row_of = np.array([round_numbers[label] for label in rounds])
    cells = row_of * len(arm_numbers) + np.array([arm_numbers[label] for label in arms])
    unique, first = np.unique(cells, return_index=True)
    if len(unique) < len(cells):
        again = int(np.setdiff1d(np.arange(len(cells)), first)[0])
        raise InvalidInput(
            f"{source.where(again)}: round {rounds[again]!r} has arm {arms[again]!r} already"
        )
    shape = len(round_numbers), len(arm_numbers)
    if len(unique) < shape[0] * shape[1]:
        row, column = divmod(int(np.setdiff1d(np.arange(shape[0] * shape[1]), unique)[0]), shape[1])
        raise InvalidInput(
            f"{source.path}: round {list(round_numbers)[row]!r} has no row for arm "
            f"{list(arm_numbers)[column]!r}"
        )
    contexts = None
    if features is not None:
        taken = (reward, cost, arm, round)
        found = read_contexts(source, features, arms=[*arm_numbers], per_arm=per_arm, taken=taken)
        per_row = found.values[first].reshape(*shape, -1)
        if not per_arm:
            check_constant(source, found, rounds, first.reshape(shape), per_row)
        contexts = replace(found, values=per_row if per_arm else per_row[:, :1])
    return FullTable(
        source.path.name,
        tuple(arm_numbers),
        values[first].reshape(shape),
        units[first].reshape(shape),
        contexts,
    )


def check_constant(
    source: Source, found: Contexts, rounds: list[str], rows: Ints, values: Floats
) -> None:
    """Refuse a feature that differs between the rows of a round.

    rows, values   (T, K) the rows of the source, and (T, K, F) their numbers
    """
    differs = values != values[:, :1]
    if differs.any():
        number, arm, column = (int(each[0]) for each in np.nonzero(differs))
        feature = found.features.owners[column]
        row, before = int(rows[number, arm]), int(rows[number, 0])
        raise source.refuse(
            row,
            feature,
            source.column(feature)[row],
            f"must be {source.column(feature)[before]!r}, as in the other rows of round "
            f"{rounds[row]!r}, unless each arm has features of its own (per_arm)",
        )


def cost_units(source: Source, column: str) -> Ints:
    """(rows,) The column's costs in units."""
    values, most = source.numbers(column, low=0), amounts.LARGEST // amounts.UNIT
    tiny = (values > 0) & (np.rint(values * amounts.UNIT) == 0)
    unit = "must be 0 or at least 1e-9; give costs, and the budget, in a smaller unit"
    for wrong, allowed in ((values > most, f"must be at most {most:,}"), (tiny, unit)):
        if wrong.any():
            row = int(wrong.argmax())
            raise source.refuse(row, column, float(values[row]), allowed)
    return amounts.unit_array(column, values)


def world_of_table(table: FullTable, *, horizon: int | None = None) -> World:
    """Return the world that plays the table's rows, shuffled on each path, for `horizon` rounds;
    None: for all of them.
    """
    n_rounds = rounds = len(table.rewards)
    if horizon is not None:
        rounds = validation.integer("horizon", horizon, low=1, high=n_rounds)
    low, high = min(0.0, float(table.rewards.min())), max(0.0, float(table.rewards.max()))
    if low == high:
        high = 1.0  # all rewards are zero
    world = make_world(
        table.name,
        np.ones((*table.rewards.shape, 1)),
        np.clip((table.rewards - low) / (high - low), 0, 1)[:, :, None],
        table.costs[:, :, None, None],
        last=np.arange(1, n_rounds + 1),
        shuffle=True,
        features=None if table.contexts is None else table.contexts.values,
        n_rounds=n_rounds,
        horizon=rounds,
    )
    return replace(world, arms=table.arms, reward_range=(low, high))
