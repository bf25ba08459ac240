"""The page of suite 1, "Which policy should I use?": one policy for each situation and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from purse import policies
from purse.base.text import MISSING, join_words, write_markdown_table
from purse.lab.ranking.advice import percent, rank, reason, recommend
from purse.lab.ranking.parts import (
    ALL,
    HEAT_TEXT,
    cases_table,
    link,
    name_file,
    situation_tables,
    standings_table,
    wins_table,
)
from purse.lab.ranking.record import ADVERSARY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from purse.lab.ranking.record import Record

NAME = "which-policy"  # of the file
TITLE = "Which policy should I use?"
MONEY = "only money is limited: one resource, no horizon"
MORE = ("budget and horizon", "several resources")  # situations with other limits than money
COARSE = (
    "Numbers without an interval were read from an earlier heat map: those above 9.5% are known to "
    "a whole percent, or half a percent off, and so are means and orders made from them."
)
TWINS = {  # policies that play alike, and why
    (
        "sao",
        "uniform",
    ): "`sao` draws all arms alike until it is sure that one is worse, which takes "
    "longer than these games, so its scores are those of `uniform`."
}


def advice_table(record: Record, groups: Mapping[str, list[str]], pages: str | None) -> str:
    """Return the table of what to take: a row for each group of situations."""
    rows = []
    for label, situations in groups.items():
        choices = rank(record, situations)
        taken = recommend(choices)
        name = link(taken.policy, pages) if taken else MISSING
        rows.append([label, name, reason(choices)])
    return write_markdown_table(["what you have", "take", "why"], rows)


def nobody_can(record: Record) -> str:
    """Return what the page says of an adversary, where the optimum is known only afterwards."""
    cases = record.situations[ADVERSARY]
    means = {policy: record.mean_over(policy, cases) for policy in record.policies}
    known = [mean for mean in means.values() if mean is not None]
    default = means.get(policies.DEFAULT)
    text = f"Nobody can do well: of all policies the best still loses {percent(min(known))}"
    if default is not None:
        text += f", and `{policies.DEFAULT}`, the default, {percent(default)}"
    return (
        f"{text}. Two worlds look the same until it is too late to react, and in one of them every "
        "player loses a share of the optimum."
    )


def standing_notes(record: Record) -> list[str]:
    """Return what a reader must know of the standings."""
    notes = [
        "Over the cases that a policy can play, the smallest mean regret first.\n"
        "Where a policy plays fewer cases than another, their means are over different cases: "
        "compare their ranks, too, or the scores by situation."
    ]
    if record.known_costs:
        names = join_words(f"`{policy}`" for policy in sorted(record.known_costs))
        notes.append(f"These have to be told what each arm costs: {names}.")
    for pair, why in TWINS.items():
        if set(pair) <= set(record.policies):
            notes.append(why)
    return ["\n".join(notes)]


def score_sections(record: Record, picture: str, pages: str | None) -> list[str]:
    """Return the sections with all numbers: standings, heat map, scores by situation, wins."""
    table = f"{name_file('scores', record.suite)}.csv"
    parts = [
        "## Standings",
        *standing_notes(record),
        standings_table(record, pages),
        f"{HEAT_TEXT}\n[The picture in full size]({picture}).",
        f"![Scores of all policies]({picture})",
        "## Scores by situation",
        "Mean regret in percent with half its 95% interval, where that was kept, for the best "
        f"policies of each situation and the default.\n[{table}]({table}) has all policies on all "
        "cases.",
        *([COARSE] if any(score.half is None for score in record.scores.values()) else []),
        *situation_tables(record, pages),
    ]
    if record.wins:
        parts += [
            "## Who beats whom",
            "In how many cases the policy of the row is better than that of the column beyond "
            f"doubt (paired runs, 95% interval), for {len(record.wins)} of the policies.",
            wins_table(record, pages),
        ]
    return parts


def markdown(record: Record, picture: str, pages: str | None = None) -> str:
    """Return the page; names are links where the pages of policies lie in a folder."""
    situations = list(record.situations)
    groups = {
        ALL: situations,
        MONEY: [each for each in situations if each not in MORE],
        **{each: [each] for each in situations if each != ADVERSARY},
    }
    parts = [
        f"# {TITLE}",
        f"Every policy on every case of suite {record.suite}: {len(record.cases)} cases, "
        f"{len(record.standings)} policies, the same draws for all.\n"
        "The score of a run is its regret in percent of a reference: 0% is as good as the "
        "reference, and 100% is nothing gained.\n"
        "The reference is the best single arm, or the best arm in each phase where that is more; "
        "with a horizon or several resources it is the optimum of a linear program.\n"
        "Reproduce it with",
        "    purse lab leaderboard",
        "## What to take",
        "The policy with the smallest mean regret, of those that play all cases of the situation "
        "and need not be told what each arm costs.\n"
        f"The default, `{policies.DEFAULT}`, is taken where no other is better by more than half a "
        "percent.",
        advice_table(record, groups, pages),
        *([f"**An adversary.** {nobody_can(record)}"] if ADVERSARY in situations else []),
        *(
            [f"[What is proved of each policy]({pages}/guarantees.md) is another question."]
            if pages
            else []
        ),
        *score_sections(record, picture, pages),
        "## What is not here",
        "- SAPO (Auer and Chiang, 2016): its pseudo-code could not be established from public "
        "text, and we do not guess.\n"
        "- BalancedExploration (Badanidiyuru, Kleinberg and Slivkins): its authors leave open how "
        "to compute it.\n"
        "- Contexts: [suite 3](with-contexts.md) has them.",
        "## The cases",
        "`purse.lab.ranking.suite` has the worlds in full.",
        cases_table(record.cases),
    ]
    return "\n\n".join(parts) + "\n"
