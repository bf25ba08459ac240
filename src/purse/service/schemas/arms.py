"""Arms that come and go, as they are sent to the service."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from purse.service.schemas import examples
from purse.service.schemas.fields import MOST_NAME, Amounts
from purse.service.schemas.known_fields import RequestModel

ArmName = Annotated[str, Field(min_length=1, max_length=MOST_NAME, description="The arm.")]


class RetiredArm(RequestModel):
    """An arm that is chosen no more."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.RETIRED_ARM]})

    name: ArmName


class ChangedArm(RequestModel):
    """An arm, and what it may cost from the next ask on."""

    model_config = ConfigDict(json_schema_extra={"examples": [examples.CHANGED_ARM]})

    name: ArmName
    cost_min: Annotated[
        Amounts | None,
        Field(description="The least that a pull costs, one amount for each resource."),
    ] = None
    cost_max: Annotated[
        Amounts | None,
        Field(description="The most that a pull costs, one amount for each resource."),
    ] = None


class NewArm(ChangedArm):
    """An arm that is new, or was retired; where costs are left out, they are the widest that the
    terms allow, or what they were.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [examples.NEW_ARM]})
