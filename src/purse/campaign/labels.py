"""Labels of asks: what they may be, and what the tickets of each value have cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from purse.campaign.records import Balance, Move, moved
from purse.errors import invalid

MOST_KEYS = 8  # of a campaign
MOST_LISTED = 10_000  # labels whose sums are returned at once
LONGEST_KEY, LONGEST_VALUE = 50, 200  # characters
Label: TypeAlias = tuple[str, str]  # key and value
NAMED = f"must be text of 1 to {LONGEST_KEY} printable characters, without an equals sign"


class Sums:
    """What was booked for each label since this object was made: a balance without a budget."""

    def __init__(self) -> None:
        self.rows: dict[Label, tuple[int, list[Balance]]] = {}  # tickets, and each resource

    def book(self, labels: Mapping[str, str], tickets: int, move: Move) -> None:
        """Add tickets, and what they have moved of each resource."""
        for label in labels.items():
            before, sums = self.rows.get(label, (0, [Balance()] * len(move)))
            self.rows[label] = before + tickets, moved(sums, move)


def read_labels(labels: Any) -> dict[str, str] | None:
    """Return the labels of an ask in the order of their keys; None where there are none.

    Raise `InvalidInput` where they are not short text, or too many.
    """
    if labels is None:
        return None
    if not isinstance(labels, Mapping) or len(labels) > MOST_KEYS:
        raise invalid("labels", labels, f"must be at most {MOST_KEYS} keys with their values")
    for key, value in labels.items():
        if not is_text(key, LONGEST_KEY) or "=" in key:
            raise invalid("labels", key, f"a key {NAMED}")
        if not is_text(value, LONGEST_VALUE):
            allowed = f"must be text of 1 to {LONGEST_VALUE} printable characters"
            raise invalid(f"labels[{key!r}]", value, allowed)
    return {key: labels[key] for key in sorted(labels)} or None


def is_text(value: Any, longest: int) -> bool:
    """Return whether a value is short text that can be printed."""
    return isinstance(value, str) and 1 <= len(value) <= longest and value.isprintable()


def check_keys(keys: Iterable[str], known: Sequence[str]) -> None:
    """Raise `InvalidInput` if a campaign with the known keys of labels would have too many."""
    new = [key for key in keys if key not in known]
    if len(known) + len(new) > MOST_KEYS:
        allowed = f"must be one of the {MOST_KEYS} keys that a campaign has at most"
        raise invalid("labels", new[0], f"{allowed}: {', '.join(sorted(known))}")


def read_key(key: Any) -> str | None:
    """Return the key whose sums are wanted; None stands for all."""
    if key is not None and not is_text(key, LONGEST_KEY):
        raise invalid("key", key, NAMED)
    return key
