"""What the service answers. Amounts are decimal text, one for each resource; times are seconds
since 1970.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from purse.campaign import journal, results
from purse.service.schemas import examples
from purse.service.schemas.from_results import Described


class ResponseModel(BaseModel):
    """What all replies have in common."""

    model_config = ConfigDict(extra="forbid")


Ticket = Annotated[
    results.CampaignTicket,
    Described(
        "Ticket",
        results.CampaignTicket,
        examples.TICKET,
        arm=Annotated[str | None, "The first of `arms`."],
        probability=float,
    ),
]
Receipt = Annotated[results.Receipt, Described("Receipt", results.Receipt, examples.RECEIPT)]
Purse = Annotated[results.BalanceStatus, Described("Purse", results.BalanceStatus)]
CoolingArm = Annotated[results.CoolingArm, Described("CoolingArm", results.CoolingArm)]
FeatureStatus = Annotated[results.FeatureStatus, Described("Feature", results.FeatureStatus)]
Period = Annotated[results.PeriodStatus, Described("Period", results.PeriodStatus)]
PERIOD = Annotated[Period | None, "Where the budget is renewed."]
Alarm = Annotated[results.Alarm, Described("Alarm", results.Alarm)]
Status = Annotated[
    results.Status,
    Described(
        "Status",
        results.Status,
        examples.STATUS,
        purses=tuple[Purse, ...],
        alarms=tuple[Alarm, ...],
        cooling=tuple[CoolingArm, ...],
        features=Annotated[
            tuple[FeatureStatus, ...],
            "The numbers of contexts so far; `counts` says how many were `clipped` to a range.",
        ],
        period=PERIOD,
    ),
]
Expired = Annotated[
    results.Status,
    Described(
        "Expired",
        results.Status,
        {**examples.STATUS, "expired": 1},
        purses=tuple[Purse, ...],
        alarms=tuple[Alarm, ...],
        cooling=tuple[CoolingArm, ...],
        features=tuple[FeatureStatus, ...],
        period=PERIOD,
        expired=Annotated[int, "The tickets that expired now."],
    ),
]
Audit = Annotated[
    results.Audit,
    Described(
        "Audit",
        results.Audit,
        examples.AUDIT,
        ok=Annotated[bool, "Whether nothing was found."],
    ),
]
Label = Annotated[results.LabelStatus, Described("Label", results.LabelStatus, examples.LABEL)]
Entry = Annotated[journal.Entry, Described("Entry", journal.Entry, examples.ENTRY)]


class Tickets(ResponseModel):
    """Several tickets."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"tickets": [examples.TICKET]}]})

    tickets: list[Ticket]


class Labels(ResponseModel):
    """The labels on which most was spent of the first resource, the largest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"labels": [examples.LABEL]}]})

    labels: list[Label]


class Probabilities(ResponseModel):
    """The probability of each arm in the next round."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"probabilities": examples.PROBABILITIES}]}
    )

    probabilities: dict[str, float]


class Problem(BaseModel):
    """Why a request was refused (RFC 9457)."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.PROBLEM]})

    type: Annotated[
        str, Field(description="`urn:purse:problem:` and a word that says which error this is.")
    ]
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: Annotated[
        str, Field(description="One line that names what is wrong and what is allowed.")
    ]
    errors: Annotated[
        list[dict[str, str]], Field(description="Each field that is wrong, where several may be.")
    ] = []
    seconds: Annotated[
        float | None, Field(description="Until an arm may be tried again, where all cool down.")
    ] = None


class Refused(ResponseModel):
    """A report that was not taken; the others of its request were."""

    ticket: int
    error: Problem


class Receipts(ResponseModel):
    """The answers to several reports, in their order."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"receipts": [examples.RECEIPT, {"ticket": 2, "error": examples.PROBLEM}]}]
        }
    )

    receipts: list[Receipt | Refused]


class Names(ResponseModel):
    """The names of all campaigns."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"campaigns": ["prompts"]}]})

    campaigns: list[str]


class Health(ResponseModel):
    """That the server is there."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "ok"}]})

    status: Literal["ok"]
