"""Check that a GPU plays the same paths as the CPU."""

from types import ModuleType

from purse.base import amounts
from purse.base.progress import progress
from purse.engine import cpu
from purse.engine.job import make_job
from purse.engine.simulate import gpu_engine
from purse.testing.games import suitable
from purse.types import World

_GPU_PATHS = 300  # blocks of threads, the last of them not full


def check_gpu(
    policy: str | ModuleType,
    world: World | None = None,
    *,
    rule: str = "exit",
    plays: int = 1,
    horizon: int | None = None,
    checkpoints: int = 0,
) -> None:
    """Check that a GPU plays the same paths as the CPU, to the last bit of every result.

    policy   a name with options, the path of a policy file, or a module
    world    the world to play; None: one that the policy can play
    rule     the stop rule
    plays, horizon, checkpoints   as in `purse.simulate`

    It needs a GPU and the extra `gpu`.

    Raise `AssertionError` when a result differs.
    """
    if world is None:
        world, horizon = suitable(policy, plays, horizon)
    budget = (world.cost_max.max(axis=0) * plays * 400.25 / amounts.UNIT).tolist()
    job = make_job(
        policy, world, budget, stop=rule, plays=plays, horizon=horizon, checkpoints=checkpoints
    )
    with progress(f"{job.name} on {world.name}") as shown:
        ours, theirs = (
            cpu.simulate(job, _GPU_PATHS, None, None, shown),
            gpu_engine().simulate(job, _GPU_PATHS, shown),
        )
    label = f"{job.policy.NAME} on {world.name} under stop={rule!r}"
    for k, (here, there) in enumerate(
        zip(cpu.iter_arrays(ours), cpu.iter_arrays(theirs), strict=True)
    ):
        # NaN is NaN
        differ = (
            ((here != there) & ((here == here) | (there == there)))
            .reshape(_GPU_PATHS, -1)
            .any(axis=1)
            .sum()
        )
        assert differ == 0, (
            f"{label}: result {k} differs between CPU and GPU on {differ} of {_GPU_PATHS} paths"
        )
