"""Dashed lines that lie on each other are drawn once, under all their names; every line has a
letter that stands at its end and in the key.
"""

from __future__ import annotations

from string import ascii_lowercase
from typing import TYPE_CHECKING

from purse.base.text import join_words

if TYPE_CHECKING:
    import polars as pl

NEAR = 0.02  # two lines coincide that differ by no more than this part at any budget


def merge_lines(known: pl.DataFrame, value: str) -> pl.DataFrame:
    """Return one line for all of a world that are about the same policy and coincide; the new
    column `letter` tells lines apart that have different names or policies, and `name` becomes the
    letter and all their names.
    """
    import polars as pl

    about = [name for name in ("policy", "side") if name in known.columns]
    parts: list[pl.DataFrame] = []
    for _, part in known.group_by(["world", *about], maintain_order=True):
        lines: list[list[pl.DataFrame]] = []
        for _, line in part.group_by(["name"], maintain_order=True):
            same = next((each for each in lines if coincide(each[0], line, value)), None)
            if same is None:
                lines.append([line])
            else:
                same.append(line)
        for each in lines:
            names = [line["name"][0] for line in each]
            parts.append(each[0].with_columns(name=pl.lit(join_words(names))))
    if not parts:
        return known.with_columns(letter=pl.lit("", pl.String))
    merged = pl.concat(parts)
    keys = ["name", *about[:1]]
    order = merged.select(keys).unique(maintain_order=True)
    letters = [ascii_lowercase[place % len(ascii_lowercase)] for place in range(order.height)]
    found = merged.join(order.with_columns(letter=pl.Series(letters)), keys, maintain_order="left")
    return found.with_columns(name=pl.col("letter") + " " + pl.col("name"))


def coincide(one: pl.DataFrame, two: pl.DataFrame, value: str) -> bool:
    """Return whether two lines have the same budgets, and nearly the same value at each."""
    if one["budget"].to_list() != two["budget"].to_list():
        return False
    pairs = zip(one[value], two[value], strict=True)
    return all(abs(a - b) <= NEAR * max(abs(a), abs(b)) for a, b in pairs)
