"""JSON schemas of what is sent and answered, from kinds of arguments and types of results."""

from __future__ import annotations

import inspect
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from purse.campaign import results
from purse.campaign.kinds import Schema
from purse.campaign.verb import WANTED, Argument, said
from purse.client import wire
from purse.errors import PurseError
from purse.service.budgets import AnyBudget

REF = "#/components/schemas/"
PROBLEM_NAME, REFUSED_NAME = "Problem", "Refused"
# results whose names are longer than an API needs
NAMES = {
    "BalanceStatus": "Purse",
    "CampaignTicket": "Ticket",
    "FeatureStatus": "Feature",
    "LabelStatus": "Label",
    "PeriodStatus": "Period",
}
TYPES: dict[Any, Schema] = {
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
PROBLEM: Schema = {
    "type": "object",
    "description": "Why a request was refused (RFC 9457).",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {
            "type": "string",
            "description": "`urn:purse:problem:` and a word that says which error this is.",
        },
        "title": {"type": "string", "description": "The same for all errors of this type."},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {
            "type": "string",
            "description": "One line that names what is wrong and what is allowed.",
        },
        "seconds": {
            "type": "number",
            "description": "Until an arm may be tried again, if all cool down.",
        },
    },
}
REFUSED: Schema = {
    "type": "object",
    "description": "Why one report of several was not taken; the others were.",
    "required": ["error"],
    "properties": {"error": {"$ref": REF + PROBLEM_NAME}},
    "additionalProperties": False,
}


def schema_of(hint: Any, known: dict[str, Schema]) -> Schema:
    """Return the schema of a type; those of results go to `known`, and are referred to."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint in TYPES:
        return TYPES[hint]
    if hint is PurseError:
        return {"$ref": REF + REFUSED_NAME}
    if origin is Annotated:
        text = next((each for each in parts[1:] if isinstance(each, str)), None)
        found = schema_of(parts[0], known)
        return {**found, "description": text} if text else found
    if origin in (list, tuple):
        return {"type": "array", "items": schema_of(parts[0], known)}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(parts[1], known)}
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(each, known) for each in parts]}
    if origin is Literal:
        return {"type": "string", "enum": list(parts)}
    name = NAMES.get(hint.__name__, hint.__name__)
    if name not in known:
        known[name] = {}  # a result may hold others of its type
        fields = {field: schema_of(each, known) for field, each in wire.fields(hint).items()}
        known[name] |= {
            "type": "object",
            "description": inspect.getdoc(hint),
            "required": list(fields),
            "properties": fields,
            "additionalProperties": False,
        }
    return {"$ref": REF + name}


def argument_schema(of: type[AnyBudget], argument: Argument) -> Schema:
    """Return the schema of an argument, with its text."""
    schema = {**argument.kind.schema}
    if argument.optional and argument.place == "body" and schema:
        schema = {"anyOf": [schema, {"type": "null"}]}
    if argument.default not in (WANTED, None):
        schema["default"] = argument.default
    return {**schema, "description": said(of, argument)}
