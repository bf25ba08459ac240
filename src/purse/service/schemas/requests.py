"""What is sent to the service, in bodies and in queries. Fields that are not known are refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from purse.campaign import defaults
from purse.campaign.read_terms import MOST_SECONDS
from purse.campaign.states import OPEN, STATES, TicketState
from purse.policies import DEFAULT
from purse.service.schemas import examples
from purse.service.schemas.fields import (
    LARGEST_ID,
    MOST,
    NAME,
    Amounts,
    Arms,
    Caps,
    PolicyName,
    RequestId,
    Rewards,
    Table,
)

MOST_RESOURCES = 100
MOST_ENTRIES = 10_000
MOST_UNKNOWN = 5  # fields that are listed one by one


class KnownFields(BaseModel):
    """What all queries and bodies have in common: fields that are not known are refused."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def few_unknown(cls, given: Any) -> Any:
        """Refuse very many fields at once: one error for each of 100,000 takes a second."""
        if isinstance(given, dict) and len(given) > len(cls.model_fields) + MOST_UNKNOWN:
            unknown = len(given) - sum(name in given for name in cls.model_fields)
            known = ", ".join(cls.model_fields)
            raise ValueError(f"must have no other fields than {known}; {unknown} are not known")
        return given


class RequestModel(KnownFields):
    """What all bodies have in common: nothing is guessed, text is no number."""

    model_config = ConfigDict(strict=True)


class NewCampaign(RequestModel):
    """The terms of a new campaign."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.CREATE]})

    name: Annotated[str, Field(pattern=NAME)]
    arms: Annotated[
        Arms,
        Field(
            description="Names, or an object of names and the most that a pull of each may cost."
        ),
    ]
    budget: Annotated[
        Amounts, Field(description="One amount, or one for each resource, as a list or by name.")
    ]
    cost_min: Annotated[
        Table,
        Field(
            description="What a pull costs at least: one amount, one for each arm, or one for each "
            "arm and resource."
        ),
    ]
    cost_max: Annotated[
        Table | None, Field(description="What a pull costs at most; left out where `arms` says it.")
    ] = None
    resources: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=200)]],
        Field(min_length=1, max_length=MOST_RESOURCES),
    ] = list(defaults.RESOURCES)
    plays: Annotated[int, Field(ge=1, le=MOST, description="Arms in each round.")] = 1
    horizon: Annotated[
        int | None,
        Field(ge=1, le=LARGEST_ID, description="The number of rounds, where there is one."),
    ] = None
    costs: Annotated[
        Table | None, Field(description="Known constant costs, for policies that use them.")
    ] = None
    caps: Annotated[
        Caps | None, Field(description="Pulls allowed per arm, for policies that keep to them.")
    ] = None
    policy: Annotated[
        PolicyName,
        Field(description="A name, with options: `exp3++.bwk:beta=1`. Policy files are refused."),
    ] = DEFAULT
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0
    expires_after: Annotated[
        float | None,
        Field(
            gt=0,
            le=MOST_SECONDS,
            allow_inf_nan=False,
            description="Seconds after which a ticket without a report counts as spent; "
            "null: never.",
        ),
    ] = defaults.EXPIRES_AFTER
    on_expiry: Annotated[
        Literal["presume", "release"],
        Field(description="`release` is a weaker promise: see `promise` in the status."),
    ] = "presume"


class Ask(RequestModel):
    """A wish for tickets."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.ASK]})

    request_id: Annotated[
        RequestId | None,
        Field(description="The same again gets the same tickets, and no second hold."),
    ] = None
    n: Annotated[
        int, Field(ge=1, le=MOST, description="As many as fit, at least one, are given out.")
    ] = 1


Gained = Annotated[Rewards, Field(description="From 0 to 1; a list with several plays.")]
Paid = Annotated[
    Table,
    Field(
        description="One amount; with several resources or plays a list, or an object by resource."
    ),
]


class Outcome(RequestModel):
    """What a ticket brought and cost."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{key: value for key, value in examples.REPORT.items() if key != "ticket"}]
        }
    )

    reward: Gained
    cost: Paid


class Settlement(RequestModel):
    """What a ticket cost; its reward comes later."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"cost": examples.REPORT["cost"]}]})

    cost: Paid


class Gain(RequestModel):
    """What a ticket brought."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"reward": examples.REPORT["reward"]}]}
    )

    reward: Gained


class Failure(RequestModel):
    """A call that did not work."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "429 rate limit"}]})

    cost: Paid = 0
    reason: Annotated[str, Field(max_length=200, description="For people.")] = ""


class Report(Outcome):
    """A result, and the ticket that it belongs to."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.REPORT]})

    ticket: Annotated[int, Field(ge=1, le=LARGEST_ID)]


class Reports(RequestModel):
    """Several reports, each of which stands alone."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reports": [examples.REPORT]}]})

    reports: Annotated[list[Report], Field(min_length=1, max_length=MOST)]


class TopUp(RequestModel):
    """An addition to the budget."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.TOP_UP]})

    amount: Annotated[
        Amounts,
        Field(description="One amount, or one for each resource, as a list or by name; positive."),
    ]
    request_id: Annotated[RequestId | None, Field(description="The same again adds nothing.")] = (
        None
    )


class JournalQuery(KnownFields):
    """Which part of a journal."""

    after: Annotated[
        int, Field(ge=0, le=LARGEST_ID, description="The entry after which to begin.")
    ] = 0
    limit: Annotated[int, Field(ge=1, le=MOST_ENTRIES)] = 1000


class TicketQuery(KnownFields):
    """Which tickets."""

    state: Annotated[
        list[TicketState],
        Field(
            max_length=len(STATES), description="May be repeated; those that are open without it."
        ),
    ] = list(OPEN)
    limit: Annotated[int, Field(ge=1, le=MOST)] = MOST
