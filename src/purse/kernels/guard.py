"""The guard of policies with contexts: what dearer arms may lose against a safe arm alone, counted
arm by arm.

The safe arm a is the cheapest one with a report, and rho is what a pull of it surely brings.
N(v, h) is how often it can be pulled for the amounts v, in h rounds that allow it. Of arm k, open
tickets included, n pulls brought R and cost C_j of resource j; an open ticket brings and costs what
the arm's reports did on average. Each of these pulls took the place of at most

    e(k) = max_j C_j / (n c_j(a)),  with a horizon at least 1,

pulls of a, and an arm with e(k) > 1 is dearer. What all of them took together is known: the pulls
that a alone would have had by now, N(all) - N(left), less its own and those of arms that are no
dearer. That is charged, once: with one resource and no horizon D(k) = n e(k) = C / c(a), and else
D(k) = n (base + part (e(k) - 1)) with the same base and part, from 0 to 1, for all dearer arms;
base is 1 if that is not too much. Then arm k lost

    lost(k) = rho D(k) - R.

A pull of arm i now takes the place of d(i) pulls of a, at what is left. It is too risky if

    d(i) > 1,  lost(i) > 0  and  sum over a and dearer arms of lost(k) + rho d(i) - r(i)
                                 > guard rho N(all).

An untried arm that is declared no dearer than a may be tried. So neither late reports nor arms as
cheap as a are losses, and one that pays for itself is never held back.

Nothing is proved of it.

Reference: Wu, Shariff, Lattimore, Szepesvári: Conservative bandits, ICML 2016. There the reward of
the safe arm is known; here it is an estimate less half a standard error, and each arm has its own
account.
"""

import math
from typing import NamedTuple

from purse.compiler.kernel import cold, kernel
from purse.kernels.optimism import PRIOR
from purse.types import Floats, Ints

REPORTS, REWARD, COSTS = range(3)  # columns of what was paid: their numbers, R, and the first of C
_CHEAPEST = 1e-12  # what the safe arm costs at least
_DEARER = 1 + 1e-6  # pulls of the safe arm; less is rounding


class ArmMeans(NamedTuple):
    """The reports on each arm."""

    weights: Floats  # (K,) how many
    means: Floats  # (K, 1 + d) of the reward and the costs
    spreads: Floats  # (K, 1 + d) sums of squared deviations


class LossStakes(NamedTuple):
    """The money and the rounds that there were, and what is left of them, in the unit of costs."""

    guard: float  # the part of the safe arm's gain that may be lost
    rounds: float  # all that allow the safe arm; infinity without a horizon
    rounds_left: float  # likewise, this round included
    round: float  # 1 if this round allows it, else 0
    budget: Floats  # (d,)
    left: Floats  # (d,)


@kernel
def find_safe(arms: ArmMeans, parts: Floats, open: Ints) -> int:
    """Return the open arm with a report that takes the smallest part of a budget; -1 if no arm
    does.

    parts   (d,) 1 / budget
    """
    safe = -1
    smallest = math.inf
    for i in range(arms.weights.shape[0]):
        part = 0.0
        for j in range(parts.shape[0]):
            part = max(part, arms.means[i, 1 + j] * parts[j])
        if arms.weights[i] > 0 and open[i] and part < smallest:
            smallest = part
            safe = i
    return safe


@kernel
def _expected_reward(weight: float, mean: float) -> float:
    """Return the mean reward with one more report of 1/2."""
    return (weight * mean + 0.5) / (weight + 1)


@kernel
def _sure_reward(weight: float, mean: float, spread: float) -> float:
    """Return the same less half a standard error: with few rewards the guard must not trust the
    mean.
    """
    error = math.sqrt(spread + PRIOR) / (weight + 1)
    return max(0.0, _expected_reward(weight, mean) - error / 2)


@kernel
def _pulls_of(arms: ArmMeans, safe: int, amounts: Floats, rounds: float) -> float:
    """N(v, h): how often the safe arm can be pulled."""
    pulls = rounds
    for j in range(amounts.shape[0]):
        pulls = min(pulls, amounts[j] / max(_CHEAPEST, arms.means[safe, 1 + j]))
    return pulls


@kernel
def _displaced(arms: ArmMeans, stakes: LossStakes, uses: Floats, safe: int, arm: int) -> float:
    """d: the pulls of the safe arm that a pull of `arm` now takes the place of.

    uses   (K, d or more) what an untried arm costs
    """
    after = stakes.rounds_left - stakes.round
    for j in range(stakes.left.shape[0]):
        cost = arms.means[arm, 1 + j] if arms.weights[arm] > 0 else uses[arm, j]
        price = max(_CHEAPEST, arms.means[safe, 1 + j])
        after = min(after, (stakes.left[j] - cost) / price)
    return _pulls_of(arms, safe, stakes.left, stakes.rounds_left) - max(0.0, after)


@cold
def _places_of(
    arms: ArmMeans, paid: Floats, uses: Floats, timed: bool, safe: int, arm: int
) -> float:
    """e: the pulls of the safe arm that a pull of `arm` took the place of at most."""
    reports = paid[arm, REPORTS]
    places = 1.0 if timed else 0.0
    for j in range(paid.shape[1] - COSTS):
        cost = paid[arm, COSTS + j] / reports if reports > 0 else uses[arm, j]
        places = max(places, cost / max(_CHEAPEST, arms.means[safe, 1 + j]))
    return places


@cold
def _count_lost(
    arms: ArmMeans,
    stakes: LossStakes,
    paid: Floats,
    uses: Floats,
    pending: Ints,
    safe: int,
    rho: float,
    lost: Floats,
) -> float:
    """Write to `lost` (K,) what each arm lost; return the losses of dearer ones and the safe one.

    paid      (K, 2 + d) see `REPORTS`
    uses      (K, d or more) what an untried arm costs
    pending   (K,) open tickets
    """
    timed = stakes.rounds_left < math.inf
    missed = _pulls_of(arms, safe, stakes.budget, stakes.rounds)
    missed -= _pulls_of(arms, safe, stakes.left, stakes.rounds_left)
    pulls = more = 0.0
    for k in range(lost.shape[0]):
        n = paid[k, REPORTS] + pending[k]
        lost[k] = 1.0 if k == safe else _places_of(arms, paid, uses, timed, safe, k)
        if lost[k] > _DEARER:
            pulls += n
            more += n * (lost[k] - 1)
        else:
            missed -= n * lost[k]
    base = part = 1.0
    if (timed or stakes.left.shape[0] > 1) and pulls > 0:
        base = min(1.0, max(0.0, missed / pulls))
        part = min(1.0, max(0.0, (missed - pulls) / more))
    total = 0.0
    for k in range(lost.shape[0]):
        dearer = lost[k] > _DEARER
        reports, n = paid[k, REPORTS], paid[k, REPORTS] + pending[k]
        reward = paid[k, REWARD] / reports if reports > 0 else _expected_reward(0.0, 0.0)
        places = base + part * (lost[k] - 1) if dearer else lost[k]
        lost[k] = n * (rho * places - reward)
        if dearer or k == safe:
            total += lost[k]
    return total


@kernel
def _may_lose(arms: ArmMeans, stakes: LossStakes, safe: int, rho: float) -> float:
    """Return the losses that are allowed in all: a part of the rewards of the safe arm alone."""
    return stakes.guard * rho * _pulls_of(arms, safe, stakes.budget, stakes.rounds)


@kernel
def _is_no_dearer(cost_max: Floats, safe: int, arm: int) -> bool:
    """Return whether an arm is declared no dearer than the safe one; `cost_max` is (K, d)."""
    no_dearer = True
    for j in range(cost_max.shape[1]):
        no_dearer &= cost_max[arm, j] <= cost_max[safe, j]
    return no_dearer


@kernel
def is_too_risky(
    arms: ArmMeans,
    stakes: LossStakes,
    paid: Floats,
    uses: Floats,
    pending: Ints,
    cost_max: Floats,
    lost: Floats,
    safe: int,
    arm: int,
) -> bool:
    """Return whether the safe arm must be played in the place of this one."""
    tried = arms.weights[arm] > 0
    places = _displaced(arms, stakes, uses, safe, arm)
    if places <= _DEARER or (not tried and _is_no_dearer(cost_max, safe, arm)):
        return False
    rho = _sure_reward(arms.weights[safe], arms.means[safe, 0], arms.spreads[safe, 0])
    losses = _count_lost(arms, stakes, paid, uses, pending, safe, rho, lost)
    room = _may_lose(arms, stakes, safe, rho) - losses
    hope = _expected_reward(arms.weights[arm], arms.means[arm, 0])
    return (lost[arm] > 0 or not tried) and rho * places - hope > room
