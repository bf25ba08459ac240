"""A journal folded without its policy: the tickets with a reward, and which arms had a chance.

An arm that an ask allows, that is there, fits, and does not cool down has a chance to be drawn if
the campaign explores; every other arm has none. So the rules of asks are followed once more,
without the policy, and say in how many rounds each arm could be chosen. Were the other arms counted
too, the weights of an arm that fits rarely would look too small. A journal without exploration does
not say which arms the policy would never have drawn: then the weights of an arm say it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from purse.campaign.allowed import allowed_arms, needs
from purse.campaign.arms import Arms
from purse.campaign.asks import explored_arms
from purse.campaign.campaign_ledger import CampaignLevel
from purse.campaign.entry import Entry
from purse.campaign.mask import from_body
from purse.campaign.replay_journal import stand_in
from purse.campaign.restore import read_journal
from purse.campaign.states import FAILED, HELD, PRESUMED, SETTLED, SKIPPED, TOLD, VOID
from purse.campaign.terms import Terms
from purse.campaign.ticket import SKIP
from purse.campaign.transaction import Transaction
from purse.errors import InvalidInput, PurseError, shorten
from purse.types import Floats, Ints

WITHOUT_REWARD = (VOID, FAILED, PRESUMED, HELD, SETTLED)


class JournalReader:
    """A journal that is folded without its policy, and the tickets with a reward."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        entries = read_journal(path)
        first = next(entries)
        try:
            self.terms = Terms.from_dict(first.body)
            self.level = CampaignLevel(self.terms)
            self.level.fold(first)
            self.bounds_were: list[Arms] = [self.level.arms]
        except Exception as error:  # an entry may be anything
            raise InvalidInput(
                f"{path}: these are not the terms of a campaign: {shorten(str(error))}"
            ) from None
        self.arm: list[int] = []
        self.reward: list[float] = []
        self.costs: list[list[int]] = []
        self.chance: list[float] = []
        self.contexts: list[list[float] | None] = []  # None: the export leaves contexts out
        self.missing = 0  # rewards that did not come in time, and count as declared
        self.masks: list[tuple[tuple[int, ...], int]] = []  # arms that may be chosen, asks in a row
        self.allowed: Counter[int] = Counter()  # rounds in which each arm had a chance
        self.drawn: Counter[int] = Counter()
        self.fold(entries)

    def fold(self, entries: Iterable[Entry]) -> None:
        """Take in all entries."""
        level = self.level
        for entry in entries:
            try:
                if entry.kind == "asked":
                    self.asked(entry)
                level.fold(entry)
                if entry.kind == "told":
                    self.told(entry.body)
                elif entry.kind in ("arm_added", "arm_changed"):
                    self.bounds_were.append(level.arms)
                level.requests.clear()
                ticket = level.tickets.get(entry.ticket or 0)
                if ticket is not None and ticket.state in (TOLD, SKIPPED):
                    del level.tickets[ticket.id]  # nothing but a conflict can follow
            except Exception as error:  # an entry may be anything
                why = str(error) if isinstance(error, PurseError) else repr(error)
                raise InvalidInput(
                    f"{self.path}: entry {entry.seq}, {entry.kind}, cannot follow those before "
                    f"it: {shorten(why)}"
                ) from None

    def asked(self, entry: Entry) -> None:
        """Count which arms could be chosen for a ticket."""
        level, body = self.level, entry.body
        mask = from_body(body["mask"], self.terms.n_arms) if "mask" in body else None
        self.add_mask(tuple(level.arms.there if mask is None else mask.allowed))
        if self.terms.explore:
            level.above = stand_in(level, body)
            transaction = Transaction(level, entry.at)
            allowed = allowed_arms(transaction, mask, level.left())
            explored = explored_arms(transaction, needs(level, mask), allowed)
            self.allowed.update(arm for arm, chance in explored.items() if chance > 0)
            level.above = None
        if body["arm"] != SKIP:
            self.drawn.update([body["arm"]])

    def add_mask(self, there: tuple[int, ...]) -> None:
        """Add a round with these arms."""
        count = 1
        if self.masks and self.masks[-1][0] == there:
            count += self.masks.pop()[1]
        self.masks.append((there, count))

    def told(self, body: dict[str, Any]) -> None:
        """Keep a report."""
        self.arm.append(body["arm"])
        self.reward.append(float(body["reward"]))
        self.costs.append(body["costs"])
        self.chance.append(float(body["p"]))
        self.contexts.append(body.get("context"))
        self.missing += bool(body.get("missing"))

    def bounds(self) -> tuple[Ints, Ints]:
        """(K, d) The least and the most that each arm was ever declared to cost, in units."""
        n_arms = len(self.level.arms.names)
        low, high = (
            np.array(
                [
                    extreme([rows[i] for rows in tables if i < len(rows)], axis=0)
                    for i in range(n_arms)
                ]
            )
            for extreme, tables in (
                (np.min, [arms.cost_min for arms in self.bounds_were]),
                (np.max, [arms.cost_max for arms in self.bounds_were]),
            )
        )
        return low, high

    def rounds(self, arm: Ints) -> Floats:
        """(K,) The rounds in which each arm could be chosen; as many fewer as tickets on it are
        without a reward. Where the journal cannot say it, the sum of its weights.
        """
        n_arms = len(self.level.arms.names)
        told = np.bincount(arm, minlength=n_arms)
        if not self.terms.explore:
            weights = np.zeros(n_arms)
            np.add.at(weights, arm, 1 / np.array(self.chance))
            return weights
        drawn = np.array([self.drawn[i] for i in range(n_arms)])
        share = np.divide(told, drawn, out=np.ones(n_arms), where=drawn > 0)
        return np.array([self.allowed[i] for i in range(n_arms)]) * share

    def notes(self, outside: int) -> tuple[str, ...]:
        """Return what a reader of estimates has to know.

        outside   tickets whose cost was outside its declared bounds
        """
        counts = self.level.head.counts
        silent = {state: counts[state] for state in WITHOUT_REWARD if counts.get(state)}
        lines = [
            f"the campaign itself earned {sum(self.reward):,.6g} with {self.terms.policy}, from "
            f"{len(self.arm):,} tickets with a reward"
        ]
        if silent:
            states = ", ".join(f"{number:,} {state}" for state, number in silent.items())
            lines.append(f"left out, without a reward: {states}")
        if self.missing:
            lines.append(
                f"{self.missing:,} rewards did not come in time and count as "
                f"{self.terms.missing_reward:g}"
            )
        if outside:
            lines.append(
                f"{outside:,} tickets cost less than their minimum or more than their maximum and "
                "count at that bound"
            )
        if (period := self.level.period) is not None and period.number > 1:
            lines.append(f"the budget is that of {period.number:,} periods together")
        if any(self.level.head.arms):
            lines.append("arms or their costs changed on the way; all rounds count alike")
        return tuple(lines)
