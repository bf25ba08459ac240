"""Every notion of regret under its own name, each a number per path, with mean, standard error and
confidence interval.

B budget, G gain, tau rounds that were paid for, T(i) the rounds that arm i alone can be paid for,
e_t(i) = r_t(i)/c_t(i), mu(i) and rho(i) mean reward and cost, e(i) = mu(i)/rho(i), Delta(i) = max_j
e(j) - e(i), N(i) pulls. Arms are compared by their means over paths, so a notion is max_i E[...]
and not E max_i[...]: without the optimism of picking another arm on each path. All are for one
resource; benchmarks meet the same draws as the policy, path by path.
"""

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


def best_fixed_arm(runs: RunEvidence) -> Floats:
    """max_i G(i) - G: against the best single arm by realised reward; the plain regret."""
    return against_best_fixed_arm(runs.gain, runs.fixed_gain)


def paper_arm(runs: RunEvidence) -> Floats:
    """G(i*) - G, with the paper's i*: the arm with the largest sum of efficiencies over its own
    rounds.
    """
    return runs.fixed_gain[runs.paper_arm] - runs.gain


def line_1(runs: RunEvidence) -> Floats:
    """(B / T(i*)) sum_{t <= T(i*)} e_t(i*) - G: the first line of eq. (5)."""
    arm = runs.paper_arm
    per_round = runs.budget / np.maximum(runs.fixed_rounds[arm], 1)
    return per_round * runs.fixed_efficiency[arm] - runs.gain


def line_2(runs: RunEvidence) -> Floats:
    """z (sum_{t <= T(i*)} e_t(i*) - sum_{t <= tau} e_t(i_t)): the second line of eq. (5).

    z = max{B / T(i*), spent / tau}, the larger of the two costs per round.
    """
    spent_per_round = (runs.budget - runs.left) / np.maximum(runs.rounds, 1)
    paper_per_round = runs.budget / np.maximum(runs.fixed_rounds[runs.paper_arm], 1)
    return np.maximum(paper_per_round, spent_per_round) * efficiency_sums(runs)


def efficiency_sums(runs: RunEvidence) -> Floats:
    """sum_{t <= T(i*)} e_t(i*) - sum_{t <= tau} e_t(i_t): the left side of eq. (8), over two
    different numbers of rounds.
    """
    return runs.fixed_efficiency[runs.paper_arm] - runs.efficiency


def own_rounds(runs: RunEvidence) -> Floats:
    """max_i sum_{t <= tau} e_t(i) - e_t(i_t): efficiency over the player's own rounds, what
    Proposition A bounds.
    """
    return runs.counterfactual[best_arm(runs.counterfactual - runs.efficiency)] - runs.efficiency


def own_clock(runs: RunEvidence) -> Floats | None:
    """max_i V_1(i) + sum_{t <= tau} c_t(i_t) V_{t+1}(i) - G: reward over the player's own spending.

    V_t(i) is what arm i earns on average with the next unit of budget, see
    `purse.lab.theory.own_clock`.
    """
    if runs.own_clock is None:
        return None
    return runs.own_clock[best_arm(runs.own_clock - runs.gain)] - runs.gain


def round_gap(runs: RunEvidence) -> Floats:
    """|T(i*) - tau|, in rounds: the left side of eq. (9)."""
    return np.abs(runs.fixed_rounds[runs.paper_arm] - runs.rounds).astype(np.float64)


def best_efficiency(runs: RunEvidence) -> Floats | None:
    """B max_i e(i) - G: what the budget would buy if it were spent to the last unit at the best
    mean efficiency.
    """
    if runs.reward_means is None or runs.cost_means is None:
        return None
    return runs.budget * float((runs.reward_means / runs.cost_means).max()) - runs.gain


def pseudo_regret(runs: RunEvidence) -> Floats | None:
    """sum_i rho(i) Delta(i) N(i): what the pulls of worse arms cost in expectation."""
    if runs.gaps is None or runs.cost_means is None:
        return None
    return runs.pulls @ (runs.cost_means * runs.gaps)


def paper_pseudo_regret(runs: RunEvidence) -> Floats | None:
    """sum_i Delta(i) N(i): the last line of eq. (4), without the cost of a pull."""
    return None if runs.gaps is None else runs.pulls @ runs.gaps


def greedy(runs: RunEvidence) -> Floats | None:
    """Return the greedy knapsack's gain - G, for known fixed arms."""
    return None if runs.greedy is None else runs.greedy - runs.gain


def knapsack(runs: RunEvidence) -> Floats | None:
    """Return the exact unbounded knapsack's gain - G, for known fixed arms."""
    return None if runs.knapsack is None else runs.knapsack - runs.gain


def optimum(runs: RunEvidence) -> Floats | None:
    """Return the dynamic optimum - G: the best that a player can expect that knows the world; on
    small instances.
    """
    return None if runs.optimum is None else runs.optimum - runs.gain


def leftover(runs: RunEvidence) -> Floats:
    """B - spent: the part of the budget that bought nothing."""
    return runs.left


def lp_without_contexts(runs: RunEvidence) -> Floats | None:
    """LP without contexts - G: against the best mixture of arms for all contexts; a policy that
    uses contexts well is below 0.
    """
    return _against(runs, WITHOUT)


def best_linear_policy(runs: RunEvidence) -> Floats | None:
    """best linear policy - G: against ridge regression on the true means with the right price."""
    return _against(runs, LINEAR)


def lp_with_contexts(runs: RunEvidence) -> Floats | None:
    """LP with contexts - G: against the best mixture of arms in each context, which no policy
    exceeds in expectation by more than one reward.
    """
    return _against(runs, WITH)


def _against(runs: RunEvidence, name: str) -> Floats | None:
    """(P,) An optimum less the policy's gain; None if the world has no such optimum."""
    return runs.context_optima[name] - runs.gain if name in runs.context_optima else None


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
