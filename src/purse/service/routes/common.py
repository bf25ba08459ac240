"""What several routes share: path and header parameters, JSON replies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Annotated, Any

from fastapi import Header, Path, Response

from purse.base.json import compact
from purse.campaign.journal import Entry
from purse.campaign.results import Status
from purse.errors import InvalidInput
from purse.service.policy_files import without_folder
from purse.service.schemas.fields import NAME, REQUEST_ID
from purse.service.schemas.requests import JournalQuery

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


AccountName = Annotated[
    str,
    Path(
        pattern=NAME,
        description="The account.",
        openapi_examples={"team-a": {"value": "team-a"}},
    ),
]
LINES = "application/x-ndjson"
MOST_BYTES = 4_000_000  # of a journal in one answer, and the rest of the last entry


class Lines(Response):
    """JSON lines."""

    media_type = LINES


def pages_said(example: str) -> dict[str, Any]:
    """How the answer of a journal is described."""
    return {
        "description": "Entries, one JSON object on each line: at most `limit`, and fewer once "
        f"they have {MOST_BYTES // 10**6} MB. Go on with `after` at the last entry's `seq` until "
        "an answer is empty.",
        "content": {LINES: {"example": example}},
    }


def journal_lines(journal: Callable[[int], Iterator[Entry]], window: JournalQuery) -> Iterator[str]:
    """The entries as lines, read a page at a time; after `MOST_BYTES` no more.

    journal   yields the entries after one
    """
    size = 0
    for entry in islice(journal(window.after), window.limit):
        terms = "policy" in entry.body  # of a campaign; an account has no policy
        body = without_folder(entry.body) if terms else entry.body
        line = compact({**entry._asdict(), "body": body}) + "\n"
        yield line
        size += len(line)
        if size >= MOST_BYTES:
            return


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
