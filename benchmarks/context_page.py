"""The page on what contexts are worth, written from what `benchmarks.contexts` measured and nothing
else: no number in it is typed.
"""

from __future__ import annotations

from typing import Any

from benchmarks import context_maps
from benchmarks.tables import markdown_table

LARGEST = "the dearest arm's largest cost"


def markdown(facts: dict[str, Any]) -> str:
    """Return the page."""
    test, val = facts["prompts"][:3], facts["prompts"][3:]
    parts = [
        "# Contexts, measured",
        "What policies gain where there are [contexts](../contexts.md), as shares of an optimum.\n"
        "`python -m benchmarks.contexts` measures all of it and writes this page; it needs the "
        "group `examples`.",
        "Budgets are parts of what the dearest arm costs in all rounds, or so many times "
        f"{LARGEST} (“calls”): then there is hardly any money.\n"
        "A share is the mean of 20 paths; the stop rule is `retry`.\n"
        "`replan` is blind: it does not see the contexts.\n"
        "`lin-cbwk` has the radius of theory.",
        "## Synthetic worlds",
        "Shares of the LP with contexts, T = 10,000.\n"
        "In `linear_contexts` (5 arms, 4 features) means are linear; in `logistic_contexts` (4 "
        "arms, 5 features) they are not, so that no linear policy fits.",
        table(facts["linear"]),
        table(facts["logistic"]),
        "## Specialists on digits",
        "`examples/digit_specialists.py`: shares of the LP *without* contexts, T = 2,691, 12 "
        "features.\nA share above 1 is what contexts are worth.",
        table(facts["digits"]),
        "## LLM routing",
        "Recorded answers of three models, as on the page [LLM routing](../llm-routing.md): shares "
        "of the LP *without* contexts.\n"
        "Sources are 30 one-hot columns; text is 24 numbers from the prompt's words and shape, "
        "without a model of language.\n"
        "Both are fitted on the other file, and no reward is looked at.",
        *map(table, test),
        "The same with the two files exchanged:",
        *map(table, val),
        "## Twenty random worlds",
        "`linear_contexts` with 2 to 8 arms and features, costs over two decades, and budgets of 3 "
        "to 60%, T = 5,000: shares of the LP with contexts, 4 paths each.",
        markdown_table(
            ["", "mean", "worst"],
            [
                [named(row["player"]), f"{row['mean']:.3f}", f"{row['worst']:.3f}"]
                for row in facts["worlds"]
            ],
        ),
        "## Growth of regret",
        "Regret against the LP with contexts on `linear_contexts` with a budget of 20%, and its "
        "exponent in T.",
        markdown_table(
            ["", "T = 1,000", "4,000", "16,000", "64,000", "exponent"],
            [
                [
                    named(row["policy"]),
                    *(f"{each:,.0f}" for each in row["regrets"]),
                    f"{row['exponent']:.2f}",
                ]
                for row in facts["growth"]
            ],
        ),
        "## Money alone",
        "`linear_contexts` without a horizon, by the budget: no round may pass, and the optimum is "
        "the largest reward per cost over all maps from contexts to arms.",
        table(facts["money"]),
        "## Two resources",
        "The arms of `linear_contexts` with a second resource, of which there is 0.35 a round: "
        "shares of the LP with contexts.",
        table(facts["resources"]),
        "## A context of each arm",
        "Eight arms, each with three numbers of its own, such as offers whose quality and price "
        "are guessed beforehand: shares of the LP with contexts.",
        table(facts["own"]),
        "## Fourier maps and warm starts",
        f"Data sets of scikit-learn and, the last two, of river; an arm is a class (on digits a "
        "specialist), and pays 1 if it is right.\n"
        f"Shares of the hindsight optimum ± standard errors over {context_maps.SPLITS} splits.\n"
        f"In each split half of the rows, at most {context_maps.LONGEST_LOG:,}, are a log of arms "
        f"chosen uniformly, and the rest is the game, in {context_maps.ORDERS} orders.\n"
        "`warm` is a policy with a prior from that log.\n"
        "A fixed price of money is what other libraries need: LinUCB learns r − price · c.\n"
        f"The price is the best of {len(context_maps.PRICES)}, known in hindsight for each budget, "
        "half of it, or twice.",
        *(maps_table(facts["maps"], place) for place in range(len(context_maps.PARTS))),
    ]
    return "\n\n".join(parts) + "\n"


def maps_table(games: list[dict[str, Any]], place: int) -> str:
    """Shares of all data sets with one budget."""
    part = f"{100 * context_maps.PARTS[place]:.0f}%"
    return markdown_table(
        [part, *(game["title"] for game in games)],
        [
            *(
                [name, *(f"{game[fact]:,}" for game in games)]
                for name, fact in (
                    ("rounds of the game", "rounds"),
                    ("rows of the log", "log"),
                    ("arms", "arms"),
                    ("numbers", "numbers"),
                )
            ),
            *(
                [
                    player,
                    *(
                        f"{game['rows'][player][place]:.3f} ± {game['errors'][player][place]:.3f}"
                        for game in games
                    ),
                ]
                for player in games[0]["rows"]
            ),
        ],
    )


def named(player: str) -> str:
    """Return a player as the pages write it: policies in code."""
    return player if " " in player else f"`{player}`"


def table(facts: dict[str, Any]) -> str:
    """Shares by budget."""
    title = facts["title"]
    return markdown_table(
        [title if " " in title or title == "digits" else f"`{title}`", *facts["budgets"]],
        [
            [named(player), *(f"{share:.3f}" for share in shares)]
            for player, shares in facts["rows"].items()
        ],
    )
