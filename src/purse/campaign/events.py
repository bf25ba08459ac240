"""Which events an entry causes: what alerts are about, each made once.

An event has a key, the same however often it is sent: a subject and a mark. Marks of one subject
only grow, so no key comes twice, and a clock that goes back makes no event:

subject                    mark
80%:0 (resource 0)         number of the period, number of top-ups since there are alerts
refused:0 (resource 0)     the same: `100%`, by an ask that was refused
overrun, expired           UTC hour of the entry, so that there is at most one an hour
cooling-down:2 (arm 2)     the same
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from purse.campaign.account.ledger import AccountLedger
from purse.campaign.alert_rules import COOLING_DOWN, EXHAUSTED, EXPIRED, OVERRUN, WORDS, percent
from purse.campaign.cooldown import CoolDown
from purse.campaign.journal import EVENT, Entry
from purse.campaign.ledger import Ledger

HOUR = 3_600_000  # ms
# kinds of entries that say what a call cost; the last one on an account
COSTS = ("told", "settled", "failed", "moved")
Books = Ledger | AccountLedger
Cause = tuple[str, list[int], dict[str, Any]]  # subject, mark, and what else the event says


def due(ledger: Books, entry: Entry) -> list[dict[str, Any]]:
    """Return the bodies of the events that an entry causes, which the ledger has folded."""
    if entry.kind == EVENT:
        return []
    return [
        body(ledger, rule, *cause)
        for rule in ledger.head.alerts
        for cause in causes(ledger, entry, rule)
        if is_new(ledger, cause)
    ]


def refused(ledger: Books, need: Sequence[int]) -> list[dict[str, Any]]:
    """Return the bodies of the events that an ask causes that is refused, because so much of a
    resource would not be left even if nothing were held; none where no rule wants them.

    need   units of each resource
    """
    if EXHAUSTED not in ledger.head.alerts:
        return []
    lacking = [
        (f"refused:{resource}", *of_budget(ledger, EXHAUSTED, resource)[1:])
        for resource, (purse, units) in enumerate(zip(ledger.balances, need, strict=True))
        if purse.spent + purse.presumed + units > purse.budget
    ]
    return [
        body(ledger, EXHAUSTED, *cause, refused=list(need))
        for cause in lacking
        if is_new(ledger, cause)
    ]


def usage(ledger: Books) -> list[tuple[int, int]]:
    """Return what counts as spent of each resource, and the whole that it is compared with: those
    of the period, where there is one.
    """
    balances, now = ledger.balances, ledger.period
    if now is not None:
        return list(zip(now.spent(balances), now.budget(balances), strict=True))
    return [(purse.spent + purse.presumed, purse.budget) for purse in balances]


def period(ledger: Books) -> int:
    """Return the number of the period; 0 where there are none."""
    now = ledger.period
    return 0 if now is None else now.number


def causes(ledger: Books, entry: Entry, rule: str) -> Iterator[Cause]:
    """Yield what a rule finds after an entry, whether it is new or not."""
    said, hour = entry.body, [entry.at // HOUR]
    if rule not in WORDS:
        for resource, (used, whole) in enumerate(usage(ledger)):
            if whole and 100 * used >= percent(rule) * whole:
                yield of_budget(ledger, rule, resource)
    elif rule == OVERRUN:
        if entry.kind in COSTS and not said.get("settled") and any(said.get("overrun", ())):
            yield rule, hour, {}
    elif rule == EXPIRED:
        if entry.kind == "expired":
            yield rule, hour, {}
    elif isinstance(ledger, Ledger) and rule == COOLING_DOWN and entry.kind == "failed":
        for each in map(CoolDown._make, ledger.head.cooling):
            if each.length and each.begun == entry.at:
                yield f"{rule}:{each.arm}", hour, {"arm": ledger.arms.names[each.arm]}


def of_budget(ledger: Books, rule: str, resource: int) -> Cause:
    """Return what a percentage of a budget makes: once in each period, and after each top-up."""
    mark = [period(ledger), ledger.head.top_ups]
    return f"{rule}:{resource}", mark, {"resource": ledger.terms.resources[resource]}


def is_new(ledger: Books, cause: Cause) -> bool:
    """Whether there was no such event before."""
    subject, mark, _ = cause
    return mark > ledger.head.alerted.get(subject, [])


def body(
    ledger: Books, rule: str, subject: str, mark: list[int], more: dict[str, Any], **besides: Any
) -> dict[str, Any]:
    """Return what an event says: its rule, key and period, and the balances of this moment."""
    return {
        "rule": rule,
        "key": "/".join([subject, *map(str, mark)]),
        "period": period(ledger),
        **more,
        **besides,
        "balances": [list(purse) for purse in ledger.balances],
    }
