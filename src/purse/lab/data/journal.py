"""The journal of a campaign as a log: of each ticket with a reward the arm, the probability that it
was drawn with, what it brought and what it cost.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from purse.base import amounts
from purse.campaign.api.states import FAILED, HELD, PRESUMED, SETTLED, SKIPPED, TOLD, VOID
from purse.campaign.ledger.ask_inputs import from_body
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.entry import SEAL, LedgerEntry
from purse.campaign.ledger.ticket import SKIP
from purse.campaign.rules.allowed_arms import allowed_arms, needs
from purse.campaign.rules.asks import explored_arms
from purse.campaign.rules.transaction import Transaction
from purse.campaign.run.replay_journal import stand_in
from purse.campaign.run.restore import is_journal as is_journal
from purse.campaign.run.restore import read_journal
from purse.campaign.terms.arms import Arms
from purse.campaign.terms.terms import Terms
from purse.errors import InvalidInput, PurseError, invalid, shorten
from purse.lab.data.features import Contexts
from purse.lab.data.log import Log
from purse.lab.data.question import Question
from purse.types import Bools, Floats, Ints, Outages

_CERTAIN = 1 - 1e-9  # a probability from which on no other arm had a chance
_MOST_CERTAIN = 0.9  # the part of such choices from which on nothing is estimated
_WITHOUT_REWARD = (VOID, FAILED, PRESUMED, HELD, SETTLED)
_MOST_SEGMENTS = 64  # a simulation looks through them in every round
_FOREVER = 2**40  # rounds, more than any game has


def read_journal_log(path: Path, question: Question) -> Log:
    """Read the export of a campaign as a log.

    Raise `InvalidInput` if the journal cannot be read, or if nearly every arm was chosen with
    probability 1.
    """
    for name, value in (("features", question.features), ("map", question.map)):
        if value is not None:
            raise invalid(name, value, "must be left out; a campaign has its own")
    reader = _JournalReader(path)
    terms, level = reader.terms, reader.level
    n_rows, certain = len(reader.arm), sum(chance >= _CERTAIN for chance in reader.chance)
    if n_rows == 0:
        raise InvalidInput(f"{path}: no ticket has a reward yet")
    if certain >= _MOST_CERTAIN * n_rows:
        raise InvalidInput(
            f"{path}: {certain:,} of {n_rows:,} arms were chosen with probability 1, so the "
            "journal cannot tell what another policy would have earned; create the campaign with "
            "explore=0.05"
        )
    low, high = reader.bounds()
    arm, costs = np.array(reader.arm, np.int64), np.array(reader.costs, np.int64)
    inside = np.clip(costs, low[arm], high[arm])
    contexts = _read_contexts(reader)
    notes = reader.notes(int((inside != costs).any(axis=1).sum()))
    if contexts is not None:
        notes = contexts.note, *contexts.hints(n_rows, len(level.arms.names)), *notes
    horizon = question.limit
    if question.horizon is None and terms.horizon is not None:
        # with periods, and by a forecast, as many rounds as there were
        declared = isinstance(terms.horizon, int) and not terms.every
        horizon = int(terms.horizon) if declared else level.head.rounds
    return Log(
        path.name,
        tuple(level.arms.names),
        arm,
        np.array(reader.reward, np.float64),
        inside,
        1 / np.minimum(1.0, np.array(reader.chance)),
        low,
        high,
        terms.reward_range or (0.0, 1.0),
        horizon,
        resources=terms.resources,
        rounds=reader.rounds(arm),
        outages=_repeat_masks(reader.masks, len(level.arms.names)),
        notes=notes,
        contexts=contexts,
        session=reader.sessions(),
        origin=str(path),
        budget=tuple(balance.budget / amounts.UNIT for balance in level.balances),
    )


def _read_contexts(reader: "_JournalReader") -> Contexts | None:
    """Return the contexts of the tickets with a reward; None if not all have one."""
    features = reader.terms.context
    rows = [numbers for numbers in reader.contexts if numbers is not None]
    if not features or len(rows) < len(reader.contexts):
        return None
    values = np.array(rows, np.float64).reshape(len(rows), -1, features.n_columns)
    return Contexts(features, values)


class _JournalReader:
    """A journal that is folded without its policy, and the tickets with a reward."""

    def __init__(self, path: Path) -> None:
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
        self.session: list[str | None] = []
        self.forgotten = 0  # reports without their contexts
        self.missing = 0  # rewards that did not come in time, and count as declared
        self.masks: list[tuple[tuple[int, ...], int]] = []  # arms that may be chosen, asks in a row
        self.allowed: Counter[int] = Counter()  # rounds in which each arm had a chance
        self.drawn: Counter[int] = Counter()
        self.fold(entries)

    def fold(self, entries: Iterable[LedgerEntry]) -> None:
        """Take in all entries."""
        level = self.level
        for entry in entries:
            if entry.kind == SEAL:
                raise InvalidInput(
                    f"{self.path}: entries are sealed, and a replay needs all of them"
                )
            try:
                if entry.kind == "asked":
                    self.count_ask(entry)
                level.fold(entry)
                if entry.kind == "told":
                    self.add_report(entry.body, level.tickets[entry.ticket or 0].asked)
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

    def count_ask(self, entry: LedgerEntry) -> None:
        """Count which arms could be chosen for a ticket."""
        level, body = self.level, entry.body
        mask = from_body(body["mask"], self.terms.n_arms) if "mask" in body else None
        there = tuple(level.arms.there if mask is None else mask.allowed)
        again = bool(self.masks) and self.masks[-1][0] == there
        self.masks.append((there, 1 + (self.masks.pop()[1] if again else 0)))
        if self.terms.explore:
            level.above = stand_in(level, body)
            transaction = Transaction(level, entry.at)
            limited = level.budgets_of(body.get("labels"))
            allowed = allowed_arms(transaction, mask, limited)
            explored = explored_arms(transaction, needs(level, mask), allowed)
            self.allowed.update(arm for arm, chance in explored.items() if chance > 0)
            level.above = None
        if body["arm"] != SKIP:
            self.drawn.update([body["arm"]])

    def add_report(self, body: dict[str, Any], asked: dict[str, Any]) -> None:
        """Add the report of a ticket, which was asked for so, unless its context is forgotten."""
        if body.get("context", ()) is None:
            self.forgotten += 1
            return
        self.session.append(asked.get("session"))
        self.arm.append(body["arm"])
        self.reward.append(float(body["reward"]))
        self.costs.append(body["costs"])
        self.chance.append(float(body["p"]))
        self.contexts.append(body.get("context"))
        self.missing += bool(body.get("missing"))

    def sessions(self) -> Ints | None:
        """(n,) The number of each ticket's session, whose arm is drawn once; None without any."""
        if not any(self.session):
            return None
        names = [name or str(row) + "\n" for row, name in enumerate(self.session)]  # no session's
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        return np.array([numbers[name] for name in names], np.int64)

    def bounds(self) -> tuple[Ints, Ints]:
        """(K, d) The least and the most that each arm was ever declared to cost, in units."""
        n_arms = len(self.level.arms.names)

        def extremes(of: Any, tables: Sequence[Ints]) -> Ints:
            own = ([rows[i] for rows in tables if i < len(rows)] for i in range(n_arms))
            return np.array([of(rows, axis=0) for rows in own])

        low, high = zip(*((arms.cost_min, arms.cost_max) for arms in self.bounds_were), strict=True)
        return extremes(np.min, low), extremes(np.max, high)

    def rounds(self, arm: Ints) -> Floats:
        """(K,) The rounds in which each arm could be chosen; as many fewer as tickets on it are
        without a reward. If the journal does not tell them, the sum of its weights.
        """
        n_arms = len(self.level.arms.names)
        rewarded = np.bincount(arm, minlength=n_arms)
        if not self.terms.explore:
            weights = np.zeros(n_arms)
            np.add.at(weights, arm, 1 / np.array(self.chance))
            return weights
        drawn = np.array([self.drawn[i] for i in range(n_arms)])
        share = np.divide(rewarded, drawn, out=np.ones(n_arms), where=drawn > 0)
        return np.array([self.allowed[i] for i in range(n_arms)]) * share

    def notes(self, outside: int) -> tuple[str, ...]:
        """Describe, line by line, how the tickets count that a reader may not expect.

        outside   tickets whose cost was outside its declared bounds
        """
        counts = self.level.head.counts
        silent = {state: counts[state] for state in _WITHOUT_REWARD if counts.get(state)}
        lines = [
            f"the campaign itself earned {sum(self.reward):,.6g} with {self.terms.policy}, from "
            f"{len(self.arm):,} tickets with a reward"
        ]
        if silent:
            states = ", ".join(f"{number:,} {state}" for state, number in silent.items())
            lines.append(f"left out, without a reward: {states}")
        if self.forgotten:
            lines.append(f"left out, as their contexts are forgotten: {self.forgotten:,} rewards")
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


def _repeat_masks(masks: Sequence[tuple[Sequence[int], int]], n_arms: int) -> Outages | None:
    """Return the arms that are allowed in each round of a simulation; None if all always are.

    masks   (arms allowed, rounds in a row), in the order of the log

    Up to 64 stretches keep their order and length, and the last goes on. More are mixed: each mask
    gets its part of 64 rounds, spread evenly, which repeat.

    >>> outages = _repeat_masks([((0, 1), 3), ((1,), 2)], 2)
    >>> outages.allowed(3), outages.allowed(4), outages.allowed(9)
    ([0, 1], [1], [1])
    """
    if all(len(arms) == n_arms for arms, _ in masks):
        return None
    if len(masks) <= _MOST_SEGMENTS:
        last = np.cumsum([rounds for _, rounds in masks])
        last[-1] = _FOREVER
        return Outages(_rows([arms for arms, _ in masks], n_arms), last)
    total: Counter[tuple[int, ...]] = Counter()
    for arms, rounds in masks:
        total[tuple(arms)] += rounds
    owed = dict.fromkeys(total, 0.0)
    order = []
    for _ in range(_MOST_SEGMENTS):
        for arms in owed:
            owed[arms] += total[arms] / sum(total.values())
        next_arms = max(owed, key=lambda arms: owed[arms])
        owed[next_arms] -= 1
        order.append(next_arms)
    return Outages(_rows(order, n_arms), np.arange(1, _MOST_SEGMENTS + 1))


def _rows(masks: Sequence[Sequence[int]], n_arms: int) -> Bools:
    """(S, K) Masks as rows."""
    table = np.zeros((len(masks), n_arms), np.bool_)
    for row, arms in enumerate(masks):
        table[row, list(arms)] = True
    return table
