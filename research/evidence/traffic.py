"""A campaign in real traffic: `python -m research.evidence.traffic`.

An arm that is down from the start, or goes down after 2,000 rounds, or for a time; failures of 50
calls in flight; and what is left at the end. Calls come every 100 ms on a clock of its own.
"""

import random
from collections.abc import Callable, Collection
from typing import Any

import click

from purse import AskRefused
from purse.campaign.campaign import Campaign
from purse.campaign.storage.connect import in_memory
from purse.cli import execute
from purse.errors import ArmsCoolingDown
from research.commands import quick_option

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
        counts = {"answered": 0, "failed": 0, "refused": 0, **dict.fromkeys(QUALITY, 0)}
        for turn in range(count):
            self.time += EVERY
            try:
                ticket = self.campaign.ask()
            except ArmsCoolingDown:
                counts["refused"] += 1
                continue
            arm = ticket.arm
            counts[arm] += 1
            if arm in down(turn):
                self.campaign.fail(ticket, 0, reason="503")
                counts["failed"] += 1
            else:
                reward = float(self.rng.random() < QUALITY[arm])
                self.campaign.tell(ticket, reward, "0.005")
                counts["answered"] += 1
        return counts


def money_left(budget: int) -> str:
    """Return the rest of a budget when the dear arm no longer fits."""
    arms = {"cheap": "0.02", "dear": "0.9"}
    traffic = Traffic(arms=arms, budget=budget, policy="ucb-bv1")
    try:
        while True:
            ticket = traffic.campaign.ask()
            dear = ticket.arm == "dear"
            traffic.campaign.tell(ticket, float(dear), "0.05" if dear else "0.02")
    except AskRefused:
        return traffic.campaign.status().purses[0].left


@click.command()
@quick_option
def main(quick: bool) -> None:
    """Print how many calls are answered, fail and are refused, by the fate of an arm."""
    count = 20 if quick else 2_000
    print("down from the start:", Traffic().calls(count, lambda _: {"a"}))
    later = Traffic()
    later.calls(count, lambda _: ())
    best = max(QUALITY, key=lambda arm: QUALITY[arm])
    print(f"down after {count:,} rounds:", later.calls(count, lambda _: {best}))
    print("after recovery:", later.calls(2 * count, lambda _: ()))
    flight = Traffic()
    for ticket in flight.campaign.ask_many(50, arms=["c"]):
        flight.campaign.fail(ticket, 0)
    print("50 failures in flight:", flight.campaign.status().cooling)
    print(f"left at the end of a budget of 1: {money_left(1)}")


if __name__ == "__main__":
    execute(main, "python -m research.evidence.traffic")
