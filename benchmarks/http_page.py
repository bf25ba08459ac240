"""The part of the performance page on HTTP, from what was measured."""

from __future__ import annotations

from typing import Any

from benchmarks.tables import markdown_table, number

PACKAGES = ("purse", "starlette", "uvicorn", "uvloop", "httptools", "apsw")
BARE, HEALTH, PLAIN, OURS, LOCAL = (
    "a bare route, plain generator",
    "a health check, plain generator",
    "ask and tell, plain generator",
    "ask and tell, our client",
    "ask and tell, without HTTP",
)
CROWDS = (1, 8, 32)  # processes


def part(facts: dict[str, Any]) -> str:
    """Return the part of the page."""
    rows = facts["rows"]
    table = markdown_table(
        [
            "",
            "CPU in the service, ms",
            "CPU in the client, ms",
            *(f"pairs a second, {count} process{'es' * (count > 1)}" for count in CROWDS),
        ],
        [
            [
                row["what"],
                number(row["service_ms"]),
                number(row["client_ms"]),
                *map(number, row["pairs"].values()),
            ]
            for row in rows
            if row["what"] in (BARE, OURS)
        ],
    )
    versions = ", ".join(
        f"{name} {version}" for name, version in facts["machine"].items() if name in PACKAGES[1:]
    )
    return "\n\n".join(
        [
            "## HTTP",
            f"{versions}. Service and clients share the machine's {facts['machine']['cores']} "
            "cores. The bare route, one of Starlette, neither checks, stores nor logs anything. "
            "CPU time is that of one request.",
            table,
        ]
    )
