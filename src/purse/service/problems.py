"""Errors as answers and as lines of the log.

An answer has problem details (RFC 9457): the last part of `type` says which error of `purse` it is,
and a client raises the same one. The log has a line for each request, by the standard `logging`:
JSON for machines, or text for people; never a token.
"""

import json
import logging
import math
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response

from purse.base.problem_types import ProblemType, facts, fields_of, kind_of
from purse.errors import ArmsCoolingDown, PurseError

LOGGER = logging.getLogger("purse.service")
FACTS = "facts"  # the attribute of a record that holds what a line is made of
_POLLED = "/overview"  # an open dashboard asks for it every two seconds: that is no news
_SERVERS = ("uvicorn", "uvicorn.error")
_ENCODER = json.JSONEncoder(default=str)  # `json.dumps` would make one for each line
MEDIA_TYPE = "application/problem+json"
_RETRY_AFTER = "1"  # seconds; a storage that does not answer may answer soon

NO_TOKEN = ProblemType("no-token", 401, "A valid token is needed")
WRONG_ROLE = ProblemType("wrong-role", 403, "The token's role does not allow this")
TOKENS_UNREADABLE = ProblemType("tokens-unreadable", 503, "The server cannot read its tokens")
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


def answer_to(
    error: PurseError | ProblemError, hides: Callable[[str], bool] | None = None
) -> Response:
    """Return the answer to an error; what is wrong with the server is for its log alone.

    hides   whether a text names what the sender must not see; then the title says enough
    """
    if isinstance(error, ProblemError):
        return response(error.kind, error.detail, error.headers)
    kind = kind_of(error)
    if hides is not None and hides(str(error)):
        return response(kind, kind.title)
    if isinstance(error, ArmsCoolingDown):
        wait = str(max(1, math.ceil(error.seconds)))
        return response(kind, str(error), {"Retry-After": wait}, **fields_of(error))
    if kind.status < 500:
        return response(kind, str(error), **fields_of(error))
    LOGGER.error("%s: %s", kind.slug, error)
    lost = "nothing is lost; send the same request again"
    return response(kind, lost if kind.status == 503 else "the server's log says more")


def response(
    kind: ProblemType, detail: str, headers: Mapping[str, str] | None = None, **more: Any
) -> Response:
    """Return the answer that is a problem."""
    sent = dict(headers or {})
    if kind.status == 503:
        sent.setdefault("Retry-After", _RETRY_AFTER)
    if kind.status == 401:
        sent["WWW-Authenticate"] = 'Bearer realm="purse"'
    return Response(json.dumps({**facts(kind, detail), **more}), kind.status, sent, MEDIA_TYPE)


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": _time_of(record),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, FACTS, {}),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return _ENCODER.encode(line)


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        fields = getattr(record, FACTS, {})
        words = [_time_of(record)[11:23], f"{record.levelname.lower():7}"]
        words.append(_plain(record.getMessage()))
        words += [
            f"{key}={_plain(str(value))}" for key, value in fields.items() if value is not None
        ]
        error = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        return " ".join(words) + error


def _time_of(record: logging.LogRecord) -> str:
    """When, in ISO 8601 with milliseconds."""
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _plain(text: str) -> str:
    """Return a text that cannot end its line, or move the cursor."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def configure_log(style: str) -> None:
    """Send the lines of the service, and of the server under it, to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if style == "json" else _Lines())
    for name in ("purse", *_SERVERS):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name == "purse" else logging.WARNING)


def log_request(fields: dict[str, Any]) -> None:
    """Write the line of a request."""
    level = logging.ERROR if fields["status"] >= 500 else logging.INFO
    if fields["route"] == _POLLED and fields["status"] < 400:
        level = logging.DEBUG
    if LOGGER.isEnabledFor(level):
        # made here, since `log` would look for the line of code that this comes from
        record = logging.LogRecord(LOGGER.name, level, __file__, 0, "request", None, None)
        setattr(record, FACTS, fields)
        LOGGER.handle(record)
