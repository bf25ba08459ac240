"""The tables of the performance page, from what was measured."""

from __future__ import annotations

from typing import Any

from benchmarks.instance import USUAL
from benchmarks.rivals import RIVER


def number(value: float | None) -> str:
    """Three digits, or whole thousands; nothing for None."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def markdown_table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table, numbers to the right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows))


def at(facts: dict[str, Any], n_arms: int) -> list[dict[str, Any]]:
    """Return the rows of one K, fastest first."""
    return sorted(
        (row for row in facts["rows"] if row["arms"] == n_arms), key=lambda row: row["nanoseconds"]
    )


def sizes(facts: dict[str, Any]) -> list[int]:
    """Return the K that were measured."""
    return sorted({row["arms"] for row in facts["rows"]})


def widest(facts: dict[str, Any]) -> int:
    """Return the largest K at which every policy was measured."""
    return max(n for n in sizes(facts) if len(at(facts, n)) == len(at(facts, USUAL)))


def policies_table(cpu: dict[str, Any], cuda: dict[str, Any] | None) -> str:
    """Every policy: how a round grows with K, plain C of its family, a GPU, memory."""
    found = {(row["policy"], row["arms"]): row for row in cpu["rows"]}
    there = {row["policy"]: row for row in (cuda or {}).get("rows", ())}
    shown = [n for n in sizes(cpu) if n <= widest(cpu)]
    return markdown_table(
        [
            "policy",
            *(f"ns, K = {n:,}" for n in shown),
            f"× plain C, K = {USUAL}",
            *(["ns on the GPU"] if cuda else []),
            "bytes a path",
        ],
        [
            [
                f"`{row['policy']}`",
                *(number(found[row["policy"], n]["nanoseconds"]) for n in shown),
                number(row["plain"]),
                *([number(there.get(row["policy"], {}).get("nanoseconds"))] if cuda else []),
                number(row["bytes_per_path"]),
            ]
            for row in at(cpu, USUAL)
        ],
    )


def waits_table(cpu: dict[str, Any]) -> str:
    """Return what one waits for."""
    live = cpu["ask_tell_microseconds"]
    river = next(
        (
            1e6 / rival["rounds_per_second"]
            for rival in cpu["rivals"]
            if (rival["name"], rival["arms"]) == (RIVER, USUAL)
        ),
        None,
    )
    rows = [[name, f"{seconds:.2f} s"] for name, seconds in cpu["startup"].items()]
    for word, policy in (
        ("quickest", min(live, key=lambda name: live[name])),
        ("slowest", max(live, key=lambda name: live[name])),
    ):
        rows.append([f"ask and tell, {word} policy (`{policy}`)", f"{number(live[policy])} µs"])
    return markdown_table(
        ["", "takes"], [*rows, [f"{RIVER}: pull and update", f"{number(river)} µs"]]
    )


def memory_table(cpu: dict[str, Any]) -> str:
    """Return the most memory that each process had."""
    rows = [[name, f"{number(megabytes)} MB"] for name, megabytes in cpu["memory"].items()]
    return markdown_table(["", "takes at most"], rows)
