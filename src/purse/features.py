"""Features: what a context holds, and how what users pass becomes the numbers that policies see.

Scaling is declared and never learnt: a running mean would change what earlier rounds meant. So is
a map, which `purse.kernels.fourier` applies where a policy looks: what is kept are the numbers
before it.
Numbers are rounded to 32 bits, so that what a journal keeps is what was seen.
"""

import math
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from purse.base.fork_safety import cached_property
from purse.base.validation import integer, number
from purse.errors import InvalidInput, invalid, shorten

_MOST_NAMES = 64
MOST_NUMBERS = 256  # of one context, all arms together
LARGEST = 1e3  # of a feature without a range
_FARTHEST = 1e12  # of the ends of a range
OPTIONAL = "optional"
_USUAL = frozenset((float, int))  # what needs no closer look
_FORMS = (
    "must be a range such as (0, 8000) or (0, 8000, 'optional'), a list of at least two classes "
    "such as ('code', 'chat'), or None"
)
_MAP = re.compile(r"fourier:([0-9]{1,4})(?:,seed=([0-9]{1,18}))?")


@dataclass(frozen=True)
class Feature:
    """One feature: a number with or without a range, or one of several classes."""

    name: str
    low: float | None = None  # the range maps to [-1, 1]
    high: float | None = None
    optional: bool = False  # a missing value is 0, and one more column says so
    classes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the numbers that the feature becomes."""
        if self.classes:
            return tuple(f"{self.name}={label}" for label in self.classes)
        return (self.name, f"{self.name} is missing") if self.optional else (self.name,)

    def encode(self, value: Any) -> list[float]:
        """Return the numbers of a value, not rounded yet.

        Raise `InvalidInput` when it is not allowed.
        """
        if self.classes:
            if not isinstance(value, str):
                raise invalid(self._field, value, "must be the name of a class")
            return [float(value == label) for label in self.classes]  # unknown: all are 0
        bound = LARGEST if self.low is None else _FARTHEST
        if type(value) in _USUAL and -bound < value < bound:
            scaled = float(value)
        elif value is None or (isinstance(value, float) and math.isnan(value)):
            if not self.optional:
                raise invalid(self._field, value, "must be a number; the feature is not optional")
            return [0.0, 1.0]
        else:
            bound = bound if self.low is None else math.inf
            scaled = number(self._field, _plain(value), low=-bound, high=bound)
        if self.low is not None and self.high is not None:
            scaled = 2 * (scaled - self.low) / (self.high - self.low) - 1
            if not -1 <= scaled <= 1:
                scaled = math.copysign(1.0, scaled)
        return [scaled, 0.0] if self.optional else [scaled]

    def in_units(self, number: float) -> float:
        """Return a number that `encode` mapped to [-1, 1] in the user's unit."""
        if self.low is None or self.high is None:
            return number
        return float(f"{self.low + (number + 1) / 2 * (self.high - self.low):.6g}")  # of 32 bits

    def clips(self, value: Any) -> bool:
        """Return whether a value that `encode` took lies outside the range, if there is one."""
        if self.low is None or self.high is None or value is None or isinstance(value, str):
            return False
        return not (math.isnan(value) or self.low <= value <= self.high)

    def as_dict(self) -> dict[str, Any]:
        """Return the declaration for JSON."""
        if self.classes:
            return {"classes": list(self.classes)}
        bounds = {} if self.low is None else {"low": self.low, "high": self.high}
        return {**bounds, **({OPTIONAL: True} if self.optional else {})}

    @cached_property
    def _field(self) -> str:
        return f"context[{self.name!r}]"


class Waves(NamedTuple):
    """A random Fourier map: how many cosines it adds, and the seed of their random numbers."""

    size: int
    seed: int = 0

    @classmethod
    def of(cls, text: Any) -> "Waves | None":
        """Return the map from what users write, such as "fourier:48,seed=1"; None: no map.

        Raise `InvalidInput` when it is not allowed.
        """
        if text is None:
            return None
        match = _MAP.fullmatch(text) if isinstance(text, str) else None
        if match is None or not 1 <= int(match[1]) <= MOST_NUMBERS:
            allowed = f"must be fourier:N or fourier:N,seed=S, with N from 1 to {MOST_NUMBERS}"
            raise invalid("map", text, allowed)
        return cls(int(match[1]), int(match[2] or 0))

    def __str__(self) -> str:
        return f"fourier:{self.size},seed={self.seed}"


@dataclass(frozen=True)
class Features:
    """The features of a context, in order.

    per_arm   whether each of `n_arms` arms has a context of its own
    waves     the map that adds numbers which policies see, too; None: none
    """

    declared: tuple[Feature, ...] = ()
    per_arm: bool = False
    n_arms: int = field(default=1)
    waves: Waves | None = None

    @classmethod
    def of(
        cls, declared: Any, *, n_arms: int, per_arm: bool = False, map: str | None = None
    ) -> "Features":
        """Return the features from what users write.

        declared   None or 0: no features; a number of unnamed ones; a list of names; or a mapping
                   from names to a range (low, high), (low, high, "optional"), classes, None, or
                   what `as_dict` returns
        map        as `Waves.of` reads it

        Raise `InvalidInput` when a declaration is not allowed.
        """
        if not isinstance(per_arm, bool):
            raise invalid("per_arm", per_arm, "must be True or False")
        features = cls(tuple(_read_all(declared)), per_arm, n_arms, Waves.of(map))
        size = features.n_seen * (n_arms if per_arm else 1)
        if size > MOST_NUMBERS:
            raise invalid("features", size, f"must be at most {MOST_NUMBERS} numbers in all")
        for name, value in (("per_arm", per_arm), ("map", map)):
            if value and not features.declared:
                raise invalid(name, value, "needs features")
        return features

    def __bool__(self) -> bool:
        return bool(self.declared)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the numbers of a context, of one arm's if `per_arm`."""
        return tuple(column for feature in self.declared for column in feature.columns)

    def in_units(self, numbers: Sequence[float]) -> list[float]:
        """Return the numbers of a context in the user's unit."""
        pairs = [(feature, column) for feature in self.declared for column in feature.columns]
        return [
            feature.in_units(number) if column == feature.name else number
            for (feature, column), number in zip(pairs, numbers, strict=False)
        ]

    @property
    def owners(self) -> tuple[str, ...]:
        """The name of the feature that each of the numbers belongs to."""
        return tuple(feature.name for feature in self.declared for _ in feature.columns)

    @property
    def n_columns(self) -> int:
        """The numbers of a context as they are kept, without the constant."""
        return len(self.columns)

    @property
    def n_seen(self) -> int:
        """F, the numbers of a context that policies see, without the constant."""
        return self.n_columns + (0 if self.waves is None else self.waves.size)

    @property
    def map(self) -> str | None:
        """The map as text; None without one."""
        return None if self.waves is None else str(self.waves)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(feature.name for feature in self.declared)

    def as_dict(self) -> dict[str, Any]:
        """Return the declaration for JSON."""
        return {feature.name: feature.as_dict() for feature in self.declared}

    def encode(self, context: Any, arms: Sequence[str] = ()) -> tuple[float, ...]:
        """Return the numbers of a context: (F,), or (K F,) arm after arm if `per_arm`.

        context   a mapping from names, or a list of values in order; if `per_arm`, a mapping
                  from arms, or a list with one for each arm
        arms      the names of the arms, if they have any

        Raise `InvalidInput` when a value is missing, not known or not allowed.
        """
        if not self.declared:
            if context is not None:
                raise invalid("context", context, "must be left out; no features are declared")
            return ()
        if context is None:
            raise InvalidInput(f"context: is missing; the features are {', '.join(self.names)}")
        if not self.per_arm:
            return self._encode_one(context)
        if isinstance(context, Mapping):
            context = _in_order(context, tuple(arms) or tuple(range(self.n_arms)), "arms")
        elif not isinstance(context, (Sequence, np.ndarray)) or isinstance(context, str):
            raise invalid("context", context, "must be a list with one entry for each arm")
        if len(context) != self.n_arms:
            raise invalid("context", context, f"must have one entry for each of {self.n_arms} arms")
        return tuple(value for one in context for value in self._encode_one(one))

    def count_clipped(self, context: Any) -> int:
        """Return how many values of a context that `encode` took lie outside their ranges."""
        contexts = context.values() if isinstance(context, Mapping) else context
        return sum(map(self._count_one, contexts)) if self.per_arm else self._count_one(context)

    def _count_one(self, context: Any) -> int:
        if not self.declared or context is None:
            return 0
        values = (
            [context.get(name) for name in self.names] if isinstance(context, Mapping) else context
        )
        return sum(
            feature.clips(value) for feature, value in zip(self.declared, values, strict=True)
        )

    @cached_property
    def _missing_ok(self) -> dict[str, None]:
        return {feature.name: None for feature in self.declared if feature.optional}

    @cached_property
    def _ranges(self) -> tuple[tuple[float, float], ...]:
        """The range of each feature that becomes one number by it; an empty one for others."""
        empty = math.inf, -math.inf
        return tuple(
            empty
            if feature.low is None or feature.high is None or feature.optional
            else (feature.low, feature.high)
            for feature in self.declared
        )

    @cached_property
    def _singles(self) -> struct.Struct:
        return struct.Struct(f"{self.n_columns}f")

    def _in_order(self, context: Any) -> Any:
        if isinstance(context, (dict, Mapping)):
            return _in_order({**self._missing_ok, **context}, self.names, "features")
        if not isinstance(context, (Sequence, np.ndarray)) or isinstance(context, str):
            raise invalid("context", context, "must be an object by names, or a list of values")
        return context

    def _encode_one(self, context: Any) -> tuple[float, ...]:
        if not isinstance(context, (list, tuple)):  # at once: they are usual
            context = self._in_order(context)
        if len(context) != len(self.declared):
            raise invalid(
                "context",
                context,
                f"must have {len(self.declared)} values: {', '.join(self.names)}",
            )
        numbers = [
            2 * (value - low) / (high - low) - 1
            for (low, high), value in zip(self._ranges, context, strict=True)
            if type(value) in _USUAL and low <= value <= high
        ]
        if len(numbers) < len(self.declared):  # some are not plain numbers within their ranges
            pairs = zip(self.declared, context, strict=True)
            numbers = [number for feature, value in pairs for number in feature.encode(value)]
        return self._singles.unpack(self._singles.pack(*numbers))


def _in_order(context: Mapping[Any, Any], names: Sequence[Any], what: str) -> list[Any]:
    """Return the values by names; refuse names that are missing or not known."""
    if context.keys() != set(names):
        unknown = [name for name in context if name not in names]
        missing = [name for name in names if name not in context]
        wrong = f"has no {what}: " if missing else f"has unknown {what}: "
        listed = ", ".join(repr(name) for name in (missing or unknown)[:8])
        allowed = shorten(", ".join(map(str, names[:16])))
        raise InvalidInput(f"context: {wrong}{shorten(listed)}; the {what} are {allowed}")
    return [context[name] for name in names]


def _read_all(declared: Any) -> list[Feature]:
    if declared is None:
        return []
    if isinstance(declared, (Mapping, list, tuple)) and len(declared) > _MOST_NAMES:
        raise invalid("features", len(declared), f"must be at most {_MOST_NAMES}")
    if isinstance(declared, Mapping):
        features = [_read(name, form) for name, form in declared.items()]
    elif isinstance(declared, (list, tuple)):
        features = [_read(name, None) for name in declared]
    else:
        count = integer("features", declared, low=0, high=_MOST_NAMES)
        features = [Feature(f"x{k}") for k in range(count)]
    if len({feature.name for feature in features}) < len(features):
        raise invalid(
            "features", [feature.name for feature in features], "must have different names"
        )
    return features


def _read(name: Any, form: Any) -> Feature:
    """Return one feature from its name and what users write."""
    if not isinstance(name, str) or not name.strip() or len(name) > 100:
        raise invalid("features", name, "must have names of 1 to 100 characters")
    where = f"features[{name!r}]"
    optional = False
    if isinstance(form, Mapping):
        if unknown := set(form) - {"low", "high", OPTIONAL, "classes"}:
            raise invalid(where, sorted(map(str, unknown)), "must be low, high, optional, classes")
        optional = form.get(OPTIONAL, False)
        if not isinstance(optional, bool):
            raise invalid(f"{where}.optional", optional, "must be true or false")
        if "classes" in form:
            if len(form) > 1:
                raise invalid(where, dict(form), "has classes, so it has nothing else")
            form = form["classes"]
            if not isinstance(form, (list, tuple)) or not all(isinstance(x, str) for x in form):
                raise invalid(where, form, "must have classes that are names")
        elif ("low" in form) != ("high" in form):
            raise invalid(where, dict(form), "must have both low and high, or none")
        else:
            form = (form["low"], form["high"]) if "low" in form else None
    if form is None:
        return Feature(name, optional=optional)
    if not isinstance(form, (list, tuple)):
        raise invalid(where, form, _FORMS)
    if len(form) == 3 and form[2] == OPTIONAL and not isinstance(form[0], str):
        form, optional = form[:2], True
    if form and all(isinstance(label, str) for label in form):
        if len(form) < 2 or len(set(form)) < len(form):
            raise invalid(where, list(form), "must be at least two different classes")
        return Feature(name, classes=tuple(form))
    if len(form) != 2:
        raise invalid(where, list(form), _FORMS)
    low, high = (number(where, _plain(bound), low=-_FARTHEST, high=_FARTHEST) for bound in form)
    if not low < high:
        raise invalid(where, list(form), "must have a low below its high")
    return Feature(name, low, high, optional)


def _plain(value: Any) -> Any:
    """Return a truth value as 0 or 1, and a NumPy number as one of Python."""
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    return value.item() if isinstance(value, np.generic) else value
