"""Kernels that several policies share: drawing an arm by weight, and mixing exploration into
weights.
"""

from __future__ import annotations

from purse.compiler.jit import kernel
from purse.types import Floats


@kernel
def pick(x: float, weights: Floats) -> int:
    """The smallest i with weights[0] + .. + weights[i] > x, and the last arm if rounding leaves
    none; no branches.
    """
    total = 0.0
    arm = 0
    last = weights.shape[0] - 1
    for i in range(last):
        total += weights[i]
        arm += total <= x
    return arm


@kernel
def largest(values: Floats) -> float:
    """The largest entry."""
    top = values[0]
    for i in range(1, values.shape[0]):
        top = max(top, values[i])
    return top


@kernel
def smallest(values: Floats) -> float:
    """The smallest entry."""
    low = values[0]
    for i in range(1, values.shape[0]):
        low = min(low, values[i])
    return low


@kernel
def total(values: Floats) -> float:
    """The sum, from left to right."""
    result = 0.0
    for i in range(values.shape[0]):
        result += values[i]
    return result


@kernel
def mixed_arm(
    u: float,
    cap: float,
    explore: float,
    equal: bool,
    rates: Floats,
    weights: Floats,
    sum_weights: float,
) -> int:
    """The arm for a uniform u: below `explore` by the exploration rates (all `cap` if `equal`),
    else by weight.
    """
    arm = pick((u - explore) * (1 / (1 - explore)) * sum_weights, weights)
    if u < explore:
        arm = min(int(u / cap), weights.shape[0] - 1) if equal else pick(u, rates)
    return arm


@kernel
def mixed_probability(
    arm: int,
    cap: float,
    explore: float,
    equal: bool,
    rates: Floats,
    weights: Floats,
    sum_weights: float,
) -> float:
    """The probability with which `mixed_arm` draws this arm."""
    return (cap if equal else rates[arm]) + (1 - explore) / sum_weights * weights[arm]
