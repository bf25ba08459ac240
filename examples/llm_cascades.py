"""An arm may be a strategy: ask a cheap model first, and a dearer one if the answer fails a check.
What does that buy on the recorded answers of `llm_routing_replay.py`?

The policy knows nothing of strategies: the cost of such an arm is that of all its calls, and its
reward the quality of the answer that is kept. Gains are over the best mixture of models alone, ±
standard errors. Run it: python examples/llm_cascades.py
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

import purse

sys.path.append(str(Path(__file__).parent.parent))
from examples.llm_routing_replay import records

POLICY = "replan"  # the default
BUDGETS = [0.1, 0.3, 1, 3, 10]  # dollars for 1,824 prompts
GOOD = 0.8  # the quality from which on an answer should pass
# of answers that should pass and that should not, the parts that do; and whether a check costs as
# much as an answer of the cheapest model
CHECKS = {"exact check, free": (1.0, 0.0, False), "judge, 90% and 30%": (0.9, 0.3, True)}
Floats = npt.NDArray[np.float64]


def answers() -> tuple[Floats, Floats]:
    """Return the quality and the price of the answers, (T, 3), the cheapest model first."""
    rows = [list(record["arms"].values()) for record in records()]
    rewards, costs = (
        np.array([[answer[what] for answer in row] for row in rows]) for what in ("reward", "cost")
    )
    order = costs.mean(axis=0).argsort()
    return rewards[:, order], costs[:, order]


def with_strategies(
    rewards: Floats, costs: Floats, check: tuple[float, float, bool]
) -> tuple[Floats, Floats]:
    """Return the models, and after them a strategy for each pair: the cheaper model, and the other
    one if its answer does not pass.
    """
    right, wrong, paid = check
    chance = np.random.default_rng(0).random(rewards.shape)
    passes = chance < np.where(rewards >= GOOD, right, wrong)
    gains, bills = [*rewards.T], [*costs.T]
    for first, second in combinations(range(rewards.shape[1]), 2):
        gains.append(np.where(passes[:, first], rewards[:, first], rewards[:, second]))
        again = np.where(passes[:, first], 0, costs[:, second])
        bills.append(costs[:, first] + paid * costs[:, 0] + again)
    return np.stack(gains, axis=1), np.stack(bills, axis=1)


def world_of(rewards: Floats, costs: Floats) -> purse.lab.World:
    """Return the prompts in a random order."""
    return purse.worlds.table(rewards, costs, shuffle=True, horizon=len(rewards))


def best_mixture(rewards: Floats, costs: Floats, budget: float) -> float:
    """Return the most that a player expects that has all means and reads no prompt."""
    means = purse.worlds.table(rewards, costs, sample=True)
    return purse.lab.theory.fluid.lp_optimum(means, budget, horizon=len(rewards)).value


def best_single(rewards: Floats, costs: Floats, budget: float) -> float:
    """Return what the best arm alone buys, on average."""
    parts = np.minimum(1, budget / costs.sum(axis=0))
    return float((parts * rewards.sum(axis=0)).max())


def main(n_paths: int = 100) -> None:
    """Play, and print the table."""
    models = answers()
    arms = {"models": models}
    arms |= {name: with_strategies(*models, check) for name, check in CHECKS.items()}
    mixtures = [best_mixture(*models, budget) for budget in BUDGETS]
    lines = {
        "quality bought with": [f"${budget:g}" for budget in BUDGETS],
        "best single model": [f"{best_single(*models, budget):,.0f}" for budget in BUDGETS],
        "best mixture of models": [f"{mixture:,.0f}" for mixture in mixtures],
    }
    for name, table in arms.items():
        runs = [
            purse.simulate(POLICY, world_of(*table), budget, n_paths=n_paths, stop="retry")
            for budget in BUDGETS
        ]
        means = [float(run.gain.mean()) for run in runs]
        errors = [float(run.gain.std(ddof=1)) / n_paths**0.5 for run in runs]
        optima = [best_mixture(*table, budget) for budget in BUDGETS]
        if name != "models":
            lines[f"best mixture, {name}"] = [f"{mixture:,.0f}" for mixture in optima]
        lines[f"{POLICY}, {name}"] = [f"{mean:,.0f}" for mean in means]
        lines[f"{POLICY}, {name}: gain"] = [
            f"{100 * (mean / mixture - 1):+.2f} ± {100 * error / mixture:.2f}%"
            for mean, error, mixture in zip(means, errors, mixtures, strict=True)
        ]
    for player, cells in lines.items():
        print(f"{player:<36}" + "".join(f"{cell:>14}" for cell in cells))


if __name__ == "__main__":
    main()
