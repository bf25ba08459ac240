"""What a dashboard shows: spending by the hour, and what each arm has brought. It watches the fold.

A history begins at its last checkpoint, which holds the level's head and balances of that entry;
tickets that are spoken of later are folded from their own entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from purse.levels.campaign_ledger import CampaignLevel
from purse.levels.entry import Entry
from purse.levels.ledger import Level
from purse.levels.records import OPEN, Balance, Head
from purse.levels.storage import Storage

HISTORY = "history"
HOUR = 3_600_000  # ms
MOST_HOURS = 24 * 366
PAGE_SIZE = 5_000
KEEP_EVERY = 5_000  # entries


@dataclass
class ArmStats:
    """What the tickets of one arm have brought; sums are of reports that taught."""

    tickets: int = 0
    told: int = 0
    failed: int = 0
    reward: float = 0.0
    squares: float = 0.0  # of rewards
    costs: list[int] = field(default_factory=list)

    def efficiency(self, resource: int = 0) -> float | None:
        """Return the reward for each unit of a resource."""
        cost = self.costs[resource] if self.costs else 0
        return self.reward / cost if cost else None


@dataclass
class Hour:
    """What happened in one hour."""

    asked: int = 0
    told: int = 0
    reward: float = 0.0
    spent: list[int] = field(default_factory=list)  # overrun included


@dataclass
class History:
    """Spending by the hour, and statistics of arms."""

    hours: dict[int, Hour] = field(default_factory=dict)  # by hours since 1970
    arms: dict[int, ArmStats] = field(default_factory=dict)

    def watch(self, entry: Entry, before: Sequence[Balance], level: Level) -> None:
        """Take in an entry that a level has folded."""
        hour = self.hours.setdefault(entry.at // HOUR, Hour(spent=[0] * len(level.balances)))
        if len(self.hours) > MOST_HOURS:
            del self.hours[min(self.hours)]
        for place, (was, now) in enumerate(zip(before, level.balances, strict=False)):
            hour.spent[place] += now.spent + now.overrun - was.spent - was.overrun
        if entry.ticket is None or not isinstance(level, CampaignLevel):
            return
        ticket = level.tickets[entry.ticket]
        arm = self.arms.setdefault(ticket.arm, ArmStats(costs=[0] * len(level.balances)))
        match entry.kind:
            case "asked":
                arm.tickets += 1
                hour.asked += 1
            case "failed":
                arm.failed += 1
            case "told" if ticket.source in OPEN:
                reward = float(ticket.reward or 0)
                hour.told, hour.reward = hour.told + 1, hour.reward + reward
                arm.told, arm.reward = arm.told + 1, arm.reward + reward
                arm.squares += reward * reward
                arm.costs = [a + b for a, b in zip(arm.costs, ticket.costs or (), strict=True)]

    def to_json(self) -> list[Any]:
        """Return what a checkpoint holds."""
        hours = [[key, *vars(hour).values()] for key, hour in self.hours.items()]
        return [hours, [[key, *vars(arm).values()] for key, arm in self.arms.items()]]

    @classmethod
    def from_json(cls, facts: list[Any]) -> History:
        """Return a history from a checkpoint."""
        hours, arms = facts
        made = {key: Hour(*values) for key, *values in hours}
        return cls(made, {key: ArmStats(*values) for key, *values in arms})


def follow(storage: Storage, terms: Any) -> History:
    """Return the history of a campaign up to now, and keep a checkpoint where much was new."""
    name, history = terms.name, History()
    level, begun = CampaignLevel(terms), 0
    row = storage.checkpoint(name, HISTORY)
    if row is not None and storage.told(name, row[0], 1)[0] == row[1]:
        head, balances, facts = orjson.loads(bytes(row[2]))
        level = CampaignLevel(terms, row[0], Head(**head), [Balance(*each) for each in balances])
        history, begun = History.from_json(facts), row[0]
    level.watchers.append(history.watch)
    while page := storage.entries(name, level.seq, PAGE_SIZE):
        for entry, _, _ in page:
            level.recall(entry, lambda ticket: storage.about(name, ticket))
            level.fold(entry)
            level.forget(entry)
            level.requests.clear()
    if level.seq - begun >= KEEP_EVERY:
        body = orjson.dumps([vars(level.head), level.balances, history.to_json()], default=list)
        storage.keep(name, HISTORY, level.seq, level.head.digest, body)
    return history
