r"""omega-UCB: bounds on mean reward and mean cost that are wide on the side where there is room,
Wilson's, and their ratio.

The rule (Heyden, Arzamasov, Fouché and Böhm, 2023), with costs in (0, 1]. Each arm once, in order;
then the arm with the largest

    z       = sqrt(2 rho ln t)
    w±(s)   = (s + z^2 / 2 ± z sqrt(s (N - s) / N + z^2 / 4)) / (N + z^2)        bounds on a mean
            whose N values sum to s
    D_t(i)  = min(1, w+(R(i))) / w-(C(i))

with N, R, C the arm's pulls, sum of rewards and sum of costs so far; ties are broken at random. w+
never exceeds 1, and multiplying out

    w-(s)   = (s^2 / N) / (s + z^2 / 2 + z sqrt(s (N - s) / N + z^2 / 4))

which has no difference that could cancel, and is positive because costs are.

| symbol | code |
|---|---|
| N(i), R(i), C(i) | `state.pulls[i]`, `state.rewards[i]`, `state.costs[i]` |
| s (N - s) / N of R(i) and of C(i) | `state.reward_parts[i]`, `state.cost_parts[i]` |
| N(i) / C(i)^2 | `state.factors[i]` |
| 2 rho | `params.rho2` |
| z^2 | `z2` |
| D_t(i) | `state.scores[i]` |

`state.reward_parts[i]`, `state.cost_parts[i]` and `state.factors[i]` are renewed with a report on i
only.

Options: rho=1, the least with the guarantee; 0.25 is often better in practice.

Guarantee: regret O(log B) for i.i.d. rewards and costs where rho >= 1; sublinear for a smaller rho.

Departures from the paper: none known in this policy; the paper's variant that estimates the
variances is not here.

Needs nothing. O(K) a round.

>>> import purse
>>> world = purse.worlds.two_point(rewards=[0.9, 0.3], costs=[0.6, 0.6], cost_min=0.3)
>>> run = purse.simulate("omega-ucb", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 0].mean() > 5 * run.pulls[:, 1].mean())
True

Reference: M. Heyden, V. Arzamasov, E. Fouché, K. Böhm. Budgeted multi-armed bandits with asymmetric
confidence intervals. arXiv 2306.07071, 2023.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from purse.base import validation
from purse.compiler.jit import kernel
from purse.kernels.fastmath import log
from purse.kernels.index_rules import FIRST, add_report, share_largest, take_largest
from purse.kernels.random import U
from purse.types import Floats, Ints, Problem

NAME = "omega-ucb"
INITIAL_PULLS = True


class OmegaUcbParams(NamedTuple):
    rho2: float


class OmegaUcbState(NamedTuple):
    pulls: Floats  # (P, K)
    rewards: Floats  # (P, K)
    costs: Floats  # (P, K)
    reward_parts: Floats  # (P, K)
    cost_parts: Floats  # (P, K)
    factors: Floats  # (P, K)
    scores: Floats  # (P, K) scratch


def params(problem: Problem, *, rho: float = 1.0) -> OmegaUcbParams:
    """Options: rho, the scale of the squared radius."""
    problem.require(NAME, plays=1, n_resources=1)
    return OmegaUcbParams(2 * validation.number("rho", rho, above=0))


def init(params: OmegaUcbParams, problem: Problem, n_paths: int) -> OmegaUcbState:
    return OmegaUcbState(*(np.zeros((n_paths, problem.n_arms)) for _ in OmegaUcbState._fields))


@kernel
def row(state: OmegaUcbState, path: int) -> OmegaUcbState:
    return OmegaUcbState(
        state.pulls[path],
        state.rewards[path],
        state.costs[path],
        state.reward_parts[path],
        state.cost_parts[path],
        state.factors[path],
        state.scores[path],
    )


@kernel
def reach(s: float, part: float, z2: float) -> float:
    """The numerator of w+(s)."""
    return s + 0.5 * z2 + math.sqrt(z2 * (part + 0.25 * z2))


@kernel
def weigh(params: OmegaUcbParams, state: OmegaUcbState, t: int) -> None:
    z2 = params.rho2 * log(t)
    for i in range(state.scores.shape[0]):
        most = reach(state.rewards[i], state.reward_parts[i], z2) * reach(
            state.costs[i], state.cost_parts[i], z2
        )
        state.scores[i] = (
            state.factors[i] * (most / (state.pulls[i] + z2)) if state.pulls[i] > 0 else FIRST
        )


@kernel
def choose(
    key: U,
    params: OmegaUcbParams,
    state: OmegaUcbState,
    t: int,
    left: Floats,
    arms: Ints,
    probs: Floats,
) -> None:
    weigh(params, state, t)
    take_largest(key, state.scores, arms, probs)


@kernel
def update(
    key: U,
    params: OmegaUcbParams,
    state: OmegaUcbState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    i = arms[0]
    add_report(state, i, rewards[0], costs[0, 0])
    n, reward, cost = state.pulls[i], state.rewards[i], state.costs[i]
    state.reward_parts[i] = reward * (n - reward) / n
    state.cost_parts[i] = cost * (n - cost) / n
    state.factors[i] = n / (cost * cost)


@kernel
def probabilities(
    params: OmegaUcbParams, state: OmegaUcbState, t: int, left: Floats, out: Floats
) -> None:
    weigh(params, state, t)
    share_largest(state.scores, out)
