"""What a campaign answers: tickets, receipts, status. Amounts are decimal text, one per
resource.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from purse.base import amounts
from purse.campaign.ledger import CLOSED, OPEN, TOLD, Balance, CampaignRecord, TicketRecord
from purse.campaign.terms import RELEASE, WEAKER_PROMISE, Terms
from purse.types import SKIP

text = lru_cache(10_000)(amounts.text)  # the same amounts come again and again


class CampaignTicket(NamedTuple):
    """Permission to pull: the arm, the probability that it was drawn with, and what is held for
    it.
    """

    campaign: str
    id: int
    t: int
    arms: tuple[str, ...]  # none where the round passes without a pull
    probabilities: tuple[float, ...]
    held: tuple[str, ...]
    state: str
    request_id: str | None
    asked_at: float  # seconds since 1970
    deadline: float | None

    @property
    def arm(self) -> str | None:
        """The arm to pull (the first, where a round has several plays)."""
        return self.arms[0] if self.arms else None

    @property
    def probability(self) -> float:
        """The probability that `arm` was drawn with."""
        return self.probabilities[0]

    @property
    def skipped(self) -> bool:
        """Whether the round passes without a pull: there is nothing to tell."""
        return not self.arms

    def as_dict(self) -> dict[str, Any]:
        """The ticket as JSON has it."""
        return {**self._asdict(), "arm": self.arm, "probability": self.probability}


class Receipt(NamedTuple):
    """The answer to a report: what it came to, of each resource."""

    ticket: int
    state: str
    duplicate: bool  # the same was said before; it has no second effect
    late: bool  # it came after the hold had expired or was voided
    spent: tuple[str, ...]
    refunded: tuple[str, ...]  # of what was held
    overrun: tuple[str, ...]  # above what was held

    def as_dict(self) -> dict[str, Any]:
        """The receipt as JSON has it."""
        return self._asdict()


class BalanceStatus(NamedTuple):
    """One resource."""

    resource: str
    budget: str
    spent: str
    held: str
    presumed: str
    left: str
    overrun: str


class Alarm(NamedTuple):
    """Something that a person should look at."""

    kind: str
    text: str


@dataclass(frozen=True)
class Status:
    """How a campaign stands."""

    name: str
    status: str
    policy: str
    arms: tuple[str, ...]
    plays: int
    rounds: int
    horizon: int | None
    counts: dict[str, int]
    purses: tuple[BalanceStatus, ...]
    entries: int
    created_at: float
    changed_at: float
    overdue: int
    oldest_held: float | None
    alarms: tuple[Alarm, ...]
    promise: str | None

    def as_dict(self) -> dict[str, Any]:
        """The status as JSON has it."""
        facts = asdict(self)
        return {
            **facts,
            "purses": [purse._asdict() for purse in self.purses],
            "alarms": [alarm._asdict() for alarm in self.alarms],
        }

    def __str__(self) -> str:
        """A few lines for people."""
        rounds = f"round {self.rounds}" + (
            f" of {self.horizon}" if self.horizon is not None else ""
        )
        shown = {
            name: self.counts[name]
            for name in ("held", "told", "void", "presumed")
            if self.counts[name]
        }
        lines = [
            f"{self.name}: {self.status}, {self.policy}, {rounds}",
            *(
                f"  {purse.resource}: spent {purse.spent} of {purse.budget}, held "
                f"{purse.held}, presumed {purse.presumed}, left {purse.left}"
                + (f", overrun {purse.overrun}" if purse.overrun != "0" else "")
                for purse in self.purses
            ),
            "  tickets: "
            + (", ".join(f"{count} {name}" for name, count in shown.items()) or "none"),
            *(f"  ! {alarm.text}" for alarm in self.alarms),
            *([f"  {self.promise}"] if self.promise else []),
        ]
        return "\n".join(lines)


def ticket(terms: Terms, slot: TicketRecord) -> CampaignTicket:
    """A stored ticket for its user."""
    body = slot.body
    arms = () if body["arms"][0] == SKIP else tuple(map(terms.arms.__getitem__, body["arms"]))
    deadline = None if slot.deadline is None else slot.deadline / 1000
    held = texts(body["held"])
    return CampaignTicket(
        terms.name,
        slot.id,
        body["t"],
        arms,
        tuple(body["probabilities"]),
        held,
        slot.state,
        body["request"],
        slot.at / 1000,
        deadline,
    )


def receipt(slot: TicketRecord, *, duplicate: bool = False) -> Receipt:
    """What became of a ticket that was told, voided or released."""
    held = slot.body["held"]
    if slot.state != TOLD:
        return Receipt(
            slot.id,
            slot.state,
            duplicate,
            False,
            texts([0] * len(held)),
            texts(held),
            texts([0] * len(held)),
        )
    report = slot.body["report"]
    set_apart = held if report["from"] in OPEN else [0] * len(held)
    refunded = [most - paid for most, paid in zip(set_apart, report["spent"], strict=True)]
    return Receipt(
        slot.id,
        slot.state,
        duplicate,
        report["from"] != "held",
        texts(report["spent"]),
        texts(refunded),
        texts(report["overrun"]),
    )


def status(
    terms: Terms,
    seq: int,
    head: CampaignRecord,
    purses: Sequence[Balance],
    overdue: int,
    oldest: int | None,
) -> Status:
    """The status from what is stored."""
    return Status(
        terms.name,
        head.status,
        terms.policy,
        terms.arms,
        terms.plays,
        head.rounds,
        terms.horizon,
        dict(head.counts),
        tuple(
            BalanceStatus(
                name,
                *texts(
                    [
                        purse.budget,
                        purse.spent,
                        purse.held,
                        purse.presumed,
                        purse.left,
                        purse.overrun,
                    ]
                ),
            )
            for name, purse in zip(terms.resources, purses, strict=True)
        ),
        seq,
        head.created / 1000,
        head.changed / 1000,
        overdue,
        None if oldest is None else oldest / 1000,
        tuple(alarms(terms, head, purses, overdue)),
        WEAKER_PROMISE if terms.on_expiry == RELEASE else None,
    )


def alarms(
    terms: Terms, head: CampaignRecord, purses: Sequence[Balance], overdue: int
) -> list[Alarm]:
    """What a person should look at."""
    found, counts = [], head.counts
    for name, purse in zip(terms.resources, purses, strict=True):
        if purse.overrun:
            found.append(
                Alarm(
                    "overrun",
                    f"{amounts.text(purse.overrun)} {name} more was spent than held, in "
                    f"{many(counts['overruns'], 'report')}",
                )
            )
        if purse.presumed:
            tickets = many(counts["presumed"], "ticket")
            found.append(
                Alarm(
                    "presumed",
                    f"{amounts.text(purse.presumed)} {name} is presumed spent for "
                    f"{tickets} without a report",
                )
            )
    if overdue:
        found.append(Alarm("overdue", f"{many(overdue, 'ticket')} past the deadline"))
    if counts["conflicts"]:
        found.append(
            Alarm(
                "conflict",
                f"{many(counts['conflicts'], 'report')} against what was told before, "
                "kept in the journal",
            )
        )
    if counts["below_minimum"]:
        found.append(
            Alarm(
                "below-minimum",
                f"{many(counts['below_minimum'], 'report')} of less than the declared minimum cost",
            )
        )
    if head.status != CLOSED and not fits(
        terms, [purse.budget - purse.spent - purse.presumed for purse in purses]
    ):
        found.append(
            Alarm("exhausted", "the rest of the budget cannot cover the largest cost of any arm")
        )
    return found


def fits(terms: Terms, rest: list[int]) -> bool:
    """Whether a round can be held for; with several plays and resources, whether each resource
    alone could.
    """
    if terms.plays == 1:
        return any(
            all(cost <= part for cost, part in zip(costs, rest, strict=True))
            for costs in terms.cost_max
        )
    return all(
        sum(sorted(costs)[: terms.plays]) <= part
        for costs, part in zip(zip(*terms.cost_max, strict=True), rest, strict=True)
    )


def many(count: int, noun: str) -> str:
    """A number of things."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def texts(units: Sequence[int]) -> tuple[str, ...]:
    """Units as decimal text."""
    return tuple(map(text, units))
