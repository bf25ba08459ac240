"""What the service answers. Amounts are decimal text, one for each resource; times are seconds
since 1970.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from purse.service.schemas import examples

State = Literal["held", "told", "void", "presumed", "released", "skipped"]
AmountText = Annotated[str, Field(pattern=r"^-?[0-9]+(\.[0-9]{1,9})?$")]


class ResponseModel(BaseModel):
    """What all replies have in common."""

    model_config = ConfigDict(extra="forbid")


class Ticket(ResponseModel):
    """Permission to pull an arm."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.TICKET]})

    campaign: str
    id: int
    t: Annotated[int, Field(description="The round.")]
    arms: Annotated[list[str], Field(description="None where the round passes without a pull.")]
    probabilities: list[float]
    held: list[AmountText]
    state: State
    request_id: str | None
    asked_at: float
    deadline: float | None
    arm: Annotated[str | None, Field(description="The first of `arms`.")]
    probability: float


class Tickets(ResponseModel):
    """Several tickets."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"tickets": [examples.TICKET]}]})

    tickets: list[Ticket]


class Receipt(ResponseModel):
    """The answer to a report."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.RECEIPT]})

    ticket: int
    state: State
    duplicate: Annotated[
        bool, Field(description="The same was said before; it has no second effect.")
    ]
    late: Annotated[bool, Field(description="It came after the hold had expired or was voided.")]
    spent: list[AmountText]
    refunded: list[AmountText]
    overrun: Annotated[list[AmountText], Field(description="Above what was held.")]


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


class Purse(ResponseModel):
    """One resource."""

    resource: str
    budget: AmountText
    spent: AmountText
    held: AmountText
    presumed: AmountText
    left: AmountText
    overrun: AmountText


class Alarm(ResponseModel):
    """Something that a person should look at."""

    kind: str
    text: str


class Status(ResponseModel):
    """How a campaign stands."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.STATUS]})

    name: str
    status: Literal["running", "paused", "closed"]
    policy: str
    arms: list[str]
    plays: int
    rounds: int
    horizon: int | None
    counts: dict[str, int]
    purses: list[Purse]
    entries: Annotated[int, Field(description="The length of the journal.")]
    created_at: float
    changed_at: float
    overdue: Annotated[
        int, Field(description="Tickets past their deadline that no ask has expired yet.")
    ]
    oldest_held: float | None
    alarms: list[Alarm]
    promise: Annotated[
        str | None, Field(description="The weaker promise, where holds are released on expiry.")
    ]


class Names(ResponseModel):
    """The names of all campaigns."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"campaigns": ["prompts"]}]})

    campaigns: list[str]


class Entry(ResponseModel):
    """One line of the journal; amounts in it are whole numbers of units of 1e-9."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.ENTRY]})

    seq: int
    at: Annotated[int, Field(description="Milliseconds since 1970.")]
    kind: str
    request: str | None
    ticket: int | None
    body: dict[str, Any]


class Health(ResponseModel):
    """That the server is there."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "ok"}]})

    status: Literal["ok"]
