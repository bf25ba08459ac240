"""The page of suite 2, "Which policy fits what you have?": one policy for each situation and why,
and what the default earns beside players who learn nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from purse import policies
from purse.base.text import MISSING, format_known, write_markdown_table
from purse.lab.ranking.advice import Share, rank, recommend, shares
from purse.lab.ranking.page import advice_table, score_sections
from purse.lab.ranking.parts import ALL, cases_table

if TYPE_CHECKING:
    from purse.lab.ranking.record import Record

NAME = "what-users-have"  # of the file
TITLE = "Which policy fits what you have?"
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


def trivial_section(record: Record, policy: str) -> list[str]:
    """Return the section that compares a policy with players who learn nothing."""
    found = shares(record, policy)
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


def markdown(record: Record, picture: str, pages: str | None = None) -> str:
    """Return the page: what to take and why, the default beside trivial players, every score."""
    situations = list(record.situations)
    groups = {ALL: situations, **{each: [each] for each in situations}}
    taken = [recommend(rank(record, about)) for about in groups.values()]
    named = {policies.DEFAULT, *(choice.policy for choice in taken if choice)}
    default = policies.DEFAULT if policies.DEFAULT in record.policies else None
    parts = [
        f"# {TITLE}",
        f"Every policy on every case of suite {record.suite}: {len(record.cases)} cases, "
        f"{len(record.standings)} policies, the same draws for all.\n"
        "Suite 2 has what users have: little money, costs over decades, late reports, outages and "
        "more; [suite 1](which-policy.md) has long games.\n"
        "The score of a run is its regret in percent of a reference: 0% is as good as the "
        "reference, and 100% is nothing gained.",
        "- Money alone: the reference is the best single arm, or the best arm in each phase where "
        "that is more.\n"
        "- With a horizon or several resources: it is the optimum of a linear program.\n"
        "- An adversary: a case is a pair of worlds that show the same first rounds, and the score "
        "is that of the world in which the policy does worse.\n"
        "  The reference is what a player can be sure of who knows both worlds and not which it "
        "is.",
        "Reproduce it with",
        f"    purse lab leaderboard --suite {record.suite}",
        "## What to take",
        "The policy with the smallest mean regret, of those that play all cases of the situation "
        "and need not be told what each arm costs.\n"
        f"The default, `{policies.DEFAULT}`, is taken where no other is better by more than half a "
        "percent.\n"
        "*Bounds* are the smallest and largest costs of a pull that a user declares: own ones for "
        "each arm where nothing else is said, one for all arms, or three times too wide.\n"
        f"For *{ALL}* each situation counts once.",
        advice_table(record, groups, pages),
        *(text for policy, text in WARNINGS.items() if policy in named),
        *score_sections(record, picture, pages),
        *(trivial_section(record, default) if default and record.alone else []),
        "## The cases",
        "A pull is the largest possible cost; what is not said is as in `purse.simulate`.\n"
        "`purse.lab.ranking.suite2` has the worlds in full.",
        cases_table(record.cases),
    ]
    return "\n\n".join(parts) + "\n"
