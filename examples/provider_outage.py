"""Route calls between three models while the provider of one of them is down for three minutes.

A call that does not work is reported with `fail`: its arm then cools down, and one ticket at a time
tries it again until a call works. `docs/traffic.md` explains what this program prints.

The calls and the clock are made up, so that ten minutes pass in a second; the campaign is real. Run
it: python examples/provider_outage.py
"""

from __future__ import annotations

import heapq
import random
from collections import Counter
from typing import Any, NamedTuple

import purse
from purse.campaign.storage.connect import in_memory

MODELS = {  # the largest price of a call in USD, its mean price, how often the answer is good
    "small": ("0.01", 0.004, 0.62),
    "medium": ("0.05", 0.016, 0.78),
    "large": ("0.25", 0.11, 0.87),
}
DOWN = "medium"
BEGIN, END, STOP = 120.0, 300.0, 600.0  # seconds: the outage, and the end of the traffic
ASKS = 2  # a second
START = 1_790_000_000_000  # ms since 1970
REASON = "503 Service Unavailable"


class CoolDown(NamedTuple):
    """A cool-down as it began; times in seconds since the traffic began."""

    at: float
    ticket: int
    length: float


class Traffic:
    """Calls as a router makes them, on a clock of its own.

    outage   when it begins and ends, in seconds
    stop     when the last call is made, in seconds
    terms    of the campaign
    """

    def __init__(
        self, outage: tuple[float, float] = (BEGIN, END), stop: float = STOP, **terms: Any
    ) -> None:
        self.outage, self.stop, asks = outage, stop, round(ASKS * stop)
        self.luck = random.Random(7)
        self.storage, self.now = in_memory(), 0.0
        self.storage.now = lambda: START + round(1000 * self.now)
        self.campaign = purse.Campaign.create(
            "prompts",
            arms={name: price for name, (price, _, _) in MODELS.items()},
            budget=f"{asks / 48:.2f}",
            cost_min="0.0001",
            resources=["USD"],
            horizon=asks,
            storage=self.storage,
            **terms,
        )
        arrivals = sorted(self.luck.uniform(0, stop) for _ in range(asks))
        self.waiting = [(at, 0, "") for at in arrivals]  # a heap of time, ticket, model
        self.calls: list[tuple[float, str]] = []  # when each was made, and to which model
        self.cooldowns: list[CoolDown] = []
        self.failures: list[float] = []
        self.successes: list[float] = []  # of the model that is down for a while

    def run(self, until: float | None = None) -> None:
        """Let the clock run until a time, or until all calls are reported."""
        until = self.stop + 60 if until is None else until
        while self.waiting and self.waiting[0][0] <= until:
            self.now, ticket, model = heapq.heappop(self.waiting)
            if ticket:
                self.report(ticket, model)
            else:
                self.ask()
        self.now = until

    def ask(self) -> None:
        """Make a call; it takes a second or two, or fails at once."""
        ticket = self.campaign.ask()
        self.calls.append((self.now, ticket.arm))
        takes = 0.2 if self.is_down(ticket.arm) else self.luck.uniform(0.8, 2.4)
        heapq.heappush(self.waiting, (self.now + takes, ticket.id, ticket.arm))

    def report(self, ticket: int, model: str) -> None:
        """Say how a call went: what an answer was worth and cost, or that it failed."""
        if self.is_down(model):
            self.campaign.fail(ticket, cost=0, reason=REASON)
            self.failures.append(self.now)
            self.note_cooldown(ticket)
            return
        most, price, quality = MODELS[model]
        cost = min(price * self.luck.uniform(0.4, 1.6), float(most))
        self.campaign.tell(ticket, float(self.luck.random() < quality), f"{cost:.6f}")
        if model == DOWN:
            self.successes.append(self.now)

    def is_down(self, model: str) -> bool:
        """Return whether calls of a model fail now."""
        begin, end = self.outage
        return model == DOWN and begin <= self.now < end

    def note_cooldown(self, ticket: int) -> None:
        """Keep the cool-down that a failure has begun, if it has begun one."""
        for arm in self.campaign.status().cooling:
            began = arm.until - arm.length - START / 1000
            if abs(began - self.now) < 0.001:
                self.cooldowns.append(CoolDown(self.now, ticket, arm.length))

    @property
    def recovered(self) -> float:
        """When the first call worked after the outage."""
        return min(at for at in self.successes if at > END)

    def shares(self, begin: float, end: float) -> str:
        """Return how many calls were made to each model in a time."""
        counts = Counter(model for at, model in self.calls if begin <= at < end)
        return ", ".join(f"{model} {counts[model]}" for model in MODELS)


def clock(seconds: float) -> str:
    """Return a time of the traffic, in minutes and seconds."""
    return f"{int(seconds // 60)}:{seconds % 60:04.1f}"


def story() -> None:
    """Ten minutes of traffic, with an outage of three."""
    traffic = Traffic()
    traffic.run(BEGIN)
    print(f"0:00 to 2:00, before the outage: {traffic.shares(0, BEGIN)}")
    traffic.run(BEGIN + 60)
    status = traffic.campaign.status()
    print(f"\nat 3:00, in the outage:\n{status}\n{status.cooling[0]!r}\n")
    traffic.run()
    (first, *probes) = traffic.cooldowns
    early = sum(at < probes[0].at for at in traffic.failures)
    print(f"{clock(first.at)}  the first of {early} calls in flight fails: {first.length:g} s")
    for probe in probes:
        print(f"{clock(probe.at)}  probe fails, ticket {probe.ticket}: {probe.length:g} s")
    back = traffic.recovered
    print(f"{clock(back)}  a probe works, {back - END:.0f} s after the provider came back\n")
    print(f"2:00 to 5:00, the outage: {traffic.shares(BEGIN, END)}")
    print(f"5:00 to 10:00, after it: {traffic.shares(END, STOP)}")
    print("\nthe first failure in the journal:")
    entry = next(entry for entry in traffic.campaign.journal() if entry.kind == "failed")
    print(entry)
    print("the books agree with the journal" if traffic.campaign.audit().ok else "they do not")


def compare() -> None:
    """Play the same traffic with and without cool-downs."""
    print("\ncooldown  failed calls  used again after")
    for cooldown in (1, None):
        traffic = Traffic(cooldown=cooldown)
        traffic.run()
        after = f"{traffic.recovered - END:.0f} s"
        print(f"{cooldown!s:8}  {len(traffic.failures):12}  {after:>16}")


def burst() -> None:
    """Fifty calls in flight fail together."""
    traffic = Traffic()
    for ticket in traffic.campaign.ask_many(50, arms=[DOWN]):
        traffic.campaign.fail(ticket, cost=0, reason=REASON)
    (arm,) = traffic.campaign.status().cooling
    print(f"\n50 calls in flight fail: one cool-down of {arm.length:g} s")


def hour() -> None:
    """Play a model that is down for an hour, from the first ask on."""
    traffic = Traffic(outage=(0, 3_600), stop=3_600)
    traffic.run()
    tickets = sum(model == DOWN for _, model in traffic.calls)
    print(f"down for an hour: {tickets} of {len(traffic.calls)} tickets; cool-downs in s:", end=" ")
    print(*(f"{cooldown.length:g}" for cooldown in traffic.cooldowns))


if __name__ == "__main__":
    story()
    compare()
    burst()
    hour()
