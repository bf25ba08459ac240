"""Route calls to language models through a campaign: list prices, threads, failures, late reports,
and a crash in the middle.

`route_llm_calls.py` is the same idea in one process and in memory. Here the budget is in a file, so
it outlives the process: the first one is killed while its calls are under way, and the next goes on
with what is left.

The calls are made up (`call` below), the prices are not; put your calls in its place. Run it:
python examples/route_llm_calls_live.py [FILE]
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path

import purse

# US dollars per million tokens, prompt and answer: OpenAI's public list prices in March 2026
PRICES = {
    "gpt-5-mini": ("0.25", "2.00"),
    "gpt-5.4-mini": ("0.75", "4.50"),
    "gpt-5.4": ("2.50", "15.00"),
}
QUALITY = {"gpt-5-mini": 0.62, "gpt-5.4-mini": 0.74, "gpt-5.4": 0.81}  # made up
# tokens of prompt and answer; `max_tokens` makes the provider stop there
FEWEST, MOST = (100, 20), (2_000, 500)
# seconds until a ticket expires; take an hour for real calls
BUDGET, THREADS, PATIENCE = "0.75", 8, 2.0


class ProviderError(Exception):
    """The provider refused, and charges nothing."""


def price(model: str, tokens: tuple[int, int]) -> Decimal:
    """Return what a call costs, exactly."""
    return sum(
        (
            Decimal(dollars) * count / 1_000_000
            for dollars, count in zip(PRICES[model], tokens, strict=True)
        ),
        Decimal(0),
    )


def call(model: str) -> tuple[float, Decimal]:
    """Return a call: its quality from 0 to 1, and its price."""
    time.sleep(0.001)
    if random.random() < 0.03:
        raise ProviderError
    tokens = random.randint(FEWEST[0], MOST[0]), random.randint(FEWEST[1], MOST[1])
    return float(random.random() < QUALITY[model]), price(model, tokens)


def spend(campaign: purse.Campaign, late: list[tuple[int, float, Decimal]]) -> Counter[str]:
    """Make calls until no more can be paid; one in fifty is reported only afterwards."""
    calls: Counter[str] = Counter()
    while True:
        try:
            ticket = campaign.ask()
        except purse.errors.ArmsCoolingDown as cooling:
            time.sleep(cooling.seconds)
            continue
        except purse.AskRefused as over:
            if (
                not isinstance(over, purse.errors.BudgetHeld)
                or not campaign.status().counts["held"]
            ):
                return calls
            time.sleep(0.02)  # what is held may come back
            continue
        try:
            quality, dollars = call(ticket.arm)
        except ProviderError:
            campaign.fail(ticket, 0, reason="provider error")
            continue
        calls[ticket.arm] += 1
        if random.random() < 0.02:
            late.append((ticket.id, quality, dollars))
        else:
            campaign.tell(ticket, quality, dollars)


def run(storage: str) -> tuple[Counter[str], list[tuple[int, float, Decimal]]]:
    """Open the campaign and spend with several threads at once."""
    campaign = purse.Campaign.open("prompts", storage=storage)
    late: list[tuple[int, float, Decimal]] = []
    with ThreadPoolExecutor(THREADS) as threads:
        parts = list(threads.map(lambda _: spend(campaign, late), range(THREADS)))
    return sum(parts, Counter()), late


def main(folder: str) -> None:
    """Crash once, go on, and count."""
    storage = f"sqlite:///{sys.argv[1] if len(sys.argv) > 1 else Path(folder) / 'purse.db'}"
    campaign = purse.Campaign.create(
        "prompts",
        arms={model: price(model, MOST) for model in PRICES},
        cost_min=[price(model, FEWEST) for model in PRICES],
        budget=BUDGET,
        resources=["USD"],
        expires_after=PATIENCE,
        cooldown=0.02,  # seconds; calls take a millisecond here
        storage=storage,
    )
    first = get_context("spawn").Process(target=run, args=(storage,))
    first.start()
    while campaign.status().counts["told"] < 50 and first.is_alive():
        time.sleep(0.01)
    first.kill()
    first.join()
    (usd,) = campaign.status().purses
    print(
        f"killed: spent ${usd.spent}, held ${usd.held} for "
        f"{campaign.status().counts['held']} calls that nobody will report"
    )
    calls, late = run(storage)
    while campaign.status().counts["held"]:  # what is not reported expires
        time.sleep(0.1)
        campaign.expire()
    (usd,) = campaign.status().purses
    print(
        f"no more can be paid: spent ${usd.spent}, presumed spent ${usd.presumed} for "
        f"{campaign.status().counts['presumed']} calls without a report"
    )
    campaign.tell_many(late)
    (usd,) = campaign.status().purses
    print(
        f"{len(late)} late reports: spent ${usd.spent}, presumed spent ${usd.presumed}, "
        f"left ${usd.left} of ${usd.budget}"
    )
    print("calls since the crash: " + ", ".join(f"{model} {calls[model]}" for model in PRICES))
    print("the books agree with the journal" if campaign.audit().ok else "the books are wrong")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(scratch)
