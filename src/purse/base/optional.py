"""Packages that come with an extra, imported late; one line where they are missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from purse.errors import MissingExtra


@contextmanager
def needs(what: str, extra: str) -> Iterator[None]:
    """Say in one line which extra brings a package that is missing."""
    try:
        yield
    except ImportError as error:
        raise MissingExtra(
            f'{what} needs the extra {extra!r}; in the clone: pip install ".[{extra}]"'
        ) from error


@contextmanager
def everything(what: str) -> Iterator[None]:
    """Say in one line which package is missing of those that purse depends on: a client of a server
    has few of them.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "purse":
            raise
        raise MissingExtra(
            f"{what} needs all that purse depends on, and {error.name} is not installed; in the "
            "clone: pip install ."
        ) from error


def scipy(module: str, what: str) -> Any:
    """A module of SciPy, which is imported late: it takes as long as a simulation.

    what   what it is for, where it is missing
    """
    with needs(what, "scipy"):
        return import_module(f"scipy.{module}")


def extra(name: str) -> Any:
    """The library `altair`, `vl_convert` or `jinja2`, or one line that says how to get it."""
    with needs("the report", "report"):
        return import_module(name)
