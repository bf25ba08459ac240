"""A batch job under a budget: several processes share one campaign, and a job that was killed is
simply started again.

Each item is asked for under its own name, so that after a kill the same item gets the same ticket
and no second hold. Its result is written to a file, whole or not at all, before it is reported: no
finished work is done twice.

The work is made up (`work` below); put yours in its place.
Run it, kill it, and run it again: python examples/batch_job.py [FOLDER]
"""

from __future__ import annotations

import json
import random
import sys
import time
from multiprocessing import get_context
from pathlib import Path

import purse

ITEMS = [f"document-{number:03d}" for number in range(120)]
QUALITY = {"quick": 0.6, "thorough": 0.9}
CENTS = {"quick": 1, "thorough": 4}  # at most
WORKERS = 2


def work(item: str, way: str) -> dict[str, object]:
    """Return the outcome of an item: its result, how good it is from 0 to 1, and what it cost."""
    time.sleep(0.005)
    luck = random.Random(f"{item} {way}")
    return {
        "summary": f"{item}, {way}",
        "quality": float(luck.random() < QUALITY[way]),
        "cost": f"{CENTS[way] * luck.uniform(0.2, 1) / 100:.6f}",
    }


def finish(campaign: purse.Campaign, item: str, results: Path) -> None:
    """Do what is still to be done for an item."""
    try:
        ticket = campaign.ask(request_id=item)
    except purse.Conflict:  # its ticket was voided: the item is not wanted any more
        return
    if ticket.state == "told":  # by an earlier run
        return
    file = results / f"{item}.json"
    if not file.exists():
        scratch = file.with_suffix(".part")
        scratch.write_text(json.dumps(work(item, ticket.arm)))
        scratch.replace(file)
    report = json.loads(file.read_text())
    campaign.tell(ticket, report["quality"], report["cost"])


def finish_all(storage: str, items: list[str], results: Path) -> None:
    """One worker: its items, until the budget ends."""
    campaign = purse.Campaign.open("batch", storage=storage)
    for item in items:
        while True:
            try:
                finish(campaign, item, results)
                break
            except purse.AskRefused as over:
                if (
                    not isinstance(over, purse.errors.BudgetHeld)
                    or not campaign.status().counts["held"]
                ):
                    return
                time.sleep(0.02)  # the other workers are about to report


def opened(storage: str) -> purse.Campaign:
    """Return the campaign, created by the first run."""
    try:
        return purse.Campaign.create(
            "batch",
            arms={way: f"{cents / 100}" for way, cents in CENTS.items()},
            cost_min="0.001",
            budget="0.60",
            resources=["USD"],
            expires_after=60,
            storage=storage,
        )
    except purse.errors.CampaignExists:
        return purse.Campaign.open("batch", storage=storage)


def main() -> None:
    """Share the items among the workers, those first that an earlier run had begun."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "batch-job")
    results = folder / "results"
    results.mkdir(parents=True, exist_ok=True)
    storage = f"sqlite:///{folder / 'purse.db'}"
    campaign = opened(storage)
    begun = {ticket.request_id for ticket in campaign.tickets()}
    items = sorted(ITEMS, key=lambda item: item not in begun)
    context = get_context("spawn")
    workers = [
        context.Process(target=finish_all, args=(storage, items[number::WORKERS], results))
        for number in range(WORKERS)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    status = campaign.status()
    (usd,) = status.purses
    print(
        f"{len(list(results.glob('*.json')))} of {len(ITEMS)} items are done, "
        f"{status.counts['tickets']} tickets; spent ${usd.spent} of ${usd.budget}"
    )


if __name__ == "__main__":
    main()
