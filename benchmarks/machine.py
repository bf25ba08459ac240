"""What the numbers were measured with, nothing that tells whose machine it is; and the most memory
that a process had.
"""

from __future__ import annotations

import os
import platform
import re
import resource
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("purse", "numba", "numpy", "river", "mabwiser")
DISTRIBUTIONS = {"purse": "purse-bandits"}  # where a package is not called what it is imported as


def machine(packages: tuple[str, ...] = PACKAGES) -> dict[str, str]:
    """Architecture, processor, cores, and versions of what takes part."""
    facts = {
        "architecture": platform.machine(),
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "Python": platform.python_version(),
    }
    for name in packages:
        try:
            facts[name] = version(DISTRIBUTIONS.get(name, name))
        except PackageNotFoundError:
            continue
    return {**facts, "gcc": first_number(output("gcc", "-dumpfullversion"))}


def processor() -> str:
    """Return the processor's model, as lscpu names it; empty without lscpu."""
    named = re.search(r"Model name:\s*(.+)", output("lscpu"))
    return named[1].strip() if named else ""


def first_number(text: str) -> str:
    """Return the first word with a digit, or nothing."""
    named = re.search(r"\d[\d.]*", text)
    return named[0] if named else ""


def output(*command: str) -> str:
    """Return the output of a command; nothing if it is not installed."""
    return (
        subprocess.run(command, capture_output=True, text=True, check=False).stdout
        if shutil.which(command[0])
        else ""
    )


def most_memory() -> float:
    """Return the most memory that this process had, in MB.

    `getrusage` would count what the process that started this one had, too.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024
