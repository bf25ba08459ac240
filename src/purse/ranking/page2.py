"""The page of suite 2, "Which policy fits what you have?": one policy for each situation and why,
and what the default earns beside players who learn nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from purse import policies
from purse.base.text import MISSING, format_budget, format_known, write_markdown_table
from purse.ranking.advice import Share, reason, recommendations, shares
from purse.ranking.page import NOTHING, cell, standings_table, wins_table

if TYPE_CHECKING:
    from purse.ranking.scores import Leaderboard
    from purse.ranking.suite import Case

NAME = "what-users-have"  # of the file
TITLE = "Which policy fits what you have?"
SHOWN = 12  # policies in the tables of all cases
LONGEST = 160  # characters of a world's text in the table of cases
# what a reader must know of a policy, beside its numbers
WARNINGS = {
    "replan": "Nothing protects `replan` against an adversary who knows it: apart from looks and "
    "mixtures its plans are no secret, and no bound on its regret is proved.\n"
    "Where somebody plays against you, a policy that draws its arms at random, such as "
    "`exp3++.bwk`, is the safer choice."
}


def least(found: list[Share], player: str) -> str:
    """Return the smallest share of what a player earns and where it is, as text."""
    known = [(value, each.case) for each in found if (value := getattr(each, player)) is not None]
    value, case = min(known)
    return f"{value:.0%} ({case})"


def trivial_section(board: Leaderboard, policy: str) -> list[str]:
    """Return the section that compares a policy with players who learn nothing."""
    found = shares(board, policy)
    rows = [
        [each.case, format_known(each.cheapest, ".0%"), format_known(each.best, ".0%")]
        for each in found
    ]
    return [
        "## Never much worse than trivial",
        f"What `{policy}`, the default, earns beside two players who learn nothing: one always "
        "pulls the arm with the smallest mean cost, the other the arm that turns out best.\n"
        "A user would have to know which arms these are.\n"
        f"The smallest shares are {least(found, 'cheapest')} of the cheapest arm's gain and "
        f"{least(found, 'best')} of the best arm's.\n"
        f"{MISSING}: that player earns nothing.",
        write_markdown_table(
            ["case", "share of the cheapest arm alone", "share of the best arm alone"],
            rows,
            right=[1, 2],
        ),
    ]


def markdown(board: Leaderboard, picture: str) -> str:
    """Return the page: what to take and why, the default beside trivial players, every score."""
    chosen = recommendations(board)
    taken = [
        [label, f"`{choices[0].policy}`" if choices else MISSING, reason(choices)]
        for label, choices in chosen.items()
    ]
    named = {policies.DEFAULT, *(choices[0].policy for choices in chosen.values() if choices)}
    default = policies.DEFAULT if policies.DEFAULT in board.policies else None
    order = board.standings()["policy"].to_list()
    scores = [
        [case.name, *(cell(board, policy, case.name) for policy in order[:SHOWN])]
        for case in board.cases
    ]
    parts = [
        f"# {TITLE}",
        f"Every policy on every case of suite {board.suite}: {len(board.cases)} cases, "
        f"{len(board.policies)} policies, the same draws for all.\n"
        "Suite 2 has what users have: little money, costs over decades, late reports, outages and "
        "more; [suite 1](which-policy.md) has long games.\n"
        "The score of a run is its normalised regret 1 − G/OPT in percent: 0 is the optimum, and "
        "100 is nothing gained.",
        "- Money alone: OPT is the best fixed arm on the same draws, or the arm that is best at "
        "the time, where that is more.\n"
        "- With a horizon or several resources: OPT is the linear program.\n"
        "- An adversary: a case is a pair of worlds that show the same first rounds, and the score "
        "is that of the world in which the policy does worse.\n"
        "  OPT is what a player can be sure of who knows both worlds and not which it is.",
        "Reproduce it with",
        f"    purse leaderboard --suite {board.suite}",
        "## What to take",
        "The policy with the smallest mean regret, of those that play all cases of the situation "
        "and need not know what each arm costs.\n"
        f"For *{NOTHING}* each situation counts once.",
        write_markdown_table(["what you have", "take", "why"], taken),
        *(text for policy, text in WARNINGS.items() if policy in named),
        *(trivial_section(board, default) if default and board.alone else []),
        "## Standings",
        "Over the cases that a policy can play: mean score, mean rank, and the case that "
        "it does worst on.",
        standings_table(board),
        f"![Scores of all policies on all cases]({picture})",
        "## Every score",
        "Mean normalised regret in percent with half its 95% interval, for the "
        f"{SHOWN} best standings; `scores-{board.suite}.csv` has all.",
        write_markdown_table(["case", *(f"`{policy}`" for policy in order[:SHOWN])], scores),
        "## Who beats whom",
        "In how many cases the policy of the row is better than that of the column "
        "beyond doubt (paired runs, 95% interval).",
        wins_table(board, order[:SHOWN]),
        "## The cases",
        "A pull is the largest possible cost; what is not said is as in `purse.simulate`.\n"
        "`purse.ranking.suite2` has the worlds in full.",
        write_markdown_table(
            ["case", "situation", "world", "budget", "declared bounds", "besides", "paths"],
            map(case_row, board.cases),
        ),
    ]
    return "\n\n".join(parts) + "\n"


def case_row(case: Case) -> list[str]:
    """Return a row of the table of cases."""
    world = " or ".join(
        f"`{text if len(text) <= LONGEST else text[:LONGEST] + '…'}`"
        for text in case.adversary or (case.world,)
    )
    besides = {
        f"horizon {case.horizon}": case.horizon is not None,
        f"reports {case.delay} rounds late": case.delay > 0,
        f"stop rule `{case.stop}`": case.stop != "exit",
    }
    said = ", ".join(text for text, holds in besides.items() if holds)
    budgets = case.budget if isinstance(case.budget, tuple) else (case.budget,)
    money = ", ".join(map(format_budget, budgets))
    return [case.name, case.situation, world, money, case.bounds, said, str(case.n_paths)]
