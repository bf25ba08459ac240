"""Advice from the scores of a leaderboard; tables of advice, standings and cases; the heat map."""

import csv
from collections.abc import Iterable, Mapping
from io import StringIO
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from purse import policies
from purse.base.optional import pl
from purse.base.text import MISSING, format_budget, keep_on_line, write_markdown_table
from purse.engine.delay import parse_delay
from purse.lab.figure import Figure
from research.leaderboard.case import Case
from research.leaderboard.heat_map import heat_map
from research.leaderboard.record import ADVERSARY, Record, Standing
from research.leaderboard.suites import name_file, tuned_on

NORMAL = NormalDist()
TIE = 0.005  # of the optimum: the default is taken if the best is better by no more
HEAT_TITLE = "Mean regret in percent of the optimum"
MOST_COLUMNS = 30  # of a heat map: with more cases it has a column for each situation
BEST = 5  # policies in the standings
CASE_HEAD = ("case", "situation", "world", "budget", "declared bounds", "besides", "paths")


class Choice(NamedTuple):
    """The score of a policy in some situations."""

    policy: str
    mean: float  # of the situations' mean scores


def rank(record: Record, situations: list[str]) -> list[Choice]:
    """Return the policies that play all cases of these situations, by their mean score.

    Policies that need to know what each arm costs are left out. Each situation counts once,
    whatever its number of cases.
    """
    cases = {situation: record.situations[situation] for situation in situations}
    choices = []
    for policy in record.policies:
        means = [record.mean_over(policy, names) for names in cases.values()]
        played = [mean for mean in means if mean is not None]
        if policy not in record.known_costs and len(played) == len(means):
            choices.append(Choice(policy, float(np.mean(played))))
    return sorted(choices, key=lambda choice: choice.mean)


def recommend(choices: list[Choice]) -> Choice | None:
    """Return the default if hardly any policy is better, else the best; None of none."""
    for choice in choices:
        if choice.policy == policies.DEFAULT and choice.mean <= choices[0].mean + TIE:
            return choice
    return choices[0] if choices else None


def percent(score: float) -> str:
    """Return a score in percent, to a tenth if it is small.

    >>> percent(0.0123), percent(0.4321)
    ('1.2%', '43%')
    """
    return f"{100 * score:.0f}%" if score >= 0.095 else f"{100 * score:z.1f}%"


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


def anchor(title: str) -> str:
    """Return the anchor of a heading.

    >>> anchor("What users have")
    'what-users-have'
    """
    return title.lower().replace(" ", "-")


def advice_table(record: Record, groups: Mapping[str, list[str]], pages: str | None) -> str:
    """Return the table of what to take: a row for each group of situations."""
    rows = []
    for label, situations in groups.items():
        choices = rank(record, situations)
        usual = next((choice for choice in choices if choice.policy == policies.DEFAULT), None)
        choice = recommend(choices)
        cells = [link(choice.policy, pages), percent(choice.mean)] if choice else [MISSING] * 2
        rows.append([label, *cells, percent(usual.mean) if usual else MISSING])
    head = ["situation", "take", "its regret", f"`{policies.DEFAULT}`"]
    return write_markdown_table(head, rows, right=[2, 3])


def best_players(record: Record) -> list[Standing]:
    """Return the best policies of those that play every case, or of all if none does."""
    whole = [row for row in record.standings if row.cases == len(record.cases)]
    return (whole or list(record.standings))[:BEST]


def corrected(half: float, n_comparisons: int) -> float:
    """Return half of an interval that holds for all comparisons at once, from half of a 95%
    interval for one (Bonferroni).

    >>> round(corrected(1.96, 1), 2), round(corrected(1.96, 50), 2)
    (1.96, 3.29)
    """
    return half * NORMAL.inv_cdf(1 - 0.025 / n_comparisons) / NORMAL.inv_cdf(0.975)


def best_caption(record: Record) -> str:
    """Return the lines above the standings."""
    n_players = len(record.policies)
    n_whole = sum(row.cases == len(record.cases) for row in record.standings)
    if not n_whole:
        return "No policy plays every case; the best of all are:"
    return f"{n_whole} of {n_players} policies play every case; the best of them are:"


def standings_table(record: Record, pages: str | None) -> str:
    """Return the best policies, with their worst cases but for an adversary's."""
    rows = []
    played = [case.name for case in record.cases if case.situation != ADVERSARY]
    for row in best_players(record):
        means = [record.mean_score(row.policy, case) for case in played]
        worst = max((mean for mean in means if mean is not None), default=row.worst)
        rows.append(
            [
                link(row.policy, pages),
                keep_on_line(
                    f"{100 * row.score:.1f} ± {100 * corrected(row.half, len(record.policies)):.1f}"
                ),
                str(record.wins(row.policy)),
                f"{record.share_of_best(row.policy):.1%}",
                percent(worst),
                tuned_on(row.policy) or MISSING,
            ]
        )
    worst_of = ", no adversary" if ADVERSARY in record.situations else ""
    head = ["policy", "mean regret, %", "won", "of the best"]
    head += [f"in its worst case{worst_of}", "tuned on"]
    return write_markdown_table(head, rows, right=[1, 2, 3, 4])


def cases_csv(cases: Iterable[Case]) -> str:
    """Return the cases as CSV; what is not said is as in `purse.simulate`."""
    file = StringIO()
    csv.writer(file, lineterminator="\n").writerows([CASE_HEAD, *map(case_row, cases)])
    return file.getvalue()


def case_row(case: Case) -> list[str]:
    """Return a row of the table of cases."""
    world = " or ".join(case.adversary or (case.world,))
    besides = {
        f"horizon {case.horizon}": case.horizon is not None,
        f"reports {case.delay} rounds late": parse_delay(case.delay).is_late,
        f"stop rule {case.stop}": case.stop != "exit",
    }
    conditions = ", ".join(text for text, holds in besides.items() if holds)
    budgets = case.budget if isinstance(case.budget, tuple) else (case.budget,)
    money = ", ".join(map(format_budget, budgets))
    return [case.name, case.situation, world, money, case.bounds, conditions, str(case.n_paths)]
