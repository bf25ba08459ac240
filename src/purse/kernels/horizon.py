"""The number of rounds that a policy without a horizon tunes itself to, and what follows."""

import math
from collections.abc import Callable

from purse.base.validation import number
from purse.errors import InvalidInput, invalid
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
    return min((-(-budget // cost) for budget, cost in pairs if cost > 0), default=0)


def theory_or(
    name: str, value: float | str, rule: str, theory: Callable[[], float], **limits: float
) -> float:
    """Return the value of "theory", or a number within the limits that `rule` tells of."""
    if value == "theory":
        return theory()
    if isinstance(value, str):
        raise invalid(name, value, f"must be 'theory' or {rule}")
    return number(name, value, **limits)


def pace_of(eps: float | str, problem: Problem, rounds: int, c_rad: float) -> float:
    """Return (1 - eps) B / T; refuse an eps that would leave the whole budget unspent.

    "theory" is sqrt(C K / B) + C K / B + sqrt(C K T) / B.
    """

    def theory() -> float:
        share = c_rad * problem.n_arms / problem.b
        extra = math.sqrt(c_rad * problem.n_arms * rounds) / problem.b
        return math.sqrt(share) + share + extra

    rule = "a number from 0 to below 1"
    part = theory_or("eps", eps, rule, theory, low=0, high=1)
    if part < 1:
        return (1 - part) * problem.b / rounds
    if eps != "theory":
        raise invalid("eps", eps, f"must be 'theory' or {rule}")
    raise InvalidInput(
        f"eps='theory' is {part:.3g} here, which would leave the whole budget "
        "unspent; give a number below 1, or a larger budget"
    )
