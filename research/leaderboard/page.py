"""The page of the leaderboard: which policy to use, and a section for each suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from purse import policies
from purse.base.text import write_markdown_table
from research.leaderboard.advice import TIE, percent, rank, recommend
from research.leaderboard.comparisons import WORTH_IT, trivial_shares, worth_table
from research.leaderboard.in_traffic import FEWER, TOLD, UNTOLD
from research.leaderboard.record import ADVERSARY
from research.leaderboard.suites import (
    IN_TRAFFIC,
    LONG_GAMES,
    WHAT_USERS_HAVE,
    WITH_CONTEXTS,
    name_file,
)
from research.leaderboard.tables import advice_table, anchor, best_caption, link, standings_table
from research.leaderboard.with_contexts import BY_CLASS

if TYPE_CHECKING:
    from research.leaderboard.record import Record

ALL = "you do not know yet"
MONEY = "only money is limited"
MORE = ("budget and horizon", "several resources")  # situations with other limits than money
ARMS_OR_LP = (
    "The reference is the best arm alone, in each phase if that is more; with a horizon or several "
    "resources it is the optimum of a linear program."
)
ADVICE = (
    "Advice is the policy with the smallest mean regret, of those that play all cases of the "
    "situation and need not be told what each arm costs; `{default}` unless another is better by "
    f"more than {TIE:.1%}."
)
HEAT = (
    "Each cell is a mean regret in percent: yellow is good, dark blue is bad, blank is what the "
    "policy cannot play."
)
SCORE = (
    "A score is the mean regret in percent of a reference: 0% is as good as the reference, and "
    "100% is nothing gained."
)
HINTS = """\
- Nothing protects `replan` against an adversary who knows it: apart from looks and mixtures its \
plans are no secret.
  If somebody plays against you, a policy that draws its arms at random, such as `exp3++.bwk`, is \
the safer choice.
- [What is proved of each policy](policies/guarantees.md) is another question.
- [Your own data](replay.md) may say which of them would have done best."""
Groups = Mapping[str, list[str]]  # what a reader has -> situations


class Page(NamedTuple):
    """The part of the leaderboard that one suite has of its own."""

    title: str  # what the cases are
    opening: str
    groups: Callable[[Record], Groups]
    notes: Callable[[Record, str | None], list[str]] = lambda *_: []  # below the advice


def leaderboard_page(records: Sequence[Record], files: str, pages: str) -> str:
    """Return the page of all suites: the advice, then a section for each, which CSS shows as tabs.

    files   the folder of the suites' files
    pages   the folder of the policies' pages
    """
    tabs = "\n".join(
        f'<a href="#{anchor(PAGES[record.suite].title)}">{PAGES[record.suite].title}</a>'
        for record in records
    )
    parts = [
        "# Which policy should I use?",
        f"All policies played four suites of cases, with the same draws.\n{SCORE}",
        summary_table(records, pages),
        advice_rule(),
        HINTS,
        f'<nav class="tabs">\n{tabs}\n</nav>',
    ]
    for record in records:
        parts += [f"## {PAGES[record.suite].title}", *section(record, files, pages)]
    return "\n\n".join(parts) + "\n"


def markdown(record: Record) -> str:
    """Return the page of one suite, for the folder of its files."""
    parts = [f"# {PAGES[record.suite].title}", SCORE, advice_rule(), *section(record, "", None)]
    return "\n\n".join(parts) + "\n"


def advice_rule() -> str:
    """Return how advice is made."""
    return ADVICE.format(default=policies.DEFAULT)


def section(record: Record, files: str, pages: str | None) -> list[str]:
    """Return what is said of a suite; names are links if policies have pages."""
    page = PAGES[record.suite]
    picture, scores, cases = (
        f"{files}{name_file(kind, record.suite)}" for kind in ("leaderboard", "scores", "cases")
    )
    return [
        f"{page.opening}\n`python -m research.leaderboard --suite {record.suite}` plays its "
        f"{len(record.cases)} cases.",
        advice_table(record, page.groups(record), pages),
        *page.notes(record, pages),
        best_caption(record),
        standings_table(record, pages),
        HEAT,
        f"![Mean regret of {len(record.policies)} policies]({picture}.svg)",
        f"The [picture in full size]({picture}.svg), [all scores]({scores}.csv) with half of their "
        f"95% intervals, and [the cases]({cases}.csv).",
    ]


def summary_table(records: Sequence[Record], pages: str) -> str:
    """Return a row for each suite: what to take, and what else in which situations."""
    rows = []
    for record in records:
        page = PAGES[record.suite]
        taken: dict[str, list[str]] = {}  # policy -> situations
        for label, situations in page.groups(record).items():
            if choice := recommend(rank(record, situations)):
                taken.setdefault(choice.policy, []).append(label)
        usual = next(policy for policy, labels in taken.items() if ALL in labels)
        others = "; ".join(
            f"{link(policy, pages)} for {', '.join(f'*{label}*' for label in labels)}"
            for policy, labels in taken.items()
            if policy != usual
        )
        rows.append([f"[{page.title}](#{anchor(page.title)})", link(usual, pages), others])
    return write_markdown_table(["what you have", "take", "but take"], rows)


def all_groups(record: Record) -> Groups:
    """Return all situations together, and each alone."""
    situations = list(record.situations)
    return {ALL: situations, **{situation: [situation] for situation in situations}}


def long_game_groups(record: Record) -> Groups:
    """Return all situations together, those with money alone, and each but an adversary."""
    groups = dict(all_groups(record))
    groups.pop(ADVERSARY, None)
    money = [situation for situation in record.situations if situation not in MORE]
    return {ALL: groups.pop(ALL), MONEY: money, **groups}


def against_adversary(record: Record, _: str | None) -> list[str]:
    """Return what policies lose to an adversary, whose optimum is known only afterwards."""
    if ADVERSARY not in record.situations:
        return []
    cases = record.situations[ADVERSARY]
    means = {policy: record.mean_over(policy, cases) for policy in record.policies}
    least = min(mean for mean in means.values() if mean is not None)
    default = means.get(policies.DEFAULT)
    text = f"Against an adversary the best policy still loses {percent(least)}"
    if default is not None:
        text += f", and `{policies.DEFAULT}`, the default, {percent(default)}"
    return [
        f"{text}: two worlds look the same until it is too late to react.\n"
        "SAPO (Auer and Chiang, 2016) is missing because its pseudo-code is not public, and "
        "BalancedExploration (Badanidiyuru, Kleinberg and Slivkins) because its authors leave open "
        "how to compute it."
    ]


def traffic_notes(record: Record, _: str | None) -> list[str]:
    """Return what a number of requests is worth that a player knows."""
    least = {}
    for situation in (TOLD, UNTOLD, FEWER):
        choices = rank(record, [situation]) if situation in record.situations else []
        if not choices:
            return []
        least[situation] = percent(choices[0].mean)
    return [
        f"Say how many requests will come: told the number, the best policy loses "
        f"{least[TOLD]}; told nothing it loses {least[UNTOLD]}, because money that might have to "
        f"last for ever is hardly spent; told twice the number, {least[FEWER]}.\n"
        'A campaign can forecast it from the times of asks, `horizon="traffic"`; '
        "that needs a clock, and is not played here."
    ]


def context_notes(record: Record, pages: str | None) -> list[str]:
    """Return what contexts are worth in each case."""
    return [
        "*Worth* is what the best mixture of arms for each context gains more than the best "
        "mixture for all, for players who know all means.\n"
        "The other columns are what the best policies gain, blind and with contexts, as shares of "
        f"the optimum, and the difference: within {WORTH_IT:.0%} there is none.\n"
        f"`{BY_CLASS}` is blind unless contexts are classes.",
        worth_table(record, pages),
    ]


PAGES = {
    LONG_GAMES: Page(
        "Long games",
        f"Long games of every kind.\n{ARMS_OR_LP}",
        long_game_groups,
        against_adversary,
    ),
    WHAT_USERS_HAVE: Page(
        "What users have",
        "Little money, costs over decades, late reports, outages and more.\n"
        f"{ARMS_OR_LP}\n"
        "A case of an adversary is a pair of worlds that begin alike, and counts the one in which "
        "the policy does worse; its reference is what a player can be sure of who knows both.\n"
        "*Bounds* are the smallest and largest costs of a pull that a user declares.",
        all_groups,
        trivial_shares,
    ),
    IN_TRAFFIC: Page(
        "Traffic",
        "Late reports, requests that allow only some arms, and a number of requests that is not "
        "known.\n"
        "Each case is played with its arms in one order and reversed.\n"
        "The reference is the best arm alone or, if the number of requests is limited, the optimum "
        "of a linear program that knows it, told or not, and how often each kind of request comes.",
        all_groups,
        traffic_notes,
    ),
    WITH_CONTEXTS: Page(
        "Contexts",
        "Policies that see contexts, beside a few that do not.\n"
        "The reference is the optimum of the linear program with contexts.",
        all_groups,
        context_notes,
    ),
}
