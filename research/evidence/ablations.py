"""`python -m research.evidence.ablations`: what each part of `replan` is worth, and what late
reports cost.

It plays all suites with one part changed at a time, on the same draws, and writes a page of the
documentation. Finished parts are kept in `purse-results/ablations`: an interrupted run continues.
"""

from pathlib import Path

import click
import numpy as np

import purse
from benchmarks.tables import markdown_table
from purse.base.files import write_text
from purse.cli import execute
from purse.lab.theory.estimate import estimate
from research.commands import quick_option
from research.leaderboard.case import Case
from research.leaderboard.leaderboard import leaderboard
from research.leaderboard.scores import Leaderboard
from research.leaderboard.suites import SUITES

PAGE = Path("docs/leaderboard/parts-of-replan.md")
FOLDER = Path("purse-results/ablations")
VARIANTS = {
    "`replan`": "replan",
    "no change test": "replan:change=0",
    "change test with threshold 3": "replan:change=3",
    "no fading before a change is found": "replan:fade=0",
    "twice the fading": "replan:fade=0.5",
    "no looks": "replan:looks=0",
    "four times the looks": "replan:looks=0.2",
    "no round passes": "replan:skip=0",
    "half of the optimism": "replan:scale=0.25",
    "twice the optimism": "replan:scale=1",
    "`primal-dual-bwk`": "primal-dual-bwk",
}
OPEN_TICKETS = (1, 10, 100)
LATE = ("easy gaps", "fifty arms", "small least cost", "routing")
LATE_BUDGET = 500.0  # at most: with more money a delay costs less
LATE_PATHS, QUICK_PATHS = 200, 4


def percent(values: np.ndarray) -> str:
    """Return a mean with its 95% interval, in percent."""
    gain = estimate(values)
    return f"{100 * gain.mean:.1f} ± {100 * (gain.high - gain.low) / 2:.1f}"


def mean_over(board: Leaderboard, policy: str, cases: list[Case]) -> str:
    """Return the mean score over cases, each counted once, with its 95% interval, in percent."""
    means = [
        estimate(board.scores[policy, case.name])
        for case in cases
        if (policy, case.name) in board.scores
    ]
    if len(means) < len(cases):
        return "–"
    half = 1.96 * float(np.sqrt(sum(score.error**2 for score in means))) / len(means)
    return f"{100 * float(np.mean([score.mean for score in means])):.1f} ± {100 * half:.1f}"


def variants_table(boards: list[Leaderboard]) -> str:
    """Return a row for each variant: the mean of each suite."""
    head = ["", *(f"suite {board.suite}" for board in boards)]
    rows = [
        [label, *(mean_over(board, policy, list(board.cases)) for board in boards)]
        for label, policy in VARIANTS.items()
    ]
    return markdown_table(head, rows)


def late_table(policies: tuple[str, ...], paths: int) -> str:
    """Return the share of the gain without delay that is left with these open tickets."""
    rows = []
    for case in SUITES["1"]:
        if case.name in LATE:
            budget = min(LATE_BUDGET, case.budget) if isinstance(case.budget, float) else 0.0
            row = [f"{case.name}, B = {budget:g}"]
            for policy in policies:
                for n_open in OPEN_TICKETS:
                    row.append(late_share(policy, case, budget, n_open, paths))
            rows.append(row)
    head = ["", *(f"`{policy}`, {n_open} open" for policy in policies for n_open in OPEN_TICKETS)]
    return markdown_table(head, rows)


def late_share(policy: str, case: Case, budget: float, n_open: int, paths: int) -> str:
    """Return the gain as a part of that of the best arm alone, with its 95% interval, in %."""
    world = purse.worlds.make(case.world, budget)
    best = purse.simulate("oracle", world, budget, n_paths=paths, seed=1, stop="hold")
    run = purse.simulate(
        policy, world, budget, n_paths=paths, seed=1, stop="hold", delay=n_open - 1
    )
    return percent(run.gain / best.gain.mean())


def page(boards: list[Leaderboard], paths: int) -> str:
    return (
        "\n\n".join(
            [
                "# What each part of replan is worth",
                "[`replan`](../policies/replan.md) has several parts, and each can be turned off.\n"
                "The numbers are mean normalised regrets in percent with 95% intervals, on the "
                "same draws for all; 0 is the optimum.\n"
                "`python -m research.evidence.ablations` renews this page.",
                variants_table(boards),
                "## Late reports",
                "The gain as a part of what the oracle gains without delay, in percent, under stop "
                "rule `hold`, where the report on an ask comes after so many further asks that as "
                f"many tickets are open, over {paths} paths.",
                late_table(("replan", "primal-dual-bwk"), paths),
            ]
        )
        + "\n"
    )


@click.command()
@quick_option
def main(quick: bool) -> None:
    """Play and write the page; a quick one, of the first suite, is printed."""
    if quick:
        print(page([leaderboard(list(VARIANTS.values()), quick=True)], QUICK_PATHS))
        return
    boards = [leaderboard(list(VARIANTS.values()), suite=suite, folder=FOLDER) for suite in SUITES]
    write_text(PAGE, page(boards, LATE_PATHS))
    print(f"Written to {PAGE}")


if __name__ == "__main__":
    execute(main, "python -m research.evidence.ablations")
