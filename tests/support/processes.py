"""Python code in a process of its own, and coroutines in a thread of their own."""

import asyncio
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any


def fresh_process(
    code: str, *args: object, cache: Path, path: Path | None = None, **variables: str
) -> Any:
    """What the code prints as JSON; numba keeps compiled code in `cache`, and Python looks for
    modules in `path` first.
    """
    search = os.pathsep.join(filter(None, [str(path or ""), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, args)],
        env={
            **os.environ,
            "NUMBA_CACHE_DIR": str(cache),
            "PYTHONPATH": search,
            "PYTHONDONTWRITEBYTECODE": "1",
            **variables,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


INTERRUPTIBLE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy, purse, purse.base.progress
from purse.engine.counterfactual import counterfactual_sums
from purse.engine.job import make_job
shown = purse.base.progress.Progress
shown.show = lambda self, fraction, title="": print("running", flush=True)
"""


def check_interrupt(code: str, lines: int) -> None:
    """Ctrl-C ends the code, which shows progress, within two seconds."""
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            assert child.stdout is not None
            assert [child.stdout.readline() for _ in range(lines)] == ["running\n"] * lines
            child.send_signal(signal.SIGINT)
            _, errors = child.communicate(timeout=2)
        finally:
            child.kill()
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert child.returncode != 0


def forked(code: str, *args: object, out: Path) -> ForkServerProcess:
    """The code in a process of its own, which begins at once and writes into `out`, what
    went wrong too.

    One process, that has loaded a campaign's code and opened nothing, forks them all: to load it
    again for each takes a second.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.support.warm_start"])
    process = context.Process(target=_run, args=(code, [*map(str, args)], str(out)))
    process.start()
    return process


def printed(code: str, *args: object, out: Path, limit: float = 120) -> str:
    """What the code prints in such a process, which has to end well, within so many seconds."""
    process = forked(code, *args, out=out)
    process.join(limit)
    process.kill()
    process.join()
    text = out.read_text()
    assert process.exitcode == 0, text
    return text


def _run(code: str, args: list[str], out: str) -> None:
    sys.argv = ["-c", *args]
    with open(out, "w") as file, redirect_stdout(file):
        try:
            exec(code, {"__name__": "__main__"})
        except Exception:
            traceback.print_exc(file=file)
            raise SystemExit(1) from None


def in_loop(work: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns. It runs in a thread of its own: the tests in a browser leave an
    event loop in this one.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
