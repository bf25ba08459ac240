"""One file per claim of the paper; nothing is registered by hand.

A claim's module has ORDER (its place on the page), TITLE, SAYS (what the paper says, in our words),
COMMANDS (to see it for oneself) and study(runner), which measures it and returns a `Finding`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType


def claims() -> list[ModuleType]:
    """Return all claims in the order of the page."""
    modules = [
        import_module(f"{__name__}.{info.name}")
        for info in iter_modules([str(Path(__file__).parent)])
    ]
    return sorted(modules, key=lambda module: int(module.ORDER))
