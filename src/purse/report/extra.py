"""The libraries that draw a report, which come with the extra of that name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from purse.errors import needs


def extra(name: str) -> Any:
    """The library `altair`, `vl_convert` or `jinja2`, or one line that says how to get it."""
    with needs("the report", "report"):
        return import_module(name)
