r"""Best arm: find the arm with the largest mean reward, or reward per cost, and end the game once
that is sure.

The rule (ours, of known parts). After n reports on arm i the true mean reward lies in [r-, r+] and
the true mean cost in [c-, c+], by `purse.kernels.mean_bounds`: at all times, of all arms, with the
confidence asked for. The value of an arm is v = r with v± = r±, or with by="ratio" v = r / c with
v- = r- / c+ and v+ = r+ / c-. Costs are those of the first resource.

    out         c-(i) > cap
    leader      a, with the largest v among the arms whose mean cost so far is at most the cap
    beaten      j, if the evidence for v(a) + within >= v(j) is at least ln((K - 1) / delta), by
                `purse.kernels.pair_evidence`; delta is 1 - confidence, K - 1 the pairs of the best
                arm
    challenger  b, with the largest v+ among the others that are neither out nor beaten; of equal
                ones the one with the fewest pulls
    stop        if c+(a) <= cap and all others are out or beaten; if all arms are out, too
    pull        a, if n(a) c(a) / (v+(a) - v-(a)) < sum_j n(j) c(j) / (v+(j) - v-(j))
                over the arms j other than a that are neither out nor beaten; b elsewhere. If only
                c+(a) > cap hinders the stop, a

With a cap each cost that varies takes a share of delta, beside the pairs. With by="ratio", if a
cost varies or is 0, an arm is beaten if v-(a) + within >= v+(j) instead.

Why. The widths fall as n^(-1/2). What the end costs, sum_i n(i) c(i), is least if the two sides of
*pull* are equal: one pull of the leader serves all comparisons, one of j its own. A pull counts for
at least 1/10,000 of the largest cost, because a free arm would be pulled for ever.

Options: by="reward" or "ratio"; confidence=0.95; cap=None, the most that the best arm may cost a
pull, on average; within=0, by how much its value may be below the best; sampling="lucb", the rule
above, or "uniform", each arm as often, with the same stop.

Guarantee: for i.i.d. rewards in [0, 1] and i.i.d. costs between their declared bounds, the
probability that the game EVER ends with a wrong leader is at most 1 - confidence: one with a mean
cost above the cap, or with a value more than `within` below that of an arm whose mean cost is at
most the cap. If all values differ and no mean cost is the cap itself, the game ends, given the
money. If the budget is spent before, it ends without an answer. Means that change void the
guarantee, and so do reports whose delay depends on the reward.

Departures from the paper: LUCB pulls the leader and the challenger in every round, knows no costs,
and has bounds for each time rather than for all.

Under a mask, if the arm is not allowed, the allowed arm with the largest v+ comes that is not
out; if all are out, any of them. The guarantee holds under masks, because it holds for every way
to choose arms.

Needs bounds on the costs if these matter. O(K) a round.

>>> import purse
>>> world = purse.worlds.bernoulli(rewards=[0.9, 0.5, 0.4], costs=[0.5, 0.3, 0.5])
>>> run = purse.simulate("best-arm", world, budget=1000, n_paths=10, seed=0)
>>> bool((run.spent < 100).all())
True

References: E. Even-Dar, S. Mannor, Y. Mansour. Action elimination and stopping conditions for the
multi-armed bandit and reinforcement learning problems. JMLR 7, 2006. S. Kalyanakrishnan, A. Tewari,
P. Auer, P. Stone. PAC subset selection in stochastic multi-armed bandits. ICML 2012 (LUCB).
A. Garivier, E. Kaufmann. Optimal best arm identification with fixed confidence. COLT 2016.
E. Kaufmann, W. M. Koolen. Mixture martingales revisited with applications to sequential tests and
confidence intervals. JMLR 22, 2021. S. R. Howard, A. Ramdas, J. McAuliffe, J. Sekhon. Time-uniform,
nonparametric, nonasymptotic confidence sequences. Annals of Statistics 49, 2021. K. Kanarios,
Q. Zhang, L. Ying. Cost aware best arm identification. Reinforcement Learning Journal 4, 2024.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from purse.base import amounts
from purse.errors import invalid
from purse.kernels import FIRST, choice, cold, is_allowed, kernel, number
from purse.kernels.mean_bounds import log_term_of, lower_between, upper_between
from purse.kernels.pair_evidence import evidence, level_of, log_average
from purse.types import STOP, Floats, Now, Play, Problem

NAME, PLAYS, INITIAL_PULLS, PENDING, VERSION, SOURCE = "best-arm", 1, True, True, 1, "ours"
FREE = 1e-4  # what a pull counts for at least, in largest costs
NONE, UNSURE = -1, -2  # in the place of an arm that is the answer


class BestArmParams(NamedTuple):
    ratio: bool
    costly: bool  # whether the answer depends on costs
    uniform: bool
    open: bool  # whether there is anything to find
    joint: bool  # whether two arms are compared by their evidence, not by their bounds
    log_term: float  # ln(2 / delta), delta shared by all intervals
    level: float  # the evidence that beats an arm
    cap: float  # in largest costs; infinity without a cap
    within: float
    cost_min: Floats  # (K,) the declared bounds on costs
    cost_max: Floats  # (K,)


class BestArmState(NamedTuple):
    pulls: Floats  # (K,) n
    rewards: Floats  # (K,) sums, as the costs
    costs: Floats  # (K,)
    values: Floats  # (K,) v, and v-, v+
    lower: Floats  # (K,)
    upper: Floats  # (K,)
    least: Floats  # (K,) c-, and c+
    most: Floats  # (K,)
    prices: Floats  # (K,) c / (v+ - v-)
    averages: Floats  # (K,) `log_average` of the rewards
    beaten: Floats  # (K,) 1 if the leader beats the arm, 0 elsewhere


def params(
    problem: Problem,
    *,
    by: str = "reward",
    confidence: float = 0.95,
    cap: float | None = None,
    within: float = 0.0,
    sampling: str = "lucb",
) -> BestArmParams:
    ratio = choice("by", by, ("reward", "ratio")) == "ratio"
    scale = float(problem.unit_scale[0])
    cap_units = math.inf if cap is None else amounts.to_units("cap", cap)
    if cap_units <= 0:
        raise invalid("cap", cap, "must be an amount above 0, or None")
    costly = ratio or cap is not None
    low = (problem.cost_min if problem.costs is None else problem.costs)[:, 0]
    high = (problem.cost_max if problem.costs is None else problem.costs)[:, 0]
    sure = number("confidence", confidence, above=0)
    if sure >= 1:
        raise invalid("confidence", confidence, "must be a number above 0 and below 1")
    n_costs = costly * int((low < high).sum())  # that vary
    joint = not ratio or (n_costs == 0 and bool((low > 0).all()))
    return BestArmParams(
        ratio,
        costly,
        choice("sampling", sampling, ("lucb", "uniform")) == "uniform",
        problem.n_arms > 1 or cap is not None,
        joint,
        log_term_of(sure, problem.n_arms + n_costs),
        level_of(sure, max(1, problem.n_arms - 1 + n_costs)),
        cap_units * scale,
        number("within", within, low=0) / (amounts.UNIT * scale if ratio else 1),
        low * problem.unit_scale[0],
        high * problem.unit_scale[0],
    )


def init(params: BestArmParams, problem: Problem) -> BestArmState:
    k = problem.n_arms
    state = BestArmState(*(np.zeros(k) for _ in BestArmState._fields))
    state.least[:], state.most[:] = params.cost_min, params.cost_max
    state.upper[:] = 1
    if params.ratio:
        state.upper[:] = 1 / np.maximum(params.cost_min, 1 / FIRST)
    return state


@kernel
def mean_cost(state: BestArmState, i: int) -> float:
    """Return the mean cost so far, between its bounds: of a constant cost the sum is inexact."""
    return max(state.least[i], min(state.most[i], state.costs[i] / state.pulls[i]))


@kernel
def is_out(params: BestArmParams, state: BestArmState, i: int) -> bool:
    """Return whether the arm costs more than the cap for sure."""
    return state.least[i] > params.cap


@cold
def find_leader(params: BestArmParams, state: BestArmState) -> int:
    """Return the arm with the best mean so far; -1 if no arm has a report and keeps to the cap."""
    arm = -1
    for i in range(state.pulls.shape[0]):
        fair = state.pulls[i] > 0 and mean_cost(state, i) <= params.cap
        if fair and (arm < 0 or state.values[i] > state.values[arm]):
            arm = i
    return arm


@cold
def find_challenger(params: BestArmParams, state: BestArmState, now: Now, leader: int) -> int:
    """Return the other arm whose value may be the largest; -1: all others are out or beaten."""
    arm = -1
    for i in range(state.pulls.shape[0]):
        if is_rival(params, state, leader, i):
            more = 1.0 if arm < 0 else state.upper[i] - state.upper[arm]
            if more > 0 or (more == 0 and tries(state, now, i) < tries(state, now, arm)):
                arm = i
    return arm


@kernel
def tries(state: BestArmState, now: Now, i: int) -> float:
    """Return the reports on an arm and its open tickets."""
    return state.pulls[i] + now.pending[i]


@kernel
def is_rival(params: BestArmParams, state: BestArmState, leader: int, i: int) -> bool:
    """Return whether arm i may be better than the leader, or may be the answer without one."""
    is_open = i != leader and not is_out(params, state, i)
    return is_open and (leader < 0 or state.beaten[i] == 0)


@cold
def is_sure(params: BestArmParams, state: BestArmState, leader: int) -> bool:
    """Return whether the leader is the answer; without a leader, whether all arms are out."""
    for i in range(state.pulls.shape[0]):
        if is_rival(params, state, leader, i):
            return False
    return leader < 0 or state.most[leader] <= params.cap


@cold
def answer(params: BestArmParams, state: BestArmState) -> int:
    """Return the best arm, `NONE` if no arm keeps to the cap, or `UNSURE`."""
    leader = find_leader(params, state)
    return leader if is_sure(params, state, leader) else UNSURE  # no leader is `NONE`


@cold
def leader_is_due(params: BestArmParams, state: BestArmState, now: Now, leader: int) -> bool:
    """Return whether a pull of the leader saves more than one of the challenger does."""
    others = 0.0
    for j in range(state.pulls.shape[0]):
        if is_rival(params, state, leader, j):
            others += tries(state, now, j) * state.prices[j]
    return tries(state, now, leader) * state.prices[leader] < others


@cold
def find_fewest(state: BestArmState, now: Now) -> int:
    """Return the allowed arm that was asked for least often."""
    arm = -1
    for i in range(state.pulls.shape[0]):
        if is_allowed(now, i) and (arm < 0 or tries(state, now, i) < tries(state, now, arm)):
            arm = i
    return arm


@cold
def find_stand_in(params: BestArmParams, state: BestArmState, now: Now) -> int:
    """Return the allowed arm whose value may be the largest, of those that are not out if there is
    any.
    """
    arm = -1
    for i in range(state.pulls.shape[0]):
        if now.allowed[i]:
            out = is_out(params, state, i)
            better = arm < 0 or state.upper[i] > state.upper[arm]
            if arm >= 0 and out != is_out(params, state, arm):
                better = not out
            if better:
                arm = i
    return arm


@kernel
def next_arm(params: BestArmParams, state: BestArmState, now: Now) -> int:
    """Return the arm to pull; `STOP` if the answer is sure."""
    leader = find_leader(params, state)
    if params.open and is_sure(params, state, leader):
        return STOP
    if params.uniform:
        return find_fewest(state, now)
    arm = find_challenger(params, state, now, leader)
    if leader >= 0 and (arm < 0 or leader_is_due(params, state, now, leader)):
        arm = leader  # without a challenger only the cap hinders the stop
    return arm if is_allowed(now, arm) else find_stand_in(params, state, now)


@kernel
def choose(params: BestArmParams, state: BestArmState, scratch: Any, now: Now, play: Play) -> None:
    play.arms[0] = next_arm(params, state, now)
    play.probs[0] = 1.0


@kernel
def probabilities(
    params: BestArmParams, state: BestArmState, scratch: Any, now: Now, out: Floats
) -> None:
    arm = next_arm(params, state, now)
    for i in range(out.shape[0]):
        out[i] = 1.0 if i == arm else 0.0


@kernel
def update(params: BestArmParams, state: BestArmState, scratch: Any, now: Now, play: Play) -> None:
    i, before = play.arms[0], find_leader(params, state)
    state.pulls[i] += 1
    state.rewards[i] += play.rewards[0]
    state.costs[i] += play.costs[0, 0]
    learn(params, state, i)
    leader = find_leader(params, state)
    for j in range(state.pulls.shape[0]):
        if j != leader and (j == i or leader == i or leader != before):
            compare(params, state, leader, j)


@cold
def learn(params: BestArmParams, state: BestArmState, i: int) -> None:
    """Write what follows from the sums of arm i."""
    n, reward = state.pulls[i], state.rewards[i] / state.pulls[i]
    state.values[i] = reward
    state.lower[i] = lower_between(reward, n, params.log_term, 0.0, 1.0)
    state.upper[i] = upper_between(reward, n, params.log_term, 0.0, 1.0)
    if params.costly:
        mean, low, high = state.costs[i] / n, params.cost_min[i], params.cost_max[i]
        state.least[i] = lower_between(mean, n, params.log_term, low, high)
        state.most[i] = upper_between(mean, n, params.log_term, low, high)
    cost = mean_cost(state, i)
    if params.ratio:
        state.values[i] = divide(reward, cost)
        state.lower[i] = divide(state.lower[i], state.most[i])
        state.upper[i] = divide(state.upper[i], state.least[i])
    state.prices[i] = max(FREE, cost) / max(FREE * FREE, state.upper[i] - state.lower[i])
    state.averages[i] = log_average(state.rewards[i], n - state.rewards[i])


@cold
def compare(params: BestArmParams, state: BestArmState, leader: int, j: int) -> None:
    """Write whether the leader beats arm j; without a leader nothing does."""
    beaten = False
    if leader >= 0 and params.joint:
        own, other = 1.0, 1.0
        if params.ratio:
            own, other = params.cost_min[leader], params.cost_min[j]
        gathered = evidence(
            state.averages[leader],
            state.rewards[leader],
            state.pulls[leader] - state.rewards[leader],
            state.averages[j],
            state.rewards[j],
            state.pulls[j] - state.rewards[j],
            own / other,
            own * params.within,
        )
        beaten = gathered >= params.level
    elif leader >= 0:
        beaten = state.lower[leader] + params.within >= state.upper[j]
    state.beaten[j] = 1.0 if beaten else 0.0


@kernel
def divide(reward: float, cost: float) -> float:
    """Reward per cost, finite if an arm costs nothing."""
    return min(FIRST, reward / cost) if cost > 0 else FIRST
