"""Packages that not every installation has: imported late, and one line if one is missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from purse.errors import MissingExtra

__all__ = ["alt", "check_lab", "extra", "is_installed", "needs", "pl", "scipy"]
_LAB = ("numba", "polars", "scipy", "altair", "jinja2", "markdown_it", "vl_convert")


@contextmanager
def needs(what: str, extra: str = "") -> Iterator[None]:
    """Say in one line which package is missing, and what to tell pip.

    what    what needs the package
    extra   the extra that brings it; none: purse itself depends on it, and a client of a server
            does without
    """
    try:
        yield
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        if missing == "purse" or not (missing or extra):
            raise
        project = f"'purse-bandits[{extra}]'" if extra else "purse-bandits"
        raise MissingExtra(
            f"{what} needs {missing or f'the extra {extra}'}: pip install {project}"
        ) from error


@cache
def is_installed(package: str) -> bool:
    """Return whether a package can be imported."""
    return find_spec(package) is not None


def check_lab(what: str, *packages: str) -> None:
    """Raise `MissingExtra` if a package of the extra `lab` is missing, before any work is done.

    what       what needs them
    packages   those that it needs; none: all
    """
    with needs(what, "lab"):
        for name in packages or _LAB:
            if not is_installed(name):
                raise ModuleNotFoundError(name=name)


def scipy(module: str, what: str) -> Any:
    """Return a module of SciPy, which is imported late: it takes as long as a simulation.

    what   what needs it
    """
    with needs(what, "lab"):
        return import_module(f"scipy.{module}")


def extra(name: str) -> Any:
    """Return a library that makes reports, which is imported late: `altair`, for one."""
    with needs("the report", "lab"):
        return import_module(name)


class _Late:
    """A package that is imported when something of it is first used."""

    def __init__(self, package: str) -> None:
        self.package = package

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # inspection asks for these
            raise AttributeError(name)
        return getattr(extra(self.package), name)


alt: Any = _Late("altair")
if TYPE_CHECKING:
    import polars as pl
else:
    pl = _Late("polars")
