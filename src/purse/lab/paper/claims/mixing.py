"""Algorithm 2 as printed: probabilities that sum to more than one."""

from __future__ import annotations

import math

import numpy as np

import purse
from purse.lab.paper.finding import Finding, Table
from purse.lab.paper.runner import Runner

ORDER = 105
TITLE = "Algorithm 2 as printed"
SAYS = "Arm i is chosen with probability p̃_t(i) = (1 − Σ_{j≠i} ε_t(j)) p_t(i) + ε_t(i)."
COMMANDS = [
    "purse policies exp3++.bwk",
    "purse compare exp3++.bwk exp3++.bwk:mixing=printed,epsilon=printed -b 1e5 -w "
    '"bernoulli:rewards=[.9,.6],costs=[.8,.3]"',
]


def printed_sums(n_arms: int, rounds: int, rate: float) -> dict[int, float]:
    """Return the sum of the printed probabilities in each round of a game, with eps_t =
    min{1/(2K), rate sqrt(log K / t)} (delta does not bind).
    """
    policy = purse.Policy(
        "exp3++.bwk", n_arms=n_arms, budget=rounds + 1, cost_min=0.1, seed=0, stop="exit"
    )
    outcomes = np.random.default_rng(0).random((rounds, 2))
    sums = {}
    for t, (luck, price) in enumerate(outcomes, 1):
        chances = policy.probabilities()
        mixed, printed = (
            min(0.5 / n_arms, scale * math.sqrt(math.log(n_arms) / t))
            for scale in (0.5 / math.sqrt(n_arms), rate)
        )
        if t > n_arms:
            weights = (chances - mixed) / (1 - n_arms * mixed)  # p_t(i), from the default's mixture
            sums[t] = float(((1 - (n_arms - 1) * printed) * weights + printed).sum())
        ticket = policy.ask()
        reward = float(luck < (ticket.arm + 1) / (n_arms + 1))
        policy.tell(ticket, reward=reward, cost=0.1 + 0.9 * float(price))
    return sums


def study(runner: Runner) -> Finding:
    """Return the sum of the printed probabilities, round by round of a live game."""
    rows, largest = [], []
    for n_arms in (2, 5, 10):
        for name, rate in (("printed", 0.5), ("lemma", 0.5 / math.sqrt(n_arms))):
            sums = printed_sums(n_arms, 2_000, rate)
            largest.append(max(sums.values()))
            rows.append(
                [str(n_arms), name, *(f"{sums[t]:.4f}" for t in (n_arms + 1, 100, 500, 2_000))]
            )
    return Finding(
        "not a distribution",
        f"the printed probabilities sum to {largest[2]:.3f} for K = 5 and "
        f"{largest[4]:.3f} for K = 10",
        min(largest) > 1 + 1e-6,
        [
            "They sum to 1 + Σ p_t(i)ε_t(i), up to 1 + 1/(2K). Sum of the printed "
            "probabilities in rounds of a game with random rewards and costs:",
            Table(["K", "ε", "t = K + 1", "t = 100", "t = 500", "t = 2000"], rows),
            "The default, `mixing=all`, lets the sum run over all arms: then it is a "
            "distribution, every arm has at least ε, and every p̃ is at "
            "least p/2, which the proofs use. `mixing=printed` divides by the sum.",
        ],
    )
