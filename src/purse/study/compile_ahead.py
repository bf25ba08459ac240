"""Several policies compiled at a time, in processes of their own: the compiler uses one core.

A helper compiles what a recipe says and leaves it in the disk cache, where this process finds it.
What a helper cannot do, this process does itself, so nothing depends on helpers but time.
"""

from __future__ import annotations

import pickle
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from subprocess import Popen
from threading import Event, Thread
from types import ModuleType
from typing import Any, NamedTuple, Protocol

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


class Recipe(Protocol):
    """How something is compiled: a NamedTuple that other processes can read."""

    @property
    def policy(self) -> str | ModuleType:
        """The policy that is compiled."""

    def compile(self, shown: Progress) -> None:
        """Compile it, or load it from the disk cache."""


class Task(NamedTuple):
    """Something to compile."""

    compile: Callable[[], object]  # in this process
    recipe: Any  # a `Recipe`, or None: no helper can do it


Waiting = deque[Task]


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
    compile_all(list(todo.values()), n_workers)


def compile_all(tasks: Sequence[Task], n_workers: int) -> None:
    """Have every task done in this process, where it loads what a helper has compiled."""
    waiting = deque(tasks)
    known = sum(task.recipe is not None for task in tasks)
    n_helpers = min(n_workers - 1, len(tasks) - 1, known, MOST_HELPERS)
    with helpers(waiting, n_helpers if code_folder() else 0):
        for task in taken(waiting.popleft):
            task.compile()
    for task in tasks:
        task.compile()


def taken(pop: Callable[[], Task]) -> Iterator[Task]:
    """Yield what is taken from a queue that others take from, too, until it is empty."""
    with suppress(IndexError):
        while True:
            yield pop()


@contextmanager
def helpers(waiting: Waiting, n_helpers: int) -> Iterator[None]:
    """Let so many helpers take tasks from the end of the queue, once compiling takes long.

    On leaving wait for what they have begun; where an error ends the work, stop them.
    """
    stop, running = Event(), list[Popen[bytes]]()

    def lead() -> None:
        if stop.wait(PATIENCE_S) or not waiting:
            return
        with suppress(OSError), start_helper(HELPER) as helper:
            running.append(helper)
            for task in taken(waiting.pop):
                if stop.is_set() or not ask(helper, task.recipe):
                    return

    leaders = [Thread(target=lead, daemon=True) for _ in range(n_helpers)]
    for leader in leaders:
        leader.start()
    try:
        yield
        stop.set()  # who still waits need not begin
        for leader in leaders:
            leader.join()
    finally:
        stop.set()
        for helper in running:
            helper.kill()


def ask(helper: Popen[bytes], recipe: Any) -> bool:
    """Have a helper compile what this recipe says; False where the helper is no more."""
    assert helper.stdin is not None
    assert helper.stdout is not None
    if recipe is None:
        return True
    try:
        sent = pickle.dumps(sendable(recipe))
    except (InvalidInput, pickle.PicklingError, AttributeError, TypeError):
        return True  # what cannot be sent is compiled here
    try:
        helper.stdin.write(sent)
        helper.stdin.flush()
    except OSError:
        return False
    return helper.stdout.read(len(DONE)) == DONE


def help_out() -> None:
    """Compile what comes in, until nothing more comes; the helper's own loop."""
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            recipe: Recipe = pickle.load(sys.stdin.buffer)
            with suppress(PurseError):  # the process that sent it meets the same error
                recipe.compile(Progress("compiling"))
            sys.stdout.buffer.write(DONE)
            sys.stdout.buffer.flush()
