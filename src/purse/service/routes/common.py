"""What several routes share: path and header parameters, JSON replies."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Header, Path, Response

from purse.base.json import compact
from purse.campaign.results import Status
from purse.errors import InvalidInput
from purse.service.policy_files import without_folder
from purse.service.schemas.fields import NAME, REQUEST_ID

Name = Annotated[
    str,
    Path(
        pattern=NAME,
        description="The campaign.",
        openapi_examples={"prompts": {"value": "prompts"}},
    ),
]


Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=REQUEST_ID,
        description="The same as `request_id` in the body; one of them is enough.",
        openapi_examples={"question-17": {"value": "question-17"}},
    ),
]


def answer(content: Any, status: int = 200) -> Response:
    """A reply as JSON; it is built from plain values, so nothing has to look at it again."""
    return Response(compact(content), status, media_type="application/json")


def status_answer(status: Status, code: int = 200) -> Response:
    """How a campaign stands, as a reply."""
    return answer(without_folder(status.as_dict()), code)


def request_of(key: str | None, given: str | None) -> str | None:
    """What a request is called, in its header or its body."""
    if key is not None and given is not None and key != given:
        raise InvalidInput(
            f"Idempotency-Key={key!r}: must be the same as request_id={given!r}, or one "
            "of them left out"
        )
    return given if key is None else key
