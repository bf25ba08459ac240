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
    bare = next(row for row in rows if row["what"] == BARE)
    table = markdown_table(
        [
            "",
            "CPU in the service, ms",
            "CPU in the client, ms",
            *(
                heading
                for count in CROWDS
                for heading in (f"pairs a second, {count} process{'es' * (count > 1)}", "of bare")
            ),
        ],
        [
            [
                row["what"],
                number(row["service_ms"]),
                number(row["client_ms"]),
                *(
                    cell
                    for count, pairs in row["pairs"].items()
                    for cell in (number(pairs), f"{pairs / bare['pairs'][count]:.2f}")
                ),
            ]
            for row in rows
        ],
    )
    versions = ", ".join(
        f"{name} {version}" for name, version in facts["machine"].items() if name in PACKAGES[1:]
    )
    return "\n\n".join(
        [
            "## HTTP",
            f"`python -m benchmarks.http_service` measures this part alone; {versions}. Each "
            "request is sent after the answer to the last one; the processes that send share the "
            f"machine's {facts['machine']['cores']} cores with the service. A pair is an ask and a "
            "tell, each on disk in SQLite before it is answered. The bare route is one of "
            "Starlette in the same server: it reads the JSON of the same requests and answers with "
            "the same bodies, and neither checks, stores nor logs anything. The plain generator "
            "sends with Python's own library over connections that stay open. CPU time is that of "
            "one request, the least of several turns. Before it began "
            f"{number(facts['load_before'])} processes were busy.",
            table,
        ]
    )
