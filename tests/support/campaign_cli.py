"""`purse campaign ...` as a user types it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from click.testing import Result

Run = Callable[..., Result]
Complaint = Callable[..., str]
NEW = (
    "new",
    "prompts",
    "--arm",
    "small=0.01",
    "--arm",
    "large=0.05",
    "--budget",
    "25",
    "--cost-min",
    "0.0001",
    "--policy",
    "primal-dual-bwk",
)


def data(result: Result) -> Any:
    return json.loads(result.stdout)
