"""The results of a simulation: `Run`, and `Trajectory` at checkpoints."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from purse.base import amounts, html
from purse.base.optional import needs
from purse.base.text import count
from purse.types import MOST_SHOWN, Bools, Floats, Ints

if TYPE_CHECKING:
    import polars as pl


class Trajectory(NamedTuple):
    """The standing of every path at each checkpoint; a path that has ended keeps its last one."""

    checkpoints: Floats  # (M,) rounds, or fractions of the budget
    rounds: Ints  # (P, M)
    gain: Floats  # (P, M)
    spent: Floats  # (P, M, d)
    pulls: Ints  # (P, M, K)

    def __repr__(self) -> str:
        """Return the sizes and the last mean gain, in a line."""
        paths, points = self.gain.shape
        last = f"; mean gain {self.gain[:, -1].mean():.6g} at the last" if points else ""
        return f"<Trajectory of {count(paths, 'path')} at {count(points, 'checkpoint')}{last}>"

    def _repr_html_(self) -> str:
        """Return the means over the paths as a table, for notebooks."""
        step = -(-len(self.checkpoints) // MOST_SHOWN) or 1
        shown = range(len(self.checkpoints) - 1, -1, -step)[::-1]
        names = ["spent"]
        if self.spent.shape[2] > 1:
            names = [f"spent of resource {number}" for number in range(self.spent.shape[2])]
        rows = [
            [
                f"{self.checkpoints[point]:g}",
                f"{self.rounds[:, point].mean():.6g}",
                f"{self.gain[:, point].mean():.6g}",
                *(f"{spent:.6g}" for spent in self.spent[:, point].mean(axis=0)),
            ]
            for point in shown
        ]
        return html.table(["checkpoint", "rounds", "gain", *names], rows, title=repr(self)[1:-1])


@dataclass(frozen=True, eq=False)
class Run:
    """The results of a simulation, path by path."""

    policy: str
    world: str
    budget: Floats  # (d,)
    stop: str
    seed: int
    gain: Floats  # (P,)
    rounds: Ints  # (P,) rounds that were paid for, skipped or, with a delay and a horizon, passed
    spent_units: Ints  # (P, d) exact
    pulls: Ints  # (P, K)
    ended: Bools  # (P,) the world had no more rounds while there was money left
    # (P,) the sum of reward per cost over the paid pulls; None with several resources
    efficiency: Floats | None = None
    by_round: Trajectory | None = field(default=None, repr=False)  # at log-spaced rounds
    # at equal fractions of the budget
    by_budget: Trajectory | None = field(default=None, repr=False)
    delay: int | str = 0  # rounds by which reports came late, as users write them
    # how many rounds the world has, if the policy plans by their number and was not told it
    untold: int | None = None

    @property
    def n_paths(self) -> int:
        """The number of paths, P."""
        return len(self.gain)

    @property
    def spent(self) -> Floats:
        """The amount that each path spent, shape (P, d), in the user's unit."""
        return self.spent_units / amounts.UNIT

    def frame(self) -> "pl.DataFrame":
        """Return a data frame with a row for each path.

        Its columns are path, gain, rounds, spent, ended (the world had no more rounds) and pulls of
        each arm. With several resources, spent is an array.
        """
        with needs("a frame", "lab"):
            import polars as pl

        spent = self.spent[:, 0] if len(self.budget) == 1 else self.spent
        return pl.DataFrame(
            {
                "path": np.arange(self.n_paths),
                "gain": self.gain,
                "rounds": self.rounds,
                "spent": spent,
                "ended": self.ended,
                "pulls": self.pulls,
            }
        )

    def __repr__(self) -> str:
        budget = ", ".join(f"{amount:g}" for amount in self.budget)
        where = f"{self.policy} on {self.world}, budget {budget}"
        return f"<Run of {where}: {count(self.n_paths, 'path')}, mean gain {self.gain.mean():.6g}>"

    def __str__(self) -> str:
        error = self.gain.std(ddof=1) / np.sqrt(self.n_paths) if self.n_paths > 1 else np.nan
        shares = self.pulls.sum(axis=0) / max(1, self.pulls.sum())
        lines = [
            f"{self.policy} on {self.world}: {self.n_paths} paths, budget "
            f"{', '.join(f'{b:g}' for b in self.budget)}, stop={self.stop}, "
            f"seed={self.seed}{f', delay={self.delay}' if self.delay else ''}",
            f"  gain    {self.gain.mean():.6g} (standard error {error:.2g})",
            f"  rounds  {self.rounds.mean():.6g}",
            f"  spent   {', '.join(f'{s:.6g}' for s in self.spent.mean(axis=0))}",
            f"  pulls   {' '.join(f'{share:.1%}' for share in shares[:12])}"
            f"{' ...' if len(shares) > 12 else ''}",
        ]
        if self.ended.any():
            lines.append(
                f"  {int(self.ended.sum())} of {self.n_paths} paths reached the end of "
                f"the world before the end of the budget{self._loss()}"
            )
        return "\n".join(lines)

    def _loss(self) -> str:
        """Say what was saved for rounds that did not come; "" if the policy knew their number."""
        if self.untold is None:
            return ""
        left = 1 - (self.spent / self.budget).max(axis=1).mean()
        return (
            f", with {left:.0%} of it left on average: horizon={self.untold} tells {self.policy} "
            "how many rounds there are"
        )

    def _repr_html_(self) -> str:
        """Return the same as a table, for notebooks."""
        title, *lines = str(self).splitlines()
        spent = (
            ["spent"]
            if len(self.budget) == 1
            else [f"spent of resource {number}" for number in range(len(self.budget))]
        )
        parts = {
            "gain": self.gain,
            "rounds": self.rounds,
            **dict(zip(spent, self.spent.T, strict=True)),
        }
        parts |= {f"pulls of arm {arm}": pulls for arm, pulls in enumerate(self.pulls.T[:12])}

        def row(name: str, values: Floats | Ints) -> list[str]:
            error = f"{values.std(ddof=1) / np.sqrt(self.n_paths):.2g}" if self.n_paths > 1 else ""
            return [
                name,
                f"{values.mean():.6g}",
                error,
                f"{values.min():.6g}",
                f"{values.max():.6g}",
            ]

        rows = [row(name, values) for name, values in parts.items()] + [["..."] + [""] * 4] * (
            len(self.pulls.T) > 12
        )
        return html.table(
            ["", "mean", "standard error", "least", "most"], rows, title=title
        ) + html.paragraph(lines[-1].strip() if self.ended.any() else "")
