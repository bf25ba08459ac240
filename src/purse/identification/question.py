"""The sums of one arm's reports with bounds on its means, and the question about the best arm.

The bounds hold after every report at once; they are those of `purse.kernels.mean_bounds`, and the
evidence for an arm against another is that of `purse.kernels.pair_evidence`, both run as Python.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from purse.base import validation
from purse.compiler.kernel import attached
from purse.identification.recommendation import (
    RATIO,
    REWARD,
    Criterion,
    check_criterion,
    check_within,
)
from purse.kernels import mean_bounds, pair_evidence


def _with(kernel: Any, **parts: Any) -> Callable[..., float]:
    """Return the function of a kernel with `parts` in place of what it calls."""
    return attached(kernel.py_func, parts)


# Python's own logarithm takes a tenth of the time of the kernels'; the last bits may differ
_lower = _with(mean_bounds.lower, log=math.log, exp=math.exp)
lower_between = _with(mean_bounds.lower_between, lower=_lower)
upper_between = _with(mean_bounds.upper_between, lower=_lower)
_average = _with(pair_evidence.log_average, log_gamma=_with(pair_evidence.log_gamma, log=math.log))
_evidence = _with(pair_evidence.evidence, log_power=_with(pair_evidence.log_power, log=math.log))


class Arm(NamedTuple):
    """The sums of one arm's reports, and the ranges of what they add up."""

    name: str
    n: int
    reward_sum: float
    cost_sum: float
    reward_range: tuple[float, float]
    cost_range: tuple[float, float]  # twice the same if the cost is known

    @property
    def reward(self) -> float:
        """The mean reward so far; there is a report."""
        return self.reward_sum / self.n

    @property
    def cost(self) -> float:
        """The known cost, or the mean cost so far."""
        low, high = self.cost_range
        return low if low == high else self.cost_sum / self.n

    @property
    def ratio(self) -> float:
        """The mean reward per mean cost; infinite if a reward was for free."""
        return _over(self.reward, self.cost)

    def reward_counts(self, times: float) -> tuple[float, float]:
        """Return the sum of the rewards as parts of their range, and their number less this sum,
        as if there were `times` as many.
        """
        low, high = self.reward_range
        total = min(self.n, max(0.0, (self.reward_sum - self.n * low) / (high - low)))
        return total * times, (self.n - total) * times

    def reward_bounds(self, log_term: float, times: float = 1.0) -> tuple[float, float]:
        """Return bounds on the mean reward, as if there were `times` as many reports."""
        return _bounds(self.reward_sum, self.n, self.reward_range, log_term, times)

    def cost_bounds(self, log_term: float, times: float = 1.0) -> tuple[float, float]:
        """Return bounds on the mean cost."""
        return _bounds(self.cost_sum, self.n, self.cost_range, log_term, times)

    def ratio_bounds(self, log_term: float, times: float = 1.0) -> tuple[float, float]:
        """Return bounds on the ratio: those of the box."""
        low, high = self.reward_bounds(log_term, times)
        cheap, dear = self.cost_bounds(log_term, times)
        return _over(low, dear if low > 0 else cheap), _over(high, cheap if high > 0 else dear)


@lru_cache(10_000)  # the leader has to be compared with every rival
def _bounds(
    total: float, n: int, within: tuple[float, float], log_term: float, times: float
) -> tuple[float, float]:
    low, high = within
    mean = min(high, max(low, total / n)) if n else low
    sample = (mean, n * times, log_term, low, high)
    return lower_between(*sample), upper_between(*sample)


def _over(reward: float, cost: float) -> float:
    if cost > 0:
        return reward / cost
    return math.copysign(math.inf, reward) if reward else 0.0


@lru_cache(10_000)  # it is compared with one level after another
def _evidence_of(
    counts: tuple[float, float], others: tuple[float, float], ratio: float, shift: float
) -> float:
    averages = _average(*counts), _average(*others)
    return _evidence(averages[0], *counts, averages[1], *others, ratio, shift)


class BestArmQuestion(NamedTuple):
    """The criterion of the best arm, its cap on costs, and the tolerated error."""

    by: Criterion
    cap: float | None
    within: float

    @property
    def needs_costs(self) -> bool:
        """Whether the answer depends on costs."""
        return self.by == RATIO or self.cap is not None

    def value(self, arm: Arm) -> float:
        """Return the mean reward, or the mean reward per mean cost, so far."""
        return arm.reward if self.by == REWARD else arm.ratio

    def bounds(self, arm: Arm, log_term: float, times: float = 1.0) -> tuple[float, float]:
        """Return bounds on the value."""
        bounds = arm.reward_bounds if self.by == REWARD else arm.ratio_bounds
        return bounds(log_term, times)

    def keeps_cap(self, arm: Arm) -> bool:
        """Return whether an arm has cost at most the cap so far."""
        return self.cap is None or arm.cost <= self.cap

    def evidence(self, leader: Arm, rival: Arm, within: float, times: float = 1.0) -> float:
        """Return the evidence that the rival is better by at most `within`; known costs only."""
        low, high = leader.reward_range
        own, other = (1.0, 1.0) if self.by == REWARD else (leader.cost, rival.cost)
        ratio, size = own / other, high - low
        shift = (within * own + (1 - ratio) * low) / size
        return _evidence_of(leader.reward_counts(times), rival.reward_counts(times), ratio, shift)

    def leader(self, arms: Sequence[Arm]) -> Arm | None:
        """Return the best arm so far among those that were tried and keep to the cap so far."""
        return max(
            (arm for arm in arms if arm.n and self.keeps_cap(arm)), key=self.value, default=None
        )


Condition = Callable[[float, float], bool]  # of ln(1 / delta), and times as many pulls


class Decision:
    """The decision of a question about these arms.

    n_arms   of all arms, also those that are not in `arms`

    Whatever is claimed shares the probability of error, delta: an interval for each mean reward
    and, if costs matter, for each cost that varies; in the comparison of two arms by their evidence
    the pairs of the best arm. The best of the arms that are left may be another one, so that all
    pairs count if some are left out.
    """

    def __init__(self, question: BestArmQuestion, arms: Sequence[Arm], n_arms: int) -> None:
        self.question, self.arms = question, arms
        varying = sum(arm.cost_range[0] < arm.cost_range[1] for arm in arms)
        n_costs = varying + (n_arms - len(arms) if varying else 0) if question.needs_costs else 0
        constant = all(0 < arm.cost_range[0] == arm.cost_range[1] for arm in arms)
        self.is_joint = question.by == REWARD or constant
        self.n_intervals = n_arms + n_costs
        pairs = n_arms - 1 if n_arms == len(arms) else n_arms * (n_arms - 1) // 2
        self.n_tests = max(1, pairs + n_costs)
        self.leader = question.leader(arms)

    def log_term(self, sureness: float) -> float:
        """Return ln(2 / delta) of an interval, from ln(1 / delta) of all together."""
        return sureness + math.log(2 * self.n_intervals)

    def conditions(self) -> list[Condition]:
        """Return the conditions that make the leader certain.

        Without a leader they make certain that every arm is above the cap.
        """
        leader = self.leader
        if leader is None:
            return [partial(self.is_above_cap, arm) for arm in self.arms]
        rivals = (arm for arm in self.arms if arm is not leader)
        return [
            partial(self.keeps_cap, leader),
            *(partial(self.is_settled, leader, rival) for rival in rivals),
        ]

    def is_above_cap(self, arm: Arm, sureness: float, times: float = 1.0) -> bool:
        """Return whether an arm costs more than the cap, for certain."""
        cap = self.question.cap
        return cap is not None and arm.cost_bounds(self.log_term(sureness), times)[0] > cap

    def keeps_cap(self, arm: Arm, sureness: float, times: float = 1.0) -> bool:
        """Return whether an arm costs at most the cap, for certain."""
        cap = self.question.cap
        return cap is None or arm.cost_bounds(self.log_term(sureness), times)[1] <= cap

    def is_settled(self, leader: Arm, rival: Arm, sureness: float, times: float = 1.0) -> bool:
        """Return whether a rival is above the cap, or better by at most `within`, for certain."""
        return self.is_above_cap(rival, sureness, times) or self.is_beaten(
            leader, rival, self.question.within, sureness, times
        )

    def is_beaten(
        self, leader: Arm, rival: Arm, within: float, sureness: float, times: float = 1.0
    ) -> bool:
        """Return whether a rival is better than another arm by at most `within`, for certain."""
        if self.is_joint:
            evidence = self.question.evidence(leader, rival, within, times)
            return evidence >= sureness + math.log(self.n_tests)
        log_term = self.log_term(sureness)
        low = self.question.bounds(leader, log_term, times)[0]
        return low + within >= self.question.bounds(rival, log_term, times)[1]


def read_question(by: str, cap: float | None, within: float) -> BestArmQuestion:
    """Check a user's question about the best arm.

    Raise `InvalidInput` when a value is not allowed.
    """
    return BestArmQuestion(
        check_criterion(by),
        None if cap is None else validation.number("cap", cap, above=0),
        check_within(within),
    )
