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


def usual_table(cpu: dict[str, Any]) -> str:
    """Every policy at the usual K, all that was measured of it."""
    rows = at(cpu, USUAL)
    counts = list(rows[0]["workers"])
    head = [
        "policy",
        "million rounds a second",
        "ns a round",
        "× C floor",
        "× own plain C",
        "× river",
        "× mabwiser",
        *(f"× with {n} workers" for n in counts),
    ]
    return markdown_table(
        [*head, "bytes a path", "ask and tell, µs"],
        [
            [
                f"`{row['policy']}`",
                number(row["rounds_per_second"] / 1e6),
                *(
                    number(row[key])
                    for key in ("nanoseconds", "floor", "plain", "river", "mabwiser")
                ),
                *(f"{row['workers'][n]:.2f}" for n in counts),
                number(row["bytes_per_path"]),
                number(cpu["ask_tell_microseconds"][row["policy"]]),
            ]
            for row in rows
        ],
    )


def arms_table(cpu: dict[str, Any]) -> str:
    """Return how a round grows with K, and how that compares with plain C of the same family."""
    found = {(row["policy"], row["arms"]): row for row in cpu["rows"]}
    order = [row["policy"] for row in at(cpu, USUAL)]
    head = [
        "policy",
        *(f"ns, K = {n:,}" for n in sizes(cpu)),
        "plain C of",
        *(f"× it, K = {n:,}" for n in sizes(cpu)),
    ]
    return markdown_table(
        head,
        [
            [
                f"`{policy}`",
                *(number(found.get((policy, n), {}).get("nanoseconds")) for n in sizes(cpu)),
                f"`{found[policy, USUAL]['family']}`",
                *(number(found.get((policy, n), {}).get("plain")) for n in sizes(cpu)),
            ]
            for policy in order
        ],
    )


def budget_table(cpu: dict[str, Any]) -> str:
    """Return how a round, and the memory of a path, grow with B."""
    found = {(row["policy"], row["budget"]): row for row in cpu["growth"]}
    budgets = sorted({row["budget"] for row in cpu["growth"]})
    return markdown_table(
        [
            "policy",
            *(f"ns, B = {b:,.0f}" for b in budgets),
            *(f"bytes a path, B = {b:,.0f}" for b in (budgets[0], budgets[-1])),
        ],
        [
            [
                f"`{policy}`",
                *(number(found[policy, b]["nanoseconds"]) for b in budgets),
                *(number(found[policy, b]["bytes_per_path"]) for b in (budgets[0], budgets[-1])),
            ]
            for policy in dict.fromkeys(row["policy"] for row in cpu["growth"])
        ],
    )


def rivals_table(cpu: dict[str, Any]) -> str:
    """Return what purse is held against, in nanoseconds a round, and whether plain C plays the same
    game.
    """
    found = {
        (rival["name"], rival["arms"]): 1e9 / rival["rounds_per_second"] for rival in cpu["rivals"]
    }
    checks = {f"C {check['policy']}": check for check in cpu["checks"]}
    return markdown_table(
        [
            "rival",
            *(f"ns, K = {n:,}" for n in sizes(cpu)),
            "mean gain",
            "purse's",
            "standard errors apart",
        ],
        [
            [
                name,
                *(number(found.get((name, n))) for n in sizes(cpu)),
                *(
                    number(checks[name][key]) if name in checks else ""
                    for key in ("plain_gain", "gain")
                ),
                f"{checks[name]['standard_errors_apart']:+.1f}" if name in checks else "",
            ]
            for name in dict.fromkeys(rival["name"] for rival in cpu["rivals"])
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


def asks_table(cpu: dict[str, Any]) -> str:
    """Return one ask and one tell, with masks and contexts."""
    return markdown_table(
        ["asked", "policy", "ask and tell, µs"],
        [[row["asked"], f"`{row['policy']}`", number(row["microseconds"])] for row in cpu["asks"]],
    )


def memory_table(cpu: dict[str, Any]) -> str:
    """Return the most memory that each process had."""
    rows = [[name, f"{number(megabytes)} MB"] for name, megabytes in cpu["memory"].items()]
    return markdown_table(["", "takes at most"], rows)


def gpu_table(cuda: dict[str, Any]) -> str:
    """Every policy that plays on the GPU."""
    return markdown_table(
        [
            "policy",
            "million rounds a second",
            "ns a round",
            "× C floor on one core",
            "× own plain C",
        ],
        [
            [
                f"`{row['policy']}`",
                number(row["rounds_per_second"] / 1e6),
                *(number(row[key]) for key in ("nanoseconds", "floor", "plain")),
            ]
            for row in at(cuda, USUAL)
        ],
    )
