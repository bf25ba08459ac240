"""What the report of a log's replay says in words: what was asked, which policy is estimated best,
how sure that is, and what it rests on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from purse.base.text import count_in_words, format_budget, format_gain, join_words, keep_on_line
from purse.lab.report.log_standings import FIRST, budgets_of, methods_of, quoted
from purse.lab.report.prose.study import code

if TYPE_CHECKING:
    import polars as pl

    from purse.lab.report.data import LogFacts

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
THOROUGH = 1_000  # logs from which on nothing is said about more
METHODS = {
    "replay": "Plays the logged rounds themselves, each at most once in a game. Unbiased; refused "
    "where a game needs more rounds of an arm than there are.",
    "ips": "Plays a world estimated from the log; mean rewards by inverse probabilities. "
    "Unbiased for the mean, suffers where an arm came unusually often.",
    "snips": "The same with weights that add up to one: the one to look at first.",
    "dr": "The same with plain averages, corrected by the weights (doubly robust).",
}
QUOTED = {
    "replay": "plays the logged rounds themselves (the method `replay`)",
    "ips": "weighs every logged round by one over its probability (the method `ips`)",
    "snips": "weighs the logged rounds of an arm by one over their probability (the method "
    "`snips`)",
    "dr": "corrects the average of an arm by one over the probabilities (the method `dr`)",
}


def assumptions(facts: LogFacts) -> tuple[str, ...]:
    """Return what the estimates rest on."""
    return (*ASSUMPTIONS, SEEING if facts.replay.features else BLIND)


def summary(facts: LogFacts, methods: Sequence[str]) -> str:
    """Return what was asked of which log."""
    replay, sizes = facts.replay, join_words(map(format_budget, sorted(facts.budgets)))
    horizon = " and no limit on rounds"
    if replay.horizon is not None:
        horizon = f" and at most {count_in_words(replay.horizon, 'round')}"
    by = FIRST if FIRST in methods else methods[0]
    return (
        f"What {count_in_words(len(facts.policies), 'policy', 'policies')} would have gained with "
        f"{'a budget' if len(facts.budgets) == 1 else 'budgets'} of {sizes}{horizon}, estimated "
        f"from {replay.rounds:,} logged rounds of {count_in_words(len(replay.arms), 'arm')} "
        f"({facts.n_paths:,} simulated games, seed {facts.seed}, stop rule {facts.stop}). {TELLS} "
        f"The estimate that is quoted {QUOTED[by]}. {precision(facts)}"
    )


def precision(facts: LogFacts) -> str:
    """Return how sure the intervals are, and how to be surer."""
    n = facts.replicates
    wide = f"{1.96 / (2 * (n - 1)) ** 0.5:.0%}"
    says = (
        f"The 95% intervals are from {n:,} logs drawn again from this one, so that their widths "
        f"are known to about {wide}."
    )
    return says if n >= THOROUGH else f"{says} `--thorough` draws more, and plays more games."


def findings(estimates: pl.DataFrame) -> dict[str, str]:
    """For each budget what to buy."""
    return {
        f"B = {format_budget(budget)}": finding(estimates.filter(budget=budget))
        for budget in budgets_of(estimates)
    }


def finding(here: pl.DataFrame) -> str:
    """Return the player that is estimated best, a policy or an arm alone, and how the others stand
    to it; then what the log itself gained, and which estimates are missing or doubtful.
    """
    import polars as pl

    players = quoted(here)
    answered = [row for row in players if not row["refused"]]
    by_kind = {
        kind: [row for row in answered if row["kind"] == kind] for kind in ("policy", "arm", "log")
    }
    silent = [row["policy"] for row in players if row["refused"] and row["kind"] == "policy"]
    says = []
    if answered:
        says.append(lead(answered, by_kind))
        says += [against(answered[0], rows, kind) for kind, rows in by_kind.items() if rows]
    if silent:
        every = len(silent) == sum(row["kind"] == "policy" for row in players) > 1
        who = "any policy" if every else join_words(map(code, silent))
        says.append(f"About {who} this log can tell nothing: every method refuses.")
    known = here.filter(pl.col("refused").is_null())
    split = [row["policy"] for row in players if apart(known.filter(policy=row["policy"]))]
    if split:
        says.append(
            "The methods differ by more than their intervals for "
            f"{join_words(map(code, split))}: a sign that an assumption does not hold."
        )
    return " ".join(each for each in says if each)


def lead(answered: list[dict[str, Any]], by_kind: Mapping[str, list[dict[str, Any]]]) -> str:
    """Return what is estimated best of all."""
    best = answered[0]
    amount = f"**{tight(best)}**{method_of(best)}"
    if not by_kind["policy"] and not by_kind["arm"]:
        return f"**This log is too small to tell**: as logged, the budget gained {amount}."
    if all(row["rounds"] == 0 for row in answered):
        return "**The budget pays for no pull**: nothing can be bought with it."
    if best["estimate"] < 0:
        return f"**Buy nothing**: the least that is lost is {amount}, by {code(best['policy'])}."
    others = [row for row in answered if row is not best and row["kind"] != "log"]
    if by_kind["arm"] and others and all(row["high"] >= best["low"] for row in others):
        return (
            f"**The log cannot tell what is best**: {code(best['policy'])} has the largest "
            f"estimate, {amount}, and all policies and arms lie within the intervals."
        )
    if best["kind"] == "arm":
        arm = code(best["policy"].removeprefix("always "))
        return f"**Buy {arm} in every round**: it is estimated to gain {amount}."
    if best["kind"] == "log":
        return f"**Nothing here beats what was done**: as logged, the budget gained {amount}."
    if len(answered) == 1:
        return f"{code(best['policy'])} is estimated to gain {amount}."
    return f"**{code(best['policy'])} is estimated best**: it gains {amount}."


def against(best: Mapping[str, Any], rows: list[dict[str, Any]], kind: str) -> str:
    """Return how the policies, the arms alone or the log itself stand to the best of all."""
    others = [row for row in rows if row is not best]
    if not others:
        return ""
    first = others[0]
    if kind == "log":
        return f"As logged, the budget gained {tight(first)}."
    near = [row["policy"] for row in others if row["high"] >= best["low"]]
    name = code(first["policy"].removeprefix("always "))
    if kind == "arm":
        subject = "The best arm alone" if best["kind"] != "arm" else "The next arm"
        verdict = "less, beyond the intervals"
        if near:
            verdict = "the intervals overlap, and this log does not tell them apart"
        return f"{subject}, {name}, gains {tight(first)}: {verdict}."
    if best["kind"] == "policy":
        if not near:
            return f"The next policy, {name}, gains {tight(first)}: less, beyond the intervals."
        overlap = f"the intervals of {join_words(map(code, near))} overlap"
        if len(near) == 1:
            overlap = f"the interval of {code(near[0])} overlaps"
        return (
            f"The next policy, {name}, gains {tight(first)}; {overlap} with its own: this log does "
            "not tell them apart."
        )
    which = "the policy" if len(rows) == 1 else "the best of the policies"
    verdict = "less, beyond the intervals"
    if near:
        verdict = "the intervals overlap, and this log does not tell them apart"
    return f"{which.capitalize()}, {name}, gains {tight(first)}: {verdict}."


def method_of(row: Mapping[str, Any]) -> str:
    """Return the method of an estimate, where it is not the one that is quoted elsewhere."""
    return "" if row["method"] == FIRST or row["kind"] == "log" else f" (by `{row['method']}`)"


def apart(answers: pl.DataFrame) -> bool:
    """Return whether the intervals of two methods do not overlap."""
    if answers.is_empty():
        return False
    return bool(answers["low"].max() > answers["high"].min())  # type: ignore[operator]


def caption(estimates: pl.DataFrame) -> str:
    """Return how to read the figure."""
    methods = methods_of(estimates)
    says = (
        "Estimated gain with its 95% interval, a panel for each budget, in the order of the tables."
    )
    if len(methods) > 1:
        says += f" A row has, from top to bottom, {join_words(map(code, methods))}."
    if estimates["refused"].is_not_null().any():
        says += " Where a method refuses there is no point; below the tables it says why."
    return says


def tight(row: Mapping[str, Any]) -> str:
    """Return an estimate with half its interval, on one line."""
    return keep_on_line(format_gain(row["estimate"], row["high"]))
