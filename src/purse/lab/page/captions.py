"""The fixed texts of pages: the titles of sections, and how to read figures and tables. Text is
Markdown.
"""

from collections.abc import Sequence

from purse.base.text import count_in_words, format_budget, join_words
from purse.lab.page.frames import FAR, MOST_ARMS, MOST_RUNS
from purse.lab.replay.log_result import THOROUGH, LogFacts
from purse.lab.study.manifest import Recording, StudyFacts
from purse.lab.study.standings import ORDERS

TITLES = {
    "players": "The policies and the arms",
    "regret": "Regret",
    "gain": "Gain",
    "estimates": "Estimated gain",
    "left": "What was left of the budget",
    "shares": "Which arms were pulled",
    "runs": "From run to run",
    "growth": "How regret grows with the budget",
    "arms": "What the log knows of each arm",
    "choices": "What each choice gains and costs",
}
LABELS = {
    "regret": "Regret against the budget",
    "gain": "Gain against the budget",
    "estimates": "Estimated gain",
    "left": "Part of the budget left",
    "shares": "Share of each arm's pulls over the budget",
    "runs": "Single runs",
    "growth": "Slope of log regret against log budget",
    "savings": "What money would have bought",
}
INTERVAL = "Bands and thick lines are 95% confidence intervals of the mean."
FIGURES = {
    "regret": "Mean regret at each budget; of several budgets both axes are logarithmic. Dashed "
    "and upright lines are bounds from theorems, in the colour or the row of the policy that they "
    "are about, or across all. Hollow points at the lower edge are too small for a logarithmic "
    "axis, or not above zero; the table has their values.",
    "gain": "Mean gain; with several budgets for each unit of the budget, so that budgets can be "
    "compared. Dashed lines are references.",
    "left": "What the runs had not spent when they ended, on average, as a part of the budget. "
    "What is left earns nothing.",
    "shares": "How the pulls were divided among the arms while the largest budget was spent, its "
    f"first unit on the left, its last on the right. Of many arms the {MOST_ARMS} most pulled ones "
    "of a world have their own colour.",
    "runs": f"Single runs at the largest budget as ticks, of more than {MOST_RUNS} as many, evenly "
    "by rank; the bar holds the middle half, the line 90% of them, the gap in the bar is the "
    "median. If the axis is logarithmic, runs that are not positive lie on its left edge.",
    "growth": "The slope of a straight line through log regret against log budget, with its 95% "
    "interval (a bootstrap over runs): 0.5 is growth like √B, 1 like B.",
    "estimates": "Estimated gain with its 95% interval, a panel for each budget, in the order of "
    "the tables. A player who is refused is left out; below the tables it says why.",
    "savings": "The most that money buys in as many rounds as the log has, with one arm or two in "
    "fixed shares; the band widens for the choice among them. Points are the log itself, what is "
    "named, and `replan`, which knows nothing beforehand.",
}
TABLE_GAIN = (
    "Mean gain, a panel for each budget. Grey are the references: diamonds were played, upright "
    f"marks are computed; the dashed line is the LP. Of many arms alone, the {MOST_ARMS} that gain "
    "most are drawn."
)
REGRET = (
    "Regret is how much more the best single arm would have gained on the same draws; less "
    "is better."
)
SHARES = (
    "Mean gain at the largest budget as a share of the optimum: what the best arm gains alone or, "
    "if it is known and larger, the optimum of the linear program. More than 100% is possible if "
    "the world changes: the policy changes arms, the best arm alone does not."
)
BOLD = (
    "Bold: no other policy is better beyond the 95% interval of the difference on the same draws."
)
REGRETS = (
    "Mean regret over the runs ± half its 95% interval. Bold: the least of its column, and all "
    "that are not worse beyond the 95% interval of the difference on the same draws. Nothing is "
    "bold where nobody can learn."
)
SINGLE = "Regret of the single run; the least of each column is bold."
GROWTH = (
    "Slope: of log regret against log budget; none where a mean regret is not positive. Shape: of "
    "a + b f(B) with f one of log B, log² B, √B and B, the one that misses least, and by how much "
    "(relative error, root mean square). Few budgets suggest a shape and prove none."
)
OPTIMUM = (
    "Regret against the LP with contexts ± half its 95% interval, and in brackets the share of it "
    "that was gained. The LP with contexts is what nobody exceeds on average by more than one "
    "reward; the LP without contexts is the same for those who do not see contexts; the best "
    "linear policy was fitted to the true means. References are grey."
)
PLAYERS = "`purse policies NAME` explains a policy, `purse lab worlds NAME` a world."
ARMS = (
    "Mean reward and mean cost of a pull, reward per cost, and what the arm gains when it is "
    "pulled alone until the budget is spent. The best arm alone is bold. If a world changes, "
    "the means are those of the arm's own game with the largest budget."
)
GAINS = (
    "Mean gain over the orders, with half its 95% interval if the order makes a difference; its "
    "share of the LP optimum, without contexts if there are any; what was spent, and how many "
    "rounds had a pull. Less: than the best policy in the same orders. The ± of a lead is two "
    "standard errors over the rows. References are grey; the largest gain of a policy is bold. Of "
    "the arms, the cheapest has the least mean cost; the largest reward a pull is the largest mean "
    "reward, whatever it costs."
)
ESTIMATES = (
    "Estimated gain ± half its 95% interval, and the effective sample size behind it; then "
    "the rounds of a game, what it spends, and how much less it gains than the best, in the same "
    "logs drawn again. The largest estimate is bold. References are grey: each arm alone in every "
    "round, and what the log itself gained, its rows in their order until the budget was spent. "
    "If there is no number, a list says why."
)
LOG_ARMS = (
    "Effective sample size: as many rows of equal weight tell as much. Mean reward and "
    "cost are weighted by 1/probability. The sum of 1/probability "
    "over all rounds is 1 on average where the probabilities are the true ones; the last "
    "column says how many standard errors it is from there."
)
_GAIN = f"Gain is the sum of rewards, in the unit of the data; more is better. {ORDERS}"
_LP = (
    "The {name} is what a player can expect who knows the mean reward and the mean cost of "
    "every arm, does not see a round before choosing, and keeps to the budget on average."
)
_CONTEXTS = (
    " Policies that see contexts may gain more than that. The best linear policy and the LP with "
    "contexts bound what these could learn; where every round has a context of its own, the latter "
    "is the hindsight optimum."
)
TELLS = (
    "A log has one arm a round; what the others would have returned nobody saw. So gains are "
    "estimated, and the 95% intervals hold what this log leaves open as well as chance in play. "
    "About arms that it hardly knows it tells nothing: such estimates are refused."
)
_NO_CHANCE = " {one} tells nothing about chance: there are no intervals on this page."
ASSUMPTIONS = (
    "**Rounds are alike**, and none touches the next: no trend, no season, and what was "
    "pulled does not change what later pulls return.",
    "**The probabilities are the true ones**, those that the arms were chosen with, and "
    "no arm that matters had probability 0.",
)
BLIND = "**Policies see no context**: nothing about a round before they choose."
SEEING = (
    "**Policies see the features** of a round before they choose, if they see contexts, and no "
    "more. Then a round whose logged arm the policy does not choose is no round, "
    "and the rounds that are left are those of the game."
)
UNMET = {
    "fails": "its condition does not hold",
    "far": f"more than {FAR} times above all that was measured",
    "order": "gives the order of growth and no constant",
    "no curve": "has no curve",
}

SAVED = "For as many rounds as the log has; no game is simulated but that of `replan`."
SAVINGS = (
    "**What is named** gains nearly as much as the log by estimate, and beyond chance half as much "
    "less again; of all that do, it costs least. One arm, or two in steps of 5%.",
    "**Chance** is how much 20 blocks of consecutive rows differ (jackknife, Student's t), so that "
    "good and bad days count; sessions stay whole if a column names them.",
    "**Three unseen rows** of each arm with the worst reward, and of the log with the best, widen "
    "intervals: what is rare may not have happened yet.",
    "**Who picks among many** is often only lucky: t is that of .05 divided by the pairs of arms.",
)


def study_summary(facts: StudyFacts, n_games: int) -> str:
    """Write the question of a study."""
    sizes = sorted(facts.budgets)
    span = f"a budget of {format_budget(sizes[0])}"
    if len(sizes) > 1:
        ends = f"{format_budget(sizes[0])} to {format_budget(sizes[-1])}"
        span = f"{count_in_words(len(sizes), 'budget')} from {ends}"
    late = f", delay {facts.delay}" if facts.delay else ""
    runs = count_in_words(facts.n_paths, "run") + (" each" if n_games > facts.n_paths else "")
    says = (
        f"{count_in_words(len(facts.policies), 'policy', 'policies').capitalize()} on "
        f"{count_in_words(len(facts.worlds), 'world')} with {span}, {runs}: "
        f"{count_in_words(n_games, 'game')} in all, where every policy meets the same draws "
        f"(seed {facts.seed}, stop rule {facts.stop}{late}). {REGRET}"
    )
    return says + (_NO_CHANCE.format(one="One run") if facts.n_paths == 1 else "")


def table_summary(facts: StudyFacts, replay: Recording, lp_name: str) -> str:
    """Write the question of a table's replay."""
    rounds = f"{replay.rounds:,} rounds"
    if replay.horizon != replay.rounds:
        rounds = f"{replay.horizon:,} of {rounds}"
    says = (
        f"{count_in_words(len(facts.policies), 'policy', 'policies').capitalize()} on "
        f"{rounds} of {count_in_words(len(replay.arms), 'arm')} with {_budgets(facts.budgets)}, in "
        f"{count_in_words(facts.n_paths, 'random order')} of the rounds, "
        f"the same for every policy (seed {facts.seed}, stop rule {facts.stop}). "
        f"{_GAIN} {_LP.format(name=lp_name)}{_CONTEXTS if replay.features else ''}"
    )
    if 1 < facts.n_paths < THOROUGH:
        says += f" `thorough` (--thorough) plays {THOROUGH:,} orders."
    return says + (_NO_CHANCE.format(one="One order") if facts.n_paths == 1 else "")


def log_summary(facts: LogFacts) -> str:
    """Write the question of a log's replay."""
    replay, horizon = facts.replay, " and no limit on rounds"
    if replay.horizon is not None:
        horizon = f" and at most {count_in_words(replay.horizon, 'round')}"
    return (
        f"What {count_in_words(len(facts.policies), 'policy', 'policies')} would have gained with "
        f"{_budgets(facts.budgets)}{horizon}, estimated "
        f"from {replay.rounds:,} logged rounds of {count_in_words(len(replay.arms), 'arm')} "
        f"({facts.n_paths:,} simulated games, seed {facts.seed}, stop rule {facts.stop})."
    )


def _budgets(budgets: Sequence[float]) -> str:
    sizes = [format_budget(budget) for budget in sorted(budgets)]
    return f"{'a budget' if len(sizes) == 1 else 'budgets'} of {join_words(sizes)}"
