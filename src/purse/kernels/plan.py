"""A plan for what is left: the bounds that it rests on, the probabilities from it, and a guard.

**Bounds.** Optimism is worth the information that it buys: bounds on means widen with what is left
to win, as in an index for a game that ends. `affordable` is the number of pulls of an arm that its
share of what is left pays for: knowledge that can be used often is worth more. All bounds are in
the arm's own scale, so a cheap arm is not measured by what a dear one costs. What an untried arm
costs is guessed from what part of their declared largest costs other arms took.

**Probabilities.** A plan is the solution of a program of `small_lp`. An arm's probability is its
part of all planned pulls, and forced exploration comes on top: looks at any arm, fewer if a pull
takes more than the plan's average pull does. Arms with equal numbers share what the solution gives
to one of them.

**Guard.** Conservative exploration: no pull that could leave much less than a safe arm alone would
bring. The safe arm is the cheapest one with a report. Let rho be what a pull of it surely brings.
An arm is too risky if

    gain so far + reward of one pull of it + rho pulls(what is left then)
        < (1 - guard) rho pulls(all that there was),

and pulls(.) is how often the safe arm can be pulled for that, and in the rounds that there are.

Reference: Wu, Shariff, Lattimore, Szepesvári: Conservative bandits, ICML 2016. There the reward of
the safe arm is known; here it is an estimate less half a standard error.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from purse.compiler.kernel import cold, kernel
from purse.kernels.fading_means import FadingMeans
from purse.kernels.fastmath import exp, log
from purse.kernels.masks import is_allowed
from purse.kernels.small_lp import SmallLp
from purse.types import Floats, Ints, Now

PRIOR = 0.25  # the largest variance in [0, 1]: of one observation that every arm starts with
CHEAPER = 0.01  # an untried arm may cost a tenth of what others suggest, sqrt(0.01)
TINY = 1e-12  # what rounding may add to a cost
CHEAPEST = 1e-12  # what the safe arm costs at least


@kernel
def untried_reward(affordable: float) -> float:
    """Return the reward of a known rival that makes one look at a new arm break even.

    With a uniform prior on the arm's mean, N pulls left, a look that reveals the mean, and a rival
    that brings x a pull, the look pays if (N - 1) (1 - x)^2 / 2 >= x - 1/2: for x up to
    1 - 1 / (1 + sqrt(N)).
    """
    return 1 - 1 / (1 + math.sqrt(affordable))


@kernel
def optimism(scale: float, affordable: float, pulls: float) -> float:
    """Return scale ln(1 + N / n), half the squared number of standard errors that a bound lies off.

    The break-even for a normal posterior has a scale near 1/2.
    """
    return scale * log(1 + affordable / max(1.0, pulls))


@kernel
def bound_width(level: float, spread: float, top: float, pulls: float) -> float:
    """Return the distance of a bound from a mean, after Bernstein.

    It is sqrt(2 L v / (n + 1)) + L top / (3 (n + 1)).

    level    L, see `optimism`
    spread   the sum of the n squared deviations; v = (spread + top^2 / 4) / (n + 1)
    top      the largest value that the number takes
    """
    part = 1 / (pulls + 1)
    variance = (spread + PRIOR * top * top) * part
    return math.sqrt(2 * level * variance * part) + level * top * part / 3


@kernel
def lower_cost(mean: float, width: float) -> float:
    """Return a lower bound on a cost that is positive whenever a cost was seen: c / (1 + width /
    c).

    A difference c - width would be 0 for hundreds of pulls.
    """
    return mean * mean / (mean + width) if mean > 0 else 0.0


@kernel
def usual_share(first: Floats) -> float:
    """Return the geometric mean of what `learn_share` has learnt; 1/2 before any report."""
    return exp(first[0] / first[1]) if first[1] > 0 else 0.5


@cold
def learn_share(first: Floats, costs: Floats, most: Floats) -> None:
    """Learn from the first report on an arm what part of its declared largest cost a pull takes.

    first   (2,) the sum of ln(cost / most) over such costs, and their number
    costs   (d,) what the pull cost; a cost of 0 is left out
    most    (d,) the declared largest costs of the arm
    """
    for j in range(costs.shape[0]):
        if costs[j] > 0:
            first[0] += log(costs[j] / most[j])
            first[1] += 1


@kernel
def untried_cost(least: float, guess: float, level: float) -> float:
    """Return a lower bound on the cost of an arm without a report, from a guess; level: see
    `optimism`.
    """
    low = min(guess, math.sqrt(max(least, CHEAPER * guess) * guess))
    return max(least, low / (1 + math.sqrt(level) + level))


@kernel
def set_bounds(
    lp: SmallLp,
    arms: FadingMeans,
    least: Floats,
    most: Floats,
    pending: Ints,
    scale: float,
    share: float,
) -> None:
    """Write the upper bounds on rewards to `gains` and the lower bounds on costs to `uses`.

    The program must have its limits and caps, and in `chances` the part of their weight that the
    reports on each arm still have. Its rows are the d resources and, with a horizon, time.

    arms          signal 0 is the reward, signal 1 + j the cost in resource j
    least, most   (K, d) the declared bounds on costs
    pending       (K,) open tickets, which count as reports
    scale         see `optimism`
    share         see `usual_share`

    A loop for each step, because an arm's steps wait for each other and those of several arms do
    not. In between `gains` has N and `scales` has L.
    """
    n_arms, d = most.shape
    timed = lp.uses.shape[1] > d
    for i in range(n_arms):
        part = lp.parts[d] if timed else 0.0
        for j in range(d):
            cost = arms.means[i, 1 + j] if arms.weights[i] > 0 else share * most[i, j]
            part = max(part, max(cost, least[i, j]) * lp.parts[j])
        lp.gains[i] = min(1 / part, max(0.0, lp.caps[i])) * (1 / n_arms)
    for i in range(n_arms):
        pulls = lp.chances[i] * arms.weights[i] + pending[i]
        lp.scales[i] = optimism(scale, lp.gains[i], pulls)
    for i in range(n_arms):
        factor, level = lp.chances[i], lp.scales[i]
        pulls = factor * arms.weights[i]
        if pulls > 0:
            width = bound_width(level, factor * arms.spreads[i, 0], 1.0, pulls)
            lp.gains[i] = min(1.0, arms.means[i, 0] + width)
            for j in range(d):
                spread = factor * arms.spreads[i, 1 + j]
                width = bound_width(level, spread, arms.tops[i, 1 + j], pulls)
                lp.uses[i, j] = max(least[i, j], lower_cost(arms.means[i, 1 + j], width))
        else:
            lp.gains[i] = untried_reward(lp.gains[i] / (1 + pending[i]))
            for j in range(d):
                lp.uses[i, j] = untried_cost(least[i, j], share * most[i, j], level)
        if timed:
            lp.uses[i, d] = 1.0


@kernel
def open_arms(lp: SmallLp, most: Floats, now: Now) -> None:
    """Open the allowed arms below their caps, and of these only those that fit, if any does.

    most   (K, d) the declared largest costs
    """
    n_arms, d = most.shape
    some = False
    for i in range(n_arms):
        fits = is_allowed(now, i) and lp.caps[i] > 0
        for j in range(d):
            fits &= most[i, j] <= now.left[j] * (1 + TINY)
        lp.open[i] = fits
        some |= fits
    if not some:
        for i in range(n_arms):
            lp.open[i] = is_allowed(now, i) and lp.caps[i] > 0


@kernel
def add_looks(lp: SmallLp, rate: float, total: float) -> float:
    """Write each arm's chance of a look; return their sum.

    rate    of an arm that takes no more of any row than the average pull
    total   the sum of the planned pulls, as `solve` returned it
    """
    chances = lp.chances
    n_arms = chances.shape[0]
    for i in range(n_arms):
        chances[i] = rate if lp.open[i] else 0.0
    for j in range(lp.uses.shape[1]):
        average = 0.0
        for i in range(n_arms):
            average += lp.pulls[i] * lp.uses[i, j]
        average /= total
        for i in range(n_arms):
            if lp.uses[i, j] > average and lp.open[i]:
                chances[i] = min(chances[i], rate * average / lp.uses[i, j])
    looked = 0.0
    for i in range(n_arms):
        looked += chances[i]
    return looked


@kernel
def share_equally(lp: SmallLp, arm: int, part: float) -> None:
    """Add the same to the chances of all open arms with the numbers of `arm`, `part` together."""
    chances = lp.chances
    count = 0
    for i in range(chances.shape[0]):
        count += is_same(lp, arm, i)
    if count == 1:  # nearly always
        chances[arm] += part
        return
    for i in range(chances.shape[0]):
        if is_same(lp, arm, i):
            chances[i] += part / count


@kernel
def is_same(lp: SmallLp, arm: int, i: int) -> bool:
    """Return whether arm i is open and has the numbers of `arm`."""
    if lp.gains[i] != lp.gains[arm] or not lp.open[i]:
        return False
    for j in range(lp.uses.shape[1]):
        if lp.uses[i, j] != lp.uses[arm, j]:
            return False
    return True


@cold
def play_cheapest(lp: SmallLp) -> None:
    """Give all to the open arm that takes least of the first row, if the plan has no pull.

    All chances are 0 if no arm is open.
    """
    arm = -1
    for i in range(lp.gains.shape[0]):
        lp.chances[i] = 0.0
        if lp.open[i] and (arm < 0 or lp.uses[i, 0] < lp.uses[arm, 0]):
            arm = i
    if arm >= 0:
        lp.chances[arm] = 1.0


class GuardStakes(NamedTuple):
    """The budget and what is left of it, in the unit of costs."""

    guard: float  # the part of the safe arm's gain that may be risked
    earned: float  # the gain so far
    horizon: float  # infinity without a horizon
    rounds_left: float  # this round included
    budget: Floats  # (d,)
    left: Floats  # (d,)


@kernel
def find_safe(arms: FadingMeans, parts: Floats, open: Ints) -> int:
    """Return the open arm with a report that takes the smallest part of a budget; -1 if no arm
    does.

    parts   (d,) 1 / budget
    """
    safe = -1
    least = math.inf
    for i in range(arms.weights.shape[0]):
        part = 0.0
        for j in range(parts.shape[0]):
            part = max(part, arms.means[i, 1 + j] * parts[j])
        if arms.weights[i] > 0 and open[i] and part < least:
            least = part
            safe = i
    return safe


@kernel
def too_risky(
    arms: FadingMeans, stakes: GuardStakes, most: Floats, uses: Floats, safe: int, arm: int
) -> bool:
    """Return whether a pull of `arm` could leave less than 1 - guard of what the safe arm alone
    brings.

    most   (K, d) the declared largest costs; an untried arm that is declared no dearer than the
           safe one is never too risky
    uses   (K, d or more) what an untried arm costs
    """
    no_dearer = arms.weights[arm] == 0
    alone, after = stakes.horizon, stakes.rounds_left - 1
    for j in range(stakes.budget.shape[0]):
        no_dearer &= most[arm, j] <= most[safe, j]
        price = max(CHEAPEST, arms.means[safe, 1 + j])
        taken = arms.means[arm, 1 + j] if arms.weights[arm] > 0 else uses[arm, j]
        alone = min(alone, stakes.budget[j] / price)
        after = min(after, max(0.0, stakes.left[j] - taken) / price)
    rho = sure_reward(arms.weights[safe], arms.means[safe, 0], arms.spreads[safe, 0])
    hope = expected_reward(arms.weights[arm], arms.means[arm, 0])
    gain = stakes.earned + hope + rho * after
    return not no_dearer and gain < (1 - stakes.guard) * rho * alone


@kernel
def expected_reward(weight: float, mean: float) -> float:
    """Return the mean reward with one more report of 1/2."""
    return (weight * mean + 0.5) / (weight + 1)


@kernel
def sure_reward(weight: float, mean: float, spread: float) -> float:
    """Return the same less half a standard error: with few rewards the guard must not trust the
    mean.
    """
    error = math.sqrt(spread + PRIOR) / (weight + 1)
    return max(0.0, expected_reward(weight, mean) - error / 2)
