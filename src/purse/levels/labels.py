"""Labels of asks: what the tickets of each value have cost.

The sums of a label are a balance without a budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from purse.errors import invalid
from purse.levels.records import Balance, Move, moved

MOST_KEYS = 8
Label = tuple[str, str]  # key and value


class Sums:
    """What was booked for each label since this object was made."""

    def __init__(self) -> None:
        self.rows: dict[Label, tuple[int, list[Balance]]] = {}  # tickets, and each resource

    def book(self, labels: Mapping[str, str], tickets: int, move: Move) -> None:
        """Add tickets, and what they have moved of each resource."""
        for label in labels.items():
            before, sums = self.rows.get(label, (0, [Balance()] * len(move)))
            self.rows[label] = before + tickets, moved(sums, move)


def check_keys(keys: Iterable[str], known: Sequence[str]) -> None:
    """Raise `InvalidInput` if a campaign with the known keys of labels would have too many."""
    new = [key for key in keys if key not in known]
    if len(known) + len(new) > MOST_KEYS:
        allowed = f"must be one of the {MOST_KEYS} keys that a campaign has at most"
        raise invalid("labels", new[0], f"{allowed}: {', '.join(sorted(known))}")
