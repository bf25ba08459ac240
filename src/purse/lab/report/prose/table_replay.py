"""What the report of a replay on a full table says in words: what was replayed, and who would have
spent each budget best.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from purse.base.text import count_in_words, format_budget, format_gain, join_words, keep_on_line
from purse.lab.report.prose.study import code, runs_that_ended, tell_ties
from purse.lab.report.standings import LP_OF, NOTES, ranked, standings
from purse.lab.theory.estimate import estimate

if TYPE_CHECKING:
    from purse.lab.report.data import TableData

THOROUGH = 1_000  # orders from which on nothing is said about more
GAIN = (
    "Gain is the sum of rewards, in the unit of the data; more is better. The ± is the chance in "
    "the order of these rows; how much other rows would differ, it does not say."
)
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
    """Return what the LP is called that every gain is a share of."""
    return LP_OF[bool(study.facts.replay.features)]


def summary(study: TableData) -> str:
    """Return what was replayed."""
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
    if 1 < facts.n_paths < THOROUGH:
        says += f" `--thorough` plays {THOROUGH:,} orders."
    if facts.n_paths == 1:
        says += " One order tells nothing about chance: there are no intervals on this page."
    return says


def findings(study: TableData) -> dict[str, str]:
    """For each budget what to buy: the policy or the single arm that gains most."""
    return {
        f"B = {format_budget(budget)}": finding(study, budget, players)
        for budget, players in ranked(standings(study)).items()
    }


def finding(study: TableData, budget: float, players: list[dict[str, Any]]) -> str:
    """Return what is to be said about one budget: who gains most of all that can be bought,
    policies and arms alone, and how the other kind stands to it; then the best fixed mixture.
    """
    policies, arms = ([row for row in players if row["kind"] == kind] for kind in ("policy", "arm"))
    best, arm = policies[0], arms[0]
    behind = compare_to_best(study, budget, policies)
    says = []
    if arm_wins(study, budget, best["player"]):
        which = "The policy" if len(policies) == 1 else "The best of the policies"
        says += [
            f"**Buy {code(bare(arm))} in every round**: alone it gains **{tight(arm)}**"
            f"{share_of(study, arm)}.",
            f"{which}, {code(best['player'])}, gains {tight(best)}{share_of(study, best)}: "
            f"{against_arm(study, budget, best['player'])}{behind}.",
        ]
    else:
        lead = f"**{code(best['player'])} gains most of the policies**:"
        if len(policies) == 1:
            lead = f"{code(best['player'])} gains"
        says += [
            f"{lead} {tight(best)}{share_of(study, best)}{behind}.",
            f"The best single arm, {code(bare(arm))}, gains {tight(arm)}: "
            f"{against_arm(study, budget, best['player'])}.",
        ]
    for row in players:
        if row["kind"] == "mixture" and row["detail"] and row["gain"] > 0:
            says.append(
                f"The best fixed mixture, which needs the means in advance, is {row['detail']}: it "
                f"gains {tight(row)}."
            )
    return " ".join(says)


def bare(arm: dict[str, Any]) -> str:
    """Return the name of an arm, from that of its player."""
    return re.sub(NOTES, "", arm["player"]).removeprefix("always ")


def share_of(study: TableData, row: dict[str, Any]) -> str:
    """Return what a gain is of the optimum."""
    return "" if row["share"] is None else f", {row['share']:.1%} of the {lp_name(study)}"


def compare_to_best(study: TableData, budget: float, policies: list[dict[str, Any]]) -> str:
    """Return which policies cannot be told from the best one, or how far behind the next is."""
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


def regret_of(study: TableData, budget: float, policy: str) -> tuple[float, float, float]:
    """Return what the best single arm gains more than the policy, with the ends of its 95%
    interval.
    """
    row = study.table().filter(budget=budget, policy=policy).row(0, named=True)
    if study.facts.n_paths == 1:
        return row["regret"], row["regret"], row["regret"]
    return row["regret"], row["low"], row["high"]


def arm_wins(study: TableData, budget: float, policy: str) -> bool:
    """Return whether the best single arm gains more than the policy beyond doubt."""
    return regret_of(study, budget, policy)[1] > 0


def against_arm(study: TableData, budget: float, policy: str) -> str:
    """Return how the best single arm stands to the policy, or the policy to an arm that wins."""
    regret, low, high = regret_of(study, budget, policy)
    if low <= 0 <= high:
        return "as much" if low == high else "a difference within the 95% interval"
    size = keep_on_line(format_gain(abs(regret), abs(regret) + (high - regret)))
    return f"{size} less" + ("" if low > 0 else f" than {code(policy)}")


def tight(row: dict[str, Any]) -> str:
    """Return a player's gain with half its interval, on one line."""
    return keep_on_line(format_gain(row["gain"], row["gain_high"]))


def ended(study: TableData) -> list[str]:
    """Say whose runs came to the last round with money left."""
    return [
        f"The rounds ended before the budget did, in runs of {who}."
        for _, who in runs_that_ended(study)
    ]
