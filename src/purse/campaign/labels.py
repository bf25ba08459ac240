"""Labels of asks: what they may be, and what the tickets of each value have cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from itertools import chain, groupby
from typing import Any, NamedTuple, TypeAlias

from purse.campaign.records import Balance
from purse.errors import invalid

LABELS = "labels"  # the word of an entry
MOST_KEYS = 8  # of a campaign
MOST_LISTED = 10_000  # labels whose sums are returned at once
LONGEST_KEY, LONGEST_VALUE = 50, 200  # characters
Label: TypeAlias = tuple[str, str]  # key and value
NAMED = f"must be text of 1 to {LONGEST_KEY} printable characters, without an equals sign"


class LabelRow(NamedTuple):
    """What the tickets with a label come to, of one resource, in units."""

    key: str
    value: str
    resource: int  # its place
    tickets: int
    spent: int
    held: int
    presumed: int
    overrun: int


class LabelSums:
    """What was booked for each label since this began."""

    def __init__(self) -> None:
        self.rows: dict[Label, list[LabelRow]] = {}  # of each resource

    def book(
        self,
        labels: Mapping[str, str],
        tickets: int,
        before: Sequence[Balance],
        after: Sequence[Balance],
    ) -> None:
        """Add tickets, and what an entry has moved of each resource."""
        for label in labels.items():
            rows = self.rows.get(label) or [
                LabelRow(*label, m, *[0] * 5) for m in range(len(after))
            ]
            self.rows[label] = [
                LabelRow(
                    *label,
                    row.resource,
                    row.tickets + tickets,
                    row.spent + new.spent - old.spent,
                    row.held + new.held - old.held,
                    row.presumed + new.presumed - old.presumed,
                    row.overrun + new.overrun - old.overrun,
                )
                for row, old, new in zip(rows, before, after, strict=True)
            ]

    def listed(self) -> list[LabelRow]:
        """All rows, in the order of keys, values and resources."""
        return sorted(chain.from_iterable(self.rows.values()))

    def restore(self, rows: Iterable[Sequence[Any]]) -> None:
        """Know what `listed` said."""
        for row in rows:
            self.rows.setdefault((row[0], row[1]), []).append(LabelRow(*row))


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
    """Whether a value is short text that can be printed."""
    return isinstance(value, str) and 1 <= len(value) <= longest and value.isprintable()


def check_keys(labels: Mapping[str, str], known: Sequence[str]) -> None:
    """Refuse labels with which a campaign that has these keys would have too many."""
    new = [key for key in labels if key not in known]
    if len(known) + len(new) > MOST_KEYS:
        allowed = f"must be one of the {MOST_KEYS} keys that a campaign has at most"
        raise invalid("labels", new[0], f"{allowed}: {', '.join(known)}")


def read_key(key: Any) -> str | None:
    """Return the key whose sums are wanted; None stands for all."""
    if key is not None and not is_text(key, LONGEST_KEY):
        raise invalid("key", key, NAMED)
    return key


def largest(rows: Iterable[LabelRow], key: str | None, limit: int) -> list[list[LabelRow]]:
    """Return the rows of at most `limit` labels, of one key or of all: those on which most was
    spent of the first resource come first, overruns included; with as much those with more tickets.

    rows   in the order of keys, values and resources
    """
    found = groupby(rows, key=lambda row: row[:2])
    labels = [list(parts) for label, parts in found if key in (None, label[0])]
    return nsmallest(limit, labels, key=lambda parts: rank(parts[0]))


def rank(row: LabelRow) -> tuple[int, int, str, str]:
    """Return the place of a label in the order of what was spent, from its first resource."""
    return -row.spent - row.overrun, -row.tickets, row.key, row.value
