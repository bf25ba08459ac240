"""The rules of operators: money, pauses, alerts, and arms that come and go."""

from collections.abc import Mapping, Sequence
from typing import Any

from purse.base import amounts
from purse.base.spec import parse
from purse.campaign.api.states import ENDED, RUNNING
from purse.campaign.ledger.ask_inputs import check_keys
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.records import Balance, Units
from purse.campaign.rules.transaction import Transaction, check_counted
from purse.campaign.terms.arms import Arms
from purse.campaign.terms.budget_terms import RULES
from purse.errors import InvalidInput, invalid, unknown

NOW, NEXT = "now", "next"  # when a new budget begins
_SOMEBODY = "somebody"  # an operator ended it, not its policy or its horizon


def top_up(transaction: Transaction, units: Units, request: str) -> None:
    """Add to the budget, once for each request."""
    if transaction.repeated(request, "topped_up", {"units": list(units)}) is None:
        transaction.refuse_ended()
        check_counted(
            "amount", "the budget must stay at most", transaction.level.balances, units, 0
        )
        transaction.add("topped_up", {"units": list(units)}, request=request)


def set_budget(transaction: Transaction, units: Units, when: str, request: str) -> None:
    """Set the budget, or that of each period, once for each request. What was given out stays."""
    body = {"units": list(units)} | ({"next": True} if when == NEXT else {})
    if transaction.repeated(request, "budget_set", {"next": None} | body) is not None:
        return
    transaction.refuse_ended()
    level = transaction.level
    if when == NEXT and level.period is None:
        raise invalid("when", when, "needs a budget that is renewed, see every")
    if level.period is not None:
        gone = [Balance(part) for part in level.period.before]
        check_counted("amount", "with earlier periods the budget must be at most", gone, units, 0)
    transaction.add("budget_set", body, request=request)


def charge(
    transaction: Transaction,
    units: Units,
    labels: Mapping[str, str] | None,
    note: str,
    request: str,
) -> None:
    """Book money that came without a ticket, or a credit, once for each request."""
    body: dict[str, Any] = {"amount": list(units)}
    body |= ({"labels": dict(labels)} if labels else {}) | ({"note": note} if note else {})
    if transaction.repeated(request, "charged", {"note": None, "labels": None} | body) is not None:
        return
    if isinstance(transaction.level, CampaignLevel):
        check_keys(labels or (), transaction.level.head.labels)
    elif labels:
        raise invalid("labels", labels, "must be left out: only campaigns have labels")
    for level in transaction.level.chain():
        check_counted("amount", "what is spent must stay at most", level.balances, units, 1)
        for part, more in zip(level.balances, units, strict=True):
            if part.spent + more < 0:
                allowed = f"a credit must be at most what {level.title} has spent, "
                raise invalid("amount", amounts.text(more), allowed + amounts.text(part.spent))
    transaction.add("charged", body, request=request)


def hand_over(
    transaction: Transaction, policy: list[Any] | None = None, taught_from: int | None = None
) -> str:
    """Let the policy choose that has learnt with what arms may cost by now, and the rules of this
    version decide, unless both do so already; return which policy takes over from which, "" if
    none does.

    policy        that is to choose, see `CampaignLevel.policy`; None: the one in charge
    taught_from   the last entry of the seal from whose sums it has learnt; None: that of the last
                  seal, if it has to learn again
    """
    level, head, body, text = transaction.level, transaction.level.head, dict[str, Any](), ""
    is_taught = True
    if isinstance(level, CampaignLevel):
        before, is_taught = level.policy, level.arms.widened == head.taught
        is_taught &= taught_from in (None, head.taught_from)
        if policy is not None and policy != before:
            body = {"policy": policy, "before": before}
            text = handing_over(level.title, before, policy)
    if body or not is_taught or head.rules < RULES:
        sealed = head.sealed if taught_from is None else taught_from
        transaction.add("handed_over", {**body, "sealed": sealed} if sealed else body)
    return text


def handing_over(title: str, before: list[Any], policy: list[Any]) -> str:
    """Return which policy takes over from which.

    >>> handing_over("campaign 'a'", ["replan:guard=.5", 2], ["replan", 3])
    "campaign 'a' from version 2 of replan:guard=.5 to version 3 of replan, without guard"
    """
    gone = sorted(parse(before[0])[1].keys() - parse(policy[0])[1].keys())
    dropped = f", without {', '.join(gone)}" if gone else ""
    return (
        f"{title} from version {before[1]} of {before[0]} to version {policy[1]} of {policy[0]}"
        f"{dropped}"
    )


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


def set_limit(transaction: Transaction, key: str, value: str | None, units: Units | None) -> None:
    """Set what each value of a key may take, or one value; None: that one as the others again."""
    transaction.refuse_ended()
    level = transaction.campaign
    limits = level.head.limits
    body: dict[str, Any] = {"key": key} | ({} if units is None else {"units": list(units)})
    if value is None:
        check_keys([key], level.head.labels)
        before = limits.get(key)
    else:
        if key not in limits:
            keys = ", ".join(limits) or "none"
            raise invalid("key", key, f"must be a key with a limit of its own, which are: {keys}")
        body["value"] = value
        before = level.label_budget((key, value)).own  # type: ignore[assignment]
    if before != body.get("units"):
        transaction.add("limited", body)


def check_limited_key(transaction: Transaction, key: str) -> None:
    """Raise `InvalidInput` for a key that no ticket has had and that has no limit: a misspelt one
    would refuse every ask from now on.
    """
    level = transaction.campaign
    known = sorted({*level.head.labels, *level.head.limits})
    if key not in known:
        names = ", ".join(known) or "none so far"
        raise invalid("key", key, f"must be a key of the labels of this campaign: {names}")


def set_alerts(transaction: Transaction, alerts: Sequence[str]) -> None:
    """Make events by these rules from now on."""
    if list(alerts) != transaction.level.head.alerts:
        transaction.add("alerts_set", {"alerts": list(alerts)})


def add_arm(
    transaction: Transaction, name: str, cost_min: Units | None, cost_max: Units | None
) -> None:
    """Add an arm, or take back a retired one with what was learnt of it."""
    transaction.refuse_ended()
    arms = transaction.campaign.arms
    arm = arms.names.index(name) if name in arms.names else len(arms.names)
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
    is_raised = arm in transaction.campaign.arms.declared  # which this confirms or undoes
    if is_raised or body != _arm_body(transaction, arm, name, None, None):
        transaction.add("arm_changed", body)


def update(transaction: Transaction, terms: Any, request: str) -> None:
    """Do what is to be done so that budget, alerts and arms are as terms say; nothing else."""
    level = transaction.level
    if list(terms.budget) != list(level.allowance):
        set_budget(transaction, terms.budget, NOW, request)
    set_alerts(transaction, terms.alerts)
    if not isinstance(level, CampaignLevel):
        return
    for key, units in terms.limits:
        set_limit(transaction, key, None, units)
    for name, *bounds in zip(terms.arms, terms.cost_min, terms.cost_max, strict=True):
        arms = level.arms
        arm = arms.names.index(name) if name in arms.names else len(arms.names)
        if arm == len(arms.names) or arms.is_retired[arm]:
            add_arm(transaction, name, *bounds)
        elif arm in arms.declared:  # a bill has raised it, which the same price leaves as it is
            if list(arms.declared[arm]) != list(bounds[1]):
                set_arm(transaction, name, *bounds)
        elif [list(arms.cost_min[arm]), list(arms.cost_max[arm])] != list(map(list, bounds)):
            set_arm(transaction, name, *bounds)
    for name in [level.arms.names[arm] for arm in level.arms.there]:
        if name not in terms.arms:
            retire_arm(transaction, name)


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

    Raise `InvalidInput` if the policy cannot play with these.
    """
    arms, terms = transaction.campaign.arms, transaction.campaign.terms
    is_new = arm == len(arms.names)
    floor, ceiling = (bounds[arm] for bounds in terms.bounds_of(arm + 1))
    high = cost_max or (ceiling if is_new else arms.cost_max[arm])
    # the least is a limit of the policy: what costs less than it is moved with the most
    low = cost_min or list(map(min, floor if is_new else arms.cost_min[arm], high))
    for resource, small, large in zip(terms.resources, low, high, strict=True):
        if not 0 <= small <= large:
            raise InvalidInput(
                f"cost_min={amounts.text(small)}, cost_max={amounts.text(large)} {resource}: of "
                f"arm {name!r} must not be negative, and cost_min at most cost_max"
            )
    row = [arm, name, not is_new and arms.is_retired[arm], list(low), list(high)]
    others = [other for other in transaction.level.head.arms if other[0] != arm]
    terms.in_charge(transaction.campaign.policy).check_arms(Arms(terms, sorted([*others, row])))
    return {"arm": arm, "name": name, "cost_min": list(low), "cost_max": list(high)}
