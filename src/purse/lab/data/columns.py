"""Names of columns: those that differ by case or blanks alone are taken, others are guessed: by
words in their names, then by what is in them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from operator import itemgetter

import numpy as np

from purse.base.optional import pl
from purse.errors import InvalidInput, listed
from purse.lab.data.source import MISSING, Source, blanked
from purse.lab.data.text_file import CURRENCY

# by what the column is: words that its name may be, or have among others
_WORDS = {
    "probability": "probability propensity prob pscore p chance wahrscheinlichkeit",
    "cost": "cost price spend spent expense fee charge amount kosten preis ausgaben betrag usd "
    "eur dollars dollar euros cents",
    "reward": "reward score clicked click clicks converted conversion success quality rating "
    "revenue profit gain outcome correct solved accuracy umsatz gewinn ertrag value label",
    "arm": "arm model variant action option choice treatment ad supplier vendor provider route "
    "algorithm strategy offer channel modell variante anbieter lieferant kanal",
}
_CURRENCIES = frozenset(["usd", "eur", "dollars", "dollar", "euros", "cents"])
NO_PROBABILITY = (
    "A log without probabilities needs probability (--probability) uniform, if every arm was as "
    "likely in every round, or frequency, if the choice had nothing to do with the round"
)
FEW = 20  # texts of a column that may be the arm, or a feature
_MOSTLY = 0.9  # of the cells of a column are numbers, if it has numbers
_PREFIXED = ("reward", "cost")  # in a wide table, where arms follow


def aligned(source: Source, wanted: Mapping[str, str]) -> Source:
    """Return the source with the wanted names for columns whose names differ by case or blanks
    alone.

    wanted   the names by what the columns are: arm, reward, cost, ...
    """
    columns, changes = source.frame.columns, {}
    for role, name in wanted.items():
        near = [column for column in columns if _plain(column) == _plain(name)]
        if name not in columns and len(near) == 1:
            changes[near[0]] = name
        if role not in _PREFIXED:
            continue
        start = f"{name}_"
        for column in columns:
            if _plain(column).startswith(_plain(start)) and not column.startswith(start):
                changes[column] = start + column.strip()[len(start) :]
    changes = {old: new for old, new in changes.items() if new not in columns}
    if not changes or len(set(changes.values())) < len(changes):
        return source
    source.say(", ".join(f"column {old!r} is {new!r}" for old, new in changes.items()))
    return replace(source, frame=source.frame.rename(changes))


def _plain(name: str) -> str:
    """Return a name without case, and without blanks around it."""
    return name.strip().casefold()


def _guesses(columns: Sequence[str]) -> dict[str, str]:
    """Return what the columns may be, by their names: the whole name tells more than a word of it,
    and an earlier word more than a later one; a currency alone tells least.

    >>> _guesses(["timestamp", "model", "clicked", "cost_usd", "propensity"])
    {'arm': 'model', 'reward': 'clicked', 'cost': 'cost_usd', 'probability': 'propensity'}
    >>> _guesses(["Ad Name", "Revenue (USD)", "Spend (USD)"])
    {'arm': 'Ad Name', 'reward': 'Revenue (USD)', 'cost': 'Spend (USD)'}
    """
    ranked = [
        (rank, role, column)
        for role, words in _WORDS.items()
        for column in columns
        for rank in _ranks(column, words.split())
    ]
    by_role: dict[str, str] = {}
    for _, role, column in sorted(ranked, key=itemgetter(0)):
        if role not in by_role and column not in by_role.values():
            by_role[role] = column
    return {role: by_role[role] for role in reversed(_WORDS) if role in by_role}


def _ranks(column: str, words: Sequence[str]) -> Iterator[tuple[bool, bool, int]]:
    """Yield how well a column fits each word that it has; the less, the better."""
    parts = re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column).lower())
    for place, word in enumerate(words):
        if word in parts:
            yield word in _CURRENCIES, len(parts) > 1, place


def guess_table(source: Source, wanted: Mapping[str, str]) -> dict[str, str]:
    """Return what the names of rewards and of costs begin with in a wide table, or nothing
    if the source is not one.

    wanted   the names by what the columns are
    """
    starts = [] if wanted["arm"] in source.frame.columns else _beginnings(source)
    if not starts:
        return {}
    named = _guesses(starts) | {role: wanted[role] for role in _PREFIXED if wanted[role] in starts}
    rest = [start for start in starts if start not in (named.get("reward"), named.get("cost"))]
    column_of = {
        start: next(name for name in source.frame.columns if name.startswith(f"{start}_"))
        for start in rest
    }
    rest.sort(key=lambda start: _like_cost(source, column_of[start]))
    cost = named["cost"] if "cost" in named else rest.pop(0)
    return {"reward": named["reward"] if "reward" in named else rest[0], "cost": cost}


def guess(source: Source, wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the columns by what they are: those that are wanted and there, else what names, and
    then cells, tell.

    wanted   the names by what the columns are
    """
    columns = source.frame.columns
    roles = {role: name for role, name in wanted.items() if name in columns}
    free = [name for name in columns if name not in roles.values()]
    numbers = [name for name in free if _has_numbers(source, name)]
    texts = [name for name in free if name not in numbers]
    by_name = _guesses(numbers) | {
        role: name for role, name in _guesses(texts).items() if role == "arm"
    }
    roles |= {role: name for role, name in by_name.items() if role not in roles}
    numbers = [name for name in numbers if name not in roles.values()]
    amounts = [name for name in numbers if not _counts_rows(source, name)]
    if "cost" not in roles and len(amounts) > ("reward" not in roles):
        roles["cost"] = min(amounts, key=lambda name: _like_cost(source, name))
        amounts.remove(roles["cost"])
    if "reward" not in roles and amounts:
        roles["reward"] = amounts[0]
    if "arm" not in roles and (choices := [name for name in texts if _is_choice(source, name)]):
        roles["arm"] = choices[0]
    if not {"round", "probability"} & set(roles) and {"arm", "reward", "cost"} <= set(roles):
        rest = [name for name in free if name not in roles.values()]
        if rounds := [name for name in rest if _is_round(source, name, roles["arm"])]:
            roles["round"] = rounds[0]
    return {role: roles[role] for role in wanted if role in roles}


def _beginnings(source: Source) -> list[str]:
    """Return what names of columns of numbers begin with in a wide table: two words or more that
    most endings follow, such as score and usd of score_a, score_b, usd_a and usd_b.
    """
    endings: dict[str, set[str]] = {}
    for column in filter(lambda name: _has_numbers(source, name), source.frame.columns):
        for mark in re.finditer("_", column):
            if column[mark.end() :]:
                endings.setdefault(column[: mark.start()], set()).add(column[mark.end() :])
    pairs = [
        (-len(endings[one] & endings[other]), len(one), one, other)
        for one, other in combinations(endings, 2)
        if len(endings[one] & endings[other]) > 1
    ]
    if not pairs:
        return []
    *_, one, other = min(pairs)
    shared = endings[one] & endings[other]
    return [start for start, ends in endings.items() if shared <= ends]


def _has_numbers(source: Source, column: str) -> bool:
    """Return whether a column has numbers, or yes and no; a few cells may be wrong."""
    entries = source.column(column)
    given = len(entries) - blanked(entries, MISSING).null_count()
    values, _, wrong = source.cells(entries, truth=True)
    return wrong is not None or len(values) - values.null_count() >= _MOSTLY * max(given, 1)


def _counts_rows(source: Source, column: str) -> bool:
    """Return whether the numbers of a column only grow, as an index or a time does."""
    values = source.cells(source.column(column), truth=True).values.drop_nulls().to_numpy()
    return len(values) > 1 and bool((np.diff(values) > 0).all())


def _like_cost(source: Source, column: str) -> tuple[bool, bool, bool, float]:
    """Return how little the numbers of a column look like costs: these have a currency or decimals,
    are above zero, and are less than rewards.
    """
    entries = source.column(column)
    money = entries.dtype == pl.String and bool(entries.str.contains(CURRENCY).any())
    values = source.cells(entries, truth=True).values.drop_nulls().to_numpy()
    if not len(values):
        return True, True, True, 0.0
    whole = bool((values == np.rint(values)).all())
    return not money, whole, bool(values.min() <= 0), float(values.mean())


def _is_choice(source: Source, column: str) -> bool:
    """Return whether a column has one of a few texts in each row."""
    entries = source.column(column)
    return not entries.dtype.is_nested() and 1 < entries.n_unique() <= min(FEW, len(entries) / 2)


def _is_round(source: Source, column: str, arm: str) -> bool:
    """Return whether each value of a column occurs once with each arm."""
    frame = source.frame
    rounds, arms = frame[column].n_unique(), frame[arm].n_unique()
    every = rounds * arms == len(frame) and rounds > 1 and arms > 1
    return every and bool(frame.select(pl.struct(column, arm).n_unique()).item() == len(frame))


def name_them(source: Source, wanted: Mapping[str, str]) -> InvalidInput:
    """Return the refusal of data that lacks columns, with options that may name them."""
    columns, needed = source.frame.columns, ("arm", "reward", "cost")
    table = guess_table(source, wanted)
    guessed = table or guess(source, wanted)
    lacking = [role for role in needed if wanted[role] not in columns]
    options = {role: name for role, name in guessed.items() if name != wanted[role]}
    if not table:
        options = dict.fromkeys(lacking, "NAME") | options
    says = (
        f"{source.path} has no column {', '.join(repr(wanted[role]) for role in lacking)}, nor "
        f"{wanted['reward']}_ARM and {wanted['cost']}_ARM for each arm; it has "
        f"{listed(columns)}; name them: "
    )
    ordered = [role for role in dict.fromkeys((*needed, *wanted)) if role in options]
    says += " ".join(f"--{role} {shlex.quote(options[role])}" for role in ordered)
    if not table and not {"probability", "round"} & set(guessed):
        says += f". {NO_PROBABILITY}"
    return InvalidInput(says)
