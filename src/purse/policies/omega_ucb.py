r"""omega-UCB: bounds on mean reward and mean cost that are wide on the side that has room,
Wilson's, and their ratio.

The rule (Heyden, Arzamasov, Fouché and Böhm, 2023), with costs in (0, 1]. Each arm once, in order;
then the arm with the largest

    z       = sqrt(2 rho ln t)
    w±(s)   = (s + z^2 / 2 ± z sqrt(s (N - s) / N + z^2 / 4)) / (N + z^2)
    D_t(i)  = min(1, w+(R(i))) / w-(C(i))

with N, R, C the arm's pulls, sum of rewards and sum of costs so far; ties are broken at random. w+
and w- are bounds on a mean whose N values sum to s. w+ never exceeds 1. Multiplied out,

    w-(s)   = (s^2 / N) / (s + z^2 / 2 + z sqrt(s (N - s) / N + z^2 / 4))

which has no difference that could cancel, and is positive because costs are.

Options: rho=1, the least with the guarantee; 0.25 is often better in practice.

Guarantee: regret O(log B) for i.i.d. rewards and costs if rho >= 1; sublinear for a smaller rho.

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

import math
from typing import NamedTuple

import numpy as np

from purse.kernels import FIRST, index_rule, kernel, log, number
from purse.types import Floats, Now, Problem

NAME, INITIAL_PULLS, PLAYS, RESOURCES = "omega-ucb", True, 1, 1
SOURCE = "Heyden et al., arXiv 2306.07071, as in its authors' code (OmegaUCB)"


class OmegaUcbParams(NamedTuple):
    rho2: float


class OmegaUcbState(NamedTuple):
    pulls: Floats  # (K,)
    rewards: Floats  # (K,) R
    costs: Floats  # (K,) C
    reward_parts: Floats  # (K,) s (N - s) / N of R
    cost_parts: Floats  # (K,) of C
    factors: Floats  # (K,) N / C^2


def params(problem: Problem, *, rho: float = 1.0) -> OmegaUcbParams:
    return OmegaUcbParams(2 * number("rho", rho, above=0))


@kernel
def reach(s: float, part: float, z2: float) -> float:
    """Return the numerator of w+(s)."""
    return s + 0.5 * z2 + math.sqrt(z2 * (part + 0.25 * z2))


@kernel
def score(params: OmegaUcbParams, state: OmegaUcbState, now: Now, i: int) -> float:
    z2 = params.rho2 * log(now.t)
    bound = reach(state.rewards[i], state.reward_parts[i], z2) * reach(
        state.costs[i], state.cost_parts[i], z2
    )
    index = state.factors[i] * (bound / (state.pulls[i] + z2))
    return index if state.pulls[i] > 0 else FIRST


@kernel
def learn(params: OmegaUcbParams, state: OmegaUcbState, i: int) -> None:
    n, reward, cost = state.pulls[i], state.rewards[i], state.costs[i]
    state.reward_parts[i] = reward * (n - reward) / n
    state.cost_parts[i] = cost * (n - cost) / n
    state.factors[i] = n / (cost * cost)


_, scratch, choose, update, probabilities = index_rule(score, learn)


def init(params: OmegaUcbParams, problem: Problem) -> OmegaUcbState:
    return OmegaUcbState(*(np.zeros(problem.n_arms) for _ in OmegaUcbState._fields))
