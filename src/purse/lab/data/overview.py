"""The overview of a file of recorded rounds: its first rows as they are read, and the command that
replays policies on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import floor, log10
from typing import Any

import numpy as np

from purse.base import amounts
from purse.base.text import align_columns, fold
from purse.errors import InvalidInput
from purse.lab.data.columns import find_columns, find_prefixes, name_them
from purse.lab.data.frame import Data
from purse.lab.data.log import ASSUMED, DOUBT, Log, unevenness
from purse.lab.data.question import Question
from purse.lab.data.rounds import Rounds, costs_of, open_rounds, open_source, without_empty
from purse.lab.data.source import Source
from purse.lab.data.table import FullTable

_SHOWN = 4  # rows
_SUPPOSES = {
    "uniform": "every arm was as likely in every round",
    "frequency": "the choice of an arm had nothing to do with its round",
}


def overview(data: Data, question: Question) -> str:
    """Describe the data as a replay reads it: its form, its first rows, and the command to run.

    question   what is known; names of columns that are not there are recognised by their words

    Raise `InvalidInput` if a column is not found, or a cell is not allowed.
    """
    source = open_source(data, question)
    wanted = question.names
    for role, name in wanted.items():
        prefix = any(column.startswith(f"{name}_") for column in source.frame.columns)
        if name != role and not prefix and name not in ASSUMED:
            source.column(name)  # which refuses a name that is not there
    prefixes = find_prefixes(source, wanted)
    roles: dict[str, Any] = {**(prefixes or find_columns(source, wanted))}
    if not prefixes and {"arm", "reward", "cost"} - set(roles):
        raise name_them(source, wanted)
    question = replace(question, **roles)
    log = not prefixes and "round" not in roles
    filled = without_empty(source, question, log)
    if log and "probability" not in roles:
        question = replace(question, probability=_supposed(filled, question))
    rounds = open_rounds(filled, question)
    budget = _budget_of(rounds)
    skips = question.skip_empty or filled is not source
    command = replace(question, budgets=[budget], skip_empty=skips).command(rounds.origin)
    lines = [
        fold(f"{rounds.name}: a {_form_of(rounds)}, as it is read:"),
        "",
        *("  ".join(row).rstrip() for row in align_columns([*_first_rows(rounds, question)])),
        "",
        *map(fold, rounds.notes),
    ]
    if isinstance(rounds, Log) and rounds.assumed:
        lines.append(
            fold(
                f"there are no probabilities: --probability {question.probability} supposes that "
                f"{_SUPPOSES[str(question.probability)]}; a table with a row for each round "
                "and arm needs --round"
            )
        )
    hint = fold(f"Give --budget: {costs_of(rounds)}. For example:")
    return "\n".join([*lines, "", hint, f"  {command}"])


def _supposed(source: Source, question: Question) -> str:
    """Choose a stand-in for probabilities: equal ones, unless the rows contradict them."""
    if question.probability in ASSUMED:
        return str(question.probability)
    rounds = open_rounds(source, replace(question, probability="frequency"))
    assert isinstance(rounds, Log)
    even = np.abs(unevenness(rounds.rows)).max() <= DOUBT
    return "uniform" if even else "frequency"


def _form_of(rounds: Rounds) -> str:
    """Describe the form of the rounds."""
    n, arms = len(rounds.rewards if isinstance(rounds, FullTable) else rounds.arm), rounds.arms
    form = "log, one" if isinstance(rounds, Log) else "full table, each"
    return f"{form} of {len(arms)} arms in {n:,} rounds"


def _first_rows(rounds: Rounds, question: Question) -> Iterator[list[str]]:
    """Yield the head and the first rows of the rounds."""
    if isinstance(rounds, FullTable):
        yield ["reward, cost", *rounds.arms]
        for row, (rewards, units) in enumerate(zip(rounds.rewards, rounds.costs, strict=True)):
            if row == _SHOWN:
                return
            costs = units / amounts.UNIT
            cells = (f"{_number(r)}, {_number(c)}" for r, c in zip(rewards, costs, strict=True))
            yield [f"round {row + 1}", *cells]
        return
    names = {role: getattr(question, role) for role in ("arm", "reward", "cost", "probability")}
    if rounds.assumed:
        del names["probability"]
    yield [role if role == name else f"{role}: {name}" for role, name in names.items()]
    for row in range(min(_SHOWN, len(rounds))):
        values = rounds.reward[row], rounds.cost[row, 0] / amounts.UNIT, 1 / rounds.weight[row]
        yield [rounds.arms[rounds.arm[row]], *map(_number, values[: len(names) - 1])]


def _number(value: float) -> str:
    """Return a number as it was read."""
    return f"{value:,.9g}"


def _budget_of(rounds: Rounds) -> float:
    """Return a budget to begin with, in two digits: what a log cost, or a table with arms in turn.

    Raise `InvalidInput` if nothing cost anything.
    """
    units = rounds.cost.sum(axis=0) if isinstance(rounds, Log) else rounds.costs.mean(axis=1).sum()
    total = float(np.max(units)) / amounts.UNIT
    if total == 0:
        raise InvalidInput(f"{rounds.name}: every cost is 0, so there is nothing to spend")
    step = 10.0 ** (floor(log10(total)) - 1)
    return float(f"{floor(total / step) * step:.2g}")
