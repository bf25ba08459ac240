r"""UCB-BV1: the most that an arm's efficiency may be, for random costs whose means are known to be
at least lam.

The rule (Ding, Qin, Zhang and Liu, 2013), with costs in (0, 1]. Each arm once, in order; then the
arm with the largest

    eta_t(i) = sqrt(ln(t - 1) / N(i))
    D_t(i)   = r(i) / c(i) + (1 + 1/lam) eta_t(i) / (lam - eta_t(i))
             infinite if eta_t(i) >= lam

with N, r, c the arm's pulls, mean reward and mean cost so far; ties are broken at random.

Options: lam=None (c_min) or a number up to the least mean cost.

Guarantee: regret O(K log B / min Delta) for i.i.d. rewards and costs. Until an arm has ln(t - 1) /
lam^2 pulls its index is infinite, so for small lam all arms are pulled equally often for a long
time: some 700 to 1,000 times each for lam = 0.1.

Departures from the paper: none known.

Scale: loses 92% of the optimum in suite 2, costs over three decades, where `replan` loses 4%: radii
are in units of the largest cost of any arm, and each arm is bought once whatever it costs.

Needs lam, not B. O(K) a round.

>>> import purse
>>> world = purse.worlds.two_point(rewards=[0.9, 0.3], costs=[0.75, 0.75], cost_min=0.5)
>>> run = purse.simulate("ucb-bv1", world, budget=3000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 0].mean() > 5 * run.pulls[:, 1].mean())
True

Reference: W. Ding, T. Qin, X.-D. Zhang, T.-Y. Liu. Multi-armed bandit with budget constraint and
variable costs. AAAI 2013.
"""

from typing import NamedTuple

from purse.kernels import kernel, number
from purse.kernels.index_rules import (
    FIRST,
    IndexState,
    common_width,
    index_rule,
    keep_ratio_and_root,
)
from purse.types import Now, Problem

NAME, INITIAL_PULLS, PLAYS, RESOURCES = "ucb-bv1", True, 1, 1
SOURCE = "Ding et al., AAAI 2013, equation 3, as in public code (obriareus)"


class UcbBv1Params(NamedTuple):
    lam: float


def params(problem: Problem, *, lam: float | None = None) -> UcbBv1Params:
    return UcbBv1Params(problem.c_min if lam is None else number("lam", lam, above=0, high=1))


@kernel
def score(params: UcbBv1Params, state: IndexState, now: Now, i: int) -> float:
    eta = common_width(1.0, now.t) * state.slopes[i]
    if eta < params.lam:
        return state.bases[i] + (1 + 1 / params.lam) * eta / (params.lam - eta)
    return FIRST


init, scratch, choose, update, probabilities = index_rule(score, keep_ratio_and_root)
