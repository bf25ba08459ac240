"""The tables of the performance page, from stored numbers."""

from __future__ import annotations

from typing import Any

from benchmarks.families import FLOOR
from benchmarks.instance import USUAL
from benchmarks.rivals import RIVER

PLANNED, RIVAL = "replan", "primal-dual-bwk"
RUNS_OUT = {1: "one resource", 2: "one resource and a horizon", 3: "two resources and a horizon"}
LINEAR = "lin-ucb.price"


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


def some(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the quickest policies, the slowest, and those of the paper and the default."""
    named = ("exp3.bwk", FLOOR, PLANNED)
    few = [row["policy"] for row in (*rows[:5], *rows[-5:])]
    return [row for row in rows if row["policy"] in (*few, *named)]


def policies_table(cpu: dict[str, Any], cuda: dict[str, Any] | None) -> str:
    """Return a row for some policies: a round, beside plain C of its family and a GPU."""
    rows = {(row["policy"], row["arms"]): row for row in cpu["rows"]}
    on_gpu = {row["policy"]: row for row in (cuda or {}).get("rows", ())}
    shown = [USUAL]
    return markdown_table(
        [
            "policy",
            *(f"ns, K = {n:,}" for n in shown),
            f"× plain C, K = {USUAL}",
            *(["ns on the GPU"] if cuda else []),
        ],
        [
            [
                f"`{row['policy']}`",
                *(number(rows[row["policy"], n]["nanoseconds"]) for n in shown),
                number(row["plain"]),
                *([number(on_gpu.get(row["policy"], {}).get("nanoseconds"))] if cuda else []),
            ]
            for row in some(at(cpu, USUAL))
        ],
    )


def waits_table(cpu: dict[str, Any]) -> str:
    """Return the table of waits: commands, and asks and tells."""
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


def memory_sentence(cpu: dict[str, Any]) -> str:
    """Return the most memory that each process had."""
    rows = [[name, f"{number(megabytes)} MB"] for name, megabytes in cpu["memory"].items()]
    return "; ".join(f"{name}: {most}" for name, most in rows) + "."


def plans_part(facts: dict[str, Any], cuda: dict[str, Any] | None) -> str:
    """Return the section on `replan`, by what runs out: times, ratios, and times on a GPU."""
    lead = (
        f"In every round `{PLANNED}` solves a linear program with D rows, one for each thing that "
        "runs out. Plain C solves it with a dense tableau, and D is a constant in it."
    )
    on_gpu = {row["limits"]: row["nanoseconds"] for row in (cuda or {}).get(PLANNED, ())}
    head = ["D", "K", "ns a round", "× plain C", f"× `{RIVAL}`"]
    rows = []
    for row in facts["rows"]:
        if row["arms"] != USUAL:
            continue
        cells = [f"{row['limits']}: {RUNS_OUT[row['limits']]}", f"{row['arms']:,}"]
        cells.append(number(row[PLANNED]))
        for rival in ("plain", RIVAL):
            cells.append(number(row[rival] / row[PLANNED] if row[rival] else None))
        if on_gpu:
            cells.append(number(on_gpu.get(row["limits"]) if row["arms"] == USUAL else None))
        rows.append(cells)
    table = markdown_table([*head, *(["ns on the GPU"] if on_gpu else [])], rows)
    return f"## `{PLANNED}`, by what runs out\n\n{lead}\n\n{table}"


def contexts_part(facts: dict[str, Any]) -> str:
    """Return the section on `lin-ucb.price`, by the numbers of a context, with the others."""
    lead = (
        f"`{LINEAR}` keeps a regression of each arm on the n numbers of a context, its constant "
        "among them, so that a round takes O(K n²)."
    )
    times = ", ".join(
        f"{number(row[LINEAR])} with K = {row['arms']} and n = {row['numbers']}"
        for row in facts["rows"]
    )
    title = f"## `{LINEAR}`, by the numbers of a context"
    return f"{title}\n\n{lead} It takes {times} ns."
