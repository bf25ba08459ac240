"""What the report of a replay on a full table says in words: what was replayed, and who would have
spent each budget best.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from purse.base.text import count_in_words, format_budget, format_gain, join_words, keep_on_line
from purse.report.prose.study import code, runs_that_ended, tell_ties
from purse.report.standings import LP_OF, NOTES, ranked, standings
from purse.theory.notions import estimate

if TYPE_CHECKING:
    from purse.report.data import TableData

GAIN = "Gain is the sum of rewards, in the unit of the data; more is better."
LP = (
    "The {name} is what a player can expect who knows the mean reward and the mean cost of "
    "every arm, does not see a round before choosing, and keeps to the budget on average."
)
CONTEXTS = (
    "Policies that see contexts may gain more than that. The best linear policy and the LP with "
    "contexts bound what these could learn; where every round has a context of its own, the latter "
    "is the hindsight optimum."
)


def lp_name(study: TableData) -> str:
    """What the LP is called that every gain is a share of."""
    return LP_OF[bool(study.facts.replay.features)]


def summary(study: TableData) -> str:
    """What was replayed."""
    facts, replay = study.facts, study.facts.replay
    sizes = join_words(map(format_budget, sorted(facts.budgets)))
    rounds = f"{replay.rounds:,} rounds"
    if replay.horizon != replay.rounds:
        rounds = f"{replay.horizon:,} of {rounds}"
    says = (
        f"{count_in_words(len(facts.policies), 'policy', 'policies').capitalize()} on "
        f"{rounds} of {count_in_words(len(replay.arms), 'arm')} with "
        f"{'a budget' if len(facts.budgets) == 1 else 'budgets'} of {sizes}, in "
        f"{count_in_words(facts.n_paths, 'random order')} of the rounds, "
        f"the same for every policy (seed {facts.seed}, stop rule {facts.stop}). "
        f"{GAIN} {LP.format(name=lp_name(study))}"
    )
    if replay.features:
        says += f" {CONTEXTS}"
    if facts.n_paths == 1:
        says += " One order tells nothing about chance: there are no intervals on this page."
    return says


def findings(study: TableData) -> dict[str, str]:
    """For each budget the policy that gains most, whether the next gains less beyond doubt, and the
    best single arm.
    """
    return {
        f"B = {format_budget(budget)}": finding(study, budget, players)
        for budget, players in ranked(standings(study)).items()
    }


def finding(study: TableData, budget: float, players: list[dict[str, Any]]) -> str:
    """What is to be said about one budget."""
    policies, arms = ([row for row in players if row["kind"] == kind] for kind in ("policy", "arm"))
    best = policies[0]
    share = "" if best["share"] is None else f", {best['share']:.1%} of the {lp_name(study)}"
    lead = (
        f"{code(best['player'])} {'gains most of the policies:' if len(policies) > 1 else 'gains'} "
        f"{tight(best)}{share}"
    )
    return (
        f"{lead}{compare_to_best(study, budget, policies)}. "
        f"{against_arm(study, budget, best['player'], arms[0])}"
    )


def compare_to_best(study: TableData, budget: float, policies: list[dict[str, Any]]) -> str:
    """Which policies cannot be told from the best one, or how far behind the next is."""
    import polars as pl

    if len(policies) == 1:
        return ""
    after = policies[1]
    if study.facts.n_paths == 1:
        return f"; the next is {code(after['player'])} with {tight(after)}"
    here = study.lazy().filter(pl.col("budget") == budget)
    runs = here.select("policy", "path", "gain").collect().sort("path")
    best, *rest = [row["player"] for row in policies]
    gains = {player: runs.filter(policy=player)["gain"].to_numpy() for player in (best, *rest)}
    behind = {player: estimate(gains[best] - gains[player]) for player in rest}
    tied = [policy for policy, difference in behind.items() if not difference.low > 0]
    if tied:
        return tell_ties(tied)
    less = behind[after["player"]]
    size = keep_on_line(format_gain(less.mean, less.high))
    return (
        f"; the next, {code(after['player'])}, gains {size} less in the same orders, "
        "a difference beyond its 95% interval"
    )


def against_arm(study: TableData, budget: float, policy: str, arm: dict[str, Any]) -> str:
    """How the policy stands to the arm that gains most when it is pulled in every round."""
    row = study.table().filter(budget=budget, policy=policy).row(0, named=True)
    lead = f"The best single arm, {code(re.sub(NOTES, '', arm['player']))},"
    low, high = (
        (row["regret"], row["regret"]) if study.facts.n_paths == 1 else (row["low"], row["high"])
    )
    if low <= 0 <= high:
        return (
            f"{lead} gains {tight(arm)}: "
            f"{'as much' if low == high else 'a difference within the 95% interval'}."
        )
    size = format_gain(abs(row["regret"]), abs(row["regret"]) + (high - row["regret"]))
    return (
        f"{lead} gains {tight(arm)}: {keep_on_line(size)} {'more' if low > 0 else 'less'} than "
        f"{code(policy)}."
    )


def tight(row: dict[str, Any]) -> str:
    """A player's gain with half its interval, on one line."""
    return keep_on_line(format_gain(row["gain"], row["gain_high"]))


def ended(study: TableData) -> list[str]:
    """Say whose runs came to the last round with money left."""
    return [
        f"The rounds ended before the budget did, in runs of {who}."
        for _, who in runs_that_ended(study)
    ]
