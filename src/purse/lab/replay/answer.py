"""The answer of a replay as text: what was asked, who spends each budget best, and the tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from purse.base import html
from purse.base.text import align_columns, fold, plain


class Answer(ABC):
    """The result of a replay that can be printed and shown in a notebook."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """What was asked of which data, in a line."""

    @abstractmethod
    def findings(self) -> Mapping[str, str]:
        """For each budget the answer in words, in Markdown."""

    @abstractmethod
    def grids(self) -> Iterator[list[list[str]]]:
        """Yield a table for each budget as text, the best player first."""

    @abstractmethod
    def remarks(self) -> Sequence[str]:
        """Return a line for each thing that a reader has to know."""

    def answers(self) -> list[str]:
        """For each budget the answer in words."""
        by_budget = self.findings()
        several = len(by_budget) > 1
        return [plain(f"{name}: {says}" if several else says) for name, says in by_budget.items()]

    def __repr__(self) -> str:
        """Return what was asked, in a line."""
        return f"<{type(self).__name__} {self.summary}>"

    def _repr_html_(self) -> str:
        """Return the answer, the tables and the remarks, for notebooks."""
        parts = [html.paragraph(text) for text in (self.summary, *self.answers())]
        parts += [html.table(head, rows) for head, *rows in self.grids()]
        return "".join([*parts, *map(html.paragraph, self.remarks())])

    def __str__(self) -> str:
        """Return the answer, the tables and the remarks as plain text."""
        lines = [self.summary, *map(fold, self.answers())]
        for grid in self.grids():
            lines += ["", *("  ".join(row).rstrip() for row in align_columns(grid))]
        return "\n".join([*lines, *self.gap, *map(fold, self.remarks())])

    gap: Sequence[str] = ()  # lines between the tables and the remarks
