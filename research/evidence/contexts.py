"""What contexts are worth, and what each policy gets of it: `python -m research.evidence.contexts`.

All parts take about fifteen minutes on one core; with names of parts it measures these alone. Needs
the group `evidence`. Numbers go to docs/contexts/shares.json, and the page beside them is written
from that file and nothing else: no number in it is typed.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import click
import numpy as np

from benchmarks import record
from benchmarks.instance import say
from benchmarks.tables import markdown_table
from purse.cli import execute
from purse.lab.theory.contexts import HINDSIGHT, LINEAR, WITH, lp_with_contexts, optima
from purse.lab.theory.growth import slope
from research.commands import quick_option
from research.evidence import context_games as games
from research.evidence import context_maps

BLIND, CLASSES = "replan", "classes.resolve"
LARGEST = "the dearest arm's largest cost"


class Effort(NamedTuple):
    """How much is measured."""

    policies: tuple[str, ...] = (
        *("lin-ucb.price", "lin-ts.price", "lin-ucb.resolve", "square-cbwk", "lin-cbwk"),
        BLIND,
    )
    paths: int = 20
    rounds: int = 10_000
    horizons: tuple[int, ...] = (1_000, 4_000, 16_000, 64_000)
    data_sets: tuple[str, ...] = tuple(context_maps.GAMES)
    splits: int = context_maps.SPLITS


QUICK = Effort(("lin-ucb.price", BLIND), 2, 200, (100, 200), ("wine",), 2)


def references(game: games.Game, budget: Any) -> dict[str, float]:
    """Return the gains of players who know the means, by name."""
    values = optima(game.informed, budget)
    if game.informed.tables.shuffle:  # recorded rows: the mean of a row says all of it
        values[HINDSIGHT] = values.pop(WITH)
    if game.world.n_features == 0:
        del values[LINEAR]
    return values


def shares(game: games.Game, effort: Effort, more: Sequence[str] = ()) -> dict[str, Any]:
    """Return the mean gain of each player with each budget as a share of the game's optimum."""
    budgets, rows, error = game.budgets(), dict[str, list[float]](), 0.0
    values = [references(game, budget) for budget in budgets.values()]
    best = [game.optimum(game.informed, budget) for budget in budgets.values()]
    for name in values[0]:
        rows[name] = [value[name] / whole for value, whole in zip(values, best, strict=True)]
    for policy in (*effort.policies, *more):
        rows[policy] = []
        for budget, whole in zip(budgets.values(), best, strict=True):
            parts = games.gains(policy, game.world, budget, effort.paths) / whole
            rows[policy].append(float(parts.mean()))
            error = max(error, float(parts.std(ddof=1)) / effort.paths**0.5)
        say(f"{game.title}: {policy} {np.round(rows[policy], 3)}")
    rows = {name: row for name, row in rows.items() if np.ptp([1, *row]) > 0}  # the optimum itself
    return {"title": game.title, "budgets": list(budgets), "rows": rows, "error": error}


def prompts(effort: Effort) -> list[dict[str, Any]]:
    """Return the shares on both files of recorded answers, by features."""
    return [
        shares(game, effort, [CLASSES] if name == "sources" else [])
        for part in ("test_holdout", "val")
        for name, game in games.routing(part).items()
    ]


def growth(effort: Effort) -> list[dict[str, Any]]:
    """Return regret against the LP with contexts at each horizon, and its exponent."""
    rows = []
    for policy in effort.policies:
        regrets = []
        for horizon in effort.horizons:
            game = games.synthetic("linear_contexts", horizon)
            budget = round(0.2 * game.dearest, 9)
            gain = games.gains(policy, game.world, budget, effort.paths).mean()
            regrets.append(lp_with_contexts(game.world, budget) - gain)
        exponent = slope(np.array(effort.horizons, np.float64), np.array([regrets]))[0]
        rows.append({"policy": policy, "regrets": regrets, "exponent": float(exponent)})
        say(f"growth: {policy} {np.round(regrets)} {exponent:.2f}")
    return rows


SHOWN = ("7 calls", "2%", "5%", "20%")  # budgets on the page; the file has all

PARTS: dict[str, Callable[[Effort], Any]] = {
    "linear": lambda effort: shares(games.synthetic("linear_contexts", effort.rounds), effort),
    "logistic": lambda effort: shares(games.synthetic("logistic_contexts", effort.rounds), effort),
    "digits": lambda effort: shares(games.digits(), effort),
    "prompts": prompts,
    "growth": growth,
    "resources": lambda effort: shares(games.two_resources(horizon=effort.rounds), effort),
    "maps": lambda effort: context_maps.measure(effort.data_sets, effort.splits),
}


def markdown(facts: dict[str, Any]) -> str:
    sources = facts["prompts"][1]
    parts = [
        "# Contexts, measured",
        "What policies gain if there are [contexts](../contexts.md), as shares of an optimum, with "
        "budgets that are parts of what the dearest arm costs in all rounds, or so many times "
        f"{LARGEST} (“calls”).\n"
        "`python -m research.evidence.contexts` measures all of it, and more that is only in "
        "[shares.json](shares.json); a share is the mean of 20 paths, and `replan` is blind.",
        "## Synthetic worlds",
        "Shares of the LP with contexts, T = 10,000.\n"
        "In `linear_contexts` means are linear; in `logistic_contexts` no linear policy fits.",
        table(facts["linear"]),
        table(facts["logistic"]),
        "## Specialists on digits",
        "`examples/digit_specialists.py`: shares of the LP *without* contexts, T = 2,691, 12 "
        "features.\nA share above 1 is what contexts are worth.",
        table(facts["digits"]),
        "## LLM routing",
        "Recorded answers of three models, as on the page [LLM routing](../llm-routing.md): shares "
        "of the LP *without* contexts.\n"
        "A context is the source of a prompt, as one of 30 classes, fitted on another file.",
        table(sources),
        "## Growth of regret",
        "Regret against the LP with contexts on `linear_contexts` with a budget of 20%, and its "
        "exponent in T.",
        markdown_table(
            ["", "T = 1,000", "4,000", "16,000", "64,000", "exponent"],
            [
                [
                    named(row["policy"]),
                    *(f"{regret:,.0f}" for regret in row["regrets"]),
                    f"{row['exponent']:.2f}",
                ]
                for row in facts["growth"]
            ],
        ),
        "## Fourier maps and warm starts",
        f"Shares of the hindsight optimum over {context_maps.SPLITS} splits of data sets of "
        "scikit-learn and, the last two, of river, with standard errors of at most "
        f"{largest_error(facts['maps']):.2f}; an arm is a class (on digits a specialist), and pays "
        "1 if it is right.\n"
        f"`warm` is a policy with a prior from a log of half of the rows, at most "
        f"{context_maps.LONGEST_LOG:,}; a fixed price of money is the best of "
        f"{len(context_maps.PRICES)} in hindsight.",
        *(maps_table(facts["maps"], index) for index in range(len(context_maps.PARTS))),
    ]
    return "\n\n".join(parts) + "\n"


def largest_error(games: list[dict[str, Any]]) -> float:
    """Return the largest standard error of the shares on data sets."""
    return max(error for game in games for errors in game["errors"].values() for error in errors)


def maps_table(games: list[dict[str, Any]], index: int) -> str:
    """Return the shares of all data sets with one of the budgets."""
    players = games[0]["rows"]
    rows = [[name, *(f"{game['rows'][name][index]:.3f}" for game in games)] for name in players]
    part = f"{100 * context_maps.PARTS[index]:.0f}%"
    return markdown_table([part, *(game["title"] for game in games)], rows)


def named(player: str) -> str:
    """Return a player as the pages write it: policies in code."""
    return player if " " in player else f"`{player}`"


def table(facts: dict[str, Any]) -> str:
    """Return the table of shares by budget."""
    title, budgets = facts["title"], facts["budgets"]
    shown = [place for place, budget in enumerate(budgets) if budget in SHOWN]
    return markdown_table(
        [
            title if " " in title or title == "digits" else f"`{title}`",
            *(budgets[place] for place in shown),
        ],
        [
            [named(player), *(f"{shares[place]:.3f}" for place in shown)]
            for player, shares in facts["rows"].items()
        ],
    )


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice(list(PARTS)))
@quick_option
def main(parts: tuple[str, ...], quick: bool) -> None:
    """Measure the parts that are named, or all, and write the page; a quick one is not written."""
    facts: dict[str, Any] = {} if quick else record.load(record.SHARES) or {}
    for name in parts or PARTS:
        facts[name] = PARTS[name](QUICK if quick else Effort())
        if not quick:
            record.save(record.SHARES, facts)
    if quick:
        say(f"measured: {', '.join(facts)}")
    elif set(PARTS) <= set(facts):
        # rounded, as the page shows it
        page = markdown(record.rounded(facts))
        record.SHARES.with_name("measured.md").write_text(page)


if __name__ == "__main__":
    execute(main, "python -m research.evidence.contexts")
