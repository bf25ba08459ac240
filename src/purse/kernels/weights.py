"""Kernels that several policies share: drawing an arm by weight, and mixing exploration into
weights.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from purse.compiler.kernel import attach, cold, kernel
from purse.kernels.masks import draw_allowed, restrict
from purse.kernels.random import uniform
from purse.types import Floats, Now, Play

weigh: Any = None  # bound by `mixed_rule` and `weighted_rule`


class Mixture(NamedTuple):
    """Exploration in front of weights: what `_mixed_arm` needs besides its arrays."""

    cap: float  # the rate of each arm, if `equal`
    explore: float  # the sum of the rates
    equal: bool  # whether all rates are `cap`; then `rates` is not filled
    sum_weights: float


@kernel
def pick(x: float, weights: Floats) -> int:
    """Return the smallest i with weights[0] + .. + weights[i] > x, and the last arm if rounding
    leaves none; no branches.
    """
    total = 0.0
    arm = 0
    last = weights.shape[0] - 1
    for i in range(last):
        total += weights[i]
        arm += total <= x
    return arm


@kernel
def draw_weighted(now: Now, weights: Floats, total: float, play: Play) -> None:
    """Draw an arm by weight, with the round's first number; `total` is the sum of the weights.

    Under a mask only allowed arms are drawn, and the weights are overwritten.
    """
    if now.masked:
        _normalise(weights, total)
        draw_allowed(now, weights, play)
    else:
        play.arms[0] = pick(uniform(now.key, 0) * total, weights)
        play.probs[0] = weights[play.arms[0]] / total


@cold
def _normalise(weights: Floats, total: float) -> None:
    for i in range(weights.shape[0]):
        weights[i] /= total


@kernel
def show_weighted(now: Now, weights: Floats, total: float, out: Floats) -> None:
    """Write the probabilities of `draw_weighted`."""
    for i in range(weights.shape[0]):
        out[i] = weights[i] / total
    if now.masked:
        restrict(now, out)


@kernel
def largest(values: Floats) -> float:
    """Return the largest entry."""
    top = values[0]
    for i in range(1, values.shape[0]):
        top = max(top, values[i])
    return top


@kernel
def smallest(values: Floats) -> float:
    """Return the smallest entry."""
    low = values[0]
    for i in range(1, values.shape[0]):
        low = min(low, values[i])
    return low


@kernel
def total(values: Floats) -> float:
    """Return the sum, from left to right."""
    result = 0.0
    for i in range(values.shape[0]):
        result += values[i]
    return result


@kernel
def _mixed_arm(u: float, mixture: Mixture, rates: Floats, weights: Floats) -> int:
    """Return the arm for a uniform u: below `explore` by the exploration rates (all `cap` if
    `equal`), else by weight.
    """
    cap, explore, equal, sum_weights = mixture
    arm = pick((u - explore) * (1 / (1 - explore)) * sum_weights, weights)
    if u < explore:
        arm = min(int(u / cap), weights.shape[0] - 1) if equal else pick(u, rates)
    return arm


@kernel
def _mixed_probability(arm: int, mixture: Mixture, rates: Floats, weights: Floats) -> float:
    cap, explore, equal, sum_weights = mixture
    return (cap if equal else rates[arm]) + (1 - explore) / sum_weights * weights[arm]


@kernel
def _draw_mixed(now: Now, mixture: Mixture, rates: Floats, weights: Floats, play: Play) -> None:
    """Draw an arm of a mixture with the round's first number; weights are written under a mask."""
    if now.masked:
        _draw_mixed_allowed(now, mixture, rates, weights, play)
        return
    play.arms[0] = _mixed_arm(uniform(now.key, 0), mixture, rates, weights)
    play.probs[0] = _mixed_probability(play.arms[0], mixture, rates, weights)


@cold
def _draw_mixed_allowed(
    now: Now, mixture: Mixture, rates: Floats, weights: Floats, play: Play
) -> None:
    for i in range(weights.shape[0]):
        weights[i] = _mixed_probability(i, mixture, rates, weights)
    draw_allowed(now, weights, play)


@kernel
def _show_mixed(now: Now, mixture: Mixture, rates: Floats, weights: Floats, out: Floats) -> None:
    for i in range(weights.shape[0]):
        out[i] = _mixed_probability(i, mixture, rates, weights)
    if now.masked:
        restrict(now, out)


def _choose_mixed(params: Any, state: Any, scratch: Any, now: Now, play: Play) -> None:
    _draw_mixed(now, weigh(params, state, scratch, now.t), scratch.rates, scratch.weights, play)


def _share_mixed(params: Any, state: Any, scratch: Any, now: Now, out: Floats) -> None:
    _show_mixed(now, weigh(params, state, scratch, now.t), scratch.rates, scratch.weights, out)


def mixed_rule(weigh: Callable[..., Mixture]) -> Any:
    """Return choose and probabilities of a rule that writes the weights, and rates if they differ,
    by `weigh(params, state, scratch, t)`.
    """
    return attach(_choose_mixed, weigh=weigh), attach(_share_mixed, weigh=weigh)


def _choose_weighted(params: Any, state: Any, scratch: Any, now: Now, play: Play) -> None:
    draw_weighted(now, scratch.weights, weigh(params, state, scratch, now.t), play)


def _share_weighted(params: Any, state: Any, scratch: Any, now: Now, out: Floats) -> None:
    show_weighted(now, scratch.weights, weigh(params, state, scratch, now.t), out)


def weighted_rule(weigh: Callable[..., float]) -> Any:
    """Return choose and probabilities of a rule that draws by the weights which
    `weigh(params, state, scratch, t)` writes; it returns their sum.
    """
    return attach(_choose_weighted, weigh=weigh), attach(_share_weighted, weigh=weigh)
