"""Names of columns: those that differ by case or blanks alone are taken, others are guessed at for
a hint.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from operator import itemgetter
from typing import Any

import numpy as np

from purse.base.optional import pl
from purse.errors import InvalidInput, invalid, shorten
from purse.features import MOST_NUMBERS, OPTIONAL, Feature, Features
from purse.kernels.fourier import as_seen
from purse.lab.offline.question import Question, Wanted
from purse.lab.offline.source import Source
from purse.types import Bools, Floats

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
ENOUGH = 10  # rounds for each arm and number of a context
PREFIXED = ("reward", "cost")  # in a wide table, where arms follow


def aligned(source: Source, wanted: Mapping[str, str]) -> Source:
    """Return the source with the wanted names for columns whose names differ by case or blanks
    alone.

    wanted   the names by what the columns are: arm, reward, cost, ...
    """
    columns, changes = source.frame.columns, {}
    for role, name in wanted.items():
        near = [column for column in columns if plain(column) == plain(name)]
        if name not in columns and len(near) == 1:
            changes[near[0]] = name
        if role not in PREFIXED:
            continue
        start = f"{name}_"
        for column in columns:
            if plain(column).startswith(plain(start)) and not column.startswith(start):
                changes[column] = start + column.strip()[len(start) :]
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
    by_role: dict[str, str] = {}
    for _, role, column in sorted(ranked, key=itemgetter(0)):
        if role not in by_role and column not in by_role.values():
            by_role[role] = column
    return {role: by_role[role] for role in reversed(WORDS) if role in by_role}


def ranks(column: str, words: Sequence[str]) -> Iterator[tuple[bool, bool, int]]:
    """Yield how well a column fits each word that it has; the less, the better."""
    parts = re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column).lower())
    for place, word in enumerate(words):
        if word in parts:
            yield word in CURRENCIES, len(parts) > 1, place


def name_them(source: Source, wanted: Mapping[str, str]) -> InvalidInput:
    """Return the refusal of data that lacks columns, with options that may name them."""
    columns = source.frame.columns
    have = {role: name for role, name in wanted.items() if name in columns}
    rest = [column for column in columns if column not in have.values()]
    guessed = {role: name for role, name in guesses(rest).items() if role not in have}
    lacking = [role for role in ("arm", "reward", "cost") if role not in have]
    says = (
        f"{source.path} has no column {', '.join(repr(wanted[role]) for role in lacking)}, nor "
        f"{wanted['reward']}_ARM and {wanted['cost']}_ARM for each arm; it has "
        f"{shorten(', '.join(columns))}; name them: "
    )
    options = guessed | {role: "NAME" for role in lacking if role not in guessed}
    says += " ".join(f"--{role} {shlex.quote(name)}" for role, name in options.items())
    if "probability" not in options and not any("prob" in plain(name) for name in columns):
        says += f". {NO_PROBABILITY}"
    return InvalidInput(says)


@dataclass(frozen=True, eq=False)
class Contexts:
    """The contexts of recorded rounds, without the constant."""

    features: Features
    values: Floats  # (T, A, numbers before the map); A = K where each arm has its own, else 1
    own: frozenset[str] = frozenset()  # features with the range or the classes of the data

    @property
    def seen(self) -> Floats:
        """(T, A, F) What policies see of them."""
        return as_seen(self.features, self.values)

    @property
    def note(self) -> str:
        """The features in a line, with ranges and classes, and which of them are the data's own."""
        parts = [describe(feature, feature.name in self.own) for feature in self.features.declared]
        whose = " of each arm" if self.features.per_arm else ""
        mapped = f"; map {self.features.map}" if self.features.map else ""
        return f"features{whose}: {'; '.join(parts)}{mapped}"

    def hints(self, rounds: int | None, n_arms: int) -> tuple[str, ...]:
        """Return a line if the rounds of a game are few for what has to be learnt."""
        numbers = self.features.n_seen + 1
        if rounds is None or rounds >= ENOUGH * n_arms * numbers:
            return ()
        return (
            f"{rounds:,} rounds are fewer than {ENOUGH} for each of {n_arms} arms x {numbers} "
            "numbers: unless features tell the arms well apart, stay blind, or begin with a prior",
        )


def describe(feature: Feature, own: bool) -> str:
    """Return a feature with its range or classes."""
    whose = ", the data's own" if own else ""
    if feature.classes:
        return f"{feature.name} ({len(feature.classes)} classes{whose})"
    if feature.low is None:
        return feature.name
    return f"{feature.name} ({feature.low:g} to {feature.high:g}{whose})"


def read_contexts(
    source: Source,
    asked: Question,
    arms: Sequence[str],
    taken: Iterable[str | None],
    *,
    spread: bool = True,
) -> Contexts | None:
    """Return the contexts that a question asks for, a row for each row of the source, if any.

    taken     columns that are something else, which a pattern leaves out
    spread    with `per_arm`: a feature has a column for each arm, such as length_small

    Raise `InvalidInput` when a column is missing, tells nothing, or has a cell that is not allowed.
    """
    wanted, per_arm = asked.features, asked.per_arm
    if wanted is None:
        Features.of(None, n_arms=1, per_arm=per_arm, map=asked.map)  # refuses what needs some
        return None
    endings = [f"_{name}" for name in arms] if per_arm and spread else [""]
    columns = [name for name in source.frame.columns if name not in set(taken)]
    forms = named(source, wanted, [name.removesuffix(endings[0]) for name in columns
                                   if name.endswith(endings[0])])  # fmt: skip
    declared, own, cells = {}, set(), []
    for name, form in forms.items():
        group = [f"{name}{ending}" for ending in endings]
        options = {} if form is None else form
        if isinstance(options, Mapping) and not set(options) - {OPTIONAL}:
            own.add(name)
            form = form_of(source, group, options.get(OPTIONAL) is True)
        declared[name] = form
        cells.append(group)
    features = Features.of(declared, n_arms=len(arms), per_arm=per_arm, map=asked.map)
    values = [
        np.stack([encode(source, column, feature) for column in group], axis=1)
        for feature, group in zip(features.declared, cells, strict=True)
    ]
    return Contexts(features, np.concatenate(values, axis=2), frozenset(own))


def named(source: Source, wanted: Wanted, columns: Sequence[str]) -> dict[str, Any]:
    """Return the features that are wanted by name, with what is declared of them, else None."""
    if isinstance(wanted, Mapping):
        forms = dict(wanted)
    else:
        texts = wanted.split(",") if isinstance(wanted, str) else wanted
        if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
            raise invalid("features", wanted, "must be names of columns, or a mapping from them")
        forms = {}
        for text in map(str.strip, texts):
            matching = [text]
            if "*" in text or "?" in text:
                matching = list(dict.fromkeys(name for name in columns if fnmatchcase(name, text)))
            if not matching or not text:
                raise InvalidInput(
                    f"features: no column of {source.path} fits {text!r}; it has "
                    f"{shorten(', '.join(source.frame.columns))}"
                )
            forms |= dict.fromkeys(matching)
    if not forms:
        raise invalid("features", wanted, "must name at least one column")
    return forms


def form_of(source: Source, columns: Sequence[str], optional: bool) -> Any:
    """Return the range of the numbers, or the classes, in these columns together."""
    columns_read = [numbers(source, column) for column in columns]
    if all(good.all() for _, good in columns_read):
        values = np.concatenate([values for values, _ in columns_read])
        values = values[np.isfinite(values)]
        low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
        if low == high:
            raise same_everywhere(source, columns, f"{low:g}")
        return {"low": float(low), "high": float(high), OPTIONAL: optional}
    labels = sorted({label for column in columns for label in source.labels(column)})
    if len(labels) == 1:
        raise same_everywhere(source, columns, repr(labels[0]))
    if len(labels) > MOST_NUMBERS:
        place = next(place for place, (_, good) in enumerate(columns_read) if not good.all())
        row = int(np.argmin(columns_read[place][1]))
        raise source.refuse(
            row,
            columns[place],
            source.labels(columns[place])[row],
            f"is no number, and as classes the column has {len(labels):,}: at most {MOST_NUMBERS}",
        )
    return {"classes": labels}


def same_everywhere(source: Source, columns: Sequence[str], value: str) -> InvalidInput:
    """Return the refusal of a feature that tells nothing."""
    return InvalidInput(
        f"{source.path}, column {columns[0]!r}: is {value} in every row; leave this feature out"
    )


def numbers(source: Source, column: str) -> tuple[Floats, Bools]:
    """(rows,) The cells as numbers, else NaN; and whether each is a number or empty."""
    entries = source.column(column)
    if entries.dtype == pl.String:
        entries = entries.str.strip_chars().replace("", None)
    elif not (entries.dtype.is_numeric() or entries.dtype == pl.Boolean):
        return np.full(len(entries), np.nan), np.zeros(len(entries), np.bool_)
    values = entries.cast(pl.Float64, strict=False)
    good = (values.is_not_null() | entries.is_null()).to_numpy()
    return np.array(values.fill_null(np.nan).to_numpy()), good


def encode(source: Source, column: str, feature: Feature) -> Floats:
    """(rows, numbers of the feature) The column as numbers."""
    if feature.classes:
        cells: list[Any] = source.labels(column)
    else:
        values, good = numbers(source, column)
        missing = good & np.isnan(values) if feature.optional else np.zeros_like(good)
        wrong = ~(np.isfinite(values) | missing)
        if wrong.any():
            row = int(wrong.argmax())
            text = source.column(column)[row] or None
            allowed = "must be a finite number" + (", or empty" if feature.optional else "")
            raise source.refuse(row, column, text, allowed)
        cells = [None if np.isnan(value) else value for value in values.tolist()]
    encoded = {value: feature.encode(value) for value in set(cells)}
    return np.array([encoded[value] for value in cells], np.float32).astype(np.float64)
