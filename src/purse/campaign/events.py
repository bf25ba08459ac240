"""The events that an entry causes: what alerts are about, each made once.

An event has a key, a subject and a mark. Marks of one subject only grow, so no key comes twice:

subject                    mark
80%:0 (resource 0)         number of the period, number of top-ups since there are alerts
refused:0 (resource 0)     the same: `100%`, by an ask that was refused
overrun, expired           UTC hour of the entry, so that there is at most one an hour
cooling-down:2 (arm 2)     the same
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from purse.campaign import cooldown
from purse.campaign.campaign_ledger import CampaignLevel
from purse.campaign.entry import Entry
from purse.campaign.ledger import Level
from purse.campaign.records import Units

HOUR = 3_600_000  # ms
Cause = tuple[str, list[int], dict[str, Any]]  # subject, mark, and what else the event says


def due(level: Level, entry: Entry, *, own: bool) -> list[dict[str, Any]]:
    """Return the bodies of the events that an entry, which is folded, causes on a level.

    own   whether the entry is the level's own, not one of a level below
    """
    return [
        body(level, rule, *cause)
        for rule in level.head.alerts
        for cause in causes(level, entry, rule, own)
        if is_new(level, cause)
    ]


def refused(level: Level, need: Units) -> list[dict[str, Any]]:
    """Return the bodies of the events that an ask causes on a level that refuses it: the level
    would not have so much left even if nothing were held.
    """
    if "100%" not in level.head.alerts:
        return []
    lacking = [
        (f"refused:{resource}", *of_budget(level, "100%", resource)[1:])
        for resource, (balance, units) in enumerate(zip(level.balances, need, strict=True))
        if balance.spent + balance.presumed + units > balance.budget
    ]
    return [
        body(level, "100%", *cause, refused=list(need)) for cause in lacking if is_new(level, cause)
    ]


def causes(level: Level, entry: Entry, rule: str, own: bool) -> Iterator[Cause]:
    """Yield what a rule finds after an entry, new or not."""
    hour = [entry.at // HOUR]
    if rule.endswith("%"):
        balances, period = level.balances, level.period
        used = [balance.spent + balance.presumed for balance in balances]
        whole = [balance.budget for balance in balances]
        if period is not None:
            used, whole = period.spent(balances), period.budget(balances)
        for resource, (part, most) in enumerate(zip(used, whole, strict=True)):
            if most and 100 * part >= int(rule[:-1]) * most:
                yield of_budget(level, rule, resource)
    elif rule == "overrun":
        if entry.body.get("over"):
            yield rule, hour, {}
    elif rule == "expired":
        if own and entry.kind == "expired":
            yield rule, hour, {}
    elif isinstance(level, CampaignLevel) and rule == "cooling-down" and entry.kind == "failed":
        for each in map(cooldown.CoolDown._make, level.head.cooling):
            if each.length and each.begun == entry.at:
                yield f"{rule}:{each.arm}", hour, {"arm": level.arms.names[each.arm]}


def of_budget(level: Level, rule: str, resource: int) -> Cause:
    """Return the cause that a used part of a budget is: once in each period and for each top-up."""
    mark = [number(level), level.head.top_ups]
    return f"{rule}:{resource}", mark, {"resource": level.terms.resources[resource]}


def number(level: Level) -> int:
    """Return the number of the period; 0 if the budget is never renewed."""
    return level.head.period[0] if level.head.period else 0


def is_new(level: Level, cause: Cause) -> bool:
    """Return whether there was no such event before."""
    return cause[1] > level.head.alerted.get(cause[0], [])


def body(
    level: Level, rule: str, subject: str, mark: list[int], more: dict[str, Any], **besides: Any
) -> dict[str, Any]:
    """Return what an event says: its rule, key and period, and the balances of this moment."""
    return {
        "rule": rule,
        "key": "/".join([subject, *map(str, mark)]),
        "period": number(level),
        **more,
        **besides,
        "balances": [list(balance) for balance in level.balances],
    }
