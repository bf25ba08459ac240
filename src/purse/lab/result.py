"""The results of the laboratory: each has a title, tables and perhaps verdicts, and every one of
them prints, shows itself in notebooks and is exported in the same way.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

from purse.base import html
from purse.base.files import write_text
from purse.base.text import align_columns, code, fold, join_words, plain
from purse.errors import unknown

if TYPE_CHECKING:
    from purse.lab.figure import Figure


class Verdict(NamedTuple):
    """The answer to the question who is best: one is, several are tied, or the data refuse."""

    outcome: Literal["best", "tied", "refused"]
    sentence: str  # in Markdown


class Grid(NamedTuple):
    """A table as text."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    words: Collection[int] = (0,)  # the columns that hold no numbers

    def lines(self) -> Iterator[str]:
        """Yield the table for a terminal; below a title its lines are indented."""
        if self.title:
            yield self.title
        for row in align_columns([self.head, *self.rows], left=self.words):
            yield (("  " if self.title else "") + "  ".join(row)).rstrip()


class Result(ABC):
    """A result that prints, shows itself in notebooks, and is exported as JSON."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The question, in a line."""

    @abstractmethod
    def grids(self) -> Iterator[Grid]:
        """Yield the tables, as text."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON has it."""

    def verdicts(self) -> Mapping[str, Verdict]:
        """For each budget or world the answer."""
        return {}

    def remarks(self) -> Sequence[str]:
        """Return a line for each thing that a reader has to know."""
        return ()

    def answers(self) -> list[str]:
        """Return the sentence of each verdict, without marks; of several with its name."""
        by_name = {name: verdict.sentence for name, verdict in self.verdicts().items()}
        several = len(by_name) > 1
        return [plain(f"{name}: {says}" if several else says) for name, says in by_name.items()]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.title}>"

    def __str__(self) -> str:
        """Return the question, the answers, the tables and the remarks as plain text."""
        answers, remarks = self.answers(), self.remarks()
        lines = [self.title, *map(fold, answers)]
        for grid in self.grids():
            lines += [*([""] if answers else []), *grid.lines()]
        return "\n".join([*lines, *([""] if answers else []), *map(fold, remarks)]).rstrip("\n")

    def _repr_html_(self) -> str:
        tables = [
            html.table(grid.head, grid.rows, title=grid.title, texts=grid.words)
            for grid in self.grids()
        ]
        above, below = (self.title, *self.answers()), self.remarks()
        return "".join([*map(html.paragraph, above), *tables, *map(html.paragraph, below)])


class Page(Protocol):
    """The page of a result, and the figures on it."""

    figures: "Sequence[Figure]"

    def html(self) -> str:
        """Write the page."""

    def publish(self, folder: Path) -> list[Path]:
        """Write the page, its figures and its tables to a folder; the page comes first."""


class PageResult(Result):
    """A result that has a page."""

    # a result does not know the pages; `purse.lab` sets who makes them
    _make_page: ClassVar[Callable[[Any], Page]]

    @cached_property
    def _page(self) -> Page:
        """The page; its figures are drawn once."""
        return type(self)._make_page(self)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the result as one HTML file and return its path.

        Raise `MissingExtra` when the extra `lab` is not installed.
        """
        write_text(Path(path), self.html())
        return Path(path)

    def html(self) -> str:
        """Return the report as the text of an HTML page."""
        return self._page.html()

    def figures(self) -> "list[Figure]":
        """Return the figures of the report, in the order of the page."""
        return list(self._page.figures)

    def publish(self, folder: Path) -> list[Path]:
        """Write the report and its figures (PNG, SVG, CSV) to a folder, and return the files.

        The page comes first among the files.
        """
        return self._page.publish(folder)

    def plot(self, name: str | None = None) -> "Figure":
        """Return a figure of the report, which a notebook draws; by default the first one.

        name   "regret", "gain", "left", "shares", "runs" or "growth"; not every study has all

        `.chart()` of the figure is an Altair chart, to change it; Altair loads scripts from the
        network to show it, and the figure needs none.

        Raise `InvalidInput` when the study has no such figure, and `MissingExtra` when the extra
        `lab` is not installed.
        """
        by_name = {figure.name: figure for figure in self._page.figures}
        name = next(iter(by_name)) if name is None else name
        if name not in by_name:
            raise unknown("figure of this study", str(name), by_name)
        return by_name[name]


def name_tied(names: Sequence[str], over: str) -> str:
    """Write who cannot be told from the best; `over` says what the interval covers."""
    within = "a difference" if len(names) == 1 else "differences"
    return (
        f"; {join_words(map(code, names))} cannot be told from it: {within} within the 95% "
        f"interval over {over}"
    )
