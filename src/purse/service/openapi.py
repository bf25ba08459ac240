"""The description of the API, from the rows, signatures and docstrings of the verbs. Its examples
are answers that a test has recorded.
"""

import inspect
import json
from functools import cache
from importlib.resources import files
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from purse._version import __version__
from purse.base.json import compact_bytes
from purse.base.problem_types import OF_ERRORS, ProblemType, facts
from purse.campaign.api import results
from purse.campaign.api.kinds import Schema
from purse.campaign.api.verb import TEXT, WANTED, Argument, Verb, argument_text, row_of, verbs
from purse.campaign.campaign import Campaign
from purse.client import wire
from purse.errors import ArmsCoolingDown, InvalidInput, NotFound, PurseError, StorageUnavailable
from purse.service.budgets import AnyBudget
from purse.service.problems import (
    FOREIGN,
    MEDIA_TYPE,
    NO_TOKEN,
    NOT_JSON,
    TOKENS_UNREADABLE,
    TOO_LARGE,
    TOO_MANY,
    WRONG_ROLE,
)
from purse.service.routes import CLASSES, JSON, status_of

_MORE = {OF_ERRORS[ArmsCoolingDown]: {"seconds": 0.75}}  # what problems say besides, in examples
_HEADERS = {
    status: {name: {"$ref": f"#/components/headers/{name}"}}
    for status, name in {401: "WWW-Authenticate", 429: "Retry-After", 503: "Retry-After"}.items()
}
_LINES = (
    "An entry as JSON on each line: at most `limit`, and fewer once they have 4 MB. Go on with "
    "`after` at the last entry's `seq` until an answer is empty."
)

_REF = "#/components/schemas/"
# results whose names are longer than an API needs
_NAMES = {
    "BalanceStatus": "Purse",
    "CampaignTicket": "Ticket",
    "FeatureStatus": "Feature",
    "LabelStatus": "Label",
    "PeriodStatus": "Period",
    "ForecastStatus": "Forecast",
}
_TYPES: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    Any: {},
    results.Amount: {
        "type": "string",
        "pattern": r"^-?[0-9]+(\.[0-9]{1,9})?$",
        "description": get_args(results.Amount)[1],
    },
}


def _schema_of(hint: Any, schemas: dict[str, Schema]) -> Schema:
    """Return the schema of a type; those of results go to `schemas`, and are referred to."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint in _TYPES:
        return _TYPES[hint]
    if hint is PurseError:
        return {"$ref": _REF + "Refused"}
    if origin is Annotated:
        text = next((part for part in parts[1:] if isinstance(part, str)), None)
        schema = _schema_of(parts[0], schemas)
        return {**schema, "description": text} if text else schema
    if origin in (list, tuple):
        return {"type": "array", "items": _schema_of(parts[0], schemas)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema_of(parts[1], schemas)}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema_of(part, schemas) for part in parts]}
    if origin is Literal:
        return {"type": "string", "enum": list(parts)}
    name = _NAMES.get(hint.__name__, hint.__name__)
    if name not in schemas:
        schemas[name] = {}  # a result may hold others of its type
        fields = {field: _schema_of(part, schemas) for field, part in wire.fields(hint).items()}
        schemas[name] |= {
            "type": "object",
            "description": inspect.getdoc(hint),
            "required": list(fields),
            "properties": fields,
            "additionalProperties": False,
        }
    return {"$ref": _REF + name}


def _argument_schema(of: type[AnyBudget], argument: Argument) -> Schema:
    schema = {**argument.kind.schema}
    nothing = argument.optional or argument.default is None
    if nothing and argument.location == "body" and schema:
        schema = {"anyOf": [schema, {"type": "null"}]}
    if argument.default not in (WANTED, None):
        schema["default"] = argument.default
    return {**schema, "description": argument_text(of, argument)}


def _stored(name: str) -> Any:
    return json.loads(files("purse.service").joinpath(name).read_text("utf-8"))


@cache
def _examples() -> dict[str, Any]:
    """Return the recorded examples by operation: a body, if it takes one, and an answer."""
    return dict(_stored("examples.json"))


def _operation_id(of: type[AnyBudget], row: Verb) -> str:
    """Return the name of an operation.

    >>> _operation_id(Campaign, row_of(Campaign.settle))
    'campaign_settle'
    """
    return f"{of.KIND}_{row.name}"


def _parameters(of: type[AnyBudget], row: Verb) -> list[Schema]:
    described: list[Schema] = []
    if row.path is not None:
        schema = row_of(Campaign.create).arguments["name"].kind.schema
        path = {"name": "name", "in": "path", "required": True, "schema": schema}
        described.append({**path, "description": f"Of the {of.KIND}."})
    for argument in row.arguments.values():
        if argument.location != "body":
            schema = _argument_schema(of, argument)
            text = schema.pop("description")
            wanted = argument.default is WANTED
            header = {"name": argument.field, "in": argument.location, "required": wanted}
            described.append({**header, "schema": schema, "description": text})
    key = [{"$ref": "#/components/parameters/Key"}] if "request_id" in row.arguments else []
    return described + key


def _content(media: str, schema: Schema, example: Any) -> Schema:
    """Return how something is sent or answered, with an example if there is one."""
    return {media: {"schema": schema} | ({} if example is None else {"example": example})}


def _body(of: type[AnyBudget], row: Verb) -> Schema:
    fields = {name: field for name, field in row.arguments.items() if field.location == "body"}
    if not fields:
        return {}
    wanted = [name for name, field in fields.items() if field.default is WANTED]
    schema: Schema = {
        "type": "object",
        "properties": {name: _argument_schema(of, field) for name, field in fields.items()},
        "additionalProperties": False,
    }
    if wanted:
        schema["required"] = wanted
    example = _examples().get(_operation_id(of, row), {}).get("body")
    return {"requestBody": {"required": bool(wanted), "content": _content(JSON, schema, example)}}


def _refusals(*kinds: ProblemType) -> dict[str, Schema]:
    """Return the problems that an operation may answer with: its own, and those of all."""
    answers: dict[str, Schema] = {}
    every = [*kinds, OF_ERRORS[InvalidInput], OF_ERRORS[StorageUnavailable]]
    every += [FOREIGN, TOKENS_UNREADABLE, TOO_LARGE, TOO_MANY]
    for status in sorted({kind.status for kind in every}):
        alike = {kind.slug: kind for kind in every if kind.status == status}
        shown = {
            slug: {"value": {**facts(kind, kind.title), **_MORE.get(kind, {})}}
            for slug, kind in alike.items()
        }
        answers[str(status)] = {
            "description": "; ".join(kind.title for kind in alike.values()) + ".",
            "headers": _HEADERS.get(status, {}),
            "content": {MEDIA_TYPE: {"schema": {"$ref": _REF + "Problem"}, "examples": shown}},
        }
    return answers


def _refusals_of(row: Verb) -> dict[str, Schema]:
    """Return the problems that a verb may be answered with."""
    own: list[type[PurseError]] = [*row.refuses, *([NotFound] if row.path is not None else [])]
    kinds = [*(OF_ERRORS[error] for error in own), NO_TOKEN, WRONG_ROLE]
    kinds += [NOT_JSON] if row.method == "POST" else []
    return _refusals(*kinds)


def _answer(of: type[AnyBudget], row: Verb, schemas: dict[str, Schema]) -> dict[str, Schema]:
    """Return the description of an answer that is no problem."""
    schema = _schema_of(row.returns(of), schemas)
    if row.key:
        schema = {
            "type": "object",
            "required": [row.key],
            "properties": {row.key: schema},
            "additionalProperties": False,
        }
    text, media = "Done.", JSON
    if row.lines:
        text, media, schema = _LINES, wire.LINES, {"type": "string"}
    example = _examples().get(_operation_id(of, row), {}).get("answer")
    return {str(status_of(row)): {"description": text, "content": _content(media, schema, example)}}


def _operation(of: type[AnyBudget], row: Verb, schemas: dict[str, Schema]) -> Schema:
    """Return the description of a verb. What its docstring says of arguments stands with them."""
    paragraphs = (inspect.getdoc(row.function) or "").split("\n\n")
    return {
        "operationId": _operation_id(of, row),
        "tags": [f"{of.KIND}s"],
        "summary": " ".join(paragraphs[0].split()),
        "description": "\n\n".join(part for part in paragraphs if not TEXT.match(part)),
        "security": [{"token": []}],
        "x-role": row.role,
        "parameters": _parameters(of, row),
        **_body(of, row),
        "responses": _answer(of, row, schemas) | _refusals_of(row),
    }


@cache
def document() -> Schema:
    """Return the OpenAPI document: the stored part, the verbs, the problems and examples."""
    described: Schema = _stored("openapi_base.json")
    described["info"]["version"] = __version__
    others, paths = described["paths"], dict[str, Schema]()
    for of in CLASSES:
        for row in verbs(of):
            item = paths.setdefault(row.address(of), {})
            item[row.method.lower()] = _operation(of, row, described["components"]["schemas"])
    for item in others.values():
        (one,) = item.values()
        (media,) = one["responses"]["200"]["content"].values()
        media["example"] = _examples()[one["operationId"]]["answer"]
        one["responses"] |= _refusals(*([NO_TOKEN, WRONG_ROLE] if "security" in one else []))
    return {**described, "paths": paths | others}


@cache
def document_json() -> bytes:
    """Return the OpenAPI document as it is sent."""
    return compact_bytes(document())
