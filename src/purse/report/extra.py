"""The libraries that draw a report, which come with the extra of that name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from purse.errors import PurseError


def extra(name: str) -> Any:
    """The library `altair`, `vl_convert` or `jinja2`, or one line that says how to get it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise PurseError('the report needs the extra: pip install "purse[report]"') from error
