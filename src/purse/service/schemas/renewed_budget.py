"""When a budget is renewed, as it is sent to the service."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from purse.campaign import defaults
from purse.service.schemas.fields import MOST_NAME, Carry
from purse.service.schemas.known_fields import RequestModel


class RenewedBudget(RequestModel):
    """What the terms of campaigns and of accounts say of periods."""

    every: Annotated[
        str | None,
        Field(
            pattern=r"^(day|week|month|[1-9][0-9]{0,3}h)$",
            description="`day`, `week`, `month`, or hours such as `6h`: so often the budget is "
            "renewed, and a `horizon` begins again; null: never.",
        ),
    ] = None
    time_zone: Annotated[
        str,
        Field(max_length=MOST_NAME, description="Of days, weeks and months: `Europe/Berlin`."),
    ] = defaults.TIME_ZONE
    carry: Annotated[
        Carry,
        Field(
            description="What is kept at the end of a period of the money that is left: `none` "
            "or `all`."
        ),
    ] = defaults.CARRY
