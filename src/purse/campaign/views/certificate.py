"""The certificate of a campaign, from the course of its journal."""

import math
from collections.abc import Iterator

from purse.base import amounts
from purse.base.text import count
from purse.campaign.views.arm_stats import ArmSums
from purse.campaign.views.history import MASKED, History
from purse.campaign.views.recommendation import cost_range
from purse.identification.certificate import Certificate

_NOTHING = ArmSums(0, 0, 0, 0.0, ())


def certificate_of(history: History, confidence: float) -> Certificate:
    """Return the share of the best that a campaign has earned for certain so far."""
    from purse.identification.certify import most_gain

    terms, arms, counts = history.terms, history.level.arms, history.level.head.counts
    d = len(terms.resources)
    bounds = terms.bounds(arms.widened)
    arm_sums = list(history.arm_sums().values())
    sums = arm_sums + [_NOTHING._replace(costs=(0,) * d)] * (len(bounds[0]) - len(arm_sums))
    paid = [part.spent + part.presumed for part in history.level.balances]
    is_lower = counts.get("below_minimum", 0) > 0
    best_gain = most_gain(
        [one.told for one in sums],
        [one.reward for one in sums],
        [[units / amounts.UNIT for units in one.costs] for one in sums],
        cost_squares=[one.cost_squares for one in sums],
        paid=[units / amounts.UNIT for units in paid],
        rounds=None if terms.horizon is None else history.asks,
        reward_range=terms.reward_range or (0.0, 1.0),
        cost_ranges=[
            [
                (low / amounts.UNIT, high / amounts.UNIT)
                for low, high in (
                    cost_range(bounds, arm, resource, one, is_lower=is_lower)
                    for resource in range(d)
                )
            ]
            for arm, one in enumerate(sums)
        ],
        among=arms.there,
        as_first=arms.there == list(range(len(terms.arms))),
        confidence=confidence,
    )
    gain = sum(one.reward for one in sums)
    reason = _silence(history, sums)
    if not reason and best_gain <= 0:
        reason = "nothing was paid so far, or nothing can be gained"
    if reason:
        return Certificate(None, confidence, gain, None, (reason,))
    return Certificate(
        max(0.0, gain / best_gain),
        confidence,
        gain,
        best_gain if math.isfinite(best_gain) else None,
        tuple(_notes(sums, counts.get("presumed", 0))),
    )


def _silence(history: History, sums: list[ArmSums]) -> str:
    """Return the reason why no share can be claimed; "" if one can."""
    counts, waiting = history.level.head.counts, sum(one.settled for one in sums)
    if history.terms.features:
        return "contexts decide what is best, and the bounds are of arms without them"
    if masked := history.level.head.counts.get(MASKED):
        return f"{count(masked, 'ask')} allowed only some arms: masks decide what is best, too"
    if history.drifted:
        return f"void since round {history.drifted}: rewards or costs of an arm changed"
    if waiting:
        return f"{count(waiting, 'pull')} with a known cost and no reward so far: ask again later"
    if overruns := counts.get("overruns", 0):
        return f"{count(overruns, 'report')} cost more than was held: bounds on costs do not hold"
    if outside := counts.get("outside_range", 0):
        return f"{count(outside, 'reward')} outside reward_range: bounds on rewards do not hold"
    return ""


def _notes(sums: list[ArmSums], presumed: int) -> Iterator[str]:
    """Yield the assumptions, and the money that brought no reward."""
    yield (
        "this assumes that an arm's rewards and costs are independent draws that do not change: an "
        "arm that is no longer played may have become better"
    )
    lost = sum(one.failed for one in sums) + presumed
    if lost:
        yield (
            f"{count(lost, 'call')} without a reward: the comparison gives the same money to calls "
            "that work"
        )
