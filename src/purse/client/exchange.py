"""A request to the service and what comes back, without any input or output: what is sent, when it
is sent again, how long to wait before, and which error stands for an answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from purse.client.wire import T, encoded, error_of, seconds_of
from purse.errors import (
    ArmsCoolingDown,
    CampaignExists,
    InvalidInput,
    PurseError,
    StorageUnavailable,
    shorten,
)

AGAIN = (429, 502, 503, 504)
SHORTEST, LONGEST = 0.1, 10.0  # seconds between attempts: doubled each time, up to the longest
NO_TOKEN = 401


class Answer(NamedTuple):
    """What a server answered."""

    status: int
    text: str
    retry_after: str = ""
    location: str = ""


class Lost(NamedTuple):
    """That no answer came, and why."""

    why: str


@dataclass(frozen=True)
class Request(Generic[T]):
    """What is sent, and how its answer is read."""

    method: str
    path: str
    read: Callable[[str], T]
    body: Mapping[str, Any] | None = None
    query: Mapping[str, Any] | None = None
    timeout: float | None = None  # seconds; None: that of the connection

    def content(self) -> bytes | None:
        """Return the body as JSON; None where there is none."""
        return None if self.body is None else encoded(self.body)


R = TypeVar("R")
# a verb that takes several requests: it yields each, and is sent what was read from its answer
Verb: TypeAlias = Request[R] | Generator[Request[Any], Any, R]
# seconds to wait, or a request to send; what came of the request is sent back
Attempts: TypeAlias = Generator[float | Request[Any], Answer | Lost | None, R]


class WrongFields(InvalidInput):
    """A request with fields that are wrong; `errors` has each field and what is allowed there."""

    def __init__(self, text: str, errors: list[dict[str, str]]) -> None:
        super().__init__(text)
        self.errors = errors


def conversation(verb: Verb[R], url: str, retries: int) -> Attempts[R]:
    """Yield what a verb sends and how long it waits; return its result."""
    try:
        if isinstance(verb, Request):
            return (yield from attempts(verb, url, retries))
        return (yield from several(verb, url, retries))
    except WrongFields as error:
        raise InvalidInput(str(error)) from None


def several(verb: Generator[Request[Any], Any, R], url: str, retries: int) -> Attempts[R]:
    """Do the same for a verb of several requests."""
    try:
        request = next(verb)
        while True:
            try:
                found = yield from attempts(request, url, retries)
            except PurseError as error:
                request = verb.throw(error)
            else:
                request = verb.send(found)
    except StopIteration as stop:
        return stop.value


def attempts(request: Request[R], url: str, retries: int) -> Attempts[R]:
    """Yield a request until an answer comes that can be read, and the waits between; return what it
    says.

    Raise the error that the server answered with, or `StorageUnavailable` after all attempts.
    """
    trouble = ""
    for attempt in range(retries + 1):
        wait = 0.0  # that the server wants
        heard = yield request
        if isinstance(heard, Lost):
            trouble = heard.why
        elif isinstance(heard, Answer) and heard.status < 300:
            try:
                return request.read(heard.text)
            except (AttributeError, KeyError, TypeError, ValueError):
                trouble = f"an answer that cannot be read: {heard.text}"
        elif isinstance(heard, Answer):
            refused = refusal(heard, url)
            if heard.status not in AGAIN or isinstance(refused, ArmsCoolingDown):
                raise told_as_such(refused) if attempt else refused
            trouble, wait = str(refused), seconds_of(heard.retry_after)
        if attempt < retries:
            from random import uniform  # which takes a while to import, and is seldom needed

            yield wait + uniform(0, min(LONGEST, SHORTEST * 2**attempt))
    raise StorageUnavailable(
        f"{url} does not answer after {retries + 1} attempts: {shorten(trouble)}"
    )


def refusal(answer: Answer, url: str) -> PurseError:
    """Return the error that an answer stands for."""
    try:
        problem = json.loads(answer.text)
        error = error_of(problem)
    except (KeyError, TypeError, ValueError):
        if answer.location:
            return PurseError(f"{url} is elsewhere: use the address {shorten(answer.location)}")
        return PurseError(f"the server answered {answer.status}: {shorten(answer.text)}")
    if answer.status == NO_TOKEN:
        return PurseError(
            f"{url} wants a token that it knows and that has not expired: give token=, or set "
            "PURSE_TOKEN"
        )
    if isinstance(error, InvalidInput) and problem.get("errors"):
        return WrongFields(str(error), problem["errors"])
    return error


def told_as_such(refused: PurseError) -> PurseError:
    """Return the error of a later attempt; a creation that is refused may be our own."""
    if not isinstance(refused, CampaignExists):
        return refused
    return CampaignExists(
        f"{refused}; an earlier attempt of this call, which got no answer, may have created it"
    )
