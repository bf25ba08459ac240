"""Alerts as they are sent to the service."""

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
