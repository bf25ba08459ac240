"""Errors as problem details (RFC 9457). The last part of `type` says which error of `purse` it is;
a client raises the same one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from purse.base.problem_types import ProblemType, facts, kind_of, numbers_of
from purse.errors import ArmsCoolingDown, PurseError
from purse.service.request_log import LOGGER

MEDIA_TYPE = "application/problem+json"
_RETRY_AFTER = "1"  # seconds; a storage that does not answer may answer soon

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


class ProblemError(Exception):
    """A request that is answered with a problem that no error of `purse` stands for."""

    def __init__(
        self, kind: ProblemType, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.headers = kind, detail, headers


def answer_to(error: PurseError | ProblemError) -> Response:
    """Return the answer to an error; what is wrong with the server is for its log alone."""
    if isinstance(error, ProblemError):
        return response(error.kind, error.detail, error.headers)
    kind = kind_of(error)
    if isinstance(error, ArmsCoolingDown):
        wait = str(max(1, math.ceil(error.seconds)))
        return response(kind, str(error), {"Retry-After": wait}, **numbers_of(error))
    if kind.status < 500:
        return response(kind, str(error))
    LOGGER.error("%s: %s", kind.slug, error)
    lost = "nothing is lost; send the same request again"
    return response(kind, lost if kind.status == 503 else "the server's log says more")


def response(
    kind: ProblemType, detail: str, headers: Mapping[str, str] | None = None, **more: Any
) -> Response:
    """Return the answer that is a problem."""
    said = dict(headers or {})
    if kind.status == 503:
        said.setdefault("Retry-After", _RETRY_AFTER)
    if kind.status == 401:
        said["WWW-Authenticate"] = 'Bearer realm="purse"'
    return Response(json.dumps({**facts(kind, detail), **more}), kind.status, said, MEDIA_TYPE)
