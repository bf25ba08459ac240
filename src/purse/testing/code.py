"""Checks of a policy's code: kernels read and run as plain Python, and classes in plain Python."""

import dis
from collections.abc import Iterator
from contextlib import contextmanager
from traceback import extract_tb
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from purse import policies
from purse.base import spec
from purse.compiler.kernel import Kernel
from purse.engine import cpu
from purse.engine.job import Job, make_job
from purse.engine.workspace import PathResults
from purse.errors import PurseError
from purse.testing.games import half_down
from purse.types import STOP_RULES, World

_DELAYS: tuple[Any, ...] = (0, 3, "geometric:6")
_COMPILE = "say COMPILED = True in its file"


def check_code(policy: str | ModuleType) -> None:
    """Check that no kernel of the policy raises: a GPU would go on, and a CPU lose the games.

    Raise `AssertionError`, which names the file and the line.
    """
    name = spec.parse(policy)[0] if isinstance(policy, str) else policy
    module = policies.load(name)
    visited: set[Any] = set()
    for part in ("choose", "update", "probabilities"):
        _visit(getattr(module, part, None), visited)


def _visit(kernel: Any, visited: set[Any]) -> None:
    if not isinstance(kernel, Kernel) or kernel in visited:
        return
    visited.add(kernel)
    function: FunctionType = kernel.py_func
    code, line = function.__code__, 0
    for step in dis.get_instructions(code):
        line = (step.positions and step.positions.lineno) or line
        assert step.opname != "RAISE_VARARGS", (
            f"{code.co_filename}, line {line}: {function.__name__} may raise, and kernels never "
            "raise; check options in params"
        )
    for name in code.co_names:
        _visit(function.__globals__.get(name), visited)


@contextmanager
def kernel_errors(label: str) -> Iterator[None]:
    """Say of an error that a kernel met as plain Python what machine code makes of it."""
    try:
        yield
    except Exception as raised:
        # a live step tells of it in a line
        error = raised.__cause__ if isinstance(raised, PurseError) else raised
        if error is None or isinstance(error, (AssertionError, PurseError)):
            raise
        frame = extract_tb(error.__traceback__)[-1]
        start = f"{label}: Python raises {type(error).__name__}: {error} ({frame.filename}, line "
        advice = f"and machine code does not: {_COMPILE}"
        if isinstance(error, IndexError):
            advice = "and machine code reads or writes beyond the array"
        raise AssertionError(f"{start}{frame.lineno}), {advice}") from error


def check_plain(label: str, job: Job, results: PathResults, state: Any) -> None:
    """Check that plain Python plays path 0 as machine code has played it."""
    ours = job.as_python()
    if not ours.in_python:
        return
    with kernel_errors(label):
        played, reached = cpu.play_block(ours, 1)
    names = (*PathResults._fields[:5], *(f"state.{name}" for name in state._fields))
    for name, here, there in zip(
        names, (*played[:5], *reached), (*results[:5], *state), strict=True
    ):
        assert here.tobytes() == there.tobytes(), (
            f"{label}: Python computes other numbers than machine code ({name}: {here[0]}, not "
            f"{there[0]}): {_COMPILE}"
        )


def check_class(
    policy: ModuleType, world: World, *, budget: Any, plays: int, horizon: int | None
) -> None:
    """Check that the objects of a class keep to the rules and the budget, under masks and late
    reports, too, and that their random numbers are their own.
    """
    for rule in STOP_RULES:
        for variant in (world, half_down(world)) if world.outages is None else (world,):
            for delay in _DELAYS if plays == 1 else _DELAYS[:1]:
                how: dict[str, Any] = {"stop": rule, "plays": plays, "horizon": horizon}
                job = make_job(policy, variant, budget, delay=delay, **how)
                label = f"{job.name} on {variant.name} under stop={rule!r}, delay {delay}"
                try:
                    both, *alone = (_play(job, *paths) for paths in ((0, 2), (1, 1), (0, 1)))
                except PurseError as error:
                    raise AssertionError(f"{label}: {error}") from error
                assert (both.spent <= job.problem.budget).all(), (
                    f"{label}: spent {both.spent} of {job.problem.budget} units"
                )
                for path, one in zip((1, 0), alone, strict=True):
                    assert _same(cpu.slice_paths(both, slice(path, path + 1)), one), (
                        f"{label}: path {path} played otherwise when it was repeated; random "
                        "numbers must come from rng, and paths must share nothing"
                    )


def _play(job: Job, first: int, n_paths: int) -> PathResults:
    return cpu.play_paths(job, first, n_paths, np.zeros(2), np.zeros(1, np.int64))


def _same(one: PathResults, other: PathResults) -> bool:
    pairs = zip(cpu.iter_arrays(one), cpu.iter_arrays(other), strict=True)
    return all(here.tobytes() == there.tobytes() for here, there in pairs)
