"""The number of rounds that a policy without a horizon tunes itself to, and what follows."""

from __future__ import annotations

import math

from purse.base.validation import number
from purse.errors import invalid
from purse.types import Problem


def rounds_of(problem: Problem, policy: str) -> int:
    """T for a policy that looks at no costs: the horizon, else the most rounds that can be paid
    for; refuse a problem with neither.
    """
    return problem.horizon or most_paid(problem) or problem.known_horizon(policy)


def most_paid(problem: Problem) -> int:
    """Return ceil(B / c_min) of the resource that runs out first, exactly; 0 if each of them may be
    left untouched.
    """
    pairs = zip(problem.budget.tolist(), problem.cost_min.min(axis=0).tolist(), strict=True)
    return min((-(-budget // least) for budget, least in pairs if least > 0), default=0)


def c_rad_of(c_rad: float | str, problem: Problem, n_resources: int, policy: str) -> float:
    """Return C of a radius sqrt(C x / N) + C / N: ln(D K T), or the number that is given."""
    if c_rad == "theory":
        return math.log(n_resources * problem.n_arms * rounds_of(problem, policy))
    if isinstance(c_rad, str):
        raise invalid("c_rad", c_rad, "must be 'theory' or a positive number")
    return number("c_rad", c_rad, above=0)
