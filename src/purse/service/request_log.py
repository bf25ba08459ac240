"""One line for each request, by the standard `logging`: JSON for machines, or text for people.
Never a token.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

LOGGER = logging.getLogger("purse.service")
FACTS = "facts"  # the attribute of a record that holds what a line is made of
_POLLED = "/overview"  # an open dashboard asks for it every two seconds: that is no news
_SERVERS = ("uvicorn", "uvicorn.error")
_ENCODER = json.JSONEncoder(default=str)  # `json.dumps` would make one for each line


class _JsonLines(logging.Formatter):
    """A record as one line of JSON."""

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
    """A record as a line for people."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        told = getattr(record, FACTS, {})
        words = [_time_of(record)[11:23], f"{record.levelname.lower():7}"]
        words.append(_plain(record.getMessage()))
        words += [f"{key}={_plain(str(value))}" for key, value in told.items() if value is not None]
        error = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        return " ".join(words) + error


def _time_of(record: logging.LogRecord) -> str:
    """When, in ISO 8601 with milliseconds."""
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _plain(text: str) -> str:
    """Return a text that cannot end its line, or move the cursor."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def configure(style: str) -> None:
    """Send the lines of the service, and of the server under it, to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if style == "json" else _Lines())
    for name in ("purse", *_SERVERS):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if name == "purse" else logging.WARNING)


def request(facts: dict[str, Any]) -> None:
    """Write the line of a request."""
    level = logging.ERROR if facts["status"] >= 500 else logging.INFO
    if facts["route"] == _POLLED and facts["status"] < 400:
        level = logging.DEBUG
    if LOGGER.isEnabledFor(level):
        # made here, since `log` would look for the line of code that this comes from
        record = logging.LogRecord(LOGGER.name, level, __file__, 0, "request", None, None)
        setattr(record, FACTS, facts)
        LOGGER.handle(record)
