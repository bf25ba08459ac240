"""The leaderboard as a picture, and that of suite 1 as the page "Which policy should I use?"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from purse.base.text import format_mean, write_markdown_table
from purse.ranking.suite import VERSION
from purse.report.charts.base import Figure
from purse.report.charts.heat_map import heat_map

if TYPE_CHECKING:
    from purse.ranking.scores import Leaderboard

KNOWN_COSTS = "needs to know what each arm costs"
NOTHING = "I know nothing"
NAME = "which-policy"  # of the file
TITLE = "Which policy should I use?"
HEAT_TITLE = "normalised regret 1 − G/OPT, in percent; blank: the policy cannot play it"


def heat_figure(board: Leaderboard) -> Figure:
    """Draw every policy's score on every case, the best standing first.

    Its name is that of its file: `leaderboard`, and `leaderboard-2` for suite 2.
    """
    import polars as pl

    order = board.standings()["policy"].to_list()
    scores = [
        {"row": policy, "column": case.name, "score": board.mean_score(policy, case.name)}
        for policy in order
        for case in board.cases
    ]
    types = {"row": pl.String, "column": pl.String, "score": pl.Float64}
    name = "leaderboard" if board.suite == VERSION else f"leaderboard-{board.suite}"
    return heat_map(name, HEAT_TITLE, pl.DataFrame(scores, types))


def without_known_costs(board: Leaderboard) -> list[str]:
    """The policies that need not know what each arm costs."""
    knowing = {policy for (policy, _), why in board.refusals.items() if KNOWN_COSTS in why}
    return [policy for policy in board.policies if policy not in knowing]


def best(board: Leaderboard, cases: list[str], allowed: list[str]) -> list[tuple[str, float]]:
    """The policies that play all these cases, by their mean score."""
    playing = [
        policy for policy in allowed if all((policy, case) in board.scores for case in cases)
    ]
    means = {
        policy: float(np.mean([board.scores[policy, case].mean() for case in cases]))
        for policy in playing
    }
    return sorted(means.items(), key=lambda pair: pair[1])


def recommendations(
    board: Leaderboard,
) -> list[tuple[str, list[tuple[str, float]], list[tuple[str, float]]]]:
    """For all cases, for those of money alone, and for each situation: the best policies, without
    and with known costs.
    """
    free = without_known_costs(board)
    knowing = [policy for policy in board.policies if policy not in free]
    situations = list(dict.fromkeys(case.situation for case in board.cases))
    more = ("budget and horizon", "several resources")
    groups = {
        NOTHING: situations,
        "money alone, nothing else is known": [each for each in situations if each not in more],
        **{situation: [situation] for situation in situations},
    }
    rows = []
    for label, about in groups.items():
        cases = [case.name for case in board.cases if case.situation in about]
        known = best(board, cases, sorted(knowing))[:2]
        rows.append((label, best(board, cases, free)[:4], known))
    return rows


def markdown(board: Leaderboard, picture: str) -> str:
    """The page: what to take in which situation, the standings, every score, and who beats whom."""

    def write_list(pairs: list[tuple[str, float]]) -> str:
        return ", ".join(f"`{policy}` ({100 * score:.1f})" for policy, score in pairs) or "—"

    order = board.standings()["policy"].to_list()
    situations = [
        [label, write_list(free), write_list(known)]
        for label, free, known in recommendations(board)
    ]
    scores = [
        [f"`{policy}`", *(cell(board, policy, case.name) for case in board.cases)]
        for policy in order
    ]
    cases = [
        [case.name, case.situation, f"`{case.world}`", budget(case.budget)] for case in board.cases
    ]
    parts = [
        f"# {TITLE}",
        f"Every policy on every case of suite {VERSION}: {len(board.cases)} cases, "
        f"{len(board.policies)} policies, the same draws for all. The score of a run is its "
        "normalised regret 1 − G/OPT in percent: 0 is the optimum — the best fixed arm on the same "
        "draws, or the arm that is best at the time where that is more; with a horizon or several "
        "resources, the linear program — and 100 is nothing gained. Reproduce it with",
        "    purse leaderboard",
        "## In short",
        write_markdown_table(
            ["situation", "take (mean score)", "with known constant costs"], situations
        ),
        "## Standings",
        "Over the cases that a policy can play: mean score, mean rank, and the case that "
        "it does worst on.",
        standings_table(board),
        f"![Scores of all policies on all cases]({picture})",
        "## Every score",
        "Mean normalised regret in percent with half its 95% interval.",
        write_markdown_table(["policy", *(case.name for case in board.cases)], scores),
        "## Who beats whom",
        "In how many cases the policy of the row is better than that of the column "
        "beyond doubt (paired runs, 95% interval), for the twelve best standings.",
        wins_table(board, order[:12]),
        "## What is not here",
        "SAPO (Auer and Chiang, 2016): its pseudo-code could not be established from public text, "
        "and we do not guess. BalancedExploration (Badanidiyuru, Kleinberg and Slivkins): its "
        "authors leave open how to compute it. Contexts: [suite 3](with-contexts.md) has them.",
        "## The cases",
        write_markdown_table(["case", "situation", "world", "budget"], cases),
    ]
    return "\n\n".join(parts) + "\n"


def standings_table(board: Leaderboard) -> str:
    """The standings."""
    rows = [
        [
            f"`{row['policy']}`",
            str(row["cases"]),
            f"{100 * row['score']:.1f} ± {196 * row['error']:.1f}",
            f"{row['rank']:.1f}",
            f"{100 * row['worst']:.1f}",
            row["worst_case"],
        ]
        for row in board.standings().iter_rows(named=True)
    ]
    return write_markdown_table(
        ["policy", "cases", "mean score", "mean rank", "worst score", "on"], rows
    )


def budget(value: float | tuple[float, ...]) -> str:
    """A budget, or several, as text."""
    return ", ".join(f"{each:,.0f}" for each in (value if isinstance(value, tuple) else (value,)))


def cell(board: Leaderboard, policy: str, case: str) -> str:
    """A score with half its interval."""
    score = board.score(policy, case)
    return "" if score is None else format_mean(100 * score.mean, 100 * score.high, "z.1f")


def wins_table(board: Leaderboard, chosen: list[str]) -> str:
    """The win matrix of some policies."""
    rows = zip(chosen, board.wins(chosen), strict=True)
    return write_markdown_table(
        ["", *(f"`{policy}`" for policy in chosen)],
        [[f"`{policy}`", *(f"{each:.0f}" for each in wins)] for policy, wins in rows],
    )
