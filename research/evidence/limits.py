"""A limit for each user beside a campaign for each: `python -m research.evidence.limits`.

Two arms are good in 30% and 90% of calls, and each of 100 users has money for six calls.
"""

import random
from statistics import mean, stdev
from typing import Any

import click

from purse import Campaign
from purse.campaign.storage.connect import in_memory
from purse.cli import execute
from research.commands import quick_option

USERS, CALLS = 100, 6
GOOD = {"weak": 0.3, "strong": 0.9}
WAYS: dict[str, tuple[int, dict[str, Any]]] = {
    "one campaign with limits": (1, {"limits": {"user": CALLS}}),
    "one campaign without": (1, {}),
    "a campaign for each user": (USERS, {}),
}


def share(n_campaigns: int, terms: dict[str, Any], seed: int) -> float:
    """Return the share of good answers in a game in which users call in any order."""
    draw, storage, good = random.Random(seed), in_memory(), 0
    campaigns = [
        Campaign.create(
            f"c{number}",
            arms=dict.fromkeys(GOOD, 1),
            budget=USERS * CALLS // n_campaigns,
            seed=seed * USERS + number,
            storage=storage,
            **terms,
        )
        for number in range(n_campaigns)
    ]
    calls = [user for user in range(USERS) for _ in range(CALLS)]
    draw.shuffle(calls)
    for user in calls:
        campaign = campaigns[user % n_campaigns]
        ticket = campaign.ask(labels={"user": f"u{user}"})
        is_good = draw.random() < GOOD[ticket.arm]
        campaign.tell(ticket, int(is_good), 1)
        good += is_good
    return good / len(calls)


@click.command()
@quick_option
def main(quick: bool) -> None:
    """Print the share of good answers, with its standard error over games."""
    for name, (n_campaigns, terms) in WAYS.items():
        shares = [share(n_campaigns, terms, seed) for seed in range(2 if quick else 20)]
        error = stdev(shares) / len(shares) ** 0.5
        print(f"{name}: {mean(shares):.1%} ± {error:.1%}")


if __name__ == "__main__":
    execute(main, "python -m research.evidence.limits")
