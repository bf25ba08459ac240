"""The worth of every arm in the rounds that a policy played: sums over the same draws."""

from functools import partial
from typing import Any

import numpy as np

from purse.base import amounts
from purse.base.progress import Progress
from purse.base.validation import usable_cores
from purse.compiler.jit import bind
from purse.engine.cpu import in_threads
from purse.engine.job import Job
from purse.kernels.random import WORLD, stream
from purse.types import Floats, Ints, World
from purse.worlds._draw import draw as shared_draw

draw: Any = None  # bound by `purse.compiler.jit.bind`
BLOCK = 4  # paths that a thread takes at a time
_BEAT = 1 << 18  # draws between two looks at `halt`


def _add_up(
    tables: Any,
    seed: int,
    first: int,
    share: float,
    rounds: Ints,
    cost: Ints,
    sums: Floats,
    halt: Ints,
) -> None:
    """Add each arm's reward per cost, as policies see it, over rounds 1 .. rounds[p] of paths p."""
    for path in range(rounds.shape[0]):
        key = stream(seed, first + path, WORLD)
        beat = max(1, _BEAT // sums.shape[1])
        for t in range(1, rounds[path] + 1):
            if t % beat == 0 and halt[0] != 0:
                return
            for arm in range(sums.shape[1]):
                reward = draw(key, tables, t, arm, cost)
                # as the loop has it, so that an arm alone is its own shadow
                sums[path, arm] += reward * (1 / (cost[0] * share))


def compiled_sums(world: World) -> Any:
    """Return the sums for worlds that share the draw."""
    return bind(_add_up, draw=world.draw or shared_draw)


def counterfactual_sums(
    job: Job, rounds: Ints, shown: Progress, n_workers: int | None = None
) -> Floats:
    """Return, for one resource, the sums (P, K) of r_t(i) / c_t(i) over t = 1 .. rounds[p]."""
    work = compiled_sums(job.world)
    share = float(job.problem.unit_scale[0])
    sums, halt = np.zeros((len(rounds), job.world.n_arms)), np.zeros(1, np.int64)

    def block(rows: slice) -> None:
        work(
            job.world.tables,
            job.game.seed,
            rows.start,
            share,
            rounds[rows],
            np.zeros(1, np.int64),
            sums[rows],
            halt,
        )

    block(slice(0, 0))  # no path: compiles here, where Ctrl-C is heard, and not in a thread
    tasks = [partial(block, slice(start, start + BLOCK)) for start in range(0, len(rounds), BLOCK)]
    in_threads(tasks, n_workers or usable_cores(), halt, lambda: shown.show(0.0))
    return sums * float(share * amounts.UNIT)
