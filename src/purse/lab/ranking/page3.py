"""The page of suite 3, "When are contexts worth their price?": what contexts are worth in each
case, what of it the policies get that see them, and which of these to take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from purse.base.text import MISSING, format_known, write_markdown_table
from purse.lab.ranking.games import worlds_of
from purse.lab.ranking.page import advice_table, score_sections
from purse.lab.ranking.parts import ALL, cases_table, link
from purse.lab.ranking.suite3 import BY_CLASS, sees_contexts
from purse.lab.theory.contexts import lp_with_contexts, lp_without_contexts

if TYPE_CHECKING:
    from purse.lab.ranking.record import Record
    from purse.lab.ranking.suite import Case

NAME = "with-contexts"  # of the file
TITLE = "When are contexts worth their price?"
WORTH_IT = 0.02  # of the optimum: a smaller difference is none


def blind_share(case: Case) -> float:
    """Return the LP without contexts as a share of the LP with contexts."""
    (place,) = worlds_of(case)
    horizon = case.horizon or place.horizon
    whole = lp_with_contexts(place, case.budget, horizon=horizon)
    return lp_without_contexts(place, case.budget, horizon=horizon) / whole


def best_share(record: Record, case: Case, *, seeing: bool) -> tuple[float, str] | None:
    """Return the largest share of the optimum, and whose it is, of those who see contexts or not;
    None where no such policy plays the case.
    """
    found = [
        (1 - score, policy)
        for policy in record.policies
        if sees_contexts(policy, case.situation) == seeing
        and (score := record.mean_score(policy, case.name)) is not None
    ]
    return max(found, default=None)


def worth_row(record: Record, case: Case, pages: str | None) -> list[str]:
    """Return what contexts are worth in a case, and what policies get of it."""
    known = blind_share(case)
    blind, seeing = (best_share(record, case, seeing=each) for each in (False, True))
    gained = None if blind is None or seeing is None else seeing[0] / blind[0] - 1
    verdict = MISSING
    if gained is not None:
        verdict = "yes" if gained > WORTH_IT else "no" if gained < -WORTH_IT else "no difference"
    return [
        case.name,
        f"{1 / known - 1:+z.0%}",
        *(
            f"{each[0]:.1%} ({link(each[1], pages)})" if each else MISSING
            for each in (blind, seeing)
        ),
        format_known(gained, "+.1%"),
        verdict,
    ]


def markdown(record: Record, picture: str, pages: str | None = None) -> str:
    """Return the page: what contexts are worth, what to take and why, every score."""
    situations = list(record.situations)
    parts = [
        f"# {TITLE}",
        f"Policies that see [contexts](../contexts.md), beside a few that do not, on every case of "
        f"suite {record.suite}: {len(record.cases)} cases, {len(record.standings)} policies, the "
        "same draws for all.\n"
        "The score of a run is its regret in percent of the optimum of the linear program with "
        "contexts: 0% is as good, and 100% is nothing gained.",
        "Reproduce it with",
        f"    purse lab leaderboard --suite {record.suite}",
        "## What contexts are worth",
        "*Worth* is what the best mixture of arms for each context gains more than the best "
        "mixture for all contexts, for players who know all means.\n"
        "A policy has to learn them, and with contexts there is more to learn.\n"
        "The other columns have what the best blind policy and the best one that sees contexts "
        "gain as shares of the optimum, and what the second gains more than the first: within "
        f"{WORTH_IT:.0%} there is no difference.\n"
        f"`{BY_CLASS}` is blind where contexts are no classes.",
        write_markdown_table(
            ["case", "worth", "best blind policy", "best policy that sees", "more", "worth it"],
            [worth_row(record, case, pages) for case in record.cases],
            right=[1, 4],
        ),
        "## What to take",
        "The policy with the smallest mean regret, of those that play all cases of the situation.",
        advice_table(record, {ALL: situations, **{each: [each] for each in situations}}, pages),
        *score_sections(record, picture, pages),
        "## The cases",
        "What is not said is as in `purse.simulate`.",
        cases_table(record.cases),
    ]
    return "\n\n".join(parts) + "\n"
