"""What is sent for an audit."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from purse.service.schemas.fields import LARGEST_ID
from purse.service.schemas.known_fields import RequestModel

MOST_ACKNOWLEDGED = 100_000


class Noted(RequestModel):
    """Length and digest of a journal, as an earlier status had them."""

    entries: Annotated[int, Field(ge=0, le=LARGEST_ID)]
    digest: Annotated[str, Field(max_length=64)]


class AuditWish(RequestModel):
    """How much of a campaign is checked, and against what."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"full": True}]})

    full: Annotated[
        bool,
        Field(
            description="Begin at the first entry and compare every ticket, instead of what has "
            "changed since the last audit that found nothing."
        ),
    ] = False
    acknowledged: Annotated[
        list[Annotated[int, Field(ge=1, le=LARGEST_ID)]],
        Field(max_length=MOST_ACKNOWLEDGED, description="Tickets whose reports were acknowledged."),
    ] = []  # noqa: RUF012 - pydantic copies it
    noted: Annotated[
        Noted | None, Field(description="`entries` and `digest` of an earlier status.")
    ] = None
