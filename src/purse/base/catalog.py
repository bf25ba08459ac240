"""Modules that show what is in them: in a notebook, `purse.policies` is a table and no path."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import ModuleType

from purse.base import html
from purse.base.text import count


class Catalog(ModuleType):
    """A module with a function `names()`; `describe()` gives a line on each."""

    names: Callable[[], list[str]]
    describe: Callable[[], Mapping[str, str]]

    def __repr__(self) -> str:
        """Return the names in a line."""
        known = self.names()
        return f"<{self.__name__}: {count(len(known), 'name')}: {', '.join(known)}>"

    def _repr_html_(self) -> str:
        """Return the names and a line on each as a table, for notebooks."""
        return html.table(["name", "what it is"], list(self.describe().items()), texts=(0, 1))


def as_catalog(name: str) -> None:
    """Make the module of this name show its names where it is displayed."""
    sys.modules[name].__class__ = Catalog
