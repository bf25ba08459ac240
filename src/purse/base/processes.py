"""Cores, and processes of Python that work beside this one."""

from __future__ import annotations

import os
import sys
from subprocess import DEVNULL, PIPE, Popen


def start_helper(code: str) -> Popen[bytes]:
    """Start a process that runs this code; it finds the same modules as this one.

    Its standard input and output are pipes, and what it says on standard error is lost.

    Raise `OSError` where it cannot be started.
    """
    if not sys.executable:  # Python is part of another program
        raise FileNotFoundError("there is no Python to start")
    path = os.pathsep.join(each for each in sys.path if each)
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-c", code]
    return Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment)


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
