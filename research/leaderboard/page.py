"""The page of the leaderboard: which policy to use, and a section for each suite."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from purse import policies
from purse.base.text import write_markdown_table
from research.leaderboard.notes import (
    against_adversary,
    context_notes,
    traffic_notes,
    trivial_shares,
)
from research.leaderboard.record import ADVERSARY, Record
from research.leaderboard.suites import (
    IN_TRAFFIC,
    LONG_GAMES,
    SEALED,
    WHAT_USERS_HAVE,
    WITH_CONTEXTS,
    name_file,
)
from research.leaderboard.tables import (
    TIE,
    advice_table,
    anchor,
    best_caption,
    link,
    rank,
    recommend,
    standings_table,
)

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
SCORE = (
    "A score is the mean regret in percent of a reference: 0% is as good as the reference, and "
    "100% is nothing gained.\n"
    "*Won* is in how many cases no policy has a smaller regret, *of the best* the mean part of the "
    "best policy's gain, and ± holds for all policies of a table at once.\n"
    "In pictures each cell is a score: yellow is good, dark blue is bad, blank is what the policy "
    "cannot play."
)
HINTS = """\
- Nothing protects `replan` against an adversary who knows it: a policy that draws its arms at \
random, such as `exp3++.bwk`, is the safer choice, whatever these cases show.
- [What is proved of each policy](policies/guarantees.md) is another question, and \
[your own data](replay.md) may answer better."""
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
        "All policies whose rule was held against a text played each suite of cases, with the "
        f"same draws.\n{SCORE}",
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
    return ADVICE.format(default=policies.DEFAULT)


def section(record: Record, files: str, pages: str | None) -> list[str]:
    """Return the paragraphs of a suite; names are links if policies have pages."""
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
        f"![Mean regret of {len(record.policies)} policies]({picture}.svg)",
        f"[All scores]({scores}.csv), with half of their 95% intervals, and [cases]({cases}.csv).",
    ]


def summary_table(records: Sequence[Record], pages: str) -> str:
    """Return a row for each suite: what to take, if nothing more is known."""
    rows = []
    for record in records:
        title = PAGES[record.suite].title
        if choice := recommend(rank(record, list(record.situations))):
            rows.append([f"[{title}](#{anchor(title)})", link(choice.policy, pages)])
    return write_markdown_table(["what you have", "take"], rows)


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


PAGES = {
    SEALED: Page(
        "Sealed",
        "Cases that nobody has chosen: drawn by a seed, a digest of the default's file, after its "
        "rule was frozen.\nTake this section for a comparison, and the others for what each "
        f"situation is like.\n{ARMS_OR_LP}",
        all_groups,
    ),
    LONG_GAMES: Page(
        "Long games",
        "Long games of every kind, with the same reference.",
        long_game_groups,
        against_adversary,
    ),
    WHAT_USERS_HAVE: Page(
        "What users have",
        "Little money, costs over decades, late reports, outages and more; the same reference.\n"
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
