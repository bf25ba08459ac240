"""Modules that show what is in them: in a notebook, `purse.policies` is a table and no path."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType

from purse.base import html
from purse.base.text import count

Groups = Mapping[str, Sequence[str]]  # names by what they are for
_OTHERS = "Others"


class _Catalog(ModuleType):
    """A module with a function `names()`; `describe()` gives a line on each."""

    names: Callable[[], list[str]]
    describe: Callable[[], Mapping[str, str]]

    def __repr__(self) -> str:
        names = self.names()
        return f"<{self.__name__}: {count(len(names), 'name')}: {', '.join(names)}>"

    def _repr_html_(self) -> str:
        """Return the names and a line on each as a table, for notebooks."""
        return html.table(["name", "what it is"], list(self.describe().items()), texts=(0, 1))


def as_catalog(name: str) -> None:
    """Let the module of this name show its names when it is displayed."""
    sys.modules[name].__class__ = _Catalog


def grouped(groups: Groups, names: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the title of each group with those of its members that are among the names. What is in
    no group is listed last, so that a new file needs no entry.

    >>> list(grouped({"Yardsticks": ("uniform", "fixed")}, ["new", "uniform"]))
    [('Yardsticks', ['uniform']), ('Others', ['new'])]
    """
    remaining = dict.fromkeys(names)
    for title, members in groups.items():
        listed = [name for name in members if name in remaining]
        for name in listed:
            del remaining[name]
        if listed:
            yield title, listed
    if remaining:
        yield _OTHERS, list(remaining)
