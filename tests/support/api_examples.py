"""The examples in the description of the API: what a service answers to a script of requests.

`python -m tests.support.api_examples` records them anew.
"""

import json
import re
import secrets
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

from purse.campaign.storage.connect import in_memory
from purse.service.openapi import document
from tests.support.paths import ROOT
from tests.support.service import service

FILE = ROOT / "src/purse/service/examples.json"
BEGUN = 1_767_225_600_000  # ms
AT, TEAM = "/campaigns/prompts", "/accounts/team-a"
SCRIPT: list[tuple[str, str, Any]] = [
    ("GET", "/healthz", None),
    ("GET", "/readyz", None),
    ("POST", "/accounts", {"name": "team-a", "budget": "500", "resources": ["USD"]}),
    (
        "POST",
        "/campaigns",
        {
            "name": "prompts",
            "arms": {"large": "0.05", "small": "0.01"},
            "budget": "25",
            "cost_min": "0.0001",
            "resources": ["USD"],
            "policy": "uniform",
            "expires_after": 3600,
            "cooldown": 1,
            "capacity": 3,
            "account": "team-a",
            "limits": {"tenant": "2.00"},
            "unlabelled": "allow",
        },
    ),
    ("GET", "/campaigns", None),
    ("GET", "/accounts", None),
    (
        "POST",
        f"{AT}/asks",
        {
            "request_id": "question-17",
            "arms": {"large": "0.02", "small": "0.01"},
            "labels": {"tenant": "acme"},
        },
    ),
    ("POST", f"{AT}/tickets/1/tell", {"reward": 0.93, "cost": "0.0021"}),
    ("POST", f"{AT}/asks", {"request_id": "batch-3", "n": 6}),
    ("GET", f"{AT}/tickets?state=held&limit=2", None),
    ("GET", f"{AT}/tickets/2", None),
    ("POST", f"{AT}/tickets/2/settle", {"cost": "0.0034"}),
    ("POST", f"{AT}/tickets/2/reward", {"reward": 0.5}),
    ("POST", f"{AT}/tickets/3/void", None),
    (
        "POST",
        f"{AT}/tells",
        {
            "reports": [
                {"ticket": 4, "reward": 0.8, "cost": "0.0019"},
                {"ticket": 1, "reward": 0.9, "cost": "0.5"},
            ]
        },
    ),
    ("POST", f"{AT}/tickets/5/fail", {"cost": 0, "reason": "429 rate limit"}),
    ("POST", f"{AT}/probabilities", {"arms": ["large", "small"]}),
    ("POST", f"{AT}/expire", None),
    ("GET", f"{AT}/labels?key=tenant", None),
    ("GET", f"{AT}/recommendation?by=ratio&confidence=0.9", None),
    ("GET", f"{AT}/certificate?confidence=0.9", None),
    ("POST", f"{AT}/arms", {"name": "medium", "cost_min": "0.0001", "cost_max": "0.03"}),
    ("POST", f"{AT}/arms/set", {"name": "medium", "cost_max": "0.02"}),
    ("POST", f"{AT}/arms/retire", {"name": "medium"}),
    ("POST", f"{AT}/alerts", {"alerts": ["80%", "100%", "overrun"]}),
    ("POST", f"{AT}/top-ups", {"amount": "10", "request_id": "invoice-3"}),
    ("POST", f"{AT}/budget", {"amount": "40", "request_id": "spring"}),
    ("POST", f"{AT}/charges", {"amount": "0.25", "note": "the bill", "request_id": "bill-3"}),
    ("POST", f"{AT}/limits", {"key": "tenant", "value": "acme", "amount": "5"}),
    ("POST", f"{AT}/hand-over", None),
    ("GET", AT, None),
    ("GET", f"{AT}/journal?after=7&limit=2", None),
    ("POST", f"{AT}/audit", {"full": True}),
    ("POST", f"{AT}/pause", None),
    ("POST", f"{AT}/resume", None),
    ("GET", "/metrics", None),
    ("POST", f"{AT}/end", None),
    ("POST", f"{TEAM}/top-ups", {"amount": "100", "request_id": "november"}),
    ("POST", f"{TEAM}/budget", {"amount": "700", "request_id": "december"}),
    ("POST", f"{TEAM}/charges", {"amount": "0.5", "note": "the bill", "request_id": "bill"}),
    ("POST", f"{TEAM}/alerts", {"alerts": ["50%"]}),
    ("GET", TEAM, None),
    ("GET", f"{TEAM}/journal?after=1", None),
    ("POST", f"{TEAM}/audit", None),
    ("POST", f"{TEAM}/pause", None),
    ("POST", f"{TEAM}/resume", None),
    ("POST", f"{TEAM}/end", None),
]


def operation_of(method: str, path: str) -> str:
    """What the description calls the operation of a request."""
    for known, methods in document()["paths"].items():
        pattern = re.sub(r"\{\w+\}", "[^/]+", known)
        if re.fullmatch(pattern, path.partition("?")[0]) and method.lower() in methods:
            return str(methods[method.lower()]["operationId"])
    raise AssertionError(f"{method} {path} is not in the description")


def recorded() -> dict[str, Any]:
    """Body and answer of the first request of each operation."""
    return dict(reversed(list(answers())))


def answers() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each operation with body and answer, from the last to the first. Times, numbers of tickets
    and digests are the same every time.
    """
    storage, found = in_memory(), []
    ticks = iter(range(BEGUN, BEGUN + 10**9, 10))
    with (
        patch.object(secrets, "token_hex", lambda n: "c0ffee00" * (n // 4)),
        patch("purse.campaign.ledger.entry.urandom", lambda n: bytes(range(n))),
    ):
        client = service(storage)
        storage.now = lambda: next(ticks)
        for method, path, body in SCRIPT:
            answer = client.request(method, path, **({} if body is None else {"json": body}))
            assert answer.status_code in (200, 201), f"{method} {path}: {answer.text}"
            kind = answer.headers["Content-Type"]
            facts: Any = answer.json() if kind == "application/json" else answer.text
            if path == "/metrics":
                facts = "".join(
                    line + "\n"
                    for line in facts.splitlines()
                    if line.startswith("purse_account_left{")
                )
            shown = {"body": body} if body else {}
            found.append((operation_of(method, path), {**shown, "answer": facts}))
    yield from reversed(found)


if __name__ == "__main__":
    FILE.write_text(json.dumps(recorded(), indent=1) + "\n")
