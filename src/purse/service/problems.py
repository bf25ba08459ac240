"""Errors as problem details (RFC 9457). The last part of `type` says which error of `purse` it is;
a client raises the same one.
"""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from purse import errors
from purse.base.problem_types import OF_ERRORS, ProblemType, facts, kind_of, numbers_of
from purse.errors import ArmsCoolingDown, PurseError, shorten
from purse.service.request_log import LOGGER

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = "1"  # seconds; a storage that does not answer may answer soon
MOST_ERRORS = 20  # of one request that are listed


NO_TOKEN = ProblemType("no-token", 401, "A valid token is needed")
WRONG_ROLE = ProblemType("wrong-role", 403, "The token's role does not allow this")
POLICY_FILE = ProblemType("policy-file", 403, "Policy files are not run by this service")
FOREIGN = ProblemType("foreign-request", 403, "The request comes from elsewhere")
NO_SUCH_PATH = ProblemType("no-such-path", 404, "There is nothing here")
NOT_ALLOWED = ProblemType("method-not-allowed", 405, "This method is not known here")
TOO_LARGE = ProblemType("too-large", 413, "The body is too large")
NOT_JSON = ProblemType("not-json", 415, "The body must be JSON")
TOO_MANY = ProblemType("too-many-requests", 429, "Too many requests")
BROKEN = ProblemType("internal", 500, "Something went wrong in the server")
OF_STATUS = {kind.status: kind for kind in (NO_SUCH_PATH, NOT_ALLOWED)}
KINDS = (
    *OF_ERRORS.values(),
    NO_TOKEN,
    WRONG_ROLE,
    POLICY_FILE,
    FOREIGN,
    NO_SUCH_PATH,
    NOT_ALLOWED,
    TOO_LARGE,
    NOT_JSON,
    TOO_MANY,
    BROKEN,
)


class ProblemError(Exception):
    """A request that is answered with a problem that no error of `purse` stands for."""

    def __init__(
        self, kind: ProblemType, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.headers = kind, detail, headers


def answer_to(error: PurseError) -> Response:
    """The answer to an error. What is wrong with the server itself is for its log: it may name
    files and machines.
    """
    kind = kind_of(error)
    if isinstance(error, ArmsCoolingDown):
        wait = str(max(1, math.ceil(error.seconds)))
        return response(kind, str(error), {"Retry-After": wait}, **numbers_of(error))
    if kind.status < 500:
        return response(kind, str(error))
    LOGGER.error("%s: %s", kind.slug, error)
    return response(
        kind,
        "nothing is lost; send the same request again"
        if kind.status == 503
        else "the server's log says more",
    )


def response(
    kind: ProblemType, detail: str, headers: Mapping[str, str] | None = None, **more: Any
) -> Response:
    """The answer that is a problem."""
    said = dict(headers or {})
    if kind.status == 503:
        said.setdefault("Retry-After", RETRY_AFTER)
    if kind.status == 401:
        said["WWW-Authenticate"] = 'Bearer realm="purse"'
    return Response(json.dumps({**facts(kind, detail), **more}), kind.status, said, MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Answer every error with a problem."""

    @app.exception_handler(PurseError)
    async def of_purse(request: Request, error: PurseError) -> Response:
        if isinstance(error, errors.NotFound):
            request.app.state.cache.drop(request.path_params.get("name", ""))
        return answer_to(error)

    @app.exception_handler(ProblemError)
    async def refused(_: Request, refusal: ProblemError) -> Response:
        return response(refusal.kind, refusal.detail, refusal.headers)

    @app.exception_handler(RequestValidationError)
    async def unfit(_: Request, error: RequestValidationError) -> Response:
        entries = error.errors()
        found = [described(entry) for entry in entries[:MOST_ERRORS]]
        more = len(entries) - 1
        detail = f"{found[0]['field']}: {found[0]['detail']}" + (
            f" (and {more} more)" if more else ""
        )
        return response(OF_ERRORS[errors.InvalidInput], detail, errors=found)

    @app.exception_handler(HTTPException)
    async def of_http(request: Request, error: HTTPException) -> Response:
        if error.status_code == 400:
            return response(
                OF_ERRORS[errors.InvalidInput],
                "body: is not JSON in UTF-8, or is nested too deeply",
            )
        kind = OF_STATUS.get(error.status_code, BROKEN)
        headers = {"Allow": allowed(request)} if kind is NOT_ALLOWED else error.headers
        return response(
            kind, f"{request.method} {shorten(request.url.path)}: {kind.title.lower()}", headers
        )


def allowed(request: Request) -> str:
    """The methods that are known here, of all routes together that share the path."""
    route = request.scope["route"]
    documented = request.app.openapi()["paths"].get(route.path)
    return ", ".join(sorted(map(str.upper, documented) if documented else route.methods))


def described(entry: Mapping[str, Any]) -> dict[str, str]:
    """One thing that is wrong with a request: the field, and what is allowed there."""
    if entry["type"] == "json_invalid":
        return {
            "field": "body",
            "detail": f"is not JSON: {entry['ctx']['error']} at character {entry['loc'][-1]}",
        }
    message = entry["msg"].removeprefix("Value error, ")
    given = "" if entry["type"] == "missing" else f", not {shown(entry['input'])}"
    return {
        "field": path_of(entry["loc"]),
        "detail": shorten(message[:1].lower() + message[1:] + given, 300),
    }


def shown(given: Any) -> str:
    """A value as the error shows it. Of a list or an object only the beginning is looked at: it may
    have a million entries.

    >>> shown([1] * 10**6), shown("x" * 10**6)[-8:]
    ('[1, 1, 1, 1, 1, 1, ...]', 'xxxx ...')
    """
    return shorten((reprlib.repr if isinstance(given, (dict, list)) else repr)(given), 60)


def path_of(place: Sequence[str | int]) -> str:
    """Where in a request: `reports[3].cost`.

    >>> path_of(("body", "reports", 3, "cost")), path_of(("path", "name")), path_of(("body",))
    ('reports[3].cost', 'name', 'body')
    """
    parts = place[1:] or place
    return shorten(
        "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).lstrip(".")
    )
