"""EXP3.P as a part: the policies of that name use it, and so do others that learn with it.

The rule is in `purse.policies.exp3_p`. A learner has n actions: the K arms and, for some policies,
doing nothing, which comes last. A policy with a state of its own repeats the four arrays of
`Exp3PState` and puts them together for `learn_action`.

`learn_action` is O(n): the bonus moves a weight by so little that a short series is exact to
rounding, and only the action that was drawn takes an exp. All weights are computed again in three
cases: after `RENEW` reports, before rounding adds up; with every report if beta is not small; and
with a report of a smaller probability than the rule gives (`sao` has such).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from purse.base.validation import number
from purse.compiler.kernel import cold, kernel
from purse.kernels.fastmath import exp, times_exp
from purse.kernels.masks import draw_allowed, restrict
from purse.kernels.random import uniform
from purse.kernels.weights import largest, pick, total
from purse.types import SKIP, Floats, Ints, Now, Play, Problem

_SMALL = 0.01  # beta: the first term that `times_exp` leaves out is below 1e-18
_RENEW = 256  # reports; until then weights grow by at most exp((1 + beta) RENEW), far from overflow


class Exp3PParams(NamedTuple):
    """The constants of the rule."""

    n_arms: int  # n, the actions
    c_min: float  # x = c_min r / c if costs are looked at
    eta: float
    gamma: float
    beta: float


class Exp3PState(NamedTuple):
    """The weights learnt so far."""

    gains: Floats  # (n,)
    chances: Floats  # (n,) the p that follow from the gains
    weights: Floats  # (n,) likewise
    age: Ints  # (1,) reports since all weights were computed


class _Exp3PScratch(NamedTuple):
    """Room for the chances under a mask."""

    chances: Floats  # (K,)


def tuned(n_arms: int, c_min: float, rounds: int, delta: float) -> Exp3PParams:
    """Return the constants for this number of rounds."""
    delta = number("delta", delta, above=0, high=1)
    log_arms = math.log(n_arms)
    gamma = 1.05 * math.sqrt(n_arms * log_arms / rounds)
    beta = math.sqrt((log_arms - math.log(delta)) / (n_arms * rounds))
    return Exp3PParams(
        n_arms,
        c_min,
        0.95 * math.sqrt(log_arms / (n_arms * rounds)),
        gamma if gamma <= 0.5 else 1.0,
        beta,
    )


def new_learner(n_actions: int) -> Exp3PState:
    """Return the state with nothing learnt yet."""
    chances, weights = np.full(n_actions, 1 / n_actions), np.ones(n_actions)
    return Exp3PState(np.zeros(n_actions), chances, weights, np.zeros(1, np.int64))


def scratch(params: Any, problem: Problem) -> _Exp3PScratch:
    """Allocate room for the chances under a mask."""
    return _Exp3PScratch(np.zeros(problem.n_arms))


@kernel
def choose(params: Any, state: Any, scratch: _Exp3PScratch, now: Now, play: Play) -> None:
    """Draw an action by its chance; the one beyond the arms, if there is one, lets the round
    pass.
    """
    if now.masked:
        _draw_allowed_action(now, state.chances, scratch.chances, play)
        return
    action = pick(uniform(now.key, 0), state.chances)
    play.arms[0] = action if action < scratch.chances.shape[0] else SKIP
    play.probs[0] = state.chances[action]


@cold
def _draw_allowed_action(now: Now, chances: Floats, room: Floats, play: Play) -> None:
    for i in range(room.shape[0]):
        room[i] = chances[i]
    draw_allowed(now, room, play)


@kernel
def probabilities(params: Any, state: Any, scratch: Any, now: Now, out: Floats) -> None:
    """Write the probability (K,) with which `choose` draws each arm."""
    for i in range(out.shape[0]):
        out[i] = state.chances[i]
    if now.masked:
        restrict(now, out)


@kernel
def learn_action(
    params: Exp3PParams, state: Exp3PState, arm: int, prob: float, gain: float
) -> None:
    """Add a gain in [0, 1] and the bonuses, and renew the chances."""
    state.chances[arm] = prob
    for i in range(params.n_arms):
        bonus = params.beta / state.chances[i]
        state.gains[i] += bonus
        state.weights[i] = times_exp(state.weights[i], params.eta * bonus)
    state.gains[arm] += gain / prob
    state.weights[arm] *= exp(params.eta * (gain / prob))
    state.age[0] += 1
    if state.age[0] >= _RENEW or params.beta > _SMALL or prob < params.eta or params.gamma == 1:
        _weigh_afresh(params, state)
    scale = (1 - params.gamma) / total(state.weights)
    for i in range(params.n_arms):
        state.chances[i] = scale * state.weights[i] + params.gamma / params.n_arms


@cold
def _weigh_afresh(params: Exp3PParams, state: Exp3PState) -> None:
    """Compute all weights from the gains, the largest of them 1."""
    state.age[0] = 0
    top = largest(state.gains)
    for i in range(params.n_arms):
        state.weights[i] = exp(params.eta * (state.gains[i] - top))
