"""What is stored of a campaign beside its journal, and what an entry may change: balances, tickets
and the campaign's own record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from purse.base import amounts
from purse.campaign.states import RUNNING, STATES, CampaignState, TicketState
from purse.errors import InvalidInput

# fields of `CampaignRecord`
OPTIONAL = (
    "open",
    "owed",
    "cooling",
    "arms",
    "silent",
    "seen",
    "alarmed",
    "labels",
    "period",
    "alerts",
    "top_ups",
    "alerted",
)
COUNTS = (
    "tickets",
    *STATES,
    "conflicts",
    "overruns",
    "below_minimum",
    "outside_range",
    "clipped",
)
# alarms about reports, and what `counts` calls those reports
REPORT_ALARMS = {
    "overrun": "overruns",
    "conflict": "conflicts",
    "below-minimum": "below_minimum",
    "outside-range": "outside_range",
}
ALARM_LASTS = 86_400_000  # ms from the last such report to the end of its alarm


class Balance(NamedTuple):
    """The counters of one resource, in units. P1: spent + held + presumed <= budget."""

    budget: int
    spent: int = 0
    held: int = 0
    presumed: int = 0
    overrun: int = 0  # what calls cost above what was held for them; P1 does not cover it

    @property
    def left(self) -> int:
        """What can still be held."""
        return self.budget - self.spent - self.held - self.presumed


class TicketRecord(NamedTuple):
    """A ticket as it is stored."""

    id: int
    state: TicketState
    at: int  # ms
    deadline: int | None  # ms
    body: dict[str, Any]  # t, arms, probabilities, held, request; report once it is told


@dataclass
class CampaignRecord:
    """What is known of a campaign besides its purses, tickets and journal."""

    id: str = ""  # of the terms
    status: CampaignState = RUNNING
    rounds: int = 0  # asked for so far
    created: int = 0  # ms
    changed: int = 0  # ms
    snapshot: int = 0  # the entry up to which the last snapshot of the policy goes
    digest: str = ""  # of the journal
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    # pulls of each arm on tickets of which something is expected, where the policy counts them
    open: list[int] | tuple[()] = ()
    owed: list[int] | tuple[()] = ()  # arms that owe their initial pull
    cooling: list[list[int]] | tuple[()] = ()  # see `cooldown.CoolDown`
    arms: list[list[Any]] | tuple[()] = ()  # arms that are not as the terms say, see `ArmRecord`
    # pulls of each arm that has not brought a reward yet, -1 for those that have
    silent: list[int] = field(default_factory=list)
    # (2, F) the least and the most of each column of contexts, where there are features
    seen: list[list[float]] | tuple[()] = ()
    # ms: the last report that caused an alarm, by the kind of alarm
    alarmed: dict[str, int] = field(default_factory=dict)
    labels: list[str] | tuple[()] = ()  # the keys, in their order
    period: list[Any] | tuple[()] = ()  # see `periods.Period`, where the budget is renewed
    alerts: list[str] | tuple[()] = ()  # the rules of alerts, as they are now
    top_ups: int = 0  # since there are alerts
    # the mark of the last event of each subject, see `events`
    alerted: dict[str, list[int]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The record as JSON has it; what is empty may be left out."""
        facts = vars(self).copy()
        for name in OPTIONAL:
            if not facts[name]:
                del facts[name]
        return facts

    def copied(self) -> CampaignRecord:
        """A record that may be changed: its counters are counted up, all else is replaced."""
        made = object.__new__(CampaignRecord)
        made.__dict__ = vars(self).copy()
        made.counts = self.counts.copy()
        made.open, made.silent = self.open[:], self.silent[:]
        return made

    @classmethod
    def from_json(cls, text: str) -> CampaignRecord:
        """A record as it is stored."""
        facts = orjson.loads(text)
        made = object.__new__(cls)
        made.__dict__ = EMPTY | facts  # a third of the time that `cls(**facts)` takes
        if len(vars(made)) > len(EMPTY):
            raise TypeError(f"unknown fields of a campaign: {', '.join(facts.keys() - EMPTY)}")
        return made


EMPTY = vars(CampaignRecord())


def check_overrun(purses: Sequence[Balance], units: Sequence[int]) -> None:
    """Refuse costs with which an overrun would exceed what can be counted."""
    for purse, more in zip(purses, units, strict=True):
        if purse.overrun + more > amounts.LARGEST:
            raise InvalidInput(
                f"cost={amounts.text(more)}: with it the overrun would exceed what can "
                f"be counted, {amounts.LARGEST // amounts.UNIT:,}"
            )


def check_budget(purses: Sequence[Balance], units: Sequence[int]) -> None:
    """Refuse a top-up after which a budget would exceed what can be counted."""
    for purse, more in zip(purses, units, strict=True):
        if purse.budget + more > amounts.LARGEST:
            raise InvalidInput(
                f"amount={amounts.text(more)}: the budget must stay at most "
                f"{amounts.LARGEST // amounts.UNIT:,}"
            )
