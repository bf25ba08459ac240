"""What it costs to have many tickets open at once: `python -m benchmarks.open_tickets`.

Normalised regret, in percent: the part of what the best fixed mixture of arms earns that a policy
misses. Stop rule `fit`; a report comes after as many further asks as tickets are to be open.
"""

from __future__ import annotations

import numpy as np

import purse
from benchmarks.tables import markdown_table
from purse import worlds
from purse.lab.theory.fluid import lp_optimum
from purse.types import World

WORLDS = {
    "two arms": "bernoulli:rewards=[.6,.45],costs=[.5,.5]",
    "easy gaps": "bernoulli:rewards=[.42,.5,.4,.3,.6],costs=[.3,.5,.6,.4,.9]",
    "small gaps": "bernoulli:rewards=[.5,.55,.6,.65,.72],costs=[.5,.54,.58,.62,.66]",
    "one good arm in ten": f"bernoulli:rewards=[{'.2,' * 9}.6],costs=[{'.5,' * 9}.5]",
    "costs that differ": "bernoulli:rewards=[.1,.3,.5,.7,.9],costs=[.05,.1,.3,.6,1.]",
}
POLICIES = ("replan", "primal-dual-bwk", "exp3++.price", "exp3++.bwk", "ucb-bv1")
OPEN = (1, 64)
PULLS = 2_000  # of the dearest arm
PATHS, SEED = 200, 1


def regret(policy: str, world: World, n_open: int) -> tuple[float, float]:
    """Normalised regret in percent, and its standard error."""
    budget = PULLS * float(world.cost_max.max()) / 1e9
    run = purse.simulate(
        policy, world, budget, n_paths=PATHS, seed=SEED, stop="fit", delay=n_open - 1
    )
    best = lp_optimum(world, budget).value
    missed = 100 * (1 - np.asarray(run.gain) / best)
    return float(missed.mean()), float(missed.std(ddof=1) / PATHS**0.5)


def rows() -> list[list[str]]:
    """Return one row for each world, and one for the mean over worlds."""
    table, means = [], []
    for name, spec in WORLDS.items():
        world = worlds.make(spec, PULLS)
        regrets = [regret(policy, world, n) for policy in POLICIES for n in OPEN]
        means.append([mean for mean, _ in regrets])
        table.append([name, *(f"{mean:.1f} ± {error:.1f}" for mean, error in regrets)])
        print(table[-1], flush=True)
    return [*table, ["mean", *(f"{mean:.1f}" for mean in np.mean(means, axis=0))]]


def main() -> None:
    """Print the table."""
    head = ["", *(f"`{policy}`, {n} open" for policy in POLICIES for n in OPEN)]
    print(markdown_table(head, rows()))


if __name__ == "__main__":
    main()
