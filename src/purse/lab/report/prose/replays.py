"""The words of the pages of replays: what was asked, and what the answer rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from purse.base.optional import pl
from purse.base.text import code, count_in_words, format_budget, join_words
from purse.lab.replay.log_words import FIRST, THOROUGH, methods_of, precision
from purse.lab.replay.table_words import ORDERS, lp_name
from purse.lab.report.prose.study import runs_that_ended

if TYPE_CHECKING:
    from purse.lab.replay.log_result import LogFacts
    from purse.lab.study.results import TableStudy

_GAIN = f"Gain is the sum of rewards, in the unit of the data; more is better. {ORDERS}"
_LP = (
    "The {name} is what a player can expect who knows the mean reward and the mean cost of "
    "every arm, does not see a round before choosing, and keeps to the budget on average."
)
_CONTEXTS = (
    "Policies that see contexts may gain more than that. The best linear policy and the LP with "
    "contexts bound what these could learn; where every round has a context of its own, the latter "
    "is the hindsight optimum."
)
_TELLS = (
    "A log has one arm a round; what the others would have returned nobody saw. So gains are "
    "estimated, and the 95% intervals hold what this log leaves open as well as chance in play. "
    "About arms that it hardly knows it tells nothing: such estimates are refused."
)
_ASSUMPTIONS = (
    "**Rounds are alike**, and none touches the next: no trend, no season, and what was "
    "pulled does not change what later pulls return.",
    "**The probabilities are the true ones**, those that the arms were chosen with, and "
    "no arm that matters had probability 0.",
)
_BLIND = "**Policies see no context**: nothing about a round before they choose."
_SEEING = (
    "**Policies see the features** of a round before they choose, if they see contexts, and no "
    "more. Then a round whose logged arm the policy does not choose is no round: `snips` has the "
    "rounds that are left, `ips` and `dr` credit the first one of each, `dr` with regressions of "
    "reward and cost on the features that have not seen the row."
)
METHODS = {
    "ips": "Plays a world estimated from the log; mean rewards by inverse probabilities. "
    "Unbiased for the mean, suffers where an arm came unusually often.",
    "snips": "The same with weights that add up to one: the one to look at first.",
    "dr": "The same with plain averages, corrected by the weights (doubly robust).",
}
_QUOTED = {
    "ips": "weighs every logged round by one over its probability (the method `ips`)",
    "snips": "weighs the logged rounds of an arm by one over their probability (the method "
    "`snips`)",
    "dr": "corrects the average of an arm by one over the probabilities (the method `dr`)",
}


def table_summary(study: TableStudy) -> str:
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
        f"{_GAIN} {_LP.format(name=lp_name(study))}"
    )
    if replay.features:
        says += f" {_CONTEXTS}"
    if 1 < facts.n_paths < THOROUGH:
        says += f" `thorough` (--thorough) plays {THOROUGH:,} orders."
    if facts.n_paths == 1:
        says += " One order tells nothing about chance: there are no intervals on this page."
    return says


def table_ended(study: TableStudy) -> list[str]:
    """Say whose runs came to the last round with money left."""
    return [
        f"The rounds ended before the budget did, in runs of {who}."
        for _, who in runs_that_ended(study)
    ]


def log_summary(facts: LogFacts, methods: Sequence[str]) -> str:
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
        f"({facts.n_paths:,} simulated games, seed {facts.seed}, stop rule {facts.stop}). {_TELLS} "
        f"The estimate that is quoted {_QUOTED[by]}. {precision(facts.replicates)}"
    )


def assumptions(facts: LogFacts) -> tuple[str, ...]:
    """Return what the estimates rest on."""
    return (*_ASSUMPTIONS, _SEEING if facts.replay.features else _BLIND)


def log_caption(estimates: pl.DataFrame) -> str:
    """Return how to read the figure."""
    methods = methods_of(estimates)
    says = (
        "Estimated gain with its 95% interval, a panel for each budget, in the order of the tables."
    )
    if len(methods) > 1:
        says += f" The method is {code(FIRST)} where it answers; the table has all of them."
    if estimates["refused"].is_not_null().any():
        says += (
            " A player about whom every method refuses is left out; below the tables it says why."
        )
    return says
