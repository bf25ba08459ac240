"""The scores of the leaderboard, with ranks and standings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from purse.base.optional import pl
from purse.base.text import align_columns
from purse.lab.theory.estimate import Estimate, estimate
from purse.types import Floats
from research.leaderboard.case import Case

NUMBERS = ("score", "error", "low", "high")  # of an estimate
HEAD = ("policy", "cases", "mean score ± 95%", "mean rank", "worst score", "")


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

    def ranks(self, case: str) -> dict[str, float]:
        """Return {policy: rank} for a case, 1 for the best; equal means share a rank."""
        known = {policy: self.score(policy, case) for policy in self.policies}
        means = {policy: score.mean for policy, score in known.items() if score is not None}
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

    def __str__(self) -> str:
        """Return the standings as plain text, each with the case on which the policy is worst."""
        title = (
            f"suite {self.suite}: {len(self.cases)} cases, {len(self.policies)} policies; "
            "normalised regret 1 - G/OPT, smaller is better"
        )
        rows = [
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
        lines = align_columns([HEAD, *rows], left=(0, 5))
        return "\n".join([title, *("  ".join(line).rstrip() for line in lines)])
