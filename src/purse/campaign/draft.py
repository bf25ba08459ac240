"""What the tickets that are chosen for one ask change, before they are issued."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from purse.campaign import cooldown
from purse.campaign.ledger import Ledger, add_pulls
from purse.campaign.mask import Mask


class Draft:
    """What the tickets that are chosen for one ask change, before they are issued.

    left   (d,) what can be held, in units
    """

    def __init__(self, ledger: Ledger, mask: Mask | None, now: int, left: list[int]) -> None:
        head = ledger.head
        self.now = now
        self.t = head.rounds
        self.left = left
        self.owed = list(head.owed)
        self.pending, self.silent = list(head.open), list(head.silent)
        self.cooling = cooldown.read(head.cooling) if head.cooling else {}
        self.issued = head.counts["tickets"]
        self.cost_max, self.most = ledger.arms.cost_max, dict(mask.most) if mask else {}

    def need(self, arms: Sequence[int]) -> list[int]:
        """(d,) The most that these arms may cost in this ask."""
        each = [self.most.get(arm) or self.cost_max[arm] for arm in arms]
        return list(each[0]) if len(each) == 1 else [sum(part) for part in zip(*each, strict=True)]

    def take(self, ticket: dict[str, Any]) -> None:
        """Take in a ticket that was chosen."""
        arms, self.t = ticket["arms"], ticket["t"]
        self.issued += 1
        self.left = [rest - part for rest, part in zip(self.left, ticket["held"], strict=True)]
        self.owed = [arm for arm in self.owed if arm not in arms]
        add_pulls(self.pending, arms, 1)
        for arm in arms if self.silent else ():
            if arm >= 0 and self.silent[arm] >= 0:
                self.silent[arm] += 1
        cooldown.issued(self.cooling, arms, ticket["id"], self.now)
