r"""A full table: what every arm returned and cost in every round, so that any policy can be played
on it.

Two forms, told apart by whether there is a column `arm`:

    wide    a row for each round:            reward_small, cost_small, reward_large, cost_large
    long    a row for each round and arm:    round, arm, reward, cost

Features are further columns. In the long form a feature must be the same in all rows of a round,
unless each arm has its own; in the wide form each arm's own has a column, such as length_small.

Policies see rewards divided by the largest, and shifted only where some are negative: zero stays
what a round without a pull is worth. Costs are rounded to units of 1e-9, but not to nothing.
"""

from dataclasses import dataclass, replace

import numpy as np

from purse.base import amounts, validation
from purse.errors import InvalidInput
from purse.lab.data.columns import currency_of, name_them
from purse.lab.data.features import Contexts, read_contexts
from purse.lab.data.frame import Data
from purse.lab.data.question import Question
from purse.lab.data.reading import read
from purse.lab.data.source import Source
from purse.types import Floats, Ints, World
from purse.worlds._tables import make_world


@dataclass(frozen=True, eq=False)
class FullTable:
    """Rewards and costs of K arms in T rounds."""

    name: str
    arms: tuple[str, ...]
    rewards: Floats  # (T, K) in the user's unit
    costs: Ints  # (T, K) units
    contexts: Contexts | None = None
    notes: tuple[str, ...] = ()  # what was used for what, and which rows are left out
    origin: str = "frame"  # the data, as a command names it
    done: int | None = None  # the arm that was played, if one was
    currency: str = ""  # before an amount of costs


def read_table(data: Data | Source, question: Question | None = None) -> FullTable:
    """Return the table in a file or frame of either form.

    question   names the columns of rewards, costs, arms and rounds, which in the wide form begin
               their names, and the features; None: those of the module's docstring, and no features
    """
    question = Question() if question is None else question
    source = data if isinstance(data, Source) else read(data)
    table = (_read_long if question.arm in source.frame.columns else _read_wide)(source, question)
    if len(table.arms) == 1:
        only = table.arms[0]
        raise InvalidInput(f"{source.path} has one arm, {only!r}: there is nothing to choose")
    currency = currency_of(question.cost)
    return replace(table, notes=tuple(source.notes), origin=source.name, currency=currency)


def _read_wide(source: Source, question: Question) -> FullTable:
    """Return the table from a pair of columns for each arm; half a pair is refused."""
    arms, used = wide_arms(source, question)
    if not arms:
        raise name_them(source, question.names)
    rewards = [source.numbers(f"{question.reward}_{name}", truth=True) for name in arms]
    costs = [cost_units(source, f"{question.cost}_{name}") for name in arms]
    contexts = read_contexts(source, question, arms, used)
    return FullTable(
        source.path.name, tuple(arms), np.stack(rewards, axis=1), np.stack(costs, axis=1), contexts
    )


def wide_arms(source: Source, question: Question) -> tuple[list[str], list[str]]:
    """Return the arms in the wide form, and their columns."""
    starts = f"{question.reward}_", f"{question.cost}_"
    used = [name for name in source.frame.columns if name.startswith(starts)]
    halves = (name.removeprefix(start) for name in used for start in starts
              if name.startswith(start))  # fmt: skip
    return list(dict.fromkeys(halves)), used


def _read_long(source: Source, question: Question) -> FullTable:
    """Return the table from a row for each round and arm, in the order of their first rows."""
    rounds, arms = source.labels(question.round), source.labels(question.arm)
    values, units = source.numbers(question.reward, truth=True), cost_units(source, question.cost)
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
    used = question.reward, question.cost, question.arm, question.round
    contexts = read_contexts(source, question, [*arm_numbers], used, spread=False)
    if contexts is not None:
        per_row = contexts.values[first].reshape(*shape, -1)
        if not question.per_arm:
            _check_constant(source, contexts, rounds, first.reshape(shape), per_row)
        contexts = replace(contexts, values=per_row if question.per_arm else per_row[:, :1])
    return FullTable(
        source.path.name,
        tuple(arm_numbers),
        values[first].reshape(shape),
        units[first].reshape(shape),
        contexts,
    )


def _check_constant(
    source: Source, contexts: Contexts, rounds: list[str], rows: Ints, values: Floats
) -> None:
    """Refuse a feature that differs between the rows of a round.

    rows, values   (T, K) the rows of the source, and (T, K, F) their numbers
    """
    differs = values != values[:, :1]
    if differs.any():
        number, arm, column = (int(places[0]) for places in np.nonzero(differs))
        feature = contexts.features.owners[column]
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
    values, highest = source.numbers(column, low=0), amounts.LARGEST // amounts.UNIT
    tiny = (values > 0) & (np.rint(values * amounts.UNIT) == 0)
    unit = "must be 0 or at least 1e-9; give costs, and the budget, in a smaller unit"
    for wrong, allowed in ((values > highest, f"must be at most {highest:,}"), (tiny, unit)):
        if wrong.any():
            row = int(wrong.argmax())
            raise source.refuse(row, column, float(values[row]), allowed)
    return amounts.unit_array(column, values)


def world_of_table(table: FullTable, *, horizon: int | None = None) -> World:
    """Return the world that shuffles the table's rows on each path; None: it plays all of them."""
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
        features=None if table.contexts is None else table.contexts.inputs,
        n_rounds=n_rounds,
        horizon=rounds,
    )
    return replace(world, arms=table.arms, reward_range=(low, high))
