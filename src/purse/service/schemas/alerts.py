"""Alerts and webhooks as they are sent to the service."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from purse.campaign.alert_rules import OF_ACCOUNTS, PERCENT, WORDS
from purse.service.schemas import examples
from purse.service.schemas.known_fields import RequestModel

RULE = "A percentage of a budget, from `1%` to `100%`, or a word."
AlertRule = Annotated[
    str, Field(pattern=f"^({PERCENT.pattern}|{'|'.join(WORDS)})$", description=RULE)
]
AccountRule = Annotated[
    str, Field(pattern=f"^({PERCENT.pattern}|{'|'.join(OF_ACCOUNTS)})$", description=RULE)
]
MOST_ALERTS = 103  # all there are


class Alerts(RequestModel):
    """The rules of the events that webhooks are told of, from now on."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.ALERTS]})

    alerts: Annotated[list[AlertRule], Field(max_length=MOST_ALERTS)]


class AccountAlerts(RequestModel):
    """The rules of the events of an account, from now on."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.ALERTS]})

    alerts: Annotated[list[AccountRule], Field(max_length=MOST_ALERTS)]


class WebhookWish(RequestModel):
    """An address that wants to be told of events. What is wrong with it is said without it."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.WEBHOOK_WISH]})

    url: Annotated[str, Field(description="Such as `https://hooks.example.com/purse`.")]
    secret: Annotated[
        str | None,
        Field(description="`whsec_` and 24 to 64 bytes in base64; null: a new one is made."),
    ] = None


class RemovedWebhook(RequestModel):
    """A webhook that is told of nothing more."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"id": examples.WEBHOOK["id"]}]})

    id: Annotated[str, Field(min_length=1, max_length=100)]
