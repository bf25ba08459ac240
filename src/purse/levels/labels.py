"""Labels of asks: what the tickets of each value have cost.

The sums of a label are a balance without a budget. A key has at most `MOST_VALUES` values of its
own; what comes beyond is summed as `other`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from purse.errors import invalid
from purse.levels.records import Balance, Move, moved

OTHER = "other"
MOST_KEYS, MOST_VALUES = 8, 1_000
Label = tuple[str, str]  # key and value


class Sums:
    """What was booked for each label since this began, and which values are known."""

    def __init__(self) -> None:
        self.rows: dict[Label, tuple[int, list[Balance]]] = {}  # tickets, and each resource
        self.known: set[Label] = set()  # values that had tickets before

    def __contains__(self, label: Label) -> bool:
        return label[1] == OTHER or label in self.known or label in self.rows

    def book(self, labels: Mapping[str, str], tickets: int, move: Move) -> None:
        """Add tickets, and what they have moved of each resource."""
        for label in labels.items():
            before, sums = self.rows.get(label, (0, [Balance()] * len(move)))
            self.rows[label] = before + tickets, moved(sums, move)


def beyond(labels: Mapping[str, str], counts: Mapping[str, int], sums: Sums) -> list[str]:
    """Return the keys whose value is to be summed as `other`; `counts` are the values of each key.

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
    other = ask.get("other", ())
    return {key: OTHER if key in other else value for key, value in ask.get("labels", {}).items()}
