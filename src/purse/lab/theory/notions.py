"""Every notion of regret under its own name, each a number per path, with mean, standard error and
confidence interval.

B budget, G gain, tau rounds that were paid for, T(i) the rounds that arm i alone can be paid for,
e_t(i) = r_t(i)/c_t(i), mu(i) and rho(i) mean reward and cost, e(i) = mu(i)/rho(i), Delta(i) = max_j
e(j) - e(i), N(i) pulls. Arms are compared by their means over paths, so a notion is max_i E[...]
and not E max_i[...]: without the optimism of picking another arm on each path. All are for one
resource; benchmarks meet the same draws as the policy, path by path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from purse.lab.theory.contexts import LINEAR, WITH, WITHOUT
from purse.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class RunEvidence:
    """The gains of a policy, and those of each arm alone on the same draws."""

    budget: float
    gain: Floats  # (P,)
    rounds: Ints  # (P,) tau
    left: Floats  # (P,) what was not spent
    efficiency: Floats  # (P,) sum of e_t(i_t), t <= tau
    pulls: Ints  # (P, K)
    fixed_gain: Floats  # (K, P) sum of r_t(i), t <= T(i)
    fixed_rounds: Ints  # (K, P) T(i)
    fixed_efficiency: Floats  # (K, P) sum of e_t(i), t <= T(i)
    counterfactual: Floats  # (K, P) sum of e_t(i), t <= tau
    reward_means: Floats | None  # (K,) None if they change
    cost_means: Floats | None  # (K,)
    own_clock: Floats | None = None  # (K, P) see `purse.lab.theory.own_clock`
    # what the benchmarks of `purse.lab.theory.knapsack` gain; None if they cannot be computed
    greedy: float | None = None
    knapsack: float | None = None
    optimum: float | None = None
    # what the optima of `purse.lab.theory.contexts` gain, by name; empty without contexts
    context_optima: Mapping[str, float] = field(default_factory=dict)

    @property
    def paper_arm(self) -> int:
        """The paper's i*: the arm with the largest sum of e_t(i) over its own rounds T(i). It
        favours cheap arms.
        """
        return best_arm(self.fixed_efficiency)

    @property
    def gaps(self) -> Floats | None:
        """(K,) Delta(i)."""
        if self.reward_means is None or self.cost_means is None:
            return None
        efficiencies = self.reward_means / self.cost_means
        return efficiencies.max() - efficiencies


def best_arm(sums: Floats) -> int:
    """Return the arm with the largest mean, from one number for each arm and path (K, P)."""
    return int(sums.mean(axis=1).argmax())


def against_best_fixed_arm(gain: Floats, fixed_gain: Floats) -> Floats:
    """(P,) What the best fixed arm gained on each path more than the policy did; pairing takes most
    of the noise out.
    """
    return fixed_gain[best_arm(fixed_gain)] - gain


def best_fixed_arm(seen: RunEvidence) -> Floats:
    """max_i G(i) - G: against the best single arm by realised reward; the plain regret."""
    return against_best_fixed_arm(seen.gain, seen.fixed_gain)


def paper_arm(seen: RunEvidence) -> Floats:
    """G(i*) - G, with the paper's i*: the arm with the largest sum of efficiencies over its own
    rounds.
    """
    return seen.fixed_gain[seen.paper_arm] - seen.gain


def line_1(seen: RunEvidence) -> Floats:
    """(B / T(i*)) sum_{t <= T(i*)} e_t(i*) - G: the first line of eq. (5)."""
    arm = seen.paper_arm
    per_round = seen.budget / np.maximum(seen.fixed_rounds[arm], 1)
    return per_round * seen.fixed_efficiency[arm] - seen.gain


def line_2(seen: RunEvidence) -> Floats:
    """z (sum_{t <= T(i*)} e_t(i*) - sum_{t <= tau} e_t(i_t)): the second line of eq. (5).

    z = max{B / T(i*), spent / tau}, the larger of the two costs per round.
    """
    spent_per_round = (seen.budget - seen.left) / np.maximum(seen.rounds, 1)
    paper_per_round = seen.budget / np.maximum(seen.fixed_rounds[seen.paper_arm], 1)
    return np.maximum(paper_per_round, spent_per_round) * efficiency_sums(seen)


def efficiency_sums(seen: RunEvidence) -> Floats:
    """sum_{t <= T(i*)} e_t(i*) - sum_{t <= tau} e_t(i_t): the left side of eq. (8), over two
    different numbers of rounds.
    """
    return seen.fixed_efficiency[seen.paper_arm] - seen.efficiency


def own_rounds(seen: RunEvidence) -> Floats:
    """max_i sum_{t <= tau} e_t(i) - e_t(i_t): efficiency over the player's own rounds, what
    Proposition A bounds.
    """
    return seen.counterfactual[best_arm(seen.counterfactual - seen.efficiency)] - seen.efficiency


def own_clock(seen: RunEvidence) -> Floats | None:
    """max_i V_1(i) + sum_{t <= tau} c_t(i_t) V_{t+1}(i) - G: reward over the player's own spending.

    V_t(i) is what arm i earns on average with the next unit of budget, see
    `purse.lab.theory.own_clock`.
    """
    if seen.own_clock is None:
        return None
    return seen.own_clock[best_arm(seen.own_clock - seen.gain)] - seen.gain


def round_gap(seen: RunEvidence) -> Floats:
    """|T(i*) - tau|, in rounds: the left side of eq. (9)."""
    return np.abs(seen.fixed_rounds[seen.paper_arm] - seen.rounds).astype(np.float64)


def best_efficiency(seen: RunEvidence) -> Floats | None:
    """B max_i e(i) - G: what the budget would buy if it were spent to the last unit at the best
    mean efficiency.
    """
    if seen.reward_means is None or seen.cost_means is None:
        return None
    return seen.budget * float((seen.reward_means / seen.cost_means).max()) - seen.gain


def pseudo_regret(seen: RunEvidence) -> Floats | None:
    """sum_i rho(i) Delta(i) N(i): what the pulls of worse arms cost in expectation."""
    if seen.gaps is None or seen.cost_means is None:
        return None
    return seen.pulls @ (seen.cost_means * seen.gaps)


def paper_pseudo_regret(seen: RunEvidence) -> Floats | None:
    """sum_i Delta(i) N(i): the last line of eq. (4), without the cost of a pull."""
    return None if seen.gaps is None else seen.pulls @ seen.gaps


def greedy(seen: RunEvidence) -> Floats | None:
    """Return the greedy knapsack's gain - G, for known fixed arms."""
    return None if seen.greedy is None else seen.greedy - seen.gain


def knapsack(seen: RunEvidence) -> Floats | None:
    """Return the exact unbounded knapsack's gain - G, for known fixed arms."""
    return None if seen.knapsack is None else seen.knapsack - seen.gain


def optimum(seen: RunEvidence) -> Floats | None:
    """Return the dynamic optimum - G: the best that a player can expect that knows the world; on
    small instances.
    """
    return None if seen.optimum is None else seen.optimum - seen.gain


def leftover(seen: RunEvidence) -> Floats:
    """B - spent: the part of the budget that bought nothing."""
    return seen.left


def lp_without_contexts(seen: RunEvidence) -> Floats | None:
    """LP without contexts - G: against the best mixture of arms for all contexts; a policy that
    uses contexts well is below 0.
    """
    return against(seen, WITHOUT)


def best_linear_policy(seen: RunEvidence) -> Floats | None:
    """best linear policy - G: against ridge regression on the true means with the right price."""
    return against(seen, LINEAR)


def lp_with_contexts(seen: RunEvidence) -> Floats | None:
    """LP with contexts - G: against the best mixture of arms in each context, which no policy
    exceeds in expectation by more than one reward.
    """
    return against(seen, WITH)


def against(seen: RunEvidence, name: str) -> Floats | None:
    """(P,) An optimum less the policy's gain; None if the world has no such optimum."""
    return seen.context_optima[name] - seen.gain if name in seen.context_optima else None


EVERY: tuple[Callable[[RunEvidence], Floats | None], ...] = (
    best_fixed_arm, paper_arm, line_1, line_2, efficiency_sums, own_rounds, own_clock, round_gap,
    best_efficiency, pseudo_regret, paper_pseudo_regret, greedy, knapsack, optimum, leftover,
)  # fmt: skip
NOTIONS = {notion.__name__: notion for notion in EVERY}
# of worlds with contexts, and of no others
CONTEXT_NOTIONS = {
    notion.__name__: notion
    for notion in (lp_without_contexts, best_linear_policy, lp_with_contexts)
}
