"""The page of suite 3, "When are contexts worth their price?": what contexts are worth in each
case, what of it the policies get that see them, and which of these to take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from purse.base.text import MISSING, format_known, write_markdown_table
from purse.ranking.advice import reason, recommendations
from purse.ranking.games import worlds_of
from purse.ranking.page import cell, standings_table
from purse.ranking.page2 import case_row
from purse.ranking.suite3 import BY_CLASS, sees_contexts
from purse.theory.contexts import lp_with_contexts, lp_without_contexts

if TYPE_CHECKING:
    from purse.ranking.scores import Leaderboard
    from purse.ranking.suite import Case

NAME = "with-contexts"  # of the file
TITLE = "When are contexts worth their price?"
WORTH_IT = 0.02  # of the optimum: a smaller difference is none


def blind_share(case: Case) -> float:
    """Return the LP without contexts as a share of the LP with contexts."""
    (place,) = worlds_of(case)
    horizon = case.horizon or place.horizon
    whole = lp_with_contexts(place, case.budget, horizon=horizon)
    return lp_without_contexts(place, case.budget, horizon=horizon) / whole


def best_share(board: Leaderboard, case: Case, *, seeing: bool) -> tuple[float, str] | None:
    """Return the largest share of the optimum, and whose it is, of those who see contexts or not;
    None where no such policy plays the case.
    """
    found = [
        (1 - score, policy)
        for policy in board.policies
        if sees_contexts(policy, case.situation) == seeing
        and (score := board.mean_score(policy, case.name)) is not None
    ]
    return max(found, default=None)


def worth_row(board: Leaderboard, case: Case) -> list[str]:
    """Return what contexts are worth in a case, and what policies get of it."""
    known = blind_share(case)
    blind, seeing = (best_share(board, case, seeing=each) for each in (False, True))
    gained = None if blind is None or seeing is None else seeing[0] / blind[0] - 1
    verdict = MISSING
    if gained is not None:
        verdict = "yes" if gained > WORTH_IT else "no" if gained < -WORTH_IT else "no difference"
    return [
        case.name,
        f"{1 / known - 1:+z.0%}",
        *(f"{each[0]:.1%} (`{each[1]}`)" if each else MISSING for each in (blind, seeing)),
        format_known(gained, "+.1%"),
        verdict,
    ]


def markdown(board: Leaderboard, picture: str) -> str:
    """Return the page: what contexts are worth, what to take and why, every score."""
    taken = [
        [label, f"`{choices[0].policy}`" if choices else MISSING, reason(choices)]
        for label, choices in recommendations(board).items()
    ]
    order = board.standings()["policy"].to_list()
    scores = [
        [case.name, *(cell(board, policy, case.name) for policy in order)] for case in board.cases
    ]
    parts = [
        f"# {TITLE}",
        f"Policies that see [contexts](../contexts.md), beside a few that do not, on every case of "
        f"suite {board.suite}: {len(board.cases)} cases, {len(board.policies)} policies, the same "
        "draws for all.\n"
        "The score of a run is its normalised regret 1 − G/OPT in percent, and OPT is the linear "
        "program with contexts.",
        "Reproduce it with",
        f"    purse leaderboard --suite {board.suite}",
        "## What contexts are worth",
        "*Worth* is what the best mixture of arms for each context gains more than the best "
        "mixture for all contexts, for players who know all means.\n"
        "A policy has to learn them, and with contexts there is more to learn.\n"
        "The other columns have what the best blind policy and the best one that sees contexts "
        "gain as shares of OPT, and what the second gains more than the first: within "
        f"{WORTH_IT:.0%} there is no difference.\n"
        f"`{BY_CLASS}` is blind where contexts are no classes.",
        write_markdown_table(
            ["case", "worth", "best blind policy", "best policy that sees", "more", "worth it"],
            [worth_row(board, case) for case in board.cases],
            right=[1, 4],
        ),
        "## What to take",
        "The policy with the smallest mean regret, of those that play all cases of the situation.",
        write_markdown_table(["what you have", "take", "why"], taken),
        "## Standings",
        "Over the cases that a policy can play: mean score, mean rank, and the case that "
        "it does worst on.",
        standings_table(board),
        f"![Scores of all policies on all cases]({picture})",
        "## Every score",
        "Mean normalised regret in percent with half its 95% interval.",
        write_markdown_table(["case", *(f"`{policy}`" for policy in order)], scores),
        "## The cases",
        "What is not said is as in `purse.simulate`.",
        write_markdown_table(
            ["case", "situation", "world", "budget", "declared bounds", "besides", "paths"],
            map(case_row, board.cases),
        ),
    ]
    return "\n\n".join(parts) + "\n"
