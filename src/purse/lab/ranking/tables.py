"""Tables on the pages of all suites: standings, the heat map, scores by situation, wins, cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from purse import policies
from purse.base.optional import pl
from purse.base.text import (
    first_paragraph,
    format_budget,
    join_words,
    keep_on_line,
    write_markdown_table,
)
from purse.engine.late.delay import parse_delay
from purse.lab.ranking.advice import percent, rank
from purse.lab.ranking.suites import name_file
from purse.lab.report.charts.base import Figure
from purse.lab.report.charts.heat_map import heat_map

if TYPE_CHECKING:
    from collections.abc import Iterable

    from purse.lab.ranking.case import Case
    from purse.lab.ranking.record import Record

HEAT_TITLE = "Mean regret in percent of the optimum"
HEAT_TEXT = (
    "Each cell is a mean regret in percent: yellow is good, dark blue is bad, and a blank cell is "
    "what the policy cannot play."
)
MOST_COLUMNS = 30  # of a heat map: with more cases it has a column for each situation
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
BEST = 5  # policies in a table of a situation
LONGEST = 90  # characters of a world's text in the table of cases


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


def heat_figure(record: Record) -> Figure:
    """Draw scores, the best policy first; of many cases a column for each situation."""
    by_case = {case.name: [case.name] for case in record.cases}
    columns = by_case if len(by_case) <= MOST_COLUMNS else record.situations
    scores = [
        {"row": policy, "column": column, "score": record.mean_over(policy, cases)}
        for policy in record.policies
        for column, cases in columns.items()
    ]
    types = {"row": pl.String, "column": pl.String, "score": pl.Float64}
    name = name_file("leaderboard", record.suite)
    return heat_map(name, HEAT_TITLE, pl.DataFrame(scores, types))


def link(policy: str, pages: str | None) -> str:
    """Return a policy's name, as a link if the pages of policies lie in a folder."""
    name = policy.partition(":")[0]
    if pages is None or name not in policies.names():
        return f"`{policy}`"
    return f"[`{policy}`]({pages}/{name_page(name)}.md)"


def name_page(policy: str) -> str:
    """Return the name of a policy's page, without its ending.

    >>> name_page("exp3++.bwk")
    'exp3pp-bwk'
    """
    return policy.replace("+", "p").replace(".", "-")


def describe(policy: str) -> str:
    """Return what a policy is, in a sentence: the first one of its file, without its name."""
    first = first_paragraph(policies.load(policy.partition(":")[0]).__doc__)
    return first.partition(": ")[2] or first


def standings_table(record: Record, pages: str | None) -> str:
    """Return the standings, the smallest mean score first."""
    rows = [
        [
            link(row.policy, pages),
            describe(row.policy) if pages else "",
            keep_on_line(f"{row.cases} of {len(record.cases)}"),
            keep_on_line(f"{100 * row.score:.1f} ± {100 * row.half:.1f}"),
            f"{row.rank:.1f}",
            f"{percent(row.worst)}: {row.worst_case}",
        ]
        for row in record.standings
    ]
    head = ["policy", "what it is", "cases", "mean regret, %", "mean rank", "at worst"]
    if not pages:
        head, rows = head[:1] + head[2:], [cells[:1] + cells[2:] for cells in rows]
    return write_markdown_table(head, rows, right=[len(head) - 3, len(head) - 2])


def cell(record: Record, policy: str, case: str) -> str:
    """Return a score in percent, with half its interval if that is known."""
    score = record.scores.get((policy, case))
    if score is None:
        return ""
    if score.half is None:
        return percent(score.mean).rstrip("%")
    return keep_on_line(f"{100 * score.mean:z.1f} ± {100 * score.half:z.1f}")


def situation_tables(record: Record, pages: str | None) -> Iterable[str]:
    """Return, for each situation, the scores of its best policies on its cases."""
    for situation, cases in record.situations.items():
        best = [choice.policy for choice in rank(record, [situation])[:BEST]]
        if policies.DEFAULT in record.policies and policies.DEFAULT not in best:
            best = [*best[: BEST - 1], policies.DEFAULT]
        rows = [[case, *(cell(record, policy, case) for policy in best)] for case in cases]
        head = ["case", *(link(policy, pages) for policy in best)]
        yield f"### {situation[0].upper()}{situation[1:]}"
        yield write_markdown_table(head, rows, right=range(1, len(head)))


def wins_table(record: Record, pages: str | None) -> str:
    """Return how often the policy of the row beats that of the numbered column."""
    names = list(record.wins)
    rows = [
        [
            f"{place}. {link(one, pages)}",
            *("" if one == other else str(record.wins[one][other]) for other in names),
        ]
        for place, one in enumerate(names, 1)
    ]
    head = ["", *(f"{place}." for place in range(1, len(names) + 1))]
    return write_markdown_table(head, rows, right=range(1, len(head)))


def cases_table(cases: Iterable[Case]) -> str:
    """Return the table of cases."""
    head = ["case", "situation", "world", "budget", "declared bounds", "besides", "paths"]
    return write_markdown_table(head, map(case_row, cases))


def case_row(case: Case) -> list[str]:
    """Return a row of the table of cases."""
    world = " or ".join(
        f"`{text if len(text) <= LONGEST else text[:LONGEST] + '…'}`"
        for text in case.adversary or (case.world,)
    )
    besides = {
        f"horizon {case.horizon}": case.horizon is not None,
        f"reports {case.delay} rounds late": parse_delay(case.delay).is_late,
        f"stop rule `{case.stop}`": case.stop != "exit",
    }
    said = ", ".join(text for text, holds in besides.items() if holds)
    budgets = case.budget if isinstance(case.budget, tuple) else (case.budget,)
    money = ", ".join(map(format_budget, budgets))
    return [case.name, case.situation, world, money, case.bounds, said, str(case.n_paths)]
