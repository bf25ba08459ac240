"""The description of the API, from the rows, signatures and docstrings of the verbs. Its examples
are answers that a test has recorded.
"""

from __future__ import annotations

import inspect
import json
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from purse._version import __version__
from purse.base.json import compact_bytes
from purse.base.problem_types import OF_ERRORS, ProblemType, facts
from purse.campaign.campaign import Campaign
from purse.campaign.kinds import Schema
from purse.campaign.verb import TEXT, WANTED, Verb, row_of, verbs
from purse.client import wire
from purse.errors import ArmsCoolingDown, InvalidInput, NotFound, PurseError, StorageUnavailable
from purse.service import metrics
from purse.service.budgets import AnyBudget
from purse.service.problems import (
    FOREIGN,
    MEDIA_TYPE,
    NO_TOKEN,
    NOT_JSON,
    POLICY_FILE,
    TOO_LARGE,
    TOO_MANY,
    WRONG_ROLE,
)
from purse.service.routes import CLASSES, JSON, status_of
from purse.service.schemas import (
    PROBLEM,
    PROBLEM_NAME,
    REF,
    REFUSED,
    REFUSED_NAME,
    argument_schema,
    schema_of,
)

SUMMARY = "Bandits with knapsacks under a budget that cannot be overspent"
ABOUT = (
    "Ask for a ticket, pull its arm, tell what it brought and cost. A repeat of an ask with the "
    "same `request_id`, or of a report, has no second effect,\n"
    "so that whatever got no answer can be sent again. Amounts are decimal text. Every error is a "
    "problem (RFC 9457)."
)
TOKEN = "A token of `purse token new`. None is needed on this machine without a tokens file."
MORE = {OF_ERRORS[ArmsCoolingDown]: {"seconds": 0.75}}  # what problems say besides, in examples
SECONDS: Schema = {
    "Retry-After": {
        "description": "Seconds to wait.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    }
}
SCHEME: Schema = {
    "WWW-Authenticate": {
        "description": "How to send a token.",
        "required": True,
        "schema": {"type": "string"},
    }
}
HEADERS = {401: SCHEME, 429: SECONDS, 503: SECONDS}
KEY: Schema = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same as `request_id` in the body; one of them is enough.",
    "schema": {"type": "string", "pattern": r"^[\x21-\x7e]{1,200}$"},
}
LINES = (
    "An entry as JSON on each line: at most `limit`, and fewer once they have 4 MB. Go on with "
    "`after` at the last entry's `seq` until an answer is empty."
)
HEALTH: Schema = {
    "type": "object",
    "required": ["status"],
    "properties": {"status": {"type": "string", "enum": ["ok"]}},
    "additionalProperties": False,
}


class Watch(NamedTuple):
    """An operation that is no verb."""

    path: str
    name: str
    public: bool  # whether it needs no token
    text: str
    media: str = JSON
    schema: Schema = HEALTH


WATCH = (
    Watch("/healthz", "alive", True, "Say whether the server is alive."),
    Watch("/readyz", "ready", True, "Say whether the storage answers."),
    Watch(
        "/metrics",
        "metrics",
        False,
        "Return numbers for Prometheus.",
        metrics.MEDIA_TYPE,
        {"type": "string"},
    ),
)


@cache
def examples() -> dict[str, Any]:
    """Return what a test has recorded of each operation: a body, if it takes one, and an answer."""
    found: dict[str, Any] = json.loads(
        files("purse.service").joinpath("examples.json").read_text("utf-8")
    )
    return found


def operation_id(of: type[AnyBudget], row: Verb) -> str:
    """Return what an operation is called.

    >>> operation_id(Campaign, row_of(Campaign.settle))
    'campaign_settle'
    """
    return f"{of.KIND}_{row.name}"


def parameters(of: type[AnyBudget], row: Verb) -> list[Schema]:
    """Return the parameters of an operation: of its path, its query and its headers."""
    found: list[Schema] = []
    if row.path is not None:
        schema = row_of(Campaign.create).arguments["name"].kind.schema
        path = {"name": "name", "in": "path", "required": True, "schema": schema}
        found.append({**path, "description": f"Of the {of.KIND}."})
    for each in row.arguments.values():
        if each.place != "body":
            schema = argument_schema(of, each)
            text = schema.pop("description")
            place = {"name": each.field, "in": each.place, "required": each.default is WANTED}
            found.append({**place, "schema": schema, "description": text})
    return [*found, KEY] if "request_id" in row.arguments else found


def content(media: str, schema: Schema, example: Any) -> Schema:
    """Return how something is sent or answered, with an example if there is one."""
    return {media: {"schema": schema} | ({} if example is None else {"example": example})}


def body(of: type[AnyBudget], row: Verb) -> Schema:
    """Return the description of a body, if there is one."""
    fields = {name: each for name, each in row.arguments.items() if each.place == "body"}
    if not fields:
        return {}
    wanted = [name for name, each in fields.items() if each.default is WANTED]
    schema: Schema = {
        "type": "object",
        "properties": {name: argument_schema(of, each) for name, each in fields.items()},
        "additionalProperties": False,
    }
    if wanted:
        schema["required"] = wanted
    example = examples().get(operation_id(of, row), {}).get("body")
    return {
        "requestBody": {"required": bool(wanted), "content": content(JSON, schema, example)},
    }


def refusals(*kinds: ProblemType) -> dict[str, Schema]:
    """Return the problems that an operation may answer with: its own, and those of all."""
    found: dict[str, Schema] = {}
    every = [*kinds, OF_ERRORS[InvalidInput], OF_ERRORS[StorageUnavailable]]
    every += [FOREIGN, TOO_LARGE, TOO_MANY]
    for status in sorted({kind.status for kind in every}):
        alike = {kind.slug: kind for kind in every if kind.status == status}
        shown = {
            slug: {"value": {**facts(kind, kind.title), **MORE.get(kind, {})}}
            for slug, kind in alike.items()
        }
        found[str(status)] = {
            "description": "; ".join(kind.title for kind in alike.values()) + ".",
            "headers": HEADERS.get(status, {}),
            "content": {MEDIA_TYPE: {"schema": {"$ref": REF + PROBLEM_NAME}, "examples": shown}},
        }
    return found


def refusals_of(row: Verb) -> dict[str, Schema]:
    """Return the problems that a verb may be answered with."""
    own: list[type[PurseError]] = [*row.refuses, *([NotFound] if row.path is not None else [])]
    kinds = [*(OF_ERRORS[error] for error in own), NO_TOKEN, WRONG_ROLE]
    kinds += [NOT_JSON] if row.method == "POST" else []
    kinds += [POLICY_FILE] if row.plays else []
    return refusals(*kinds)


def answer(of: type[AnyBudget], row: Verb, known: dict[str, Schema]) -> dict[str, Schema]:
    """Return the description of an answer that is no problem."""
    schema = schema_of(row.returns(of), known)
    if row.key:
        schema = {
            "type": "object",
            "required": [row.key],
            "properties": {row.key: schema},
            "additionalProperties": False,
        }
    text, media = "Done.", JSON
    if row.lines:
        text, media, schema = LINES, wire.LINES, {"type": "string"}
    example = examples().get(operation_id(of, row), {}).get("answer")
    return {str(status_of(row)): {"description": text, "content": content(media, schema, example)}}


def operation(of: type[AnyBudget], row: Verb, known: dict[str, Schema]) -> Schema:
    """Return the description of a verb. What its docstring says of arguments stands with them."""
    paragraphs = (inspect.getdoc(row.function) or "").split("\n\n")
    return {
        "operationId": operation_id(of, row),
        "tags": [f"{of.KIND}s"],
        "summary": " ".join(paragraphs[0].split()),
        "description": "\n\n".join(each for each in paragraphs if not TEXT.match(each)),
        "security": [{"token": []}],
        "x-role": row.role,
        "parameters": parameters(of, row),
        **body(of, row),
        "responses": answer(of, row, known) | refusals_of(row),
    }


def watching(of: Watch) -> Schema:
    """Return the description of an operation that is no verb."""
    example = examples().get(of.name, {}).get("answer")
    done = {"200": {"description": "Done.", "content": content(of.media, of.schema, example)}}
    return {
        "operationId": of.name,
        "tags": ["watch"],
        "summary": of.text,
        "description": of.text,
        **({} if of.public else {"security": [{"token": []}], "x-role": "read"}),
        "responses": done | (refusals() if of.public else refusals(NO_TOKEN, WRONG_ROLE)),
    }


@cache
def document() -> Schema:
    """Return the OpenAPI document."""
    known: dict[str, Schema] = {PROBLEM_NAME: PROBLEM, REFUSED_NAME: REFUSED}
    paths: dict[str, Schema] = {}
    for of in CLASSES:
        for row in verbs(of):
            item = paths.setdefault(row.address(of), {})
            item[row.method.lower()] = operation(of, row, known)
    for each in WATCH:
        paths[each.path] = {"get": watching(each)}
    token = {"type": "http", "scheme": "bearer", "description": TOKEN}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "purse",
            "version": __version__,
            "summary": SUMMARY,
            "description": ABOUT,
        },
        "paths": paths,
        "components": {"schemas": known, "securitySchemes": {"token": token}},
    }


@cache
def document_json() -> bytes:
    """Return the OpenAPI document as it is sent."""
    return compact_bytes(document())
