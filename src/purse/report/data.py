"""The data that reports are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class StudyData:
    """The runs of a study, read when they are asked for, the frames made from them, and the facts
    about the study.
    """

    data: pl.LazyFrame
    frames: Mapping[str, pl.DataFrame]
    facts: Mapping[str, Any]

    def lazy(self) -> pl.LazyFrame:
        """The same as `frame()`, not yet read: for results that do not fit into memory."""
        return self.data

    def frame(self) -> pl.DataFrame:
        """One row per world, budget, policy and path: gain, rounds, the part of the budget that was
        used, regret.
        """
        return self.data.collect()

    def table(self) -> pl.DataFrame:
        """One row per world, budget and policy: mean gain and regret with 95% intervals, what was
        left, rounds.
        """
        return self.frames["table"]

    def shares(self) -> pl.DataFrame:
        """One row per world, budget, policy, slice of the budget and arm: the arm's share of the
        pulls in that slice.
        """
        return self.frames["shares"]

    def growth(self) -> pl.DataFrame:
        """One row per world and policy: the slope of log regret against log budget, and the shape
        that fits best.
        """
        return self.frames["growth"]

    def bounds(self) -> pl.DataFrame:
        """One row per world, budget, policy and theorem on its regret: the value, and whether it
        applies there.
        """
        return self.frames["bounds"]

    def references(self) -> pl.DataFrame:
        """One row per world, budget and yardstick: what it gains."""
        return self.frames["references"]


class LogData(Protocol):
    """The estimates that a log gives for policies."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """What was asked, how it was answered, and how to ask again."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """A line for each reason to doubt all of it."""

    def frame(self) -> pl.DataFrame:
        """A row for each policy, budget and method."""

    def arms(self) -> pl.DataFrame:
        """A row for each arm."""
