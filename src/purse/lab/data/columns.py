"""Names of columns: those that differ by case or blanks alone are taken, and others are recognised
by the words in them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter

from purse.errors import InvalidInput, listed
from purse.lab.data.source import Source

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
    source.add_note(", ".join(f"column {old!r} is {new!r}" for old, new in changes.items()))
    return replace(source, frame=source.frame.rename(changes))


def _plain(name: str) -> str:
    """Return a name without case, and without blanks around it."""
    return name.strip().casefold()


def _by_words(columns: Sequence[str]) -> dict[str, str]:
    """Assign columns to roles by their names: the whole name tells more than a word of it, and an
    earlier word more than a later one; a currency alone tells least.

    >>> _by_words(["timestamp", "model", "clicked", "cost_usd", "propensity"])
    {'arm': 'model', 'reward': 'clicked', 'cost': 'cost_usd', 'probability': 'propensity'}
    >>> _by_words(["Ad Name", "Revenue (USD)", "Spend (USD)"])
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
    for rank, word in enumerate(words):
        if word in parts:
            yield word in _CURRENCIES, len(parts) > 1, rank


def find_columns(source: Source, wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the columns by what they are: those that are wanted and there, else by words.

    wanted   the names by what the columns are
    """
    columns = source.frame.columns
    roles = {role: name for role, name in wanted.items() if name in columns}
    free = [name for name in columns if name not in roles.values()]
    roles = _by_words(free) | roles
    return {role: roles[role] for role in wanted if role in roles}


def find_prefixes(source: Source, wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the words with which the columns of rewards and of costs begin in a wide table, such
    as score and usd in score_a, score_b, usd_a and usd_b; nothing if the source is not one.

    wanted   the names by what the columns are
    """
    endings: dict[str, set[str]] = {}
    for column in source.frame.columns:
        for mark in re.finditer("_", column):
            endings.setdefault(column[: mark.start()], set()).add(column[mark.end() :])
    starts = [start for start, arms in endings.items() if len(arms) > 1]
    roles = _by_words(starts) | {role: wanted[role] for role in _PREFIXED if wanted[role] in starts}
    prefixes = {role: roles[role] for role in _PREFIXED if role in roles}
    if wanted["arm"] in source.frame.columns or len(prefixes) < len(_PREFIXED):
        return {}
    shared = set.intersection(*(endings[start] for start in prefixes.values()))
    return prefixes if len(shared) > 1 else {}


def name_them(source: Source, wanted: Mapping[str, str]) -> InvalidInput:
    """Return the refusal of data that lacks columns, with options that may name them."""
    columns, needed = source.frame.columns, ("arm", "reward", "cost")
    prefixes = find_prefixes(source, wanted)
    roles = prefixes or find_columns(source, wanted)
    lacking = [role for role in needed if wanted[role] not in columns]
    options = {role: name for role, name in roles.items() if name != wanted[role]}
    if not prefixes:
        options = dict.fromkeys(lacking, "NAME") | options
    says = (
        f"{source.path} has no column {', '.join(repr(wanted[role]) for role in lacking)}, nor "
        f"{wanted['reward']}_ARM and {wanted['cost']}_ARM for each arm; it has "
        f"{listed(columns)}; name them: "
    )
    ordered = [role for role in dict.fromkeys((*needed, *wanted)) if role in options]
    says += " ".join(f"--{role} {shlex.quote(options[role])}" for role in ordered)
    if not prefixes and not {"probability", "round"} & set(roles):
        says += f". {NO_PROBABILITY}"
    return InvalidInput(says)
