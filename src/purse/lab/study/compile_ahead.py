"""Several policies compiled at a time, in processes of their own: the compiler uses one core.

A helper compiles its share and leaves it in the disk cache, from which this process loads it. This
process does itself what a helper cannot do, so that helpers save time and nothing else. A pool of
`multiprocessing` would run a user's script again if it does not guard its main part.
"""

import os
import pickle
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from subprocess import DEVNULL, Popen
from tempfile import TemporaryFile
from threading import Timer
from typing import Any, NamedTuple

from purse.base.progress import Progress
from purse.compiler.jit import code_folder
from purse.engine import cpu
from purse.engine.job import Job
from purse.errors import InvalidInput
from purse.lab.study.cluster import sendable
from purse.lab.study.shard import JobSpec

_MOST_HELPERS = 7  # each takes some 300 MB
# seconds before helpers are started: what is in the disk cache is loaded in less
_PATIENCE_S = 0.2
_HELPER = sys.executable, "-c", "from purse.lab.study.compile_ahead import _help_out; _help_out()"


class Task(NamedTuple):
    """Something to compile."""

    compile: Callable[[], object]  # in this process
    recipe: Any  # for a helper, which calls its `compile`; None: no helper can do it


def warm_up_all(
    jobs: Mapping[str, Job], recipes: Mapping[str, JobSpec], shown: Progress, n_workers: int
) -> None:
    """Compile or load the loops of these jobs, in at most `n_workers` processes."""
    todo: dict[Any, Task] = {}
    for key, job in jobs.items():
        loop = cpu.compiled_loop(job)
        if not loop.by_kind:
            todo.setdefault(loop, Task(partial(cpu.warm_up, job, shown), recipes.get(key)))
    if todo:
        compile_all(list(todo.values()), n_workers)


def compile_all(tasks: Sequence[Task], n_workers: int) -> None:
    """Do every task in this process, which loads what helpers have compiled."""
    waiting = deque(tasks)
    helpers: list[Popen[bytes]] = []
    # there is no executable if Python is part of another program
    n_helpers = min(n_workers - 1, _MOST_HELPERS) if code_folder() and sys.executable else 0
    timer = Timer(_PATIENCE_S, _share_out, (waiting, n_helpers, helpers))
    timer.start()
    try:
        try:
            with suppress(IndexError):
                while True:
                    waiting.popleft().compile()
        finally:
            timer.cancel()  # unless it has begun
            timer.join()
        for helper in helpers:
            helper.wait()
    finally:
        for helper in helpers:
            helper.kill()
            helper.wait()
    for task in tasks:
        task.compile()


def _share_out(waiting: deque[Task], n_helpers: int, helpers: list[Popen[bytes]]) -> None:
    """Start helpers, each with its share from the end of what is waiting."""
    recipes, keep = list[bytes](), len(waiting) // (n_helpers + 1)
    while len(waiting) > keep:
        with suppress(IndexError, InvalidInput, pickle.PicklingError, AttributeError, TypeError):
            recipes.append(pickle.dumps(sendable(waiting.pop().recipe)))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    for first in range(min(n_helpers, len(recipes))):
        with suppress(OSError), TemporaryFile() as share:
            pickle.dump(recipes[first::n_helpers], share)
            share.seek(0)
            helpers.append(
                Popen(_HELPER, stdin=share, stdout=DEVNULL, stderr=DEVNULL, env=environment)
            )


def _help_out() -> None:
    """Compile the share that standard input holds: all that a helper does."""
    for recipe in pickle.load(sys.stdin.buffer):
        with suppress(Exception):  # the process that sent it meets the same error
            pickle.loads(recipe).compile(Progress("compiling"))
