r"""UCB-MB: the several arms whose efficiencies may be the largest, for random costs and several
plays a round.

The rule (Zhou and Tomlin, 2018), with K arms, m plays a round and costs in [c_min, 1]. Each arm
once, m in a round, in order; then the m arms with the largest

    x_t(i) = sqrt((m + 1) ln t / N(i))
    U_t(i) = r(i) / c(i) + (1 + 1/c_min) x_t(i) / (c_min - x_t(i))
             infinite if x_t(i) >= c_min

with N, r, c the arm's pulls, mean reward and mean cost so far, and t the number of the round. If
the m-th and the next largest are equal, all arms that share this value are equally likely to come.

Guarantee: regret O(K m^4 log B) for i.i.d. rewards and costs, against the m arms with the best
efficiencies. Until an arm has (m + 1) ln t / c_min^2 pulls its index is infinite, so for small
c_min or many plays all arms are pulled equally often for a long time.

Departures from the paper: the factor m + 1 under the root is known for m = 1 and reconstructed for
more plays. If m does not divide K, the last of the initial rounds pulls some arms again.

If fewer than m arms are allowed, all of them come.

Needs c_min, not B. O(m K) a round.

>>> import purse
>>> world = purse.worlds.two_point(
...     rewards=[0.9, 0.8, 0.1, 0.1], costs=[0.75] * 4, cost_min=0.5
... )
>>> run = purse.simulate("ucb-mb", world, budget=20_000, plays=2, n_paths=4, seed=0)
>>> bool(run.pulls[:, :2].sum() > 5 * run.pulls[:, 2:].sum())
True

Reference: D. P. Zhou, C. J. Tomlin. Budget-constrained multi-armed bandits with multiple plays.
AAAI 2018.
"""

import math
from typing import NamedTuple

from purse.kernels import cold, kernel, log, uniform
from purse.kernels.index_rules import (
    FIRST,
    OUT,
    IndexState,
    Scores,
    add_report,
    index_rule,
    keep_ratio_and_root,
)
from purse.types import SKIP, Floats, Now, Play, Problem

NAME, INITIAL_PULLS, RESOURCES = "ucb-mb", True, 1
SOURCE = "Zhou and Tomlin, AAAI 2018, one play, as in code of Heyden et al. (OmegaUCB)"


class UcbMbParams(NamedTuple):
    plays: int
    c_min: float


def params(problem: Problem) -> UcbMbParams:
    return UcbMbParams(problem.plays, problem.c_min)


@kernel
def score(params: UcbMbParams, state: IndexState, now: Now, i: int) -> float:
    x = math.sqrt((params.plays + 1) * log(now.t)) * state.slopes[i]
    if x < params.c_min:
        return state.bases[i] + (1 + 1 / params.c_min) * x / (params.c_min - x)
    return FIRST


init, scratch, *_ = index_rule(score)


@kernel
def score_all(params: UcbMbParams, state: IndexState, scratch: Scores, now: Now) -> int:
    """Write the scores; return how many arms can be played."""
    for i in range(scratch.scores.shape[0]):
        scratch.scores[i] = score(params, state, now, i)
    if now.masked:
        return put_out(now, params.plays, scratch.scores)
    return params.plays


@cold
def put_out(now: Now, plays: int, scores: Floats) -> int:
    """Take masked arms out of the choice; return how many arms can be played."""
    n_allowed = 0
    for i in range(scores.shape[0]):
        n_allowed += now.allowed[i]
        scores[i] = scores[i] if now.allowed[i] else OUT
    return min(plays, n_allowed)


@kernel
def last_in(scores: Floats, plays: int) -> tuple[float, int, int]:
    """Return the score that is the `plays`-th largest, how many arms have a larger one, and how
    many have just this one.
    """
    larger = 0
    bound = math.inf
    while True:
        top = OUT
        equal = 0
        for i in range(scores.shape[0]):
            if top < scores[i] < bound:
                top = scores[i]
                equal = 1
            elif scores[i] == top:
                equal += 1
        if larger + equal >= plays:
            return top, larger, equal
        larger += equal
        bound = top


@kernel
def choose(params: UcbMbParams, state: IndexState, scratch: Scores, now: Now, play: Play) -> None:
    scores = scratch.scores
    plays = score_all(params, state, scratch, now)
    last, larger, equal = last_in(scores, plays)
    open_places = plays - larger
    chance = open_places / equal
    count = 0
    for i in range(scores.shape[0]):
        if scores[i] < last:
            continue
        sure = scores[i] > last
        # selection sampling: every set of those that are equal is equally likely
        if sure or uniform(now.key, i) * equal < open_places:
            play.arms[count] = i
            play.probs[count] = 1.0 if sure else chance
            count += 1
            open_places -= not sure
        equal -= not sure
    for k in range(plays, params.plays):
        play.arms[k] = SKIP
        play.probs[k] = 1.0


@kernel
def update(params: UcbMbParams, state: IndexState, scratch: Scores, now: Now, play: Play) -> None:
    for k in range(params.plays):
        if play.arms[k] >= 0:
            add_report(state, play.arms[k], play.rewards[k], play.costs[k, 0])
            keep_ratio_and_root(params, state, play.arms[k])


@kernel
def probabilities(
    params: UcbMbParams, state: IndexState, scratch: Scores, now: Now, out: Floats
) -> None:
    plays = score_all(params, state, scratch, now)
    last, larger, equal = last_in(scratch.scores, plays)
    for i in range(out.shape[0]):
        tied = (plays - larger) / equal if scratch.scores[i] == last else 0.0
        out[i] = 1.0 if scratch.scores[i] > last else tied
