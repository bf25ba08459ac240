"""The common part of index rules: sums per arm, and the arm with the largest score, ties broken at
random.

A rule that gives every arm a score from its own pulls and takes the largest is two kernels:

    score(params, state, now, i)   the score of arm i
    learn(params, state, i)        keep what changes only with a report on arm i, after its sums

`index_rule(score, learn)` makes the rest of the module from them. One resource, one play. An arm
whose first report is missing has pulls 0: give it the score `FIRST`.

A policy that keeps `bases` and `slopes` in `learn` spares `score` the roots and divisions. Most
radii are one number for all arms, `common_width`, times one number of the arm's.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from purse.compiler.kernel import attach, cold, kernel
from purse.kernels.fastmath import log
from purse.kernels.random import uniform
from purse.types import SKIP, STOP, Floats, Now, Play, Problem

# the scores of an arm that must be tried first, and of one that cannot be taken; finite, as all of
# a state is
FIRST, OUT = 1e300, -1e300
score: Any = None  # these are bound by `index_rule` and `largest_rule`
score_all: Any = None
learn: Any = None


class IndexState(NamedTuple):
    """Sums per arm over the reports so far, costs as policies see them, and what a policy keeps."""

    pulls: Floats  # (K,)
    rewards: Floats  # (K,)
    costs: Floats  # (K,)
    bases: Floats  # (K,) the policy's; `FIRST` without a report
    slopes: Floats  # (K,) the policy's; 0 without a report


class Scores(NamedTuple):
    """Room for the score of each arm."""

    scores: Floats  # (K,)


def _init(params: Any, problem: Problem) -> IndexState:
    """Return the state with nothing seen yet."""
    k = problem.n_arms
    return IndexState(np.zeros(k), np.zeros(k), np.zeros(k), np.full(k, FIRST), np.zeros(k))


def room_for_scores(params: Any, problem: Problem) -> Scores:
    """Allocate room for the score of each arm."""
    return Scores(np.zeros(problem.n_arms))


def _score_each(params: Any, state: Any, scratch: Any, now: Now) -> None:
    for i in range(scratch.scores.shape[0]):
        scratch.scores[i] = score(params, state, now, i)


def _choose_largest(params: Any, state: Any, scratch: Any, now: Now, play: Play) -> None:
    score_all(params, state, scratch, now)
    take_largest(now, scratch.scores, play)


def _share_largest(params: Any, state: Any, scratch: Any, now: Now, out: Floats) -> None:
    score_all(params, state, scratch, now)
    share_largest(now, scratch.scores, out)


def _add_and_learn(params: Any, state: Any, scratch: Any, now: Now, play: Play) -> None:
    """Add the report to the sums of its arm, and let the policy keep what follows."""
    add_report(state, play.arms[0], play.rewards[0], play.costs[0, 0])
    learn(params, state, play.arms[0])


@kernel
def _learn_nothing(params: Any, state: Any, i: int) -> None:
    """Keep nothing besides the sums."""


def index_rule(score: Callable[..., float], learn: Callable[..., None] = _learn_nothing) -> Any:
    """Return init, scratch, choose, update and probabilities of the rule with this score."""
    choose, probabilities = largest_rule(attach(_score_each, score=score))
    return _init, room_for_scores, choose, attach(_add_and_learn, learn=learn), probabilities


def largest_rule(score_all: Callable[..., None]) -> Any:
    """Return choose and probabilities of a rule that takes the largest of the scores which
    `score_all(params, state, scratch, now)` writes to the scratch.
    """
    return attach(_choose_largest, score_all=score_all), attach(_share_largest, score_all=score_all)


@kernel
def add_report(state: Any, arm: int, reward: float, cost: float) -> None:
    """Add a report to the sums of its arm; any state with these sums will do."""
    state.pulls[arm] += 1
    state.rewards[arm] += reward
    state.costs[arm] += cost


@kernel
def keep_ratio_and_root(params: Any, state: Any, i: int) -> None:
    """Keep reward per cost, r(i) / c(i), as the base and 1 / sqrt(N(i)) as the slope."""
    state.bases[i] = state.rewards[i] / state.costs[i]
    state.slopes[i] = 1 / math.sqrt(state.pulls[i])


@kernel
def common_width(scale: float, t: int) -> float:
    """Return sqrt(scale ln(t - 1)), with t - 1 rounds so far; 0 in the first two rounds."""
    return math.sqrt(scale * log(max(1, t - 1)))


@kernel
def score_lines(width: float, bases: Floats, slopes: Floats, scores: Floats) -> None:
    """Write the scores of an index that is base + width slope; `FIRST` for an arm without a
    report.
    """
    for i in range(scores.shape[0]):
        scores[i] = bases[i] + width * slopes[i]


@kernel
def ratio_bound(pulls: float, reward: float, cost: float, width: float) -> float:
    """Return the most that a ratio of means may be: min(r + x, 1) / (c - x) with all four numbers
    times the pulls; `FIRST` if the cost may be nothing.

    Sums instead of means spare the divisions; an arm without a pull has cost - width = 0, which is
    `FIRST` too.
    """
    low = cost - width
    return min(reward + width, pulls) / low if low > 0 else FIRST


@kernel
def find_largest(now: Now, scores: Floats) -> tuple[int, int]:
    """Return the first allowed arm with the largest score, and how many have it; no branches.

    Return -1 and 0 if all are `OUT`.
    """
    if now.masked:
        return _find_largest_allowed(now, scores)
    top = OUT
    arm = -1
    for i in range(scores.shape[0]):
        more = scores[i] > top
        arm = i if more else arm
        top = scores[i] if more else top
    count = 0
    for i in range(scores.shape[0]):
        count += scores[i] == top
    return arm, count if arm >= 0 else 0


@cold
def _find_largest_allowed(now: Now, scores: Floats) -> tuple[int, int]:
    arm = -1
    count = 0
    for i in range(scores.shape[0]):
        if now.allowed[i] and scores[i] > OUT:
            if arm < 0 or scores[i] > scores[arm]:
                arm = i
                count = 0
            count += scores[i] == scores[arm]
    return arm, count


@kernel
def take_largest(now: Now, scores: Floats, play: Play) -> None:
    """Write an allowed arm with the largest score, each of them equally likely.

    If all are `OUT`, end the game; under a mask, let the round pass.
    """
    arm, count = find_largest(now, scores)
    play.arms[0] = arm if arm >= 0 else SKIP if now.masked else STOP
    play.probs[0] = 1.0
    if count > 1:
        play.arms[0] = _take_equal(now, arm, scores, int(uniform(now.key, 0) * count))
        play.probs[0] = 1 / count


@cold
def _take_equal(now: Now, first: int, scores: Floats, skip: int) -> int:
    """Return the arm that many places after the first among the allowed ones with its score."""
    arm = first
    while skip > 0:
        arm += 1
        skip -= scores[arm] == scores[first] and (not now.masked or now.allowed[arm])
    return arm


@kernel
def share_largest(now: Now, scores: Floats, out: Floats) -> None:
    """Write the probabilities of `take_largest`."""
    arm, count = find_largest(now, scores)
    for i in range(scores.shape[0]):
        best = count > 0 and scores[i] == scores[arm] and (not now.masked or now.allowed[i])
        out[i] = 1 / count if best else 0.0
