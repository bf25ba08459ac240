"""The rules of operators: top-ups, pauses, alerts, and arms that come and go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from purse.base import amounts
from purse.campaign.api.states import ENDED, RUNNING
from purse.campaign.ledger.records import Units
from purse.campaign.rules.transaction import Transaction, check_counted
from purse.errors import InvalidInput, invalid, unknown

_SOMEBODY = "somebody"  # an operator ended it, not its policy or its horizon


def top_up(transaction: Transaction, units: Units, request: str) -> None:
    """Add to the budget, once for each request."""
    if transaction.repeated(request, "topped_up", {"units": list(units)}) is None:
        transaction.refuse_ended()
        check_counted(
            "amount", "the budget must stay at most", transaction.level.balances, units, 0
        )
        transaction.add("topped_up", {"units": list(units)}, request=request)


def set_status(transaction: Transaction, kind: str, status: str) -> None:
    """Pause, resume or end; if that is so already, nothing happens. What has ended stays so."""
    level = transaction.level
    if level.head.status == status:
        return
    transaction.refuse_ended()
    period, body = level.period, {"by": _SOMEBODY} if status == ENDED else dict[str, Any]()
    if status == RUNNING and period is not None and period.ends <= transaction.now:
        # it went on through the pause
        body = transaction.end_after(level, period.ends, transaction.now)
    transaction.add(kind, body)
    transaction.renew()  # which a clock that was ahead may want


def set_alerts(transaction: Transaction, alerts: Sequence[str]) -> None:
    """Make events by these rules from now on."""
    if list(alerts) != transaction.level.head.alerts:
        transaction.add("alerts_set", {"alerts": list(alerts)})


def add_arm(
    transaction: Transaction, name: str, cost_min: Units | None, cost_max: Units | None
) -> None:
    """Add an arm, or take back a retired one with what was learnt of it."""
    transaction.refuse_ended()
    arms, terms = transaction.campaign.arms, transaction.campaign.terms
    arm = arms.names.index(name) if name in arms.names else len(arms.names)
    if arm == terms.n_arms:
        raise invalid(
            "name",
            name,
            f"there is no place for another arm: the campaign was created with a capacity of "
            f"{arm} arms, and retired ones keep their places",
        )
    body = _arm_body(transaction, arm, name, cost_min, cost_max)
    if arm == len(arms.names) or arms.is_retired[arm]:
        transaction.add("arm_added", body)
    elif body != _arm_body(transaction, arm, name, None, None):
        raise invalid("name", name, "is an arm already; set_arm changes what it may cost")


def retire_arm(transaction: Transaction, name: str) -> None:
    """Choose an arm no more; what is open is told as usual."""
    arms, arm = transaction.campaign.arms, _arm_number(transaction, name)
    if arms.is_retired[arm]:
        return
    if len(arms.there) <= 1:
        raise invalid("name", name, "cannot be retired: no arm would be left")
    transaction.add("arm_retired", _arm_body(transaction, arm, name, None, None))


def set_arm(
    transaction: Transaction, name: str, cost_min: Units | None, cost_max: Units | None
) -> None:
    """Move what an arm may cost, from now on."""
    arm = _arm_number(transaction, name)
    body = _arm_body(transaction, arm, name, cost_min, cost_max)
    if body != _arm_body(transaction, arm, name, None, None):
        transaction.add("arm_changed", body)


def _arm_number(transaction: Transaction, name: str) -> int:
    """Return the number of an arm. Raise `InvalidInput` if no arm has this name."""
    transaction.refuse_ended()
    names = transaction.campaign.arms.names
    if name not in names:
        raise unknown("arm", name, names)
    return names.index(name)


def _arm_body(
    transaction: Transaction, arm: int, name: str, cost_min: Units | None, cost_max: Units | None
) -> dict[str, Any]:
    """Return the body of an entry about an arm.

    cost_min, cost_max   of what it may cost, in units; None: as before

    Raise `InvalidInput` if these do not lie between floor and ceiling.
    """
    arms, terms = transaction.campaign.arms, transaction.campaign.terms
    floor, ceiling = terms.floor[arm], terms.ceiling[arm]
    is_new = arm == len(arms.names)
    low = cost_min or (floor if is_new else arms.cost_min[arm])
    high = cost_max or (ceiling if is_new else arms.cost_max[arm])
    for resource, bottom, small, large, top in zip(
        terms.resources, floor, low, high, ceiling, strict=True
    ):
        if not bottom <= small <= large <= top:
            raise InvalidInput(
                f"cost_min={amounts.text(small)}, cost_max={amounts.text(large)} {resource}: must "
                f"lie between the cost_min of arm {name!r} and its ceiling, "
                f"{amounts.text(bottom)} and {amounts.text(top)}"
            )
    return {"arm": arm, "name": name, "cost_min": list(low), "cost_max": list(high)}
