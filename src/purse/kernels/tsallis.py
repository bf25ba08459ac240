r"""The common part of the Tsallis-INF family: its weights, and a learner of losses that draws from
 them.

The weights of the losses L under the rate eta, with x < min L the one number for which they sum to
1:

    w(i) = 4 / (eta (L(i) - x))^2

With d(i) = (eta / 2) (L(i) - min L) >= 0 and y = (eta / 2) (min L - x) they are w(i) = 1 / (d(i) +
y)^2, and 1 <= y <= sqrt K. Instead of sum w = 1 we solve g(y) = (sum_i (d(i) + y)^-2)^(-1/2) = 1: g
is a power mean, increasing and concave, and a straight line if all d are equal. With S_k = sum_i
(d(i) + y)^-k a step of Chebyshev's method is

    u = (1 - g) / g' = (sqrt(S_2) - 1) S_2 / S_3                                     Newton's step
    b = -(u / 2) g'' / g' = (3/2) (sqrt(S_2) - 1) (S_2 S_4 / S_3^2 - 1)
    y <- y + u (1 + min(1, b))

It starts at y = 1, where g <= 1, and takes a handful of steps for any K and any losses. The error
after a step is of the order of its cube: after one below `CLOSE` nothing is left to gain, and a
series brings 1 / (d(i) + y) to the new y without a division. No call uses the last one, so a
round's weights are a function of its losses alone, to the last bit.

A policy whose losses are sums over reports writes one kernel, `loss(params, play)`, the loss that a
report tells of; `tsallis_rule(loss)` makes the rest of the module from it. Its params hold `scale`,
for eta_t = scale / sqrt t, and `reduced`, for the estimator

    plain     L(j) += 1{j = i_t} loss / w_t(j)
    reduced   L(j) += 1{j = i_t} (loss - b(j)) / w_t(j) + b(j),     b(j) = 1/2 if w_t(j) >= eta_t^2
              else 0

A ticket carries the probability of its own arm only: for the others' b the weights of round t are
computed again from the reports so far.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from purse.base import validation
from purse.compiler.kernel import attach, kernel
from purse.kernels.weights import smallest, weighted_rule
from purse.types import Floats, Now, Play, Problem

_CLOSE = 3e-6
# importance-weighted, reduced variance: the scale of the rate of each
_ESTIMATORS = {"iw": 2.0, "rv": 4.0}
loss: Any = None  # bound by `tsallis_rule`


class _TsallisState(NamedTuple):
    """Estimated losses per arm over the reports so far."""

    losses: Floats  # (K,)


class TsallisScratch(NamedTuple):
    """Room for the weight of each arm."""

    weights: Floats  # (K,)


def _init(params: Any, problem: Problem) -> _TsallisState:
    """Return the state with nothing lost yet."""
    return _TsallisState(np.zeros(problem.n_arms))


def scratch(params: Any, problem: Problem) -> TsallisScratch:
    """Allocate room for the weight of each arm."""
    return TsallisScratch(np.zeros(problem.n_arms))


def scale_of(estimator: str) -> float:
    """Return the scale of the rate, from the estimator's name."""
    return _ESTIMATORS[validation.choice("estimator", estimator, tuple(_ESTIMATORS))]


@kernel
def tsallis_weights(eta: float, losses: Floats, weights: Floats) -> float:
    """Write w; return their sum, which is 1 to rounding."""
    low = smallest(losses)
    half = 0.5 * eta
    y = 1.0
    step = 1.0
    while abs(step) > _CLOSE:
        squares = cubes = fourths = 0.0
        for i in range(losses.shape[0]):
            root = 1 / (half * (losses[i] - low) + y)
            weights[i] = root  # until y is known
            square = root * root
            squares += square
            cubes += square * root
            fourths += square * square
        off = math.sqrt(squares) - 1
        per_cubes = 1 / cubes
        bend = 1.5 * off * (squares * fourths * (per_cubes * per_cubes) - 1)
        step = off * (squares * per_cubes) * (1 + min(1.0, bend))
        y += step
    total = 0.0
    for i in range(losses.shape[0]):
        shift = weights[i] * step
        root = weights[i] * (1 - shift + shift * shift)
        weights[i] = root * root
        total += weights[i]
    return total


@kernel
def _weigh(params: Any, state: _TsallisState, scratch: TsallisScratch, t: int) -> float:
    """Write the weights of round t; return their sum."""
    return tsallis_weights(params.scale / math.sqrt(t), state.losses, scratch.weights)


choose, probabilities = weighted_rule(_weigh)


def _add_loss(
    params: Any, state: _TsallisState, scratch: TsallisScratch, now: Now, play: Play
) -> None:
    """Add the estimate of a round's losses."""
    if params.reduced:
        _add_reduced(params, state, scratch, now.t, play, loss(params, play))
    else:
        state.losses[play.arms[0]] += loss(params, play) / play.probs[0]


@kernel
def _add_reduced(
    params: Any, state: _TsallisState, scratch: TsallisScratch, t: int, play: Play, loss: float
) -> None:
    arm, chance = play.arms[0], play.probs[0]
    threshold = params.scale * params.scale / t
    total = _weigh(params, state, scratch, t)
    for j in range(state.losses.shape[0]):
        base = 0.5 if (chance if j == arm else scratch.weights[j] / total) >= threshold else 0.0
        state.losses[j] += base + (loss - base) / chance if j == arm else base


def tsallis_rule(loss: Callable[..., float]) -> Any:
    """Return init, scratch, choose, update and probabilities of the rule with this loss."""
    return _init, scratch, choose, attach(_add_loss, loss=loss), probabilities
