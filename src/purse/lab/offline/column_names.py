"""Names of columns: those that differ by case or blanks alone are taken, others are guessed at for
a hint.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from purse.errors import InvalidInput, shorten
from purse.lab.offline.source import Source

# by what the column is: words that its name may be, or have among others
WORDS = {
    "probability": "probability propensity prob pscore p chance",
    "cost": "cost price spend spent expense fee charge usd eur dollars dollar euros cents",
    "reward": "reward score clicked click clicks converted conversion success quality rating "
    "revenue profit gain outcome correct solved accuracy value label",
    "arm": "arm model variant action option choice treatment ad supplier vendor provider route "
    "algorithm strategy offer",
}
CURRENCIES = frozenset(["usd", "eur", "dollars", "dollar", "euros", "cents"])
NO_PROBABILITY = (
    "A log without probabilities needs --probability uniform, if every arm was as likely in every "
    "round, or --probability frequency, if the choice had nothing to do with the round"
)
PREFIXED = ("reward", "cost")  # in a wide table, where arms follow


def aligned(source: Source, wanted: Mapping[str, str]) -> Source:
    """Return the source with its columns under the wanted names, where they differ by case or
    blanks alone.

    wanted   the names by what the columns are: arm, reward, cost, ...
    """
    columns, changes = source.frame.columns, {}
    for role, name in wanted.items():
        near = [each for each in columns if plain(each) == plain(name)]
        if name not in columns and len(near) == 1:
            changes[near[0]] = name
        if role not in PREFIXED:
            continue
        start = f"{name}_"
        for each in columns:
            if plain(each).startswith(plain(start)) and not each.startswith(start):
                changes[each] = start + each.strip()[len(start) :]
    changes = {old: new for old, new in changes.items() if new not in columns}
    if not changes or len(set(changes.values())) < len(changes):
        return source
    source.say(", ".join(f"column {old!r} is {new!r}" for old, new in changes.items()))
    return replace(source, frame=source.frame.rename(changes))


def plain(name: str) -> str:
    """Return a name without case, and without blanks around it."""
    return name.strip().casefold()


def guesses(columns: Sequence[str]) -> dict[str, str]:
    """Return what the columns may be, by their names: the whole name tells more than a word of it,
    and an earlier word more than a later one; a currency alone tells least.

    >>> guesses(["timestamp", "model", "clicked", "cost_usd", "propensity"])
    {'arm': 'model', 'reward': 'clicked', 'cost': 'cost_usd', 'probability': 'propensity'}
    >>> guesses(["Ad Name", "Revenue (USD)", "Spend (USD)"])
    {'arm': 'Ad Name', 'reward': 'Revenue (USD)', 'cost': 'Spend (USD)'}
    """
    ranked = [
        (rank, role, column)
        for role, words in WORDS.items()
        for column in columns
        for rank in ranks(column, words.split())
    ]
    found: dict[str, str] = {}
    for _, role, column in sorted(ranked, key=lambda each: each[0]):
        if role not in found and column not in found.values():
            found[role] = column
    return {role: found[role] for role in reversed(WORDS) if role in found}


def ranks(column: str, words: Sequence[str]) -> Iterator[tuple[bool, bool, int]]:
    """Yield how well a column fits each word that it has; the less, the better."""
    parts = re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column).lower())
    for place, word in enumerate(words):
        if word in parts:
            yield word in CURRENCIES, len(parts) > 1, place


def name_them(source: Source, wanted: Mapping[str, str]) -> InvalidInput:
    """Return the refusal of data that lacks columns, with the options that name them where that can
    be guessed.
    """
    columns = source.frame.columns
    have = {role: name for role, name in wanted.items() if name in columns}
    rest = [column for column in columns if column not in have.values()]
    found = {role: name for role, name in guesses(rest).items() if role not in have}
    lacking = [role for role in ("arm", "reward", "cost") if role not in have]
    says = (
        f"{source.path} has no column {', '.join(repr(wanted[role]) for role in lacking)}, nor "
        f"{wanted['reward']}_ARM and {wanted['cost']}_ARM for each arm; it has "
        f"{shorten(', '.join(columns))}; name them: "
    )
    options = found | {role: "NAME" for role in lacking if role not in found}
    says += " ".join(f"--{role} {shlex.quote(name)}" for role, name in options.items())
    if "probability" not in options and not any("prob" in plain(name) for name in columns):
        says += f". {NO_PROBABILITY}"
    return InvalidInput(says)
