"""The remark on the class G: players that try other arms when one cannot be paid."""

from __future__ import annotations

from purse.base.text import format_mean
from purse.lab.paper.finding import Finding, Table
from purse.lab.paper.runner import FIVE, Runner
from purse.lab.theory.estimate import estimate

ORDER = 80
TITLE = "The class G"
SAYS = (
    "Trying other arms when one cannot be paid changes the regret of an algorithm by at most "
    "a constant, K/c²."
)
COMMANDS = [
    f'purse lab simulate exp3.bwk -b 1e4 -w "{FIVE}" --stop retry',
    f'purse lab simulate exp3.bwk -b 1e4 -w "{FIVE}" --stop exit',
]
PLACES = {"five arms": (FIVE, 5, 0.3), "`misleading_ratio`": ("misleading_ratio", 2, 0.1)}


def study(runner: Runner) -> Finding:
    """Return the gain under `retry` less that under `exit`, path by path."""
    rows, fine = [], True
    for label, (world, n_arms, cost) in PLACES.items():
        for budget in runner.budgets(1e2, 1e3, 1e4, 1e5):
            ended, tried = (
                runner.runs("exp3.bwk", world, budget, 200, stop)["gain"].to_numpy()
                for stop in ("exit", "retry")
            )
            more = tried - ended
            change = estimate(more)
            fine &= bool(more.min() >= 0 and more.max() < 1 / cost)
            limits = [f"{more.max():.2f}", f"{1 / cost:.1f}", f"{n_arms / cost**2:.0f}"]
            mean = format_mean(change.mean, change.high, ".2f")
            rows.append([label, f"{budget:,.0f}", mean, *limits])
    return Finding(
        "true, and sharper: less than 1/c",
        "on every path `retry` gains between 0 and 1/c more than `exit`, at every budget",
        fine,
        [
            "When a pull cannot be paid, less than one unit of the budget is left (costs "
            "are at most 1), and it buys less than 1/c. Gain under "
            '`stop="retry"` less gain under `stop="exit"`, on the same draws:',
            Table(["instance", "B", "mean", "largest", "1/c", "K/c²"], rows),
        ],
    )
