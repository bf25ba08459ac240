"""What users give by the names of arms and resources, checked and put in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from purse.errors import invalid, unknown


def names(field: str, values: Any) -> tuple[str, ...]:
    """Different names, at least one."""
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise invalid(field, values, "must be a list of names")
    for value in values:
        if (
            not isinstance(value, str)
            or not 1 <= len(value) <= 200
            or not value.isprintable()
            or value != value.strip()
        ):
            raise invalid(field, value, "must be a printable name of at most 200 characters")
    if len(set(values)) < len(values):
        raise invalid(field, list(values), "must be different names")
    return tuple(values)


def by_name(field: str, value: Any, known: Sequence[str], kind: str) -> Any:
    """A dict of names as a list in order; anything else as it is."""
    if not isinstance(value, Mapping):
        return value
    for name in value:
        if name not in known:
            raise unknown(f"{kind} in {field}", str(name), known)
    if missing := [name for name in known if name not in value]:
        raise invalid(field, dict(value), f"must have an entry for the {kind} {missing[0]!r} too")
    return [value[name] for name in known]


def in_order(field: str, value: Any, arms: Sequence[str], resources: Sequence[str]) -> Any:
    """What is given per arm, and per resource within an arm, in order."""
    rows = by_name(field, value, arms, "arm")
    return (
        [by_name(field, row, resources, "resource") for row in rows]
        if isinstance(rows, (list, tuple))
        else rows
    )
