"""What the report of a log's replay says in words: what was asked, which policy is estimated best,
how sure that is, and what it rests on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from purse.base.text import count_in_words, format_budget, format_gain, join_words, keep_on_line
from purse.report.charts.base import policies_of
from purse.report.charts.estimates import methods_of
from purse.report.prose.study import code

if TYPE_CHECKING:
    import polars as pl

    from purse.report.data import LogFacts

TELLS = (
    "A log has one arm a round; what the others would have returned nobody saw. So gains are "
    "estimated, and the 95% intervals hold what this log leaves open as well as chance in play. "
    "About arms that it hardly knows it tells nothing: such estimates are refused."
)
ASSUMPTIONS = (
    "**Rounds are alike**, and none touches the next: no trend, no season, and what was "
    "pulled does not change what later pulls return.",
    "**The probabilities are the true ones**, those that the arms were chosen with, and "
    "no arm that matters had probability 0.",
)
BLIND = "**Policies see no context**: nothing about a round before they choose."
SEEING = (
    "**Policies see the features** of a round before they choose, if they see contexts, and no "
    "more. Then a round whose logged arm the policy does not choose is no round: `snips` has the "
    "rounds that are left, `ips` and `dr` credit the first one of each, `dr` with regressions of "
    "reward and cost on the features that have not seen the row."
)
METHODS = {
    "replay": "Plays the logged rounds themselves, each at most once in a game. Unbiased; refused "
    "where a game needs more rounds of an arm than there are.",
    "ips": "Plays a world estimated from the log; mean rewards by inverse probabilities. "
    "Unbiased for the mean, suffers where an arm came unusually often.",
    "snips": "The same with weights that add up to one: the one to look at first.",
    "dr": "The same with plain averages, corrected by the weights (doubly robust).",
}
FIRST = "snips"  # quoted where it answers


def assumptions(facts: LogFacts) -> tuple[str, ...]:
    """What the estimates rest on."""
    return (*ASSUMPTIONS, SEEING if facts.replay.features else BLIND)


def summary(facts: LogFacts) -> str:
    """What was asked of which log."""
    replay, sizes = facts.replay, join_words(map(format_budget, sorted(facts.budgets)))
    horizon = "" if replay.horizon is None else f" and {count_in_words(replay.horizon, 'round')}"
    return (
        f"What {count_in_words(len(facts.policies), 'policy', 'policies')} would have gained with "
        f"{'a budget' if len(facts.budgets) == 1 else 'budgets'} of {sizes}{horizon}, estimated "
        f"from {replay.rounds:,} logged rounds of {count_in_words(len(replay.arms), 'arm')} "
        f"({facts.n_paths:,} simulated games, seed {facts.seed}, stop rule {facts.stop}). {TELLS}"
    )


def findings(estimates: pl.DataFrame) -> dict[str, str]:
    """For each budget, which policy is estimated best."""
    return {
        f"B = {format_budget(budget)}": finding(estimates.filter(budget=budget))
        for budget in sorted(estimates["budget"].unique())
    }


def finding(here: pl.DataFrame) -> str:
    """The best policy by the methods that agree on it and answer for as many policies, and those
    whose intervals overlap with its own.
    """
    import polars as pl

    policies, answered = policies_of(here), here.filter(pl.col("refused").is_null())
    groups: dict[tuple[str, int], list[str]] = {}
    for method in methods_of(answered):
        rows = answered.filter(method=method).sort("estimate", descending=True, maintain_order=True)
        groups.setdefault((rows["policy"][0], rows.height), []).append(method)
    order = sorted(groups.items(), key=lambda each: (-each[0][1], FIRST not in each[1]))
    says = [verdict(answered, *best, methods, len(policies)) for best, methods in order]
    silent = [policy for policy in policies if answered.filter(policy=policy).is_empty()]
    if silent:
        who = "any policy" if len(silent) == len(policies) > 1 else join_words(map(code, silent))
        says.append(f"About {who} this log can tell nothing: every method refuses.")
    split = [policy for policy in policies if apart(answered.filter(policy=policy))]
    if split:
        says.append(
            "The methods differ by more than their intervals for "
            f"{join_words(map(code, split))}: a sign that something below does not hold."
        )
    return " ".join(says)


def apart(answers: pl.DataFrame) -> bool:
    """Whether the intervals of two methods do not overlap."""
    if answers.is_empty():
        return False
    return bool(answers["low"].max() > answers["high"].min())  # type: ignore[operator]


def verdict(answered: pl.DataFrame, best: str, n: int, methods: list[str], n_policies: int) -> str:
    """What methods that agree say; the numbers are those of one of them."""
    quoted = FIRST if FIRST in methods else methods[0]
    rows = answered.filter(method=quoted).sort("estimate", descending=True, maintain_order=True)
    first, *others = rows.to_dicts()
    which = ""
    if n != n_policies:
        answer = "answers" if len(methods) == 1 else "answer"
        which = f", which {answer} for {n} of {n_policies} policies,"
    lead = (
        f"By {join_words(map(code, methods))}{which} {code(best)} "
        f"{'would gain' if not others else 'is estimated best:'} {tight(first)}"
    )
    by = f" (`{quoted}`)" if len(methods) > 1 else ""
    near = [row["policy"] for row in others if row["high"] >= first["low"]]
    if not others:
        return f"{lead}{by}."
    if near:
        overlap = f"the intervals of {join_words(map(code, near))} overlap"
        if len(near) == 1:
            overlap = f"the interval of {code(near[0])} overlaps"
        return f"{lead}{by}; {overlap} with its own: this log does not tell them apart."
    return (
        f"{lead}{by}; the next, {code(others[0]['policy'])}, would gain {tight(others[0])}, "
        "and their intervals do not overlap."
    )


def caption(estimates: pl.DataFrame) -> str:
    """How to read the figure."""
    says = "Estimated gain with its 95% interval, by each method, a panel for each budget."
    if estimates["refused"].is_not_null().any():
        says += " Where a method refuses there is no point; the table says why."
    return says


def tight(row: Mapping[str, Any]) -> str:
    """An estimate with half its interval, on one line."""
    return keep_on_line(format_gain(row["estimate"], row["high"]))
