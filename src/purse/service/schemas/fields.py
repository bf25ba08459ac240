"""The values that are sent to the service: amounts, rewards, names. Each is checked as it was
given, and described as a JSON schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema

from purse.base import amounts
from purse.base.features import MOST_NAMES, MOST_NUMBERS
from purse.campaign import terms
from purse.campaign.periods.period import CARRIES
from purse.campaign.read_terms import MOST_EXPLORED

NAME = rf"^{terms.NAME.pattern}$"
REQUEST_ID = r"^[\x21-\x7e]{1,200}$"  # in a header
POLICY = r"^[a-z0-9][a-z0-9+.-]*(:[A-Za-z0-9_=,.+\[\] -]*)?$"
FILE = re.compile(r"[^:]*\.py(:|$)")
TEXT = re.compile(r"[0-9]{1,10}(\.[0-9]{1,9})?")
MOST = 1000  # asks, reports or arms at once
MOST_NAME = 200  # characters of the name of an arm or a resource
MOST_RESOURCES = 100
LARGEST_ID = 2**62
LARGEST = amounts.LARGEST / amounts.UNIT
AMOUNT_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {
            "type": "string",
            "pattern": rf"^{TEXT.pattern}$",
            "description": "Decimal text, exact to nine decimals.",
        },
        {
            "type": "number",
            "minimum": 0,
            "maximum": LARGEST,
            "description": "Rounded to nine decimals.",
        },
    ]
}


def check_amount(value: Any) -> Any:
    """An amount that is not negative, as it was given."""
    good = (
        TEXT.fullmatch(value) and float(value) <= LARGEST
        if isinstance(value, str)
        else is_number(value) and 0 <= value <= LARGEST
    )
    if not good:
        raise ValueError(
            f"must be an amount from 0 to {int(LARGEST):,} with at most nine decimals, as "
            "decimal text or a number"
        )
    return value


def check_reward(value: Any) -> Any:
    """A reward."""
    if not is_number(value):
        raise ValueError("must be a number")
    return value


def is_number(value: Any) -> bool:
    """Whether it is a finite number; true and false are none."""
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and (isinstance(value, int) or isfinite(value))
    )


def nested(check: Callable[[Any], Any], depth: int) -> Callable[[Any], Any]:
    """A check of one value, or of lists and objects of them down to a depth."""
    if depth == 0:
        return check
    inner = nested(check, depth - 1)

    def check_all(value: Any) -> Any:
        if isinstance(value, (list, dict)) and not 1 <= len(value) <= MOST:
            raise ValueError(f"must have 1 to {MOST} entries")
        if isinstance(value, dict) and max(map(len, value)) > MOST_NAME:
            raise ValueError(f"must have names of at most {MOST_NAME} characters")
        if isinstance(value, list):
            return [inner(entry) for entry in value]
        return (
            {name: inner(entry) for name, entry in value.items()}
            if isinstance(value, dict)
            else check(value)
        )

    return check_all


def schema(one: dict[str, Any], depth: int) -> dict[str, Any]:
    """The JSON schema of what `nested` lets through."""
    if depth == 0:
        return one
    inner = schema(one, depth - 1)
    lists = {"type": "array", "items": inner, "minItems": 1, "maxItems": MOST}
    return {
        "anyOf": [
            one,
            lists,
            {
                "type": "object",
                "propertyNames": {"maxLength": MOST_NAME},
                "additionalProperties": inner,
                "minProperties": 1,
                "maxProperties": MOST,
            },
        ]
    }


def check_arms(value: Any) -> Any:
    """Names, or the most that each may cost by name."""
    if (
        isinstance(value, list)
        and 1 <= len(value) <= MOST
        and all(isinstance(name, str) and 1 <= len(name) <= MOST_NAME for name in value)
    ):
        return value
    if not isinstance(value, dict):
        raise ValueError(
            f"must be a list of 1 to {MOST} names, or an object of names and the most "
            "that each may cost"
        )
    return nested(check_amount, 2)(value)


def check_most_of_arms(value: Any) -> Any:
    """The most that each arm may cost, by name; the terms refuse anything else."""
    return nested(check_amount, 2)(value) if isinstance(value, dict) else value


def check_features(value: Any) -> Any:
    """Features in one of their forms; the terms look at them closely."""
    if value is not None and not isinstance(value, (list, dict)) and type(value) is not int:
        raise ValueError("must be a number of features, a list of names, or an object by names")
    if isinstance(value, (list, dict)) and len(value) > MOST_NAMES:
        raise ValueError(f"must be at most {MOST_NAMES} features")
    for form in value.values() if isinstance(value, dict) else ():
        if not is_feature(form):
            raise ValueError(
                'must be {"low": 0, "high": 1, "optional": false}, {"classes": [...]}, a list or '
                "null for each feature"
            )
    return value


def is_feature(form: Any) -> bool:
    """Whether it says what a feature is, in one of the forms."""
    if isinstance(form, list):
        return len(form) <= MOST_NUMBERS and all(isinstance(x, str) or is_number(x) for x in form)
    if isinstance(form, dict):
        return all(is_number(form[name]) for name in ("low", "high") if name in form)
    return form is None


def check_context(value: Any) -> Any:
    """Values by name or in order, or those of each arm; the features say what each may be."""
    if not isinstance(value, (list, dict)) or len(value) > MOST:
        raise ValueError("must be an object by names, or a list of values")
    rows = value.values() if isinstance(value, dict) else value
    if any(isinstance(row, (list, dict)) and len(row) > MOST_NUMBERS for row in rows):
        raise ValueError(f"must have at most {MOST_NUMBERS} values")
    return value


def check_policy(value: Any) -> Any:
    """The name of a policy that purse ships."""
    if isinstance(value, str) and FILE.match(value.replace(" ", "")):
        raise ValueError(
            "must be the name of a policy; policy files are refused here, since they "
            "would run code in the server"
        )
    if not isinstance(value, str) or len(value) > 200 or not re.fullmatch(POLICY, value):
        raise ValueError("must be the name of a policy such as exp3++.bwk:beta=1")
    return value


ONE_NAME: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": MOST_NAME}
ARMS_SCHEMA = {
    "anyOf": [
        {"type": "array", "items": ONE_NAME, "minItems": 1, "maxItems": MOST},
        schema(AMOUNT_SCHEMA, 2)["anyOf"][2],
    ]
}
FEATURE_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {
            "type": "object",
            "properties": {
                "low": {"type": "number"},
                "high": {"type": "number"},
                "optional": {"type": "boolean"},
            },
            "additionalProperties": False,
            "description": "A number; the range from `low` to `high` is mapped to [-1, 1].",
        },
        {
            "type": "object",
            "properties": {"classes": {"type": "array", "items": {"type": "string"}}},
            "required": ["classes"],
            "additionalProperties": False,
            "description": "The name of a class.",
        },
        {
            "type": "array",
            "items": {"type": ["number", "string"]},
            "maxItems": MOST_NUMBERS,
            "description": "A range, with `optional` or without, or classes.",
        },
        {"type": "null", "description": "A number without a range, from -1000 to 1000."},
    ]
}
FEATURES_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "array", "items": {"type": "string"}, "maxItems": MOST_NAMES},
        {"type": "object", "additionalProperties": FEATURE_SCHEMA, "maxProperties": MOST_NAMES},
        {"type": "integer", "minimum": 0, "maximum": MOST_NAMES},
        {"type": "null"},
    ]
}
VALUE_SCHEMA: dict[str, Any] = {"type": ["number", "string", "boolean", "null"]}
VALUES_SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "additionalProperties": VALUE_SCHEMA},
    {"type": "array", "items": VALUE_SCHEMA},
]
CONTEXT_SCHEMA: dict[str, Any] = {
    "anyOf": [
        *VALUES_SCHEMAS,
        {"type": "object", "additionalProperties": {"anyOf": VALUES_SCHEMAS}},
        {"type": "array", "items": {"anyOf": VALUES_SCHEMAS}},
    ]
}
Features = Annotated[Any, PlainValidator(check_features), WithJsonSchema(FEATURES_SCHEMA)]
Context = Annotated[Any, PlainValidator(check_context), WithJsonSchema(CONTEXT_SCHEMA)]
POLICY_SCHEMA = {"type": "string", "pattern": POLICY, "maxLength": 200}
Arms = Annotated[Any, PlainValidator(check_arms), WithJsonSchema(ARMS_SCHEMA)]
MostOfArms = Annotated[
    Any, PlainValidator(check_most_of_arms), WithJsonSchema(ARMS_SCHEMA["anyOf"][1])
]
PolicyName = Annotated[str, PlainValidator(check_policy), WithJsonSchema(POLICY_SCHEMA)]
Amounts = Annotated[
    Any, PlainValidator(nested(check_amount, 1)), WithJsonSchema(schema(AMOUNT_SCHEMA, 1))
]
Table = Annotated[
    Any, PlainValidator(nested(check_amount, 2)), WithJsonSchema(schema(AMOUNT_SCHEMA, 2))
]
Reward = Annotated[Any, PlainValidator(check_reward), WithJsonSchema({"type": "number"})]
MissingReward = Annotated[
    Any,  # the terms look at it
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "null"}]}),
]
Explore = Annotated[
    Any,  # the terms look at it
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0, "maximum": MOST_EXPLORED},
                {"type": "null"},
            ]
        }
    ),
]
Carry = Annotated[str, WithJsonSchema({"type": "string", "enum": list(CARRIES)})]
RequestId = Annotated[str, Field(min_length=1, max_length=200)]  # printable: the campaign looks
Resources = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=MOST_NAME)]],
    Field(min_length=1, max_length=MOST_RESOURCES),
]
