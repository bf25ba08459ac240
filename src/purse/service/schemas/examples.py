"""One campaign that the documentation of the API tells about."""

from __future__ import annotations

from typing import Any

import orjson

from purse.base.json import compact
from purse.base.recommendation import Recommendation
from purse.campaign.account_results import AccountStatus
from purse.campaign.make_results import COUNTS
from purse.campaign.results import BalanceStatus, CampaignTicket, LabelStatus, Receipt, Status
from purse.theory.identification import recommend

ASKED_AT, DEADLINE = 1767225600.0, 1767229200.0


def as_json(
    result: AccountStatus | CampaignTicket | LabelStatus | Receipt | Status | Recommendation,
) -> dict[str, Any]:
    """A result as the service sends it."""
    return dict(orjson.loads(compact(result.as_dict())))


CREATE: dict[str, Any] = {
    "name": "prompts",
    "arms": {"large": "0.05", "small": "0.01"},
    "budget": "25",
    "cost_min": "0.0001",
    "resources": ["USD"],
    "policy": "replan",
    "expires_after": 3600,
    "cooldown": 1,
    "capacity": 3,
}
CREATE_ACCOUNT: dict[str, Any] = {"name": "team-a", "budget": "500", "resources": ["USD"]}
ASK: dict[str, Any] = {
    "request_id": "question-17",
    "n": 1,
    "arms": {"large": "0.02", "small": "0.01"},
    "labels": {"tenant": "acme"},
}
ASK_WITH_CONTEXT: dict[str, Any] = {
    "request_id": "question-18",
    "context": {"length": 812, "source": "chat"},
}
FEATURES: dict[str, Any] = {
    "length": {"low": 0, "high": 8000, "optional": False},
    "source": {"classes": ["chat", "code"]},
}
REPORT: dict[str, Any] = {"ticket": 1, "reward": 0.93, "cost": "0.0021"}
NEW_ARM: dict[str, Any] = {"name": "medium", "cost_min": "0.0001", "cost_max": "0.03"}
CHANGED_ARM: dict[str, Any] = {"name": "medium", "cost_max": "0.02"}
RETIRED_ARM: dict[str, Any] = {"name": "medium"}
PROBABILITIES: dict[str, Any] = {"large": 0.00004, "small": 0.99996}
TOP_UP: dict[str, Any] = {"amount": "10", "request_id": "invoice-3"}
TICKET = as_json(
    CampaignTicket(
        campaign="prompts",
        id=1,
        t=1,
        arm="small",
        probability=0.9999724118418812,
        held=("0.01",),
        state="held",
        request_id="question-17",
        asked_at=ASKED_AT,
        deadline=DEADLINE,
    )
)
LABEL = as_json(
    LabelStatus(
        key="tenant",
        value="acme",
        tickets=1,
        spent=("0.0021",),
        held=("0",),
        presumed=("0",),
        overrun=("0",),
    )
)
RECEIPT = as_json(
    Receipt(
        ticket=1,
        state="told",
        duplicate=False,
        late=False,
        spent=("0.0021",),
        refunded=("0.0079",),
        overrun=("0",),
    )
)
STATUS = as_json(
    Status(
        name="prompts",
        status="running",
        policy="replan",
        arms=("large", "small"),
        rounds=1,
        horizon=None,
        counts={**dict.fromkeys(COUNTS, 0), "tickets": 1, "told": 1},
        purses=(
            BalanceStatus(
                resource="USD",
                budget="25",
                spent="0.0021",
                held="0",
                presumed="0",
                left="24.9979",
                overrun="0",
            ),
        ),
        entries=3,
        digest="9a7959ce01ba443482bf8b5fa17af2e2",
        created_at=ASKED_AT,
        changed_at=ASKED_AT,
        overdue=0,
        oldest_held=None,
        alarms=(),
        labels=("tenant",),
    )
)
ACCOUNT = as_json(
    AccountStatus(
        name="team-a",
        status="running",
        account="",
        purses=(
            BalanceStatus(
                resource="USD",
                budget="500",
                spent="0",
                held="0",
                presumed="0",
                left="500",
                overrun="0",
            ),
        ),
        entries=1,
        digest="9a7959ce01ba443482bf8b5fa17af2e2",
        created_at=ASKED_AT,
        changed_at=ASKED_AT,
        alarms=(),
    )
)
ACCOUNT_ENTRY: dict[str, Any] = {
    "seq": 2,
    "at": 1767225600000,
    "kind": "topped_up",
    "request": "november",
    "ticket": None,
    "body": {"units": [5000000000]},
}
# after the report above
RECOMMENDATION = as_json(
    recommend(
        ["large", "small"],
        [0, 1],
        [0.0, 0.93],
        [0.0, 0.0021],
        cost_min=0.0001,
        cost_max=[0.05, 0.01],
        n_arms=3,
        resource="USD",
    )
)
AUDIT: dict[str, Any] = {
    "entries": 3,
    "findings": [],
    "digest": "d9387f52ddad155417612c58fbd14fe2",
    "after": 0,
    "notes": [],
    "ok": True,
}
ENTRY: dict[str, Any] = {
    "seq": 3,
    "at": 1767225600000,
    "kind": "told",
    "request": None,
    "ticket": 1,
    "body": {
        "t": 1, "arm": 0, "p": 1.0, "reward": 0.93, "costs": [2100000], "from": "held",
    },
}  # fmt: skip
ALERTS: dict[str, Any] = {"alerts": ["80%", "100%", "overrun"]}
PROBLEM: dict[str, Any] = {
    "type": "urn:purse:problem:conflict",
    "title": "The request conflicts with an earlier one",
    "status": 409,
    "detail": "ticket 1 was told before with another report: reward 0.93, cost 0.0021; the first "
    "report stands, this one is only recorded: reward 0.9, cost 0.5",
}
