"""Results from what is stored: records of tickets, balances and campaigns, in the user's words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from purse.base import amounts
from purse.base.text import count
from purse.campaign.account.records import AccountRecord
from purse.campaign.arms import Arms
from purse.campaign.cooldown import CoolDown
from purse.campaign.labels import LabelRow
from purse.campaign.ledger import Ledger, fits
from purse.campaign.periods.as_of import AsOf, period_status
from purse.campaign.records import ALARM_LASTS, REPORT_ALARMS, Balance, CampaignRecord, TicketRecord
from purse.campaign.results import (
    Alarm,
    AlarmKind,
    BalanceStatus,
    CampaignTicket,
    CoolingArm,
    FeatureStatus,
    LabelStatus,
    Receipt,
    Status,
)
from purse.campaign.silence import SILENT, SILENT_SHARE
from purse.campaign.states import CLOSED, HELD, OPEN, VOID
from purse.campaign.terms import Terms
from purse.types import SKIP

# alarms about reports, besides overruns: what they say of so many
ABOUT_REPORTS: dict[AlarmKind, str] = {
    "conflict": "{} against what was told before, kept in the journal",
    "below-minimum": "{} of less than the declared minimum cost",
    "outside-range": "{} of a reward outside the declared range, which the policy saw as its "
    "nearest end",
}
text = lru_cache(10_000)(amounts.text)  # the same amounts come again and again


def ticket(terms: Terms, record: TicketRecord) -> CampaignTicket:
    """A stored ticket for its user."""
    body = record.body
    if "names" in body:
        arm = body["names"][0]
    else:
        arm = None if body["arms"][0] == SKIP else terms.arms[body["arms"][0]]
    deadline = None if record.deadline is None else record.deadline / 1000
    held = texts([0] * len(body["held"]) if record.state == VOID else body["held"])
    return CampaignTicket(
        terms.name,
        record.id,
        body["t"],
        arm,
        body["probabilities"][0],
        held,
        record.state,
        body["request"],
        record.at / 1000,
        deadline,
    )


def receipt(record: TicketRecord, *, duplicate: bool = False) -> Receipt:
    """What became of a ticket: what was spent and refunded so far."""
    held = record.body["held"]
    if record.state in OPEN:  # its reward is known, and its cost is not
        nothing = texts([0] * len(held))
        return Receipt(record.id, record.state, duplicate, False, nothing, nothing, nothing)
    if "report" not in record.body:
        return Receipt(
            record.id,
            record.state,
            duplicate,
            False,
            texts([0] * len(held)),
            texts(held),
            texts([0] * len(held)),
        )
    report = record.body["report"]
    set_apart = held if report["from"] in OPEN else [0] * len(held)
    refunded = [most - paid for most, paid in zip(set_apart, report["spent"], strict=True)]
    return Receipt(
        record.id,
        record.state,
        duplicate,
        report["from"] != HELD,
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
    danger: str | None = None,
    *,
    now: int,
) -> Status:
    """The status from what is stored, as of a time (ms): periods that are due have begun."""
    arms = Arms(terms, head.arms)
    ledger = Ledger(terms, seq, head.copied(), list(purses))
    AsOf(ledger, now).renew()
    period, purses = ledger.period, ledger.balances
    return Status(
        terms.name,
        head.status,
        terms.policy,
        tuple(arms.names[place] for place in arms.there),
        head.rounds,
        terms.horizon,
        dict(head.counts),
        balances(terms.resources, purses),
        seq,
        head.digest,
        head.created / 1000,
        head.changed / 1000,
        overdue,
        None if oldest is None else oldest / 1000,
        tuple(alarms(terms, head, purses, overdue, danger, now=now)),
        tuple(name for name, gone in zip(arms.names, arms.is_retired, strict=True) if gone),
        tuple(
            CoolingArm(
                arms.names[each.arm],
                (each.begun + each.length) / 1000,
                each.length / 1000,
                each.probe or None,
            )
            for each in map(CoolDown._make, head.cooling)
            if each.length and not arms.is_retired[each.arm]
        ),
        tuple(map(FeatureStatus, terms.context.columns, *head.seen)) if head.seen else (),
        terms.account,
        tuple(head.labels),
        None if period is None else period_status(terms, period, purses, head.status, head.rounds),
        tuple(head.alerts),
    )


def balances(resources: Sequence[str], purses: Sequence[Balance]) -> tuple[BalanceStatus, ...]:
    """Balances for people, one per resource."""
    return tuple(
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
        for name, purse in zip(resources, purses, strict=True)
    )


def alarms(
    terms: Terms,
    head: CampaignRecord,
    purses: Sequence[Balance],
    overdue: int,
    danger: str | None = None,
    *,
    now: int,
) -> list[Alarm]:
    """What a person should look at, as of a time (ms)."""
    found, counts = [] if danger is None else [Alarm("storage", danger)], head.counts
    last = last_cause(head, "overrun", now)
    for name, purse in zip(terms.resources, purses, strict=True):
        if purse.overrun and last is not None:
            reports = count(counts["overruns"], "report")
            text = f"{amounts.text(purse.overrun)} {name} more was spent than held, in {reports}"
            found.append(Alarm("overrun", text, last))
        if purse.presumed:
            tickets = count(counts["presumed"], "ticket")
            found.append(
                Alarm(
                    "presumed",
                    f"{amounts.text(purse.presumed)} {name} is presumed spent for "
                    f"{tickets} without a report",
                )
            )
    if overdue:
        found.append(Alarm("overdue", f"{count(overdue, 'ticket')} past the deadline"))
    for kind, text in ABOUT_REPORTS.items():
        if (last := last_cause(head, kind, now)) is not None:
            reports = count(counts[REPORT_ALARMS[kind]], "report")
            found.append(Alarm(kind, text.format(reports), last))
    arms = Arms(terms, head.arms)
    for each in map(CoolDown._make, head.cooling):
        if each.length and not arms.is_retired[each.arm]:
            text = f"calls of {arms.names[each.arm]!r} fail: it is tried one ticket at a time"
            found.append(Alarm("cooling-down", text))
    for name, silent in zip(arms.names, head.silent, strict=False):
        if silent >= SILENT and silent >= counts["tickets"] / SILENT_SHARE:
            text = f"{count(silent, 'ticket')} of {name!r} and no reward yet: it is asked for less"
            found.append(Alarm("silent", text))
    rest = [purse.budget - purse.spent - purse.presumed for purse in purses]
    if head.status != CLOSED and not any(fits(arms.cost_max[place], rest) for place in arms.there):
        found.append(
            Alarm("exhausted", "the rest of the budget cannot cover the largest cost of any arm")
        )
    return found


def last_cause(head: CampaignRecord | AccountRecord, kind: str, now: int) -> float | None:
    """When the last report came that caused an alarm, in seconds; None where the alarm has ended, a
    day after that.
    """
    at = head.alarmed.get(kind)
    return None if at is None or now >= at + ALARM_LASTS else at / 1000


def labels(found: Iterable[list[LabelRow]]) -> list[LabelStatus]:
    """What was spent for each label, from its rows, one per resource."""
    return [
        LabelStatus(
            parts[0].key,
            parts[0].value,
            parts[0].tickets,
            texts([part.spent for part in parts]),
            texts([part.held for part in parts]),
            texts([part.presumed for part in parts]),
            texts([part.overrun for part in parts]),
        )
        for parts in found
    ]


def texts(units: Sequence[int]) -> tuple[str, ...]:
    """Units as decimal text."""
    return tuple(map(text, units))
