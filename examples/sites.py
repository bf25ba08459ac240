"""One budget that is spent in several places, none of which waits for another.

Each site has a campaign in a storage of its own, and gets its money in leases.
A lease is a ticket of the parent's campaign, which has an arm for each site:

take     parent.ask(arms={site: amount})              held above
         local.top_up(amount, "lease-TICKET")         may be spent below; a repeat adds nothing
use      parent.tell(ticket, cost=amount)             once as much is spent below
return   local.set_budget(what is spent and held)     the rest may no longer be spent below
         parent.tell(ticket, cost=amount - rest)      it is free above

So the parent never counts less for a site than the site may still take, whenever a process is
killed, and each step begins where the last one ended. A site has one follower at a time.

The calls are made up. Run it, kill it, and run it again: python examples/sites.py [FOLDER]; for
one site alone: python examples/sites.py FOLDER SITE
"""

from __future__ import annotations

import random
import sys
import threading
import time
from contextlib import suppress
from decimal import ROUND_DOWN, Decimal
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import purse
from purse.errors import AskRefused, StorageUnavailable

SITES = ("paris", "tokyo", "austin")
MODELS = {"small": ("0.01", 0.5), "medium": ("0.03", 0.8), "large": ("0.05", 0.9)}
BUDGET = "6"  # USD
SHARE = "2"  # USD that a site expects to spend, for which its policy plans
LEASE, LEAST = Decimal(1), Decimal("0.1")  # USD; the least buys the dearest call
CLOSES = {"tokyo": 150}  # calls after which a site goes home, and gives back what is left
EXPIRES = 2  # seconds, so that this program ends; an hour is better for calls of models


class Books(NamedTuple):
    """What a site may spend and has spent, as it or as the parent counts it; in USD."""

    budget: Decimal
    spent: Decimal
    held: Decimal
    leases: int = 0  # so far

    @property
    def left(self) -> Decimal:
        """What may be asked for."""
        return self.budget - self.spent - self.held

    @property
    def most(self) -> Decimal:
        """What it comes to at most: asks that were granted before the budget was lowered stand."""
        return max(self.budget, self.spent + self.held)


class Site:
    """A campaign that lives on leases; `parent` and `storage` are addresses."""

    def __init__(self, name: str, parent: str, storage: str) -> None:
        self.name, self.parent = name, parent
        # the policy plans for a share of the money, and none is there before the first lease
        self.local = created(name, SHARE, storage)
        self.local.set_budget(0, request_id="leases")
        # not its name alone: a new storage under an old name must not get the old one's leases
        self.label = f"{name}-{self.local.terms.id}"
        self.is_over = False  # whether the parent has nothing left

    def below(self) -> Books:
        """Return its own books; what is presumed counts as spent."""
        (purse,) = self.local.status().purses
        spent = Decimal(purse.spent) + Decimal(purse.presumed)
        return Books(Decimal(purse.budget), spent, Decimal(purse.held))

    def above(self, parent: purse.Campaign) -> Books:
        """Return the parent's books: closed leases are spent, open ones are held."""
        for row in parent.labels("site", 10_000):
            if row.value == self.label:
                spent, held = Decimal(row.spent[0]), Decimal(row.held[0]) + Decimal(row.presumed[0])
                return Books(spent + held, spent, held, row.tickets)
        return Books(Decimal(0), Decimal(0), Decimal(0))

    def follow(self, *, ends: bool = False) -> bool:
        """Take, close and return leases; return whether none is open.

        ends   whether the site takes no more, and gives back what is left

        Raise `StorageUnavailable` if the parent does not answer: the site goes on with what it has.
        """
        parent = purse.Campaign.open("sites", storage=self.parent)
        leases = [
            lease
            for lease in parent.tickets()
            if lease.request_id and lease.request_id.startswith(f"{self.label}-")
        ]
        for lease in leases:
            self.local.top_up(lease.held[0], request_id=f"lease-{lease.id}")
        if ends and (rest := self.below()).left > 0:
            self.local.set_budget(str(rest.spent + rest.held))
        below, above = self.below(), self.above(parent)
        back, used = above.most - below.most, below.spent - above.spent
        for lease in leases:  # the oldest first
            amount = Decimal(lease.held[0])
            cost = max(Decimal(0), amount - back)
            if cost > used:
                break
            parent.tell(lease, reward=0, cost=str(cost))
            back, used = back - (amount - cost), used - cost
        if not ends:
            self.take(parent, below.left, above.leases)
        return above.held == 0

    def take(self, parent: purse.Campaign, left: Decimal, number: int) -> None:
        """Ask for a lease if less than one is left; the next look at open ones adds it."""
        free = Decimal(parent.status().purses[0].left)
        share = (free / (2 * len(SITES))).quantize(Decimal("0.01"), ROUND_DOWN)
        amount = min(free, max(LEAST, min(LEASE, share)))
        self.is_over = free == 0
        if free and left < max(amount, LEAST):
            with suppress(AskRefused):  # another site has taken it
                parent.ask(
                    f"{self.label}-{number + 1}",
                    arms={self.name: str(amount)},
                    labels={"site": self.label},
                )


def created(name: str, budget: str, storage: str, **terms: Any) -> purse.Campaign:
    """Create a campaign, or take the one that is there."""
    arms = {"arms": {model: price for model, (price, _) in MODELS.items()}}
    return purse.Campaign.create(
        name, budget=budget, resources=["USD"], expires_after=EXPIRES, storage=storage,
        exist_ok=True, **arms | terms,
    )  # fmt: skip


def created_parent(folder: Path, budget: str) -> purse.Campaign:
    """Create the campaign that all money comes from, in which each ask names the arm."""
    arms = {"arms": dict.fromkeys(SITES, str(LEASE)), "cost_min": "0.000001", "policy": "uniform"}
    return created("sites", budget, f"sqlite:///{folder}/parent.db", **arms)


def site_of(folder: Path, name: str) -> Site:
    return Site(name, f"sqlite:///{folder}/parent.db", f"sqlite:///{folder}/{name}.db")


def call(campaign: purse.Campaign, draw: random.Random, seconds: float) -> None:
    """Put your call in its place."""
    ticket = campaign.ask()
    time.sleep(seconds)
    price, quality = MODELS[ticket.arm]
    cost = Decimal(price) * draw.randrange(20, 101) / 100
    campaign.tell(ticket, reward=int(draw.random() < quality), cost=str(cost))


def serve(folder: Path, name: str) -> None:
    """One life of a site: its calls, and beside them its leases."""
    site, closed, draw = site_of(folder, name), threading.Event(), random.Random()

    def follow() -> None:
        while not closed.wait(0.05):
            with suppress(StorageUnavailable):
                site.follow()

    follower = threading.Thread(target=follow, daemon=True)
    follower.start()
    while site.local.status().rounds < CLOSES.get(name, sys.maxsize):
        try:
            call(site.local, draw, seconds=0.01)
        except AskRefused:
            if site.is_over:
                break
            time.sleep(0.02)
    closed.set()
    follower.join()
    while not site.follow(ends=True):
        time.sleep(0.1)
        site.local.expire()  # calls of processes that were killed


def main(folder: Path) -> None:
    """Let all sites work on this machine, and print what they have spent."""
    folder.mkdir(parents=True, exist_ok=True)
    parent, context = created_parent(folder, BUDGET), get_context("spawn")
    processes = [context.Process(target=serve, args=(folder, name)) for name in SITES]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    for name in SITES:
        site = site_of(folder, name)
        above, rounds = site.above(parent), site.local.status().rounds
        print(f"{name}: {rounds} calls, spent ${above.spent} in {above.leases} leases")
    print(f"left ${parent.status().purses[0].left} of ${BUDGET}")


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else "sites")
    if len(sys.argv) > 2:
        serve(place, sys.argv[2])
    else:
        main(place)
