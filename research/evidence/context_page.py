"""The page on what contexts are worth, written from what `research.evidence.contexts` measured and
nothing else: no number in it is typed.
"""

from __future__ import annotations

from typing import Any

from benchmarks.tables import markdown_table
from research.evidence import context_maps

LARGEST = "the dearest arm's largest cost"


def markdown(facts: dict[str, Any]) -> str:
    """Return the page."""
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
                    *(f"{each:,.0f}" for each in row["regrets"]),
                    f"{row['exponent']:.2f}",
                ]
                for row in facts["growth"]
            ],
        ),
        "## Two resources",
        "The arms of `linear_contexts` with a second resource, of which there is 0.35 a round: "
        "shares of the LP with contexts.",
        table(facts["resources"]),
        "## Fourier maps and warm starts",
        f"Shares of the hindsight optimum ± standard errors over {context_maps.SPLITS} splits of "
        "data sets of scikit-learn and, the last two, of river; an arm is a class (on digits a "
        "specialist), and pays 1 if it is right.\n"
        f"`warm` is a policy with a prior from a log of half of the rows, at most "
        f"{context_maps.LONGEST_LOG:,}; a fixed price of money is the best of "
        f"{len(context_maps.PRICES)} in hindsight.",
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
