"""Labels of asks: what they may be, and what the tickets of each value have cost.

A key has at most `MOST_VALUES` values of its own; what comes beyond is summed as `other`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from purse.campaign.records import Balance
from purse.errors import invalid

LABELS, OTHER = "labels", "other"  # the words of an entry; `other` is a value, too
MOST_KEYS = 8  # of a campaign
MOST_VALUES = 1_000  # of a key, besides `other`
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
    """What was booked for each label since this began, and which values are known."""

    def __init__(self) -> None:
        self.rows: dict[Label, list[LabelRow]] = {}  # of each resource
        self.known: set[Label] = set()  # values that had tickets before

    def __contains__(self, label: Label) -> bool:
        return label[1] == OTHER or label in self.known or label in self.rows

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


def wanted(labels: Mapping[str, str] | None) -> tuple[Label, ...]:
    """Return the labels of an ask of which it must be known whether they had tickets before."""
    return tuple(label for label in labels.items() if label[1] != OTHER) if labels else ()


def beyond(labels: Mapping[str, str], counts: Mapping[str, int], sums: LabelSums) -> list[str]:
    """Return the keys whose value is to be summed as `other`.

    counts   the values of each key so far

    Raise `InvalidInput` where the campaign would have too many keys.
    """
    new = [key for key in labels if key not in counts]
    if len(counts) + len(new) > MOST_KEYS:
        allowed = f"must be one of the {MOST_KEYS} keys that a campaign has at most"
        raise invalid("labels", new[0], f"{allowed}: {', '.join(sorted(counts))}")
    return [
        key
        for key, value in labels.items()
        if (key, value) not in sums and counts.get(key, 0) >= MOST_VALUES
    ]


def booked(ask: Mapping[str, Any]) -> dict[str, str]:
    """Return the labels under which an ask is summed; none where it has none."""
    if LABELS not in ask:
        return {}
    other = ask.get(OTHER, ())
    return {key: OTHER if key in other else value for key, value in ask[LABELS].items()}
