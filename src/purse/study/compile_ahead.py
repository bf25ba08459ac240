"""Several policies compiled at a time, in processes of their own: the compiler uses one core.

A helper compiles what a recipe says and leaves it in the disk cache, where this process finds it.
What a helper cannot do, this process does itself, so nothing depends on helpers but time.
"""

from __future__ import annotations

import pickle
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from subprocess import Popen
from threading import Timer
from typing import Any, NamedTuple

from purse.base.processes import start_helper
from purse.base.progress import Progress
from purse.compiler.jit import code_folder
from purse.engine import cpu
from purse.engine.job import Job
from purse.errors import InvalidInput, PurseError
from purse.study.cluster import sendable
from purse.study.shard import JobSpec

MOST_HELPERS = 7  # each takes some 300 MB
# seconds before helpers are started: what is in the disk cache is loaded in less
PATIENCE_S = 0.2
HELPER = "from purse.study.compile_ahead import help_out; help_out()"
DONE = b"."


class Task(NamedTuple):
    """Something to compile."""

    compile: Callable[[], object]  # in this process
    recipe: Any  # for a helper, which calls its `compile`; None: no helper can do it


def warm_up_all(
    jobs: Mapping[str, Job], recipes: Mapping[str, JobSpec], shown: Progress, n_workers: int
) -> None:
    """Compile the loops of these jobs, or load them from the disk cache.

    Helpers take those whose recipe is known, and at most `n_workers` processes compile.
    """
    todo: dict[Any, Task] = {}
    for key, job in jobs.items():
        loop = cpu.compiled_loop(job)
        if not loop.by_kind:
            todo.setdefault(loop, Task(partial(cpu.warm_up, job, shown), recipes.get(key)))
    if todo:
        compile_all(list(todo.values()), n_workers)


def compile_all(tasks: Sequence[Task], n_workers: int) -> None:
    """Have every task done in this process, where it loads what helpers have compiled."""
    waiting = deque(tasks)
    known = sum(task.recipe is not None for task in tasks)
    n_helpers = min(n_workers - 1, len(tasks) - 1, known, MOST_HELPERS) if code_folder() else 0
    helpers = list[Popen[bytes]]()
    leaders = [Timer(PATIENCE_S, lead, (waiting, helpers)) for _ in range(n_helpers)]
    try:
        for leader in leaders:
            leader.daemon = True
            leader.start()
        with suppress(IndexError):
            while True:
                waiting.popleft().compile()
        for leader in leaders:
            leader.cancel()  # unless it has begun
            leader.join()
    finally:
        waiting.clear()
        for helper in helpers:
            helper.kill()
    for task in tasks:
        task.compile()


def lead(waiting: deque[Task], helpers: list[Popen[bytes]]) -> None:
    """Start a helper, and have it compile tasks from the end of the queue until none is left."""
    with suppress(OSError, IndexError), start_helper(HELPER) as helper:
        helpers.append(helper)
        assert helper.stdin is not None
        assert helper.stdout is not None
        while True:
            sent = packed(waiting.pop().recipe)
            helper.stdin.write(sent)
            helper.stdin.flush()
            if sent and helper.stdout.read(len(DONE)) != DONE:
                return


def packed(recipe: Any) -> bytes:
    """Return a recipe as a helper reads it; nothing where it cannot be sent."""
    with suppress(InvalidInput, pickle.PicklingError, AttributeError, TypeError):
        return b"" if recipe is None else pickle.dumps(sendable(recipe))
    return b""


def help_out() -> None:
    """Compile what comes in, until nothing more comes; the helper's own loop."""
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            recipe = pickle.load(sys.stdin.buffer)
            with suppress(PurseError):  # the process that sent it meets the same error
                recipe.compile(Progress("compiling"))
            sys.stdout.buffer.write(DONE)
            sys.stdout.buffer.flush()
