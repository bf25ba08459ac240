"""The interval of an estimate from a log: the same estimate from logs drawn again from the log.

The B = 20 blocks of the log, see `block_means`, are drawn again with replacement R times (the
bootstrap), and the policy plays each of these logs on a few paths. With the noise of the simulation
taken off,

    error^2 = max(0, variance between replicates - variance within / paths of a replicate) B/(B - 1)
    + variance over paths / paths

and the interval is the estimate +- Student's t times error, with B - 1 degrees of freedom; unseen
rows widen it. Replicates have the same rows for every player, so that two players are
compared by the difference in each.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from purse.base.progress import Progress
from purse.engine import cpu
from purse.engine.job import SEEDS, Job
from purse.engine.rounds import FAULT
from purse.engine.run import Run
from purse.engine.simulate import to_run
from purse.lab.data.log import Log
from purse.lab.replay.block_means import BLOCKS, blocks_of, unseen
from purse.lab.theory.estimate import LEVEL, Estimate, t_quantile
from purse.types import Floats, Ints, World

_REPLICATE_PATHS = 16  # on each of them; fewer if games are long: their paths are much alike
_REPLICATE_ROUNDS = 10_000  # about as many on all paths of a replicate, but at least two paths
# beside a seed: the log may have been made with that seed, too, and replicates must not follow its
# numbers
_OURS = 0x7075727365


class Played(NamedTuple):
    """A policy on the log, and on each log that was drawn from it."""

    main: list[tuple[World, Run]]  # some paths each, in a world of their own
    replicates: list[Run]
    worlds: list[Any]  # what `keep` returned for the world of each replicate

    @property
    def pulls(self) -> Ints:
        """(K,) Of each arm, over all paths."""
        runs = [*(run for _, run in self.main), *self.replicates]
        return np.sum([run.pulls.sum(axis=0) for run in runs], axis=0)

    @property
    def mean_pulls(self) -> Floats:
        """(K,) Of each arm in a game on the log, on average."""
        pulls: Floats = np.concatenate([run.pulls for _, run in self.main]).mean(axis=0)
        return pulls

    @property
    def rounds(self) -> float:
        """Of a game on the log, on average."""
        return float(np.concatenate([run.rounds for _, run in self.main]).mean())


class Resampled(NamedTuple):
    """The gains of a player, in games on the log and on each replicate; one of each, if nothing is
    random within a log.
    """

    values: Floats  # (P,)
    redone: Floats  # (R, paths)

    def estimate(self) -> Estimate:
        """Return the mean of the values, with the error that the replicates give to the log."""
        values, redone = self
        if len(values) == 1:  # nothing is random within a log
            values, redone = np.repeat(values, 2), np.repeat(redone, 2, axis=1)
        within = float(redone.var(axis=1, ddof=1).mean()) / redone.shape[1]
        between = (float(redone.mean(axis=1).var(ddof=1)) - within) * BLOCKS / (BLOCKS - 1)
        error = float(np.sqrt(max(0.0, between) + values.var(ddof=1) / len(values)))
        mean, half = float(values.mean()), t_quantile(BLOCKS - 1, LEVEL) * error
        return Estimate(mean, error, mean - half, mean + half)

    def ahead(self, other: "Resampled") -> Estimate:
        """Return how much more this player gains, by the same paths and the same replicates."""
        return Resampled(*map(_difference, self, other)).estimate()


def _difference(one: Floats, other: Floats) -> Floats:
    """Return the difference on the paths that both have."""
    size = min(one.shape[-1], other.shape[-1])
    return one - other if size == 1 else one[..., :size] - other[..., :size]


def generator(seed: int, number: int) -> np.random.Generator:
    """Return the generator of a replicate's rows: the same for every policy and budget."""
    return np.random.default_rng((seed, number, _OURS))


def play_log(
    job: Job,
    world: Callable[[Ints], World],
    once: Ints,
    redrawn: Callable[[np.random.Generator], Ints],
    *,
    n_paths: int,
    replicates: int,
    workers: int,
    bar: Progress,
    seat: Callable[[Job, World], Job] = lambda job, world: job._replace(world=world),
    keep: Callable[[World, Run], Any] = lambda world, run: None,
) -> Played:
    """Play the job on `n_paths` paths in the world of all rows once, and on a few in the world of
    each replicate's rows, with a seed of its own.

    seat   the job in a world
    keep   what to keep of a replicate's world, once it was played
    """
    size = min(cpu.block_size(job), -(-n_paths // workers))
    starts = range(0, n_paths, size)
    seeds = np.random.default_rng((job.game.seed, _OURS)).integers(SEEDS, size=replicates).tolist()
    main: dict[int, tuple[World, Run]] = {}
    redone: dict[int, Run] = {}
    worlds: dict[int, Any] = {}
    first = seat(job, world(once))
    loop, halt = cpu.warm_up(first, bar), np.zeros(1, np.int64)

    def play(own: World, seed: int, start: int, count: int) -> Run:
        task = seat(job._replace(game=job.game._replace(seed=seed)), own)
        results = cpu.empty_results(task, count)
        cpu.play_rows(loop, task, start, results, np.zeros(1), halt)
        return to_run(task, results)

    def play_main(start: int, count: int) -> None:
        own = world(once)
        main[start] = own, play(own, job.game.seed, start, count)

    def play_again(number: int, count: int) -> None:
        own = world(redrawn(generator(job.game.seed, number)))
        redone[number] = play(own, seeds[number], 0, count)
        worlds[number] = keep(own, redone[number])

    def do(tasks: Sequence[Callable[[], None]], before: float, part: float) -> None:
        done = len(main) + len(redone)
        cpu.in_threads(
            tasks,
            workers,
            halt,
            lambda: bar.show(before + part * (len(main) + len(redone) - done) / len(tasks)),
        )
        if halt[0] == FAULT:
            raise cpu.fault_error(job)

    do([partial(play_main, 0, 1)], 0.0, 0.0)
    main.clear()
    do(
        [partial(play_main, start, min(size, n_paths - start)) for start in starts],
        0.0,
        (share := n_paths / (n_paths + 2 * replicates)),
    )
    rounds = float(np.concatenate([run.rounds for _, run in main.values()]).mean())
    again = int(min(_REPLICATE_PATHS, max(2, _REPLICATE_ROUNDS // max(rounds, 1))))
    do([partial(play_again, number, again) for number in range(replicates)], share, 1 - share)
    numbers = range(replicates)
    return Played(
        [main[start] for start in starts],
        [redone[number] for number in numbers],
        [worlds[number] for number in numbers],
    )


def redraw(log: Log, rng: np.random.Generator) -> Ints:
    """(n,) How often each row counts if blocks are drawn again, with replacement; an arm that no
    drawn block has keeps its rows.
    """
    block = blocks_of(len(log), log.session)
    size = int(block.max()) + 1
    counts = np.bincount(rng.integers(size, size=size), minlength=size)[block]
    missing = (log.sums(counts) == 0)[log.arm]
    return np.where(missing, 1, counts)


def with_unseen(
    estimate: Estimate, log: Log, pulls: Floats, less: Floats | None = None
) -> Estimate:
    """Return the estimate of what (K,) pulls gain, with an interval that holds a few unseen rows.

    less   (K,) pulls whose gain is taken off
    """
    worst, best = (unseen(log.means(), log.ess, end) for end in log.ends)
    t, (middle, error, low, high) = t_quantile(BLOCKS - 1, LEVEL), estimate
    ends = []
    for end, own, other in ((low, worst, best), (high, best, worst)):
        variance = float(pulls**2 @ own) + (0.0 if less is None else float(less**2 @ other))
        ends.append(np.hypot(end - middle, t * np.sqrt(variance)))
    return Estimate(middle, error, middle - float(ends[0]), middle + float(ends[1]))
