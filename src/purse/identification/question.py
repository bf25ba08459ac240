"""The question about the best arm: by reward or by reward per cost, under a cap, how nearly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from purse.base import validation
from purse.identification.arm_bounds import Arm
from purse.identification.recommendation import (
    RATIO,
    REWARD,
    Criterion,
    check_criterion,
    check_within,
)

Condition = Callable[[float, float], bool]  # of ln(2 / delta) of a bound, and times as many pulls


class BestArmQuestion(NamedTuple):
    """The criterion of the best arm, its cap on costs, and the tolerated error."""

    by: Criterion
    cap: float | None
    within: float

    @property
    def needs_costs(self) -> bool:
        """Whether the answer depends on costs."""
        return self.by == RATIO or self.cap is not None

    def n_intervals(self, arms: Sequence[Arm], n_arms: int) -> int:
        """Return the number of intervals that share the probability of error.

        n_arms   of all arms, also those that are not in `arms`
        """
        varying = sum(arm.cost_range[0] < arm.cost_range[1] for arm in arms)
        others = n_arms - len(arms) if varying else 0
        return n_arms + (varying + others if self.needs_costs else 0)

    def value(self, arm: Arm) -> float:
        """Return the mean reward, or the mean reward per mean cost, so far."""
        return arm.reward if self.by == REWARD else arm.ratio

    def bounds(self, arm: Arm, log_term: float, times: float = 1.0) -> tuple[float, float]:
        """Return bounds on the value."""
        of = arm.reward_bounds if self.by == REWARD else arm.ratio_bounds
        return of(log_term, times)

    def is_above_cap(self, arm: Arm, log_term: float, times: float = 1.0) -> bool:
        """Return whether an arm costs more than the cap, for certain."""
        return self.cap is not None and arm.cost_bounds(log_term, times)[0] > self.cap

    def keeps_cap(self, arm: Arm, log_term: float, times: float = 1.0) -> bool:
        """Return whether an arm costs at most the cap, for certain."""
        return self.cap is None or arm.cost_bounds(log_term, times)[1] <= self.cap

    def leader(self, arms: Sequence[Arm]) -> Arm | None:
        """Return the best arm so far among those that were tried and keep to the cap so far."""
        tried = [arm for arm in arms if arm.n and (self.cap is None or arm.cost <= self.cap)]
        return max(tried, key=self.value, default=None)

    def conditions(self, arms: Sequence[Arm], leader: Arm | None) -> list[Condition]:
        """Return the conditions that make the leader certain.

        Without a leader they make certain that every arm is above the cap.
        """
        if leader is None:
            return [partial(self.is_above_cap, arm) for arm in arms]
        rivals = (arm for arm in arms if arm is not leader)
        return [
            partial(self.keeps_cap, leader),
            *(partial(self.is_settled, leader, rival) for rival in rivals),
        ]

    def is_settled(self, leader: Arm, rival: Arm, log_term: float, times: float = 1.0) -> bool:
        """Return whether a rival is above the cap, or better by at most `within`, for certain."""
        low = self.bounds(leader, log_term, times)[0]
        high = self.bounds(rival, log_term, times)[1]
        return low + self.within >= high or self.is_above_cap(rival, log_term, times)


def read_question(by: str, cap: float | None, within: float) -> BestArmQuestion:
    """Return a question from what a user gives.

    Raise `InvalidInput` when a value is not allowed.
    """
    return BestArmQuestion(
        check_criterion(by),
        None if cap is None else validation.number("cap", cap, above=0),
        check_within(within),
    )
