"""The page of a suite: a policy for each situation and why, and every score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from purse import policies
from purse.base.text import MISSING, write_markdown_table
from purse.lab.ranking.advice import percent, rank, reason, recommend
from purse.lab.ranking.comparisons import WORTH_IT, trivial_section, worth_table
from purse.lab.ranking.in_traffic import FEWER, TOLD, UNTOLD
from purse.lab.ranking.record import ADVERSARY
from purse.lab.ranking.suites import IN_TRAFFIC, LONG_GAMES, WHAT_USERS_HAVE, WITH_CONTEXTS
from purse.lab.ranking.tables import cases_table, link, score_sections
from purse.lab.ranking.with_contexts import BY_CLASS

if TYPE_CHECKING:
    from purse.lab.ranking.record import Record

ALL = "you do not know yet: all situations together"
MONEY = "only money is limited: one resource, no horizon"
MORE = ("budget and horizon", "several resources")  # situations with other limits than money
# what a reader must know of a policy, beside its numbers
WARNINGS = {
    "replan": "Nothing protects `replan` against an adversary who knows it: apart from looks and "
    "mixtures its plans are no secret, and no bound on its regret is proved.\n"
    "Where somebody plays against you, a policy that draws its arms at random, such as "
    "`exp3++.bwk`, is the safer choice."
}
SCORE = (
    "The score of a run is its regret in percent of a reference: 0% is as good as the reference, "
    "and 100% is nothing gained."
)
TAKE = (
    "The policy with the smallest mean regret, of those that play all cases of the situation and "
    "need not be told what each arm costs.\n"
    "The default, `{default}`, is taken where no other is better by more than half a "
    "percent."
)
Groups = Mapping[str, list[str]]  # what a reader has -> situations


class Page(NamedTuple):
    """The part of a page that one suite has of its own."""

    name: str  # of the file
    title: str
    who: str  # plays
    opening: str
    take: str  # how the recommended policy is found
    cases: str  # what stands above the table of cases
    groups: Callable[[Record], Groups]
    first: Callable[[Record, str | None], list[str]] = lambda *_: []  # parts above the advice
    notes: Callable[[Record, Groups, str | None], list[str]] = lambda *_: []  # below the advice
    last: Callable[[Record], list[str]] = lambda _: []  # parts below the scores


def markdown(record: Record, picture: str, pages: str | None = None) -> str:
    """Return the page of a record; names are links if the pages of policies lie in a folder."""
    page = PAGES[record.suite]
    groups = page.groups(record)
    command = "    purse lab leaderboard"
    parts = [
        f"# {page.title}",
        f"{page.who} on every case of suite {record.suite}: {len(record.cases)} cases, "
        f"{len(record.standings)} policies, the same draws for all.\n{page.opening}"
        "Reproduce it with",
        command if record.suite == LONG_GAMES else f"{command} --suite {record.suite}",
        *page.first(record, pages),
        "## What to take",
        page.take.format(default=policies.DEFAULT),
        advice_table(record, groups, pages),
        *page.notes(record, groups, pages),
        *score_sections(record, picture, pages),
        *page.last(record),
        "## The cases",
        page.cases,
        cases_table(record.cases),
    ]
    return "\n\n".join(parts) + "\n"


def advice_table(record: Record, groups: Groups, pages: str | None) -> str:
    """Return the table of what to take: a row for each group of situations."""
    rows = []
    for label, situations in groups.items():
        choices = rank(record, situations)
        taken = recommend(choices)
        name = link(taken.policy, pages) if taken else MISSING
        rows.append([label, name, reason(choices)])
    return write_markdown_table(["what you have", "take", "why"], rows)


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


def long_game_notes(record: Record, _: Groups, pages: str | None) -> list[str]:
    """Return what is said of an adversary and of guarantees."""
    notes = []
    if ADVERSARY in record.situations:
        notes.append(f"**An adversary.** {against_adversary(record)}")
    if pages:
        notes.append(f"[What is proved of each policy]({pages}/guarantees.md) is another question.")
    return notes


def against_adversary(record: Record) -> str:
    """Return what policies lose to an adversary, whose optimum is known only afterwards."""
    cases = record.situations[ADVERSARY]
    means = {policy: record.mean_over(policy, cases) for policy in record.policies}
    least = min(mean for mean in means.values() if mean is not None)
    default = means.get(policies.DEFAULT)
    text = f"Nobody can do well: of all policies the best still loses {percent(least)}"
    if default is not None:
        text += f", and `{policies.DEFAULT}`, the default, {percent(default)}"
    return (
        f"{text}. Two worlds look the same until it is too late to react, and in one of them every "
        "player loses a share of the optimum."
    )


def missing_policies(_: Record) -> list[str]:
    """Return the section on what the suite of long games leaves out."""
    return [
        "## What is not here",
        "- SAPO (Auer and Chiang, 2016): its pseudo-code could not be established from public "
        "text, and we do not guess.\n"
        "- BalancedExploration (Badanidiyuru, Kleinberg and Slivkins): its authors leave open how "
        "to compute it.\n"
        "- Contexts: [suite 3](with-contexts.md) has them.",
    ]


def warnings(record: Record, groups: Groups, _: str | None) -> list[str]:
    """Return the warnings of the default and of the policies that are recommended."""
    taken = [recommend(rank(record, situations)) for situations in groups.values()]
    named = {policies.DEFAULT, *(choice.policy for choice in taken if choice)}
    return [text for policy, text in WARNINGS.items() if policy in named]


def traffic_notes(record: Record, _: Groups, pages: str | None) -> list[str]:
    """Return what a number of requests is worth that a player knows."""
    least = {}
    for situation in (TOLD, UNTOLD, FEWER):
        choices = rank(record, [situation]) if situation in record.situations else []
        if not choices:
            return []
        least[situation] = percent(choices[0].mean)
    return [
        f"**Say how many requests will come.** Told the number, the best policy loses "
        f"{least[TOLD]}; told nothing it loses {least[UNTOLD]}, because money that might have to "
        f"last for ever is hardly spent; told twice the number, {least[FEWER]}.\n"
        'A campaign can forecast it from the times of asks, `horizon="traffic"`; '
        "that needs a clock, and is not played here."
    ]


PAGES = {
    LONG_GAMES: Page(
        "which-policy",
        "Which policy should I use?",
        "Every policy",
        f"{SCORE}\n"
        "The reference is the best single arm, or the best arm in each phase where that is more; "
        "with a horizon or several resources it is the optimum of a linear program.\n",
        TAKE,
        "`purse.lab.ranking.long_games` has the worlds in full.",
        long_game_groups,
        notes=long_game_notes,
        last=missing_policies,
    ),
    WHAT_USERS_HAVE: Page(
        "what-users-have",
        "Which policy fits what you have?",
        "Every policy",
        "Suite 2 has what users have: little money, costs over decades, late reports, outages and "
        f"more; [suite 1](which-policy.md) has long games.\n{SCORE}\n\n"
        "- Money alone: the reference is the best single arm, or the best arm in each phase where "
        "that is more.\n"
        "- With a horizon or several resources: it is the optimum of a linear program.\n"
        "- An adversary: a case is a pair of worlds that show the same first rounds, and the score "
        "is that of the world in which the policy does worse.\n"
        "  The reference is what a player can be sure of who knows both worlds and not which it "
        "is.\n\n",
        f"{TAKE}\n"
        "*Bounds* are the smallest and largest costs of a pull that a user declares: own ones for "
        "each arm where nothing else is said, one for all arms, or three times too wide.\n"
        f"For *{ALL}* each situation counts once.",
        "A pull is the largest possible cost; what is not said is as in `purse.simulate`.\n"
        "`purse.lab.ranking.what_users_have` has the worlds in full.",
        all_groups,
        notes=warnings,
        last=trivial_section,
    ),
    IN_TRAFFIC: Page(
        "in-traffic",
        "Which policy for real traffic?",
        "Policies",
        "Suite `traffic` has what [campaigns meet](../traffic.md): reports that come late, "
        "requests that allow only some arms, and a number of requests that is not known.\n"
        "Each case is played with its arms in one order and reversed, so that no policy gains by "
        f"the place of the best arm.\n{SCORE}\n"
        "The reference is the best single arm or, where the number of requests is limited, the "
        "optimum of a linear program that knows it, told or not, and how often each kind of "
        "request comes.\n",
        TAKE,
        "A kind of request allows the arms with a 1; the number of requests is the `rounds` of the "
        "world, and a player is told another one only where the table says so.\n"
        "`purse.lab.ranking.in_traffic` has the worlds in full.",
        all_groups,
        notes=traffic_notes,
    ),
    WITH_CONTEXTS: Page(
        "with-contexts",
        "When are contexts worth their price?",
        "Policies that see [contexts](../contexts.md), beside a few that do not,",
        "The score of a run is its regret in percent of the optimum of the linear program with "
        "contexts: 0% is as good, and 100% is nothing gained.\n\n",
        "The policy with the smallest mean regret, of those that play all cases of the situation.",
        "What is not said is as in `purse.simulate`.",
        all_groups,
        first=lambda record, pages: [
            "## What contexts are worth",
            "*Worth* is what the best mixture of arms for each context gains more than the best "
            "mixture for all contexts, for players who know all means.\n"
            "A policy has to learn them, and with contexts there is more to learn.\n"
            "The other columns have what the best blind policy and the best one that sees contexts "
            "gain as shares of the optimum, and what the second gains more than the first: within "
            f"{WORTH_IT:.0%} there is no difference.\n"
            f"`{BY_CLASS}` is blind where contexts are no classes.",
            worth_table(record, pages),
        ],
    ),
}
