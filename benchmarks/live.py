"""The part of the performance page on campaigns, from what was measured."""

from __future__ import annotations

from typing import Any

from benchmarks.tables import markdown_table, number

PURSE, ASKS, RDB, JOURNAL, FLOOR = (
    "purse",
    "purse, asks alone",
    "Optuna, database",
    "Optuna, journal file",
    "a plain file",
)
MANY = 32  # processes that a campaign should bear


def describe(row: dict[str, Any], batch: int) -> str:
    """Return who asks, in words."""
    processes, threads = row["processes"], row["threads"]
    words = f"{processes} process{'es' if processes > 1 else ''}"
    if threads > 1:
        words = f"{threads} threads" if processes == 1 else f"{words} of {threads} threads"
    if row.get("pause"):
        words += f", {row['pause']:g} s between calls"
    return f"{words}, {batch} at a time" if batch > 1 else words


def rate(facts: dict[str, Any], who: str, like: dict[str, Any]) -> float | None:
    """Pairs a second of a rival, at the same place with the same crowd."""
    keys = ("where", "processes", "threads", "batch", "pause")
    return next(
        (
            row["pairs_per_second"]
            for row in facts["rows"]
            if row["who"] == who and all(row.get(key) == like.get(key) for key in keys)
        ),
        None,
    )


def times(row: dict[str, Any], rival: float | None) -> str:
    """Return how many times as many pairs as a rival's."""
    return number(row["pairs_per_second"] / rival) if rival else ""


def pairs_table(facts: dict[str, Any]) -> str:
    """Every crowd, and Optuna if the same crowd asked it."""
    rows = [row for row in facts["rows"] if row["who"] == PURSE and not row.get("pause")]
    rivals = {id(row): (rate(facts, RDB, row), rate(facts, JOURNAL, row)) for row in rows}
    return markdown_table(
        [
            "campaign in",
            "asked by",
            "pairs a second",
            "median, ms",
            "99%, ms",
            "× Optuna, database",
            "× Optuna, journal file",
        ],
        [
            [
                row["where"],
                describe(row, row["batch"]),
                *(number(row[key]) for key in ("pairs_per_second", "median_ms", "p99_ms")),
                *(times(row, rival) for rival in rivals[id(row)]),
            ]
            for row in rows
        ],
    )


def recovery_table(facts: dict[str, Any]) -> str:
    """Seconds of the ways back to a long campaign."""
    return markdown_table(
        ["", "takes"],
        [[name, f"{seconds:.3g} s"] for name, seconds in facts["recovery"]["seconds"].items()],
    )


def in_short(facts: dict[str, Any]) -> list[str]:
    """Return a line for the head of the page."""
    many = [
        row
        for row in facts["rows"]
        if row["who"] == PURSE and row["processes"] == MANY and not row.get("pause")
    ]
    rates = "; ".join(
        f"{number(row['pairs_per_second'])} in {row['where']}, the 99% quickest within "
        f"{number(row['p99_ms'])} ms"
        for row in many
    )
    return [
        f"{MANY} processes that share a campaign and never pause get so many durable asks and "
        f"tells done in a second: {rates}."
    ]


def part(facts: dict[str, Any]) -> str:
    """Return the part of the page."""
    floor = next(row for row in facts["rows"] if row["who"] == FLOOR)
    alone = "; ".join(
        f"{row['where']}, {row['batch']:,} at a time: {number(row['asks_per_second'])}"
        for row in facts["rows"]
        if row["who"] == ASKS
    )
    postgres = facts["postgres"]
    versions = ", ".join(
        f"{name} {version}"
        for name, version in facts["machine"].items()
        if name in ("apsw", "psycopg", "optuna")
    )
    return "\n\n".join(
        [
            "## Campaigns",
            f"{versions}, PostgreSQL {postgres['server_version']} on the same machine. A pair is "
            "an ask and a tell of the default policy with five arms, each a transaction on disk "
            "before it is answered (SQLite with `synchronous=FULL`). Nobody pauses "
            f"for {facts['seconds']:g} seconds; ms are those of a pair, or of a batch, waiting for "
            "others included. Optuna asks, suggests one parameter at random, and tells.",
            pairs_table(facts),
            "To append two lines to a plain file, each on disk before the next, goes "
            f"{number(floor['pairs_per_second'])} times a second. Threads of a process and clients "
            "of the service share transactions; processes that open the database themselves take "
            f"turns. One process that only asks gets so many tickets a second: {alone}.",
            f"A campaign of {facts['recovery']['entries']:,} entries in SQLite, with the "
            "policy's machine code loaded:",
            recovery_table(facts),
        ]
    )
