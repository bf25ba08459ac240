"""Features and contexts as they are typed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import orjson

from purse.errors import InvalidInput, invalid

SEEING = click.option(
    "--context",
    "contexts",
    multiple=True,
    metavar="NAME=VALUE,...|JSON|@FILE",
    help="Values of the features, such as length=812,code=0, as JSON, or in a JSON file; repeat it "
    "for each ticket.",
)


def features_of(text: str | None) -> Any:
    """Return features from JSON, or from names between commas; the library checks them."""
    if text is None:
        return None
    if text.lstrip()[:1] in ("{", "["):
        return from_json("features", text)
    return [name.strip() for name in text.split(",")]


def context_of(text: str) -> Any:
    """Return a context from `name=value,...`, from JSON, or from the JSON file that @ names."""
    if text.startswith("@"):
        try:
            text = Path(text[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "it is not text"
            raise InvalidInput(f"cannot read {text[1:]!r}: {why}") from None
        return from_json("context", text)
    if text.lstrip()[:1] in ("{", "["):
        return from_json("context", text)
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not (name and equals) or name in found:
            raise invalid("context", text, "must be NAME=VALUE,NAME=VALUE with different names")
        found[name.strip()] = value_of(value.strip())
    return found


def value_of(text: str) -> float | str | None:
    """Return a number, nothing, or the name of a class."""
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        return text


def from_json(field: str, text: str) -> Any:
    """Return what JSON says."""
    try:
        return orjson.loads(text)
    except ValueError as error:
        raise invalid(field, text, f"must be JSON: {error}") from None
