"""Eq. (3): the greedy rule loses at most max e."""

from __future__ import annotations

import numpy as np

from purse.lab.paper.finding import Finding, Table
from purse.lab.paper.runner import Runner
from purse.lab.theory import knapsack

ORDER = 10
TITLE = "Equation (3)"
SAYS = "With known constant arms, G(greedy) ≤ G(optimum) ≤ G(greedy) + max_i e(i)."
COMMANDS = [
    "python -c 'from purse.lab.theory import knapsack as k; print(k.greedy([1, .75], [1, .8], 1.6)"
    ", k.exact([1, .75], [1, .8], 1.6))'"
]
INSTANCES = 500


def study(runner: Runner) -> Finding:
    """Compare the greedy rule with the exact knapsack on random instances."""
    random = np.random.default_rng(0)
    losses = []
    for _ in range(INSTANCES):
        n_arms = int(random.integers(2, 6))
        costs = random.integers(1, 101, n_arms) / 100
        rewards = random.integers(0, 101, n_arms) / 100
        budget = int(random.integers(100, 1000)) / 100
        loss = knapsack.exact(rewards, costs, budget) - knapsack.greedy(rewards, costs, budget)
        losses.append([loss, rewards.max(), (rewards / costs).max()])
    lost, reward, efficiency = np.array(losses).T
    sharp = lost / np.maximum(reward, 1e-9)
    most = np.minimum(reward, efficiency)
    rows = {
        "optimum − greedy": lost,
        "(optimum − greedy) / max r": sharp,
        "(optimum − greedy) / max e": lost / np.maximum(efficiency, 1e-9),
    }
    return Finding(
        "true, and sharper: max_i r(i) is enough",
        f"{INSTANCES} random instances: greedy loses at most {max(sharp):.2f}·max r",
        bool((lost >= -1e-9).all() and (lost <= most + 1e-9).all()),
        [
            "The exact unbounded knapsack (`purse.lab.theory.knapsack.exact`) against the greedy "
            f"rule on {INSTANCES} random instances of two to five arms, budgets from 1 to 10:",
            Table(
                ["", "mean", "largest"],
                [
                    [name, f"{losses.mean():.3f}", f"{losses.max():.3f}"]
                    for name, losses in rows.items()
                ],
            ),
            "max e is a reward per cost; it works only because costs are at most 1. In the right "
            "units the term is the reward of one more pull: the optimum is at most e*B, and after "
            "the most efficient arm has been pulled as often as it fits, less than the cost of one "
            "more pull is left, which can bring at most the reward of one.",
        ],
    )
