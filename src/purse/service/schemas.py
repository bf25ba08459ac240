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


def schema_of(hint: Any, known: dict[str, Schema]) -> Schema:
    """Return the schema of a type; those of results go to `known`, and are referred to."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint in TYPES:
        return TYPES[hint]
    if hint is PurseError:
        return {"$ref": REF + "Refused"}
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
    nothing = argument.optional or argument.default is None
    if nothing and argument.place == "body" and schema:
        schema = {"anyOf": [schema, {"type": "null"}]}
    if argument.default not in (WANTED, None):
        schema["default"] = argument.default
    return {**schema, "description": said(of, argument)}
