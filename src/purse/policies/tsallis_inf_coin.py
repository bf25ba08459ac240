r"""Tsallis-INF with a coin: blocks of pulls that cost 1 on average whatever the arm, so that no
price of the budget has to be learnt; with a proved bound for random costs.

An arm is drawn for a block and pulled until a coin shows heads; after each pull the coin shows
heads with probability c, the cost that was observed, in (0, 1]. X and S are the reward and the cost
of a block. E S = 1 for every arm in every world, and if rounds are i.i.d. E X is the arm's mean
reward per mean cost: the weights are those of the budget and not those of rounds.

    eta_b  = sqrt(2 / b) / theta,         theta >= r / c in every pull: 1 / c_min, or efficiency_max
    w_b(i) = 4 / (eta_b (L(i) - x_b))^2,  x_b < min L such that they sum to 1, b = 1, 2, ... blocks
    L(i_b) += (theta S - X) / w_b(i_b)    at heads

With price_max = l, an upper bound on the best mean reward per mean cost, blocks are charged what
the player earned per cost in the blocks before, unless their arm is unlikely:

    eta_b    = 2 / sqrt(4 theta^2 + 2 (l + 3 l^2) b)
    theta_b  = min(l, earned / paid),     of the blocks before; 0 at first
    theta(i) = theta_b if w_b(i) >= (eta_b (2 l + 1) (1 + 2 ln b))^2, else theta
    L(i)    += 1{i = i_b} (theta(i) S - X) / w_b(i) - (theta(i) - theta_b)     for all i, at heads

Options: efficiency_max=None, a bound on the reward per cost of every pull, in the user's unit;
price_max=None, the bound above, likewise.

Guarantee: with one resource, no limit on rounds, stop rule `exit` and no late reports, where each
arm's mean reward is a constant times its mean cost, max_i e(i) B - E G <= (sqrt 2 / c) (4 sqrt K -
2) sqrt(B + 1) + 1 / c, in largest costs; logarithmic with gaps, additive in corruption, and against
an adversary for its own notion of regret: `purse.lab.theory.coin_bounds`, and the page *What is
true*, with the proofs. Over i.i.d. worlds no player has a smaller order. The bound says something
only from about B = 2 (4 sqrt K - 2)^2 / (c max_i e(i))^2 on, if it is below max_i e(i) B: 2,700
with two arms, c = 0.1 and max_i e(i) = 1, and 34,000 with price_max = 2. It is a yardstick and no
default: here `tsallis-inf.price`, of which nothing is proved, loses 4 to 15 times less. Measured:
regret at B = 10^4, the mean of 1,000 paths,

| world | tsallis-inf.price | tsallis-inf.coin | price_max = twice the best e(i) |
|---|---|---|---|
| misleading_ratio | 57 | 846 | 627 |
| five Bernoulli arms, those of `purse.compare` | 153 | 659 | 932 |

Several open tickets: a block needs the cost of a pull before the next, so no theorem covers them.
They are handled: the first report opens the block, reports on its arm join it until heads, and all
others teach nothing. A pull above efficiency_max voids the guarantee and nothing else.

Departures from the paper: the policy is ours. Under a mask a block whose arm is not allowed waits,
and pulls of other arms teach nothing then, nor does the pull of an arm that alone was allowed.

Needs c_min above 0; a horizon is ignored, and voids the guarantee. O(K) a block, O(1) within it.

>>> import purse
>>> from purse.lab.theory import coin_bounds
>>> world = purse.worlds.misleading_ratio()
>>> run = purse.simulate("tsallis-inf.coin", world, budget=1000, n_paths=20, seed=0)
>>> bound = coin_bounds.stationary(n_arms=2, budget=1000, cost_min=0.1)
>>> bool(1000 * world.efficiencies.max() - run.gain.mean() < bound.value)
True

Reference: J. Zimmert, Y. Seldin. Tsallis-INF: an optimal algorithm for stochastic and adversarial
bandits. JMLR 2021, for the weights.
"""

import math
from typing import NamedTuple

import numpy as np

from purse.base import amounts
from purse.kernels import is_allowed, kernel, log, number, tsallis, uniform
from purse.kernels.tsallis import TsallisScratch, tsallis_weights
from purse.kernels.weights import draw_weighted, show_weighted
from purse.types import Floats, Ints, Now, Play, Problem

NAME, PLAYS, RESOURCES, SOURCE = "tsallis-inf.coin", 1, 1, "ours"
scratch = tsallis.scratch
NOBODY = -1  # the arm between blocks
COIN = 1  # the round's second number; the first draws the arm


class CoinParams(NamedTuple):
    n_arms: int
    theta: float  # at least the reward per cost of every pull, in largest costs
    price_max: float  # l, likewise; 0: blocks are charged theta
    start: float  # eta_b = 2 / sqrt(start + slope b)
    slope: float


class CoinState(NamedTuple):
    losses: Floats  # (K,) L
    block: Floats  # (3,) the probability of the block's arm, its reward and its cost so far
    earned: Floats  # (2,) reward and cost of the blocks before
    held: Ints  # (2,) the block's arm, or NOBODY; the number of the block


def params(
    problem: Problem, *, efficiency_max: float | None = None, price_max: float | None = None
) -> CoinParams:
    cost_max = 1 / (amounts.UNIT * float(problem.unit_scale[0]))
    theta = 1 / problem.c_min
    if efficiency_max is not None:
        theta = cost_max * number("efficiency_max", efficiency_max, above=0)
    if price_max is None:
        return CoinParams(problem.n_arms, theta, 0.0, 0.0, 2 * theta * theta)
    top = cost_max * number("price_max", price_max, above=0)
    variance = top + 3 * top * top
    return CoinParams(problem.n_arms, theta, top, 4 * theta * theta, 2 * variance)


def init(params: CoinParams, problem: Problem) -> CoinState:
    held = np.array([NOBODY, 1])
    return CoinState(np.zeros(params.n_arms), np.zeros(3), np.zeros(2), held)


@kernel
def rate(params: CoinParams, state: CoinState) -> float:
    return 2 / math.sqrt(params.start + params.slope * state.held[1])


@kernel
def is_held(state: CoinState, now: Now) -> bool:
    """Return whether a block goes on in this round."""
    return state.held[0] != NOBODY and is_allowed(now, state.held[0])


@kernel
def choose(
    params: CoinParams, state: CoinState, scratch: TsallisScratch, now: Now, play: Play
) -> None:
    if is_held(state, now):
        play.arms[0] = state.held[0]
        play.probs[0] = 1.0
    else:
        total = tsallis_weights(rate(params, state), state.losses, scratch.weights)
        draw_weighted(now, scratch.weights, total, play)


@kernel
def update(
    params: CoinParams, state: CoinState, scratch: TsallisScratch, now: Now, play: Play
) -> None:
    arm = play.arms[0]
    if state.held[0] == NOBODY and play.probs[0] < 1:  # 1: left over from a block before
        state.held[0] = arm
        state.block[0], state.block[1], state.block[2] = play.probs[0], 0.0, 0.0
    if state.held[0] == arm:
        cost = play.costs[0, 0]
        state.block[1] += play.rewards[0]
        state.block[2] += cost
        if uniform(now.key, COIN) < cost:
            learn(params, state, scratch)


@kernel
def learn(params: CoinParams, state: CoinState, scratch: TsallisScratch) -> None:
    """Learn from the block at its end, and be ready for the next."""
    arm = state.held[0]
    chance, reward, cost = state.block[0], state.block[1], state.block[2]
    if params.price_max > 0:
        price = 0.0
        if state.earned[1] > 0:
            price = min(params.price_max, state.earned[0] / state.earned[1])
        eta = rate(params, state)
        edge = eta * (2 * params.price_max + 1) * (1 + 2 * log(float(state.held[1])))
        total = tsallis_weights(eta, state.losses, scratch.weights)
        for i in range(params.n_arms):
            own = price if scratch.weights[i] >= edge * edge * total else params.theta
            state.losses[i] -= own - price
            if i == arm:
                state.losses[i] += (own * cost - reward) / chance
        state.earned[0] += reward
        state.earned[1] += cost
    else:
        state.losses[arm] += (params.theta * cost - reward) / chance
    state.held[0] = NOBODY
    state.held[1] += 1


@kernel
def probabilities(
    params: CoinParams, state: CoinState, scratch: TsallisScratch, now: Now, out: Floats
) -> None:
    if is_held(state, now):
        for i in range(params.n_arms):
            out[i] = 1.0 if i == state.held[0] else 0.0
    else:
        total = tsallis_weights(rate(params, state), state.losses, scratch.weights)
        show_weighted(now, scratch.weights, total, out)
