"""Columns of recorded rounds as features: a context for each round, or for each arm in it.

A column of numbers has the range of the data, and a column of texts the classes that occur, unless
a range or classes are declared. Both are facts of the data at hand: a policy that is to play live
later must declare the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from purse.errors import InvalidInput, invalid, shorten
from purse.features import MOST_NUMBERS, OPTIONAL, Feature, Features
from purse.lab.offline.source import Source
from purse.types import Bools, Floats

Wanted = str | Sequence[str] | Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Contexts:
    """The contexts of recorded rounds, without the constant."""

    features: Features
    values: Floats  # (T, A, F) as policies see them; A = K where each arm has its own, else 1
    own: frozenset[str] = frozenset()  # features with the range or the classes of the data

    @property
    def note(self) -> str:
        """The features in a line, with ranges and classes, and which of them are the data's own."""
        parts = [describe(each, each.name in self.own) for each in self.features.each]
        return f"features{' of each arm' if self.features.per_arm else ''}: {'; '.join(parts)}"


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
    wanted: Wanted,
    *,
    arms: Sequence[str],
    per_arm: bool = False,
    spread: bool = False,
    taken: Iterable[str] = (),
) -> Contexts:
    """Return the contexts in these columns, a row for each row of the source.

    wanted    names of columns, or patterns such as "x_*", as a list or with commas between them; or
              a mapping from names to what `Features.of` takes, None: as the data is
    spread    with `per_arm`: a feature has a column for each arm, such as length_small
    taken     columns that are something else, which a pattern leaves out

    Raise `InvalidInput` when a column is missing, tells nothing, or has a cell that is not allowed.
    """
    endings = [f"_{name}" for name in arms] if per_arm and spread else [""]
    columns = [name for name in source.frame.columns if name not in set(taken)]
    forms = named(source, wanted, [name.removesuffix(endings[0]) for name in columns
                                   if name.endswith(endings[0])])  # fmt: skip
    declared, own, cells = {}, set(), []
    for name, form in forms.items():
        group = [f"{name}{ending}" for ending in endings]
        if is_open(form):
            own.add(name)
            form = form_of(source, group, isinstance(form, Mapping) and form.get(OPTIONAL) is True)
        declared[name] = form
        cells.append(group)
    features = Features.of(declared, n_arms=len(arms), per_arm=per_arm)
    values = [
        np.stack([encode(source, column, feature) for column in group], axis=1)
        for feature, group in zip(features.each, cells, strict=True)
    ]
    return Contexts(features, np.concatenate(values, axis=2), frozenset(own))


def named(source: Source, wanted: Wanted, columns: Sequence[str]) -> dict[str, Any]:
    """Return the features that are wanted by name, with what is declared of them, else None."""
    if isinstance(wanted, Mapping):
        forms = dict(wanted)
    else:
        texts = wanted.split(",") if isinstance(wanted, str) else wanted
        if not isinstance(texts, (list, tuple)) or not all(isinstance(each, str) for each in texts):
            raise invalid("features", wanted, "must be names of columns, or a mapping from them")
        forms = {}
        for text in map(str.strip, texts):
            found = [text]
            if "*" in text or "?" in text:
                found = list(dict.fromkeys(name for name in columns if fnmatchcase(name, text)))
            if not found or not text:
                raise InvalidInput(
                    f"features: no column of {source.path} fits {text!r}; it has "
                    f"{shorten(', '.join(source.frame.columns))}"
                )
            forms |= dict.fromkeys(found)
    if not forms:
        raise invalid("features", wanted, "must name at least one column")
    return forms


def is_open(form: Any) -> bool:
    """Return whether a declaration leaves range and classes to the data."""
    return form is None or (isinstance(form, Mapping) and not set(form) - {OPTIONAL})


def form_of(source: Source, columns: Sequence[str], optional: bool) -> Any:
    """Return the range of the numbers, or the classes, in these columns together."""
    found = [numbers(source, column) for column in columns]
    if all(good.all() for _, good in found):
        values = np.concatenate([values for values, _ in found])
        values = values[np.isfinite(values)]
        low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
        if low == high:
            raise same_everywhere(source, columns, f"{low:g}")
        return {"low": float(low), "high": float(high), OPTIONAL: optional}
    labels = sorted({label for column in columns for label in source.labels(column)})
    if len(labels) == 1:
        raise same_everywhere(source, columns, repr(labels[0]))
    if len(labels) > MOST_NUMBERS:
        place = next(place for place, (_, good) in enumerate(found) if not good.all())
        row = int(np.argmin(found[place][1]))
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
    """(rows,) The cells as numbers, not a number where they are empty or texts; and whether each
    is a number or empty.
    """
    import polars as pl

    entries = source.column(column)
    if entries.dtype == pl.String:
        entries = entries.str.strip_chars().replace("", None)
    elif not (entries.dtype.is_numeric() or entries.dtype == pl.Boolean):
        return np.full(len(entries), np.nan), np.zeros(len(entries), np.bool_)
    values = entries.cast(pl.Float64, strict=False)
    good = (values.is_not_null() | entries.is_null()).to_numpy()
    return np.array(values.fill_null(np.nan).to_numpy()), good


def encode(source: Source, column: str, feature: Feature) -> Floats:
    """(rows, numbers of the feature) The column as policies see it."""
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
    known = {value: feature.encode(value) for value in set(cells)}
    return np.array([known[value] for value in cells], np.float32).astype(np.float64)
