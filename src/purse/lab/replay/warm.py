"""Compile ahead what simulations and replays compile when they first need it."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import ModuleType

from purse.base import validation
from purse.base.optional import check_lab
from purse.base.progress import progress
from purse.base.validation import usable_cores
from purse.compiler.error_text import NO_FOLDER
from purse.compiler.jit import code_folder
from purse.engine.job import sees_contexts
from purse.errors import PurseError
from purse.lab.replay import table_replay
from purse.lab.study import compare
from purse.lab.study.compile_ahead import Task, compile_all
from purse.lab.study.shard import JobSpec
from purse.policies import load

# those of `compare` and `replay`; and what all are measured against
_DEFAULT_POLICIES = tuple(
    dict.fromkeys((*compare.DEFAULT_POLICIES, *table_replay.DEFAULT_POLICIES, "fixed:arm=0"))
)
# machine code does not depend on a world's numbers
_WORLD, _WITH_CONTEXTS = "bernoulli:rewards=[.5,.5],costs=[.5,.5]", "linear_contexts"
_BUDGET = 10.0


def warm(
    policies: str | ModuleType | Sequence[str | ModuleType] = _DEFAULT_POLICIES,
    *,
    n_workers: int | None = None,
) -> Path:
    """Compile policies for simulations and replays, on all cores.

    policies    a policy or a list of them, as for `purse.compare`; by default those that
                `compare` and `replay` take if none is named
    n_workers   processes that compile at the same time; None: as many as there are cores

    Code is compiled for one play in each round and one resource. Return the folder in whose
    folders the machine code is kept.

    Raise `PurseError` if no folder can be written, and `InvalidInput` when a value is not
    allowed.
    """
    check_lab("warm", "numba")
    workers = validation.workers(n_workers) or usable_cores()
    folder = code_folder()
    if folder is None:
        raise PurseError(NO_FOLDER)
    chosen = [policies] if isinstance(policies, (str, ModuleType)) else list(policies)
    recipes = list(map(_recipe_of, chosen))
    with progress("compiling") as bar:
        done = iter(range(1, 2 * len(recipes) + 1))

        def take(recipe: JobSpec) -> None:
            recipe.compile(bar)
            bar.show(next(done) / (2 * len(recipes)))

        compile_all([Task(partial(take, recipe), recipe) for recipe in recipes], workers)
    return folder


def _recipe_of(policy: str | ModuleType) -> JobSpec:
    """Return the job whose loop serves a policy in all worlds of our own and in logs."""
    module = load(policy.partition(":")[0]) if isinstance(policy, str) else policy
    return JobSpec(policy, _WITH_CONTEXTS if sees_contexts(module) else _WORLD, _BUDGET, 0, "exit")
