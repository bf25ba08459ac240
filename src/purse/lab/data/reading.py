"""Recorded rounds from a file or frame, in the columns that a question names: a log or a table."""

from __future__ import annotations

from dataclasses import replace

from purse.base import amounts
from purse.base.text import format_digits
from purse.errors import InvalidInput, listed
from purse.lab.data.columns import NO_PROBABILITY, aligned, guess
from purse.lab.data.features import needed_columns
from purse.lab.data.frame import Data
from purse.lab.data.log import ASSUMED, Log, read_log
from purse.lab.data.question import Question
from purse.lab.data.source import Source, read
from purse.lab.data.table import FullTable, read_table, wide_arms


def open_source(data: Data | Source, asked: Question) -> Source:
    """Return the rows, with names of columns as the question writes them."""
    source = data
    if not isinstance(source, Source):
        source = read(source, decimal=asked.decimal, empty=asked.empty)
    return aligned(source, asked.names)


def is_log(source: Source, asked: Question) -> bool:
    """Return whether the data is a log and no table. Raise `InvalidInput` if it is neither."""
    columns, probability = source.frame.columns, asked.probability
    if probability in columns or (asked.arm in columns and probability in ASSUMED):
        return True
    if asked.arm not in columns or asked.round in columns:
        return False
    guessed = guess(source, asked.names)
    for role in ("probability", "round"):
        if role in guessed:
            hint = f"; name it: --{role} {guessed[role]}"
            break
    else:
        hint = f". {NO_PROBABILITY}"
    raise InvalidInput(
        f"{source.path} has no column {probability!r}, the probability with which the arm of a row "
        f"was chosen, nor {asked.round!r}, which a table with a row for each round and arm has; it "
        f"has {listed(columns)}{hint}"
    )


def without_empty(source: Source, asked: Question, log: bool) -> Source:
    """Return the source without rows, or rounds of a table, with an empty cell that is needed, if
    the question wants that.
    """
    if not asked.skip_empty:
        return source
    columns, spread = source.frame.columns, True
    group, texts = None, [asked.arm]
    numbers = [asked.reward, asked.cost]
    if log:
        numbers += [asked.probability] if asked.probability in columns else []
        arms = asked.arms or source.frame[asked.arm].drop_nulls().cast(str).unique().to_list()
    elif asked.arm in columns:
        texts, group, spread, arms = [asked.arm, asked.round], asked.round, False, []
    else:
        arms, numbers = wide_arms(source, asked)
        texts = []
    taken = [*numbers, *texts]
    more_numbers, more_texts = needed_columns(source, asked, arms, taken, spread=spread)
    return source.without_empty([*numbers, *more_numbers], [*texts, *more_texts], group)


def read_rounds(source: Source, asked: Question, log: bool) -> Log | FullTable:
    """Return the rounds as they are read; costs may be 0."""
    return read_log(source, replace(asked, horizon=1)) if log else read_table(source, asked)


def costs_of(rounds: Log | FullTable) -> str:
    """Return what the recorded rounds cost, as a hint for a budget."""
    if isinstance(rounds, Log):
        total = float(rounds.cost.sum()) / amounts.UNIT
        return f"the rows of {rounds.name} cost {format_digits(total)} together"
    sums = rounds.costs.sum(axis=0) / amounts.UNIT
    low, high = int(sums.argmin()), int(sums.argmax())
    if sums[low] == sums[high]:
        return f"all rounds of {rounds.name} cost {format_digits(sums[low])} with every arm"
    return (
        f"all rounds of {rounds.name} cost {format_digits(sums[low])} with {rounds.arms[low]} and "
        f"{format_digits(sums[high])} with {rounds.arms[high]}"
    )
