r"""EXP3-IX: exponential weights on losses that are estimated a little too low, which is all the
exploration it needs.

The rule (Neu, 2015), for T rounds, blind to costs, with losses 1 - x:

    p_t(i) = exp(-eta L_{t-1}(i)) / sum_j exp(-eta L_{t-1}(j))
    L_t(i) = L_{t-1}(i) + 1{i = i_t} (1 - x_t(i)) / (p_t(i) + eta / 2)          x = r

    eta    = sqrt(2 ln K / (K T))     "rounds", the default
             sqrt(ln K / (K t))       "anytime", which needs no T
             or a number from 0 up
    T      = the horizon if there is one, else ceil(B / c_min)

EXP3-IX.BwK runs the same kernels on another x.

Options: eta="rounds", "anytime" or a number, as above.

Guarantee: with probability 1 - delta, for every delta, the reward over T rounds falls short of any
fixed arm's, in the same rounds, by at most 2 sqrt(2 K T ln K) + (sqrt(2 K T / ln K) + 1) ln(2 /
delta); anytime: 4 sqrt(K T ln K) + (2 sqrt(K T / ln K) + 1) ln(2 / delta). Whatever the rewards. Of
a budget that says something only if all costs are one constant.

Departures from the paper: it has rounds and no budget; here play goes on until the budget is gone.
The bounds are recalled.

Needs the horizon, or B and c_min, unless eta says otherwise; plays any number of resources. O(log
K) a round; anytime O(K) with K exps.

>>> import purse
>>> policy = purse.Policy("exp3-ix", n_arms=2, budget=100, cost_min=0.5, seed=1)
>>> ticket = policy.ask()
>>> policy.tell(ticket, reward=0, cost=0.5)
True
>>> bool(policy.probabilities()[ticket.arm] < 0.5)
True

Reference: G. Neu. Explore no more: improved high-probability regret bounds for non-stochastic
bandits. NIPS 2015.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from purse.errors import invalid
from purse.kernels import cold, exp, kernel, number, rounds_of, smallest, sumtree, uniform
from purse.kernels.masks import draw_allowed, restrict
from purse.types import Floats, Now, Play, Problem

NAME, PLAYS, SOURCE = "exp3-ix", 1, "Neu, NIPS 2015, as in public code (lclarte, onlinelearning)"
LEAST = 1e-100  # a sum of weights this small moves the loss that they are relative to


class Exp3IxParams(NamedTuple):
    n_arms: int
    leaf: int
    c_min: float  # x = c_min r / c if costs are looked at
    eta: float  # in round 1
    anytime: bool  # whether it falls like 1 / sqrt(t)


class Exp3IxState(NamedTuple):
    losses: Floats  # (K,) L
    tree: Floats  # (2 leaf,) exp(-eta (L - low)); not used if anytime, nor is the next
    low: Floats  # (1,)


class Exp3IxScratch(NamedTuple):
    tree: Floats  # (2 leaf,) used if anytime
    chances: Floats  # (K,) used under a mask


def params(problem: Problem, *, eta: float | str = "rounds") -> Exp3IxParams:
    return tuned(problem.n_arms, 1.0, rounds_of(problem, NAME) if eta == "rounds" else 0, eta)


def tuned(n_arms: int, c_min: float, rounds: int, eta: float | str) -> Exp3IxParams:
    anytime = eta == "anytime"
    if isinstance(eta, str):
        if eta not in ("rounds", "anytime"):
            raise invalid("eta", eta, "must be 'rounds', 'anytime' or a number from 0 up")
        eta = math.sqrt(
            math.log(n_arms) / n_arms if anytime else 2 * math.log(n_arms) / (n_arms * rounds)
        )
    leaf = sumtree.first_leaf(n_arms)
    return Exp3IxParams(n_arms, leaf, c_min, number("eta", eta, low=0), anytime)


def init(params: Exp3IxParams, problem: Problem) -> Exp3IxState:
    return Exp3IxState(np.zeros(params.n_arms), sumtree.ones(params.n_arms), np.zeros(1))


def scratch(params: Exp3IxParams, problem: Problem) -> Exp3IxScratch:
    return Exp3IxScratch(np.zeros(2 * params.leaf), np.zeros(params.n_arms))


@kernel
def rate(params: Exp3IxParams, t: int) -> float:
    return params.eta / math.sqrt(t) if params.anytime else params.eta


@cold
def weigh(params: Exp3IxParams, losses: Floats, tree: Floats, eta: float) -> float:
    """Compute all weights again, the largest of them 1; return the smallest loss."""
    low = smallest(losses)
    for i in range(params.n_arms):
        tree[params.leaf + i] = exp(-eta * (losses[i] - low))
    for i in range(params.leaf + params.n_arms, tree.shape[0]):
        tree[i] = 0.0
    sumtree.rebuild(tree, params.leaf)
    return low


@kernel
def choose(
    params: Exp3IxParams, state: Exp3IxState, scratch: Exp3IxScratch, now: Now, play: Play
) -> None:
    tree = state.tree
    if params.anytime:
        tree = scratch.tree
        weigh(params, state.losses, tree, rate(params, now.t))
    if now.masked:
        draw_under_mask(params, tree, scratch.chances, now, play)
        return
    arm = sumtree.find(tree, params.leaf, uniform(now.key, 0) * tree[1])
    play.arms[0] = min(arm, params.n_arms - 1)
    play.probs[0] = tree[params.leaf + play.arms[0]] / tree[1]


@cold
def draw_under_mask(
    params: Exp3IxParams, tree: Floats, chances: Floats, now: Now, play: Play
) -> None:
    for i in range(params.n_arms):
        chances[i] = tree[params.leaf + i] / tree[1]
    draw_allowed(now, chances, play)


@kernel
def update(params: Exp3IxParams, state: Exp3IxState, scratch: Any, now: Now, play: Play) -> None:
    learn(params, state, now.t, play.arms[0], play.probs[0], 1 - play.rewards[0])


@kernel
def learn(
    params: Exp3IxParams, state: Exp3IxState, t: int, arm: int, prob: float, loss: float
) -> None:
    """Add a loss in [0, 1]."""
    if loss == 0.0:
        return
    state.losses[arm] += loss / (prob + 0.5 * rate(params, t))
    if not params.anytime:
        weight = exp(-params.eta * (state.losses[arm] - state.low[0]))
        sumtree.put(state.tree, params.leaf, arm, weight)
        if state.tree[1] < LEAST:
            state.low[0] = weigh(params, state.losses, state.tree, params.eta)


@kernel
def probabilities(
    params: Exp3IxParams, state: Exp3IxState, scratch: Exp3IxScratch, now: Now, out: Floats
) -> None:
    tree = state.tree
    if params.anytime:
        tree = scratch.tree
        weigh(params, state.losses, tree, rate(params, now.t))
    for i in range(params.n_arms):
        out[i] = tree[params.leaf + i] / tree[1]
    if now.masked:
        restrict(now, out)
