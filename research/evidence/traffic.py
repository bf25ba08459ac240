"""What a campaign does in real traffic: `python -m research.evidence.traffic`.

An arm that is down from the start, or goes down after 2,000 rounds, or for a time; failures of 50
calls in flight; and what is left at the end. Calls come every 100 ms on a clock of its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from typing import Any

from purse import AskRefused
from purse.campaign.campaign import Campaign
from purse.campaign.storage.connect import in_memory
from purse.errors import ArmsCoolingDown

QUALITY = {"a": 0.5, "b": 0.6, "c": 0.8}
TERMS: dict[str, Any] = {
    "arms": {"a": "0.01", "b": "0.02", "c": "0.03"},
    "budget": 1_000,
    "cost_min": "0.001",
}
EVERY = 100  # ms between two calls


class Traffic:
    """A campaign in memory, with a clock of its own."""

    def __init__(self, **terms: Any) -> None:
        self.storage, self.time, self.rng = in_memory(), 1_000_000, random.Random(0)
        self.storage.now = lambda: self.time
        self.campaign = Campaign.create("traffic", **{**TERMS, **terms}, storage=self.storage)

    def calls(self, count: int, down: Callable[[int], Collection[str]]) -> dict[str, int]:
        """Return how many calls were answered, failed and refused, and how many each arm got."""
        seen = {"answered": 0, "failed": 0, "refused": 0, **dict.fromkeys(QUALITY, 0)}
        for turn in range(count):
            self.time += EVERY
            try:
                ticket = self.campaign.ask()
            except ArmsCoolingDown:
                seen["refused"] += 1
                continue
            arm = ticket.arm or ""
            seen[arm] += 1
            if arm in down(turn):
                self.campaign.fail(ticket, reason="503")
                seen["failed"] += 1
            else:
                reward = float(self.rng.random() < QUALITY[arm])
                self.campaign.tell(ticket, reward, "0.005")
                seen["answered"] += 1
        return seen


def stranded() -> str:
    """Return what is left of a budget of 1 when the dear arm no longer fits."""
    arms = {"cheap": "0.02", "dear": "0.9"}
    traffic = Traffic(arms=arms, budget=1, policy="ucb-bv1")
    try:
        while True:
            ticket = traffic.campaign.ask()
            dear = ticket.arm == "dear"
            traffic.campaign.tell(ticket, float(dear), "0.05" if dear else "0.02")
    except AskRefused:
        return traffic.campaign.status().purses[0].left


def main() -> None:
    """Print what happens."""
    print("down from the start:", Traffic().calls(2_000, lambda _: {"a"}))
    later = Traffic()
    later.calls(2_000, lambda _: ())
    best = max(QUALITY, key=lambda arm: QUALITY[arm])
    print("down after 2,000 rounds:", later.calls(2_000, lambda _: {best}))
    print("after recovery:", later.calls(4_000, lambda _: ()))
    flight = Traffic()
    for ticket in flight.campaign.ask_many(50, arms=["c"]):
        flight.campaign.fail(ticket)
    print("50 failures in flight:", flight.campaign.status().cooling)
    print(f"left at the end of a budget of 1: {stranded()}")


if __name__ == "__main__":
    main()
