"""The files that keep the numbers, beside the page that is written from them, of the last CPU and
the last GPU that measured, of campaigns, of the policy `replan`, of contexts, and of HTTP.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "performance.md"
CPU, GPU, CAMPAIGNS, REPLAN, CONTEXTS, HTTP = (
    DOCS / "performance" / f"{name}.json"
    for name in ("cpu", "gpu", "campaigns", "replan", "contexts", "http")
)
SHARES = DOCS / "contexts" / "shares.json"  # what policies gain with contexts


def save(path: Path, facts: dict[str, Any]) -> None:
    """Write the facts, four digits of each number, an entry of a list on a line of its own."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        "{\n"
        + ",\n".join(f"{json.dumps(name)}: {text(value)}" for name, value in rounded(facts).items())
        + "\n}\n"
    )


def load(path: Path) -> dict[str, Any] | None:
    """Return the facts, or None if nothing was measured."""
    return json.loads(path.read_text()) if path.is_file() else None


def text(value: Any) -> str:
    """JSON that people can compare line by line."""
    return (
        "[\n" + ",\n".join(map(json.dumps, value)) + "\n]"
        if isinstance(value, list)
        else json.dumps(value)
    )


def rounded(value: Any) -> Any:
    """Return the same with four digits of each number that is not whole."""
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value
