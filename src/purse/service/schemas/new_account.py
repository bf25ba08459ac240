"""The terms of an account as they are sent to the service."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from purse.campaign import defaults
from purse.service.schemas import examples
from purse.service.schemas.fields import NAME, Amounts, Resources
from purse.service.schemas.renewed_budget import RenewedBudget


class NewAccount(RenewedBudget):
    """The terms of a new account."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.CREATE_ACCOUNT]})

    name: Annotated[
        str, Field(pattern=NAME, description="No other account and no campaign has it.")
    ]
    budget: Annotated[
        Amounts, Field(description="One amount, or one for each resource, as a list or by name.")
    ]
    resources: Annotated[
        Resources, Field(description="What is spent; all that is below it has the same.")
    ] = list(defaults.RESOURCES)  # noqa: RUF012 - pydantic copies it
    account: Annotated[
        str | None,
        Field(
            pattern=NAME,
            description="The account above it, which has none above itself; null: none.",
        ),
    ] = None
    exist_ok: Annotated[
        bool,
        Field(
            description="Take the account of this name where there is one that was created with "
            "the same values; so a creation can be sent again."
        ),
    ] = False
