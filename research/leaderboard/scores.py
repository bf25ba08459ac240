"""The scores of the leaderboard, with ranks, standings and paired comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from purse.base import html
from purse.base.optional import pl
from purse.base.text import align_columns
from purse.lab.theory.estimate import Estimate, estimate
from purse.types import Floats
from research.leaderboard.case import Case

NUMBERS = ("score", "error", "low", "high")  # of an estimate
HEAD = ("policy", "cases", "mean score ± 95%", "mean rank", "worst score")


class Alone(NamedTuple):
    """The gains of two arms alone on a case, as parts of OPT."""

    cheapest: float  # always the arm with the smallest mean cost
    best: float  # always the arm that turns out best


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """The score of every policy on every case that it can play, path by path."""

    cases: tuple[Case, ...]
    policies: tuple[str, ...]
    scores: dict[tuple[str, str], Floats]  # (policy, case) -> (P,)
    refusals: dict[tuple[str, str], str]  # why a policy cannot play a case
    suite: str
    alone: dict[str, Alone] = field(default_factory=dict)  # case -> what arms alone earn

    def score(self, policy: str, case: str) -> Estimate | None:
        """Return the mean score and its 95% interval; None if the policy cannot play."""
        scores = self.scores.get((policy, case))
        return None if scores is None else estimate(scores)

    def mean_score(self, policy: str, case: str) -> float | None:
        """Return the mean normalised regret; None if the policy cannot play."""
        scores = self.scores.get((policy, case))
        return None if scores is None else float(scores.mean())

    def ranks(self, case: str) -> dict[str, float]:
        """Return {policy: rank} for a case, 1 for the best; equal means share a rank."""
        means = {
            policy: mean
            for policy in self.policies
            if (mean := self.mean_score(policy, case)) is not None
        }
        return {
            policy: 1 + sum(other < mean for other in means.values())
            for policy, mean in means.items()
        }

    def frame(self) -> pl.DataFrame:
        """Return a row for each policy and case: mean score, interval and rank.

        The numbers are null if the policy cannot play, and `refused` says why.
        """
        rows = []
        for case in self.cases:
            ranks = self.ranks(case.name)
            for policy in self.policies:
                score = self.score(policy, case.name) or (None,) * len(NUMBERS)
                rows.append(
                    {
                        "case": case.name,
                        "situation": case.situation,
                        "policy": policy,
                        **dict(zip(NUMBERS, score, strict=True)),
                        "rank": ranks.get(policy),
                        "refused": self.refusals.get((policy, case.name)),
                    }
                )
        return pl.DataFrame(rows, infer_schema_length=None)

    def standings(self) -> pl.DataFrame:
        """Return a row for each policy, over the cases that it plays, the smallest score first.

        Its columns are the number of cases, mean score with standard error, mean rank, worst score
        and its case.
        """
        rows = []
        for policy in self.policies:
            mine = [case.name for case in self.cases if (policy, case.name) in self.scores]
            if mine:
                estimates = [estimate(self.scores[policy, case]) for case in mine]
                means = [score.mean for score in estimates]
                row = {
                    "policy": policy,
                    "cases": len(mine),
                    "score": float(np.mean(means)),
                    "error": float(np.sqrt(sum(score.error**2 for score in estimates))) / len(mine),
                    "rank": float(np.mean([self.ranks(case)[policy] for case in mine])),
                    "worst": max(means),
                    "worst_case": mine[int(np.argmax(means))],
                }
                rows.append(row)
        return pl.DataFrame(rows).sort("score", maintain_order=True)

    def wins(self, names: Sequence[str] | None = None) -> Floats:
        """Return in how many cases the policy of the row beats that of the column, shape (N, N).

        A win is a paired difference whose 95% interval lies below 0; N is the number of names, or
        of all policies.
        """
        names = names or self.policies
        table = np.zeros((len(names), len(names)))
        for i, one in enumerate(names):
            for j, other in enumerate(names):
                for case in self.cases:
                    mine, theirs = (self.scores.get((name, case.name)) for name in (one, other))
                    if i != j and mine is not None and theirs is not None:
                        table[i, j] += estimate(mine - theirs).high < 0
        return table

    @property
    def title(self) -> str:
        """The suite, its size and the meaning of a score, in a line."""
        return (
            f"suite {self.suite}: {len(self.cases)} cases, {len(self.policies)} policies; "
            "normalised regret 1 - G/OPT, smaller is better"
        )

    def rows(self) -> list[list[str]]:
        """Return the standings as text, each with the case on which the policy is worst."""
        return [
            [
                row["policy"],
                str(row["cases"]),
                f"{row['score']:.3f} ± {1.96 * row['error']:.3f}",
                f"{row['rank']:.1f}",
                f"{row['worst']:.3f}",
                row["worst_case"],
            ]
            for row in self.standings().iter_rows(named=True)
        ]

    def __repr__(self) -> str:
        """Return the title in a line."""
        return f"<Leaderboard {self.title}>"

    def __str__(self) -> str:
        """Return the standings as plain text."""
        lines = align_columns([[*HEAD, ""], *self.rows()], left=(0, 5))
        return "\n".join([self.title, *("  ".join(line).rstrip() for line in lines)])

    def _repr_html_(self) -> str:
        """Return the standings as a table, for notebooks."""
        return html.table([*HEAD, "on"], self.rows(), title=self.title, texts=(0, 5))
