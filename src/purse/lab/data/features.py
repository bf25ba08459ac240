"""Features of recorded rounds: the columns that policies see before they choose."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from purse.base.optional import pl
from purse.errors import InvalidInput, invalid, listed
from purse.features import MOST_NUMBERS, OPTIONAL, Feature, Features
from purse.kernels.fourier import as_seen
from purse.lab.data.question import Question, Wanted
from purse.lab.data.source import Source
from purse.lab.data.text_file import MISSING, blanked, read_cells
from purse.types import Bools, Floats

_ENOUGH = 10  # rounds for each arm and number of a context
_OR_OPTIONAL = ', or declare with features (--features @FILE): {{"{}": {{"optional": true}}}}'


@dataclass(frozen=True, eq=False)
class Contexts:
    """The contexts of recorded rounds, without the constant."""

    features: Features
    values: Floats  # (T, A, numbers before the map); A = K where each arm has its own, else 1
    own: frozenset[str] = frozenset()  # features with the range or the classes of the data

    @property
    def inputs(self) -> Floats:
        """(T, A, F) The numbers that policies see."""
        return as_seen(self.features, self.values)

    @property
    def note(self) -> str:
        """The features in a line, with ranges and classes, and which of them are the data's own."""
        parts = [_describe(feature, feature.name in self.own) for feature in self.features.declared]
        whose = " of each arm" if self.features.per_arm else ""
        mapped = f"; map {self.features.map}" if self.features.map else ""
        return f"features{whose}: {'; '.join(parts)}{mapped}"

    def hints(self, rounds: int | None, n_arms: int) -> tuple[str, ...]:
        """Return a line if the rounds of a game are few for what has to be learnt."""
        numbers = self.features.n_seen + 1
        if rounds is None or rounds >= _ENOUGH * n_arms * numbers:
            return ()
        return (
            f"{rounds:,} rounds are fewer than {_ENOUGH} for each of {n_arms} arms x {numbers} "
            "numbers: unless features tell the arms well apart, stay blind, or begin with a prior",
        )


def _describe(feature: Feature, own: bool) -> str:
    """Return a feature with its range or classes."""
    whose = ", the data's own" if own else ""
    if feature.classes:
        return f"{feature.name} ({len(feature.classes)} classes{whose})"
    if feature.low is None:
        return feature.name
    return f"{feature.name} ({feature.low:g} to {feature.high:g}{whose})"


def read_contexts(
    source: Source,
    question: Question,
    arms: Sequence[str],
    used: Iterable[str | None],
    *,
    spread: bool = True,
) -> Contexts | None:
    """Return the contexts that a question asks for, a row for each row of the source, if any.

    used      columns that are something else, which a pattern leaves out
    spread    with `per_arm`: a feature has a column for each arm, such as length_small

    Raise `InvalidInput` when a column is missing, tells nothing, or has a cell that is not allowed.
    """
    if question.features is None:
        Features.of(None, n_arms=1, per_arm=question.per_arm, map=question.map)  # which needs some
        return None
    declared, own, cells = {}, set(), []
    for name, (form, group) in _wanted_columns(source, question, arms, used, spread=spread).items():
        options = {} if form is None else form
        if isinstance(options, Mapping) and not set(options) - {OPTIONAL}:
            own.add(name)
            form = _form_of(source, group, options.get(OPTIONAL) is True)
        declared[name] = form
        cells.append(group)
    features = Features.of(declared, n_arms=len(arms), per_arm=question.per_arm, map=question.map)
    values = [
        np.stack([_encode(source, column, feature) for column in group], axis=1)
        for feature, group in zip(features.declared, cells, strict=True)
    ]
    return Contexts(features, np.concatenate(values, axis=2), frozenset(own))


def _wanted_columns(
    source: Source,
    question: Question,
    arms: Sequence[str],
    used: Iterable[str | None],
    *,
    spread: bool = True,
) -> dict[str, tuple[Any, list[str]]]:
    """Return the features that are wanted by name: what is declared of each, else None, and its
    columns; see `read_contexts`.
    """
    if question.features is None:
        return {}
    endings = [f"_{name}" for name in arms] if question.per_arm and spread else [""]
    columns = [name for name in source.frame.columns if name not in set(used)]
    names = [name.removesuffix(endings[0]) for name in columns if name.endswith(endings[0])]
    forms = _named(source, question.features, names)
    groups = {name: (form, [f"{name}{end}" for end in endings]) for name, form in forms.items()}
    later = set(used) - {question.round}
    for column in (column for _, group in groups.values() for column in group if column in later):
        allowed = "must be known before an arm is chosen; it is an arm, reward, cost or probability"
        raise invalid("features", column, allowed)
    return groups


def needed_columns(
    source: Source,
    question: Question,
    arms: Sequence[str],
    used: Iterable[str | None],
    *,
    spread: bool = True,
) -> tuple[list[str], list[str]]:
    """Return the columns of numbers and those of texts in which no cell of a feature may be
    empty.
    """
    filled: tuple[list[str], list[str]] = [], []
    for form, group in _wanted_columns(source, question, arms, used, spread=spread).values():
        optional = isinstance(form, Mapping) and form.get(OPTIONAL) is True
        if optional or (isinstance(form, (list, tuple)) and OPTIONAL in form[2:]):
            continue
        texts = any(not _numbers(source, column)[1].all() for column in group)
        filled[texts].extend(group)
    return filled


def _named(source: Source, wanted: Wanted, columns: Sequence[str]) -> dict[str, Any]:
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
                    f"{listed(source.frame.columns)}"
                )
            forms |= dict.fromkeys(matching)
    if not forms:
        raise invalid("features", wanted, "must name at least one column")
    return forms


def _form_of(source: Source, columns: Sequence[str], optional: bool) -> Any:
    """Return the range of the numbers, or the classes, in these columns together."""
    columns_read = [_numbers(source, column) for column in columns]
    if all(good.all() for _, good, _ in columns_read):
        values = np.concatenate([values for values, _, _ in columns_read])
        values = values[np.isfinite(values)]
        low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
        if low == high:
            raise _same_everywhere(source, columns, f"{low:g}")
        return {"low": float(low), "high": float(high), OPTIONAL: optional}
    labels = sorted({label for column in columns for label in source.labels(column)})
    if len(labels) == 1:
        raise _same_everywhere(source, columns, repr(labels[0]))
    if len(labels) > MOST_NUMBERS:
        index = next(i for i, (_, good, _) in enumerate(columns_read) if not good.all())
        row = int(np.argmin(columns_read[index][1]))
        raise source.refuse(
            row,
            columns[index],
            source.labels(columns[index])[row],
            f"is no number, and as classes the column has {len(labels):,}: at most {MOST_NUMBERS}",
        )
    return {"classes": labels}


def _same_everywhere(source: Source, columns: Sequence[str], value: str) -> InvalidInput:
    """Return the refusal of a feature that tells nothing."""
    return InvalidInput(
        f"{source.path}, column {columns[0]!r}: is {value} in every row; leave this feature out"
    )


def _numbers(source: Source, column: str) -> tuple[Floats, Bools, str]:
    """(rows,) The cells as numbers, else NaN; whether each is a number or empty; and how they were
    written.
    """
    entries = source.column(column)
    if entries.dtype == pl.Boolean:
        entries = entries.cast(pl.Float64)
    values, note, wrong = read_cells(entries, decimal=source.decimal)
    good = np.array(values.is_not_null() | blanked(entries, MISSING).is_null())
    if wrong is not None:
        good[wrong[0]] = False
    return np.array(values.fill_null(np.nan).to_numpy()), good, note


def _encode(source: Source, column: str, feature: Feature) -> Floats:
    """(rows, numbers of the feature) The column as numbers."""
    if feature.classes:
        cells: list[Any] = source.labels(column)
    else:
        values, good, note = _numbers(source, column)
        source.add_note(note, column)
        if not feature.optional:
            empty = blanked(source.column(column), MISSING)
            source.check_filled(column, empty, "number", _OR_OPTIONAL.format(feature.name))
        wrong = ~(np.isfinite(values) | (good & np.isnan(values)))
        if wrong.any():
            row = int(wrong.argmax())
            allowed = "must be a finite number" + (", or empty" if feature.optional else "")
            raise source.refuse(row, column, source.column(column)[row], allowed)
        cells = [None if np.isnan(value) else value for value in values.tolist()]
    encoded = {value: feature.encode(value) for value in set(cells)}
    return np.array([encoded[value] for value in cells], np.float32).astype(np.float64)
