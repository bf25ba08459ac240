"""The stored numbers of a leaderboard, from which its pages are written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from purse.base.files import write_text
from purse.base.optional import pl
from purse.lab.theory.estimate import estimate
from research.leaderboard.case import Case
from research.leaderboard.scores import Alone, Leaderboard

KNOWN_COSTS = "needs to know what each arm costs"
DIGITS = 6  # of a score
SMALL = 0.095  # a smaller score has a tenth of a percent in a heat map
ADVERSARY = "an adversary"  # the situation


class MeanScore(NamedTuple):
    """A mean normalised regret, and half of its 95% interval, if that was kept."""

    mean: float
    half: float | None


class Standing(NamedTuple):
    """A policy over the cases that it plays."""

    policy: str
    cases: int
    score: float  # mean normalised regret
    half: float  # of its 95% interval
    rank: float  # mean rank
    worst: float  # the largest mean score
    worst_case: str


def rounded(score: MeanScore) -> float:
    """Return the mean, without an interval to the digits of a heat map."""
    if score.half is not None:
        return score.mean
    return round(score.mean, 2 if score.mean >= SMALL else 3)


@dataclass(frozen=True)
class Record:
    """Standings, scores, and gains of arms alone; the best policy stands first."""

    suite: str
    cases: tuple[Case, ...]
    standings: tuple[Standing, ...]
    scores: dict[tuple[str, str], MeanScore]  # (policy, case)
    known_costs: frozenset[str]  # policies that need to know what each arm costs
    alone: dict[str, Alone]  # case -> what arms alone earn

    @property
    def policies(self) -> list[str]:
        """The policies, the best first."""
        return [row.policy for row in self.standings]

    @property
    def situations(self) -> dict[str, list[str]]:
        """The names of the cases of each situation."""
        names: dict[str, list[str]] = {}
        for case in self.cases:
            names.setdefault(case.situation, []).append(case.name)
        return names

    def mean_score(self, policy: str, case: str) -> float | None:
        """Return the mean normalised regret; None if the policy cannot play."""
        score = self.scores.get((policy, case))
        return None if score is None else score.mean

    def mean_over(self, policy: str, cases: Sequence[str]) -> float | None:
        """Return the mean over cases; None if the policy cannot play one of them."""
        scores = [score for case in cases if (score := self.mean_score(policy, case)) is not None]
        return sum(scores) / len(scores) if len(scores) == len(cases) else None

    def best_mean(self, case: str) -> float:
        """Return the smallest mean in a case."""
        return min(
            mean for name in self.policies if (mean := self.mean_score(name, case)) is not None
        )

    def wins(self, policy: str) -> int:
        """Return in how many cases no policy has a smaller mean."""
        return sum(
            self.mean_score(policy, case.name) == self.best_mean(case.name) for case in self.cases
        )

    def share_of_best(self, policy: str) -> float:
        """Return the mean part of the best policy's gain, over the cases that this one plays."""
        parts = [
            (1 - mean) / (1 - best)
            for case in self.cases
            if (mean := self.mean_score(policy, case.name)) is not None
            and (best := self.best_mean(case.name)) < 1
        ]
        return sum(parts) / len(parts)

    def frame(self) -> pl.DataFrame:
        """Return a row for each policy and case that it plays."""
        situations = {case.name: case.situation for case in self.cases}
        rows = [
            (case, situations[case], policy, rounded(score), score.half)
            for (policy, case), score in self.scores.items()
        ]
        columns = ["case", "situation", "policy", "regret", "half_interval"]
        return pl.DataFrame(rows, columns, orient="row", infer_schema_length=None)


def record_of(board: Leaderboard) -> Record:
    """Return the numbers of a leaderboard that its pages show."""
    standings = tuple(
        Standing(policy, cases, score, 1.96 * error, *ranks)
        for policy, cases, score, error, *ranks in board.standings().iter_rows()
    )
    estimates = {key: estimate(scores) for key, scores in board.scores.items()}
    scores = {key: MeanScore(mean, high - mean) for key, (mean, _, _, high) in estimates.items()}
    knowing = frozenset(name for (name, _), why in board.refusals.items() if KNOWN_COSTS in why)
    return Record(board.suite, board.cases, standings, scores, knowing, board.alone)


def write_record(record: Record, path: Path) -> None:
    """Write the record as a file, a line for each policy."""
    scores: dict[str, dict[str, Any]] = {policy: {} for policy in record.policies}
    for (policy, case), score in record.scores.items():
        scores[policy][case] = shorten(score)
    parts = {
        "suite": record.suite,
        "known_costs": sorted(record.known_costs),
        "standings": {row.policy: shorten(row[1:]) for row in record.standings},
        "scores": scores,
        "alone": {case: shorten(gains) for case, gains in record.alone.items()},
    }
    lines = []
    for name, part in parts.items():
        text = json.dumps(part, ensure_ascii=False)
        if isinstance(part, dict):
            rows = (f"  {json.dumps(key)}: {json.dumps(row)}" for key, row in part.items())
            text = "{\n" + ",\n".join(rows) + "\n }"
        lines.append(f' "{name}": {text}')
    write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")


def shorten(values: Sequence[Any]) -> list[Any]:
    """Return the values, with floats rounded to `DIGITS` digits."""
    return [round(value, DIGITS) if isinstance(value, float) else value for value in values]


def read_record(path: Path, suites: dict[str, tuple[Case, ...]]) -> Record:
    """Return the record in a file; its cases are those of its suite."""
    parts = json.loads(path.read_text(encoding="utf-8"))
    return Record(
        parts["suite"],
        suites[parts["suite"]],
        tuple(Standing(policy, *row) for policy, row in parts["standings"].items()),
        {
            (policy, case): MeanScore(*score)
            for policy, row in parts["scores"].items()
            for case, score in row.items()
        },
        frozenset(parts["known_costs"]),
        {case: Alone(*gains) for case, gains in parts["alone"].items()},
    )
