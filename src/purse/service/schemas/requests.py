"""What is sent to the service, in bodies and in queries. Fields that are not known are refused."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field, model_validator

from purse.campaign.labels import LONGEST_KEY, LONGEST_VALUE, MOST_KEYS, MOST_LISTED
from purse.campaign.states import OPEN, STATES, TicketState
from purse.service.schemas import examples
from purse.service.schemas.fields import (
    LARGEST_ID,
    MOST,
    Amounts,
    Arms,
    Context,
    RequestId,
    Reward,
)
from purse.service.schemas.known_fields import KnownFields, RequestModel

MOST_ENTRIES = 10_000

AllowedArms = Annotated[
    Arms | None,
    Field(
        description="The arms that may be chosen: names, or an object of names and the most that "
        "this call of each may cost, which is then held; null: all arms."
    ),
]

GivenContext = Annotated[
    Context | None,
    Field(
        description="The values of the features, by name or in order, where the campaign has "
        "features."
    ),
]


class Ask(RequestModel):
    """A wish for tickets."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [examples.ASK, examples.ASK_WITH_CONTEXT]}
    )

    request_id: Annotated[
        RequestId | None,
        Field(description="The same again gets the same tickets, and no second hold."),
    ] = None
    n: Annotated[
        int, Field(ge=1, le=MOST, description="As many as fit, at least one, are given out.")
    ] = 1
    arms: AllowedArms = None
    context: GivenContext = None
    contexts: Annotated[
        list[Context] | None,
        Field(
            min_length=1,
            max_length=MOST,
            description="With `n` above 1 a context for each ticket, in order; tickets are given "
            "out for the first of them.",
        ),
    ] = None

    labels: Annotated[
        dict[str, str] | None,
        Field(
            description="What the call is for, the same for all tickets. Keys of at most "
            f"{LONGEST_KEY} characters without an equals sign, at most {MOST_KEYS} in a campaign; "
            f"values of at most {LONGEST_VALUE} characters. They stay in the journal."
        ),
    ] = None

    @model_validator(mode="after")
    def one_form(self) -> Ask:
        """Refuse one context for several tickets, and both forms at once."""
        if self.context is not None and (self.contexts is not None or self.n > 1):
            raise ValueError("must have `contexts`, one for each ticket, where `n` is above 1")
        return self


class Look(RequestModel):
    """A wish for probabilities."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"arms": examples.ASK["arms"]},
                {"context": examples.ASK_WITH_CONTEXT["context"]},
            ]
        }
    )

    arms: AllowedArms = None
    context: GivenContext = None


Gained = Annotated[
    Reward,
    Field(description="From 0 to 1, or in the campaign's range."),
]
Paid = Annotated[
    Amounts,
    Field(description="One amount; with several resources a list, or an object by resource."),
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
    reason: Annotated[
        str, Field(description="For people; the first 200 printable characters are kept.")
    ] = ""


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
    ] = list(OPEN)  # noqa: RUF012 - pydantic copies it
    limit: Annotated[int, Field(ge=1, le=MOST)] = MOST
    after: Annotated[
        int, Field(ge=0, le=LARGEST_ID, description="The ticket after which to begin.")
    ] = 0


class LabelQuery(KnownFields):
    """Which labels."""

    key: Annotated[
        str | None, Field(description="Only labels with this key; with any without it.")
    ] = None
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 100
