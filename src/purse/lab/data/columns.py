"""Names of columns: those that differ by case or blanks alone are taken, and others are recognised
by the words in them.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from purse.errors import InvalidInput, invalid, listed
from purse.lab.data.question import Question
from purse.lab.data.source import Source
from purse.lab.data.text_file import read_cells

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
_MARKS = {"usd": "$", "dollar": "$", "dollars": "$", "eur": "€", "euro": "€", "euros": "€"}
# what is no reward and no cost, whatever else its name says
_COUNTS = frozenset(["token", "tokens"])
_NEVER = _COUNTS | {"id", "ids", "uuid", "key", "hash", "time", "timestamp", "date", "start"}
_NEVER |= {"end", "duration", "latency", "ms", "seconds"}
_TIMES = frozenset(["time", "timestamp", "date", "datetime", "created", "start"])
_BRING = (
    "bring a column that does (--reward), a file of judged answers (--rewards FILE --on ID), or a "
    "shadow evaluation, in which two models answer the same requests"
)
ASSUMED = ("uniform", "frequency")  # probabilities that are not in the log
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
        if role not in _PREFIXED or not _parts(column) & _NEVER
        for rank in _ranks(column, words.split())
    ]
    by_role: dict[str, str] = {}
    for _, role, column in sorted(ranked, key=itemgetter(0)):
        if role not in by_role and column not in by_role.values():
            by_role[role] = column
    return {role: by_role[role] for role in reversed(_WORDS) if role in by_role}


def _ranks(column: str, words: Sequence[str]) -> Iterator[tuple[bool, bool, int]]:
    """Yield how well a column fits each word that it has; the less, the better. A total fits as
    well as the word alone.
    """
    parts = _parts(column)
    for rank, word in enumerate(words):
        if word in parts:
            yield word in _CURRENCIES, len(parts - {"total"}) > 1, rank


def _parts(column: str) -> set[str]:
    """Return the words of a name, in lower case.

    >>> sorted(_parts("usage.totalCost (USD)"))
    ['cost', 'total', 'usage', 'usd']
    """
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column).lower()
    return set(re.split(r"[^a-z0-9]+", name)) - {""}


def _find_columns(source: Source, wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the columns by what they are: those that are wanted and there, else by words.

    wanted   the names by what the columns are
    """
    columns = source.frame.columns
    roles = {role: name for role, name in wanted.items() if name in columns}
    free = [name for name in columns if name not in roles.values()]
    roles = _by_words(free) | roles
    return {role: roles[role] for role in wanted if role in roles}


def check_columns(source: Source, question: Question) -> None:
    """Refuse a named column that is not there, and a reward that counts tokens.

    First of all: what is named wrongly is not to be answered with what is not named.
    """
    columns, usual = source.frame.columns, Question()
    for role in (*question.names, "block", "on"):
        name = getattr(question, role)
        named = name is not None and name != getattr(usual, role) and name not in ASSUMED
        elsewhere = question.rewards is not None and role == "reward"
        prefix = any(column.startswith(f"{name}_") for column in columns)
        if named and not elsewhere and not prefix:
            source.column(name)
    if _parts(question.reward) & _COUNTS:
        allowed = "counts tokens, which does not say how good an answer was"
        raise invalid("reward", question.reward, f"{allowed}; {_BRING}")


def with_currency(source: Source) -> Source:
    """Return the source with the mark of its currency, if a column names one.

    Refuse the first row with another one.
    """
    for column in source.frame.columns:
        if "currency" in _parts(column):
            texts = source.texts(column)
            if (other := texts != texts[0]).any():
                row = int(other.arg_max() or 0)
                allowed = f"must be {texts[0]!r}, as in the first row: costs need one currency"
                raise source.refuse(row, column, texts[row], allowed)
            source = replace(source, currency=_MARKS.get(texts[0].lower(), f"{texts[0]} "))
    return source


def recognised(source: Source, question: Question) -> tuple[Source, Question]:
    """Return the rows of a log in the order of time, if a column tells it, and the question with
    the names of arm, cost and probabilities, by words, if it does not name them itself; a table as
    it is. A reward is never guessed.

    Raise `InvalidInput` if no column says how good an answer was, and for each arm none either.
    """
    columns = source.frame.columns
    wide = any(column.startswith(f"{question.reward}_") for column in columns)
    log = question.probability in (None, *ASSUMED, *columns)
    if (wide and question.arm not in columns) or (question.round in columns and not log):
        return source, question
    roles = _find_columns(source, question.names)
    if {"arm", "cost"} - set(roles):
        raise name_them(source, question.names)
    if question.reward not in columns:
        near = roles.get("reward")
        says = f"; if {near!r} does, name it: --reward {shlex.quote(near)}; else" if near else ";"
        raise InvalidInput(
            f"{source.path}: no column says how good an answer was; it has {listed(columns)}{says}"
            f" {_BRING}"
        )
    names: dict[str, Any] = {role: roles[role] for role in ("arm", "cost")}
    if not log:
        names["probability"] = _probability_in(source, question) or "frequency"
    for column in columns:
        if _parts(column) & _TIMES and source.is_time(column):
            source = source.in_order(column)
            break
    return source, replace(question, **names)


def currency_of(cost: str) -> str:
    """Return the mark of a currency that the name of a column of costs has, if it has one.

    >>> currency_of("price_usd"), currency_of("Kosten EUR"), currency_of("cost")
    ('$', '€', '')
    """
    marks = {_MARKS[part] for part in _parts(cost) if part in _MARKS}
    return marks.pop() if len(marks) == 1 else ""


def _probability_in(source: Source, question: Question) -> str | None:
    """Return the column that by its name and its numbers has probabilities, if there is one."""
    name = _find_columns(source, question.names).get("probability")
    if name is None:
        return None
    values = read_cells(source.column(name), decimal=source.decimal).values.drop_nulls()
    return name if ((values > 0) & (values <= 1)).all() else None


def name_them(source: Source, wanted: Mapping[str, str]) -> InvalidInput:
    """Return the refusal of data that lacks columns, with options that name them."""
    columns = source.frame.columns
    lacking = [role for role in ("arm", "reward", "cost") if wanted[role] not in columns]
    return InvalidInput(
        f"{source.path} has no column {', '.join(repr(wanted[role]) for role in lacking)}, nor "
        f"{wanted['reward']}_ARM and {wanted['cost']}_ARM for each arm; it has "
        f"{listed(columns)}; name them: {' '.join(f'--{role} NAME' for role in lacking)}"
    )
