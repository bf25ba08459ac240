"""Identification of the best arm from sums of reports, with a confidence.

Each mean has bounds that hold after every report at once (`purse.kernels.mean_bounds`), so that one
may ask again and again. K arms have K intervals, one for each mean reward; if costs matter, there
is one more for each arm whose cost is not known. They share the probability of error, delta.

The leader has the largest mean so far, among arms whose mean cost is at most the cap. It is certain
when its own cost is at most the cap for certain, and it beats every other arm that the cap does not
exclude for certain: by the evidence for its mean against the other's
(`purse.kernels.pair_evidence`); by ratio, if a cost varies or is 0, by its lower bound, which plus
`within` is at least the other's upper bound. The confidence now is the largest 1 - delta for which
it is certain.

The evidence of a pair needs ln((K - 1) / delta): any of K - 1 arms could wrongly beat the best one.
The answer and the bounds beside it hold with this confidence each.

Assumptions: the pulls of an arm are independent draws from one distribution, and rewards and costs
lie within the ranges that are given.
"""

import itertools
import math
from collections.abc import Sequence

from purse.base import validation
from purse.errors import invalid
from purse.identification.question import Arm, Condition, Decision, read_question
from purse.identification.recommendation import (
    ABOVE_CAP,
    BEST,
    CONFIDENCE,
    MAY_BE_BEST,
    NOT_TRIED,
    REWARD,
    WORSE,
    ArmVerdict,
    MeanBounds,
    Recommendation,
    Verdict,
    check_confidence,
)

_SUREST = 36.0  # -ln(delta) of the largest confidence that is told from 1
_MOST_TIMES = 1e6  # times as many pulls, beyond which nothing is forecast
_STEPS = 50  # of bisections


def recommend(
    names: Sequence[str],
    counts: Sequence[int],
    reward_sums: Sequence[float],
    cost_sums: Sequence[float],
    *,
    by: str = REWARD,
    cap: float | None = None,
    confidence: float = CONFIDENCE,
    within: float = 0.0,
    reward_range: tuple[float, float] = (0.0, 1.0),
    cost_min: Sequence[float] | float = 0.0,
    cost_max: Sequence[float] | float = 1.0,
    n_arms: int | None = None,
    resource: str = "cost",
    notes: Sequence[str] = (),
) -> Recommendation:
    """Return which arm is best and how sure that is, from the sums of each arm's reports.

    names         of the arms, shape (K,)
    counts        pulls with a report, shape (K,)
    reward_sums   sums of their rewards, shape (K,)
    cost_sums     sums of their costs, shape (K,)
    by            "reward", or "ratio": reward per cost
    cap           the most that the best arm may cost, on average; None: anything
    confidence    that is wanted, above 0 and below 1
    within        by how much the best arm may be missed, in rewards or in rewards per cost
    reward_range  the least and the largest reward
    cost_min, cost_max   the least and the most that a pull may cost: one amount, or one for each
                         arm, shape (K,); a cost that is known is both
    n_arms        the number of arms that share the probability of error; None: those given. Arms
                  that were left out because they did badly count here
    resource      the name of what costs are counted in
    notes         what the answer says besides

    Raise `InvalidInput` when a value is not allowed.
    """
    question, confidence = read_question(by, cap, within), check_confidence(confidence)
    arms = [
        Arm(name, n, float(reward), float(cost), reward_range, (cost_low, cost_high))
        for name, n, reward, cost, cost_low, cost_high in zip(
            names,
            counts,
            reward_sums,
            cost_sums,
            _for_each("cost_min", cost_min, len(names)),
            _for_each("cost_max", cost_max, len(names)),
            strict=True,
        )
    ]
    decision = Decision(question, arms, n_arms or len(arms) or 1)
    leader, sureness = decision.leader, -math.log1p(-confidence)
    conditions = decision.conditions() if arms else []
    certain = bool(conditions) and all(holds(sureness, 1.0) for holds in conditions)
    now = _confidence(conditions)
    forecast = None if certain or leader is None else _forecast(conditions, arms, sureness)
    return Recommendation(
        None if leader is None else leader.name,
        certain,
        max(now, confidence) if certain else now,
        confidence,
        *question,
        resource,
        _verdicts(decision, sureness, certain=certain),
        None if forecast is None else math.ceil(forecast * sum(arm.n for arm in arms)),
        None if forecast is None else forecast * sum(arm.n * arm.cost for arm in arms),
        tuple(notes),
    )


def _for_each(field: str, value: Sequence[float] | float, n_arms: int) -> list[float]:
    """Return one amount for each arm."""
    amounts = [value] * n_arms if isinstance(value, (int, float)) else list(value)
    if len(amounts) != n_arms:
        raise invalid(field, value, f"must be one number, or one for each of the {n_arms} arms")
    return [validation.number(field, amount, low=0) for amount in amounts]


def _confidence(conditions: Sequence[Condition]) -> float:
    """Return the largest 1 - delta at which all conditions hold, by bisection of ln(1 / delta)."""
    surest = _SUREST if conditions else 0.0
    for holds in conditions:
        if holds(surest, 1.0):
            continue
        low, high = 0.0, surest
        if not holds(0.0, 1.0):
            return 0.0
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if holds(middle, 1.0) else (low, middle)
        surest = low
    return -math.expm1(-surest)


def _forecast(
    conditions: Sequence[Condition], arms: Sequence[Arm], sureness: float
) -> float | None:
    """Return the pulls that are missing until all conditions hold, as a multiple of those so far.

    This assumes that the means and the shares of the arms stay as they are. Return None if no
    number of pulls would do, as between equal arms.
    """
    if not all(arm.n for arm in arms):
        return None
    times = 1.0
    for holds in conditions:
        if holds(sureness, times):
            continue
        low, high = times, _MOST_TIMES
        if not holds(sureness, high):
            return None
        while high / low > 1.02:  # it is a guess: two digits are enough
            middle = math.sqrt(low * high)
            low, high = (low, middle) if holds(sureness, middle) else (middle, high)
        times = high
    return times - 1


def _verdicts(decision: Decision, sureness: float, *, certain: bool) -> tuple[ArmVerdict, ...]:
    """Return the verdict on each arm."""
    question, log_term = decision.question, decision.log_term(sureness)
    tried = (arm for arm in decision.arms if arm.n and decision.keeps_cap(arm, sureness))
    rivals = sorted(tried, key=question.value, reverse=True)

    def verdict(arm: Arm) -> Verdict:
        if decision.is_above_cap(arm, sureness):
            return ABOVE_CAP
        if not arm.n:
            return NOT_TRIED
        if certain and arm is decision.leader:
            return BEST
        above = itertools.takewhile(
            lambda rival: question.value(rival) > question.value(arm), rivals
        )
        beaten = any(decision.is_beaten(rival, arm, 0.0, sureness) for rival in above)
        return WORSE if beaten else MAY_BE_BEST

    return tuple(
        ArmVerdict(
            arm.name,
            arm.n,
            _bounds(arm.reward if arm.n else None, arm.reward_bounds(log_term)),
            _bounds(arm.cost if arm.n else None, arm.cost_bounds(log_term), question.needs_costs),
            _bounds(arm.ratio if arm.n else None, arm.ratio_bounds(log_term), question.needs_costs),
            verdict(arm),
        )
        for arm in decision.arms
    )


def _bounds(mean: float | None, bounds: tuple[float, float], claimed: bool = True) -> MeanBounds:
    """Return a mean and its bounds as JSON can have them: without infinities."""
    shown = (mean, *(bounds if claimed else (None, None)))
    return MeanBounds(*(None if value is None or math.isinf(value) else value for value in shown))
