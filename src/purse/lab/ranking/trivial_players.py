"""The default beside two players that learn nothing: the cheapest arm alone, and the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from purse import policies
from purse.base.text import MISSING, format_known, write_markdown_table

if TYPE_CHECKING:
    from purse.lab.ranking.record import Record


class Share(NamedTuple):
    """The gain of a policy on a case, as parts of the gains of two arms alone."""

    case: str
    cheapest: float | None  # of the cheapest arm's gain; None if that is 0
    best: float | None  # of the best arm's gain


def shares(record: Record, policy: str) -> list[Share]:
    """Return the shares of a policy on every case that it plays."""
    rows = []
    for case, alone in record.alone.items():
        score = record.mean_score(policy, case)
        if score is not None:
            rows.append(Share(case, *((1 - score) / gain if gain > 0 else None for gain in alone)))
    return rows


def smallest(rows: list[Share], player: str) -> str:
    """Return the smallest share of a player's gain and its case, as text."""
    values = [(value, row.case) for row in rows if (value := getattr(row, player)) is not None]
    value, case = min(values)
    return f"{value:.0%} ({case})"


def trivial_section(record: Record) -> list[str]:
    """Return the section that compares the default with arms alone, if it was played."""
    policy = policies.DEFAULT
    if policy not in record.policies or not record.alone:
        return []
    rows = shares(record, policy)
    return [
        "## Never much worse than trivial",
        f"What `{policy}`, the default, earns beside two players who learn nothing: one always "
        "pulls the arm with the smallest mean cost, the other the arm that turns out best.\n"
        "A user would have to know which arms these are.\n"
        f"The smallest shares are {smallest(rows, 'cheapest')} of the cheapest arm's gain and "
        f"{smallest(rows, 'best')} of the best arm's.\n"
        f"{MISSING}: that player earns nothing.",
        write_markdown_table(
            ["case", "share of the cheapest arm alone", "share of the best arm alone"],
            [
                [row.case, format_known(row.cheapest, ".0%"), format_known(row.best, ".0%")]
                for row in rows
            ],
            right=[1, 2],
        ),
    ]
