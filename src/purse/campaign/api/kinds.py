"""Kinds of values: what JSON holds for each, and how each is typed on a command line.

A signature names the kind of each argument. The library's readers check the values, and theirs are
the words of errors. Only the shape of reports, of tickets and of NAME=COST is checked here.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    SupportsFloat,
    TypeAlias,
    Union,
    cast,
    get_args,
    get_origin,
)

from purse.base.plain_validation import integer
from purse.campaign.api.results import CampaignTicket
from purse.errors import InvalidInput, invalid, shown

Schema: TypeAlias = dict[str, Any]
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}


@dataclass(frozen=True, eq=False)
class ValueKind:
    """The kind of a value: what it may be."""

    schema: Schema
    typed: Callable[[str], Any] = str  # reads the text of a command line or a query
    metavar: str = "TEXT"
    one: str = ""  # what one of several is called: a query and a command line repeat it
    several: Callable[[Iterable[Any]], Any] = list  # puts those together
    read: Callable[[Any], Any] = lambda value: value  # what the verb takes, from JSON
    sent: Callable[[Any, str], Any] = lambda value, name: value  # JSON, for the budget of a name


def number(text: str) -> Any:
    """Return a number; text that is no number stays text, and the library refuses it."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return text


def _truth(text: str) -> Any:
    """Return True for yes and False for no; other text as it is."""
    return {"yes": True, "no": False}.get(text, text)


def seconds(text: str) -> Any:
    """Return seconds from 90, 90s, 30m, 1h, 7d or 4w; None from never.

    >>> seconds("7d"), seconds("never"), seconds("1.5")
    (604800, None, 1.5)
    """
    if text == "never":
        return None
    value = number(text[:-1]) if text[-1:] in SECONDS else number(text)
    return text if isinstance(value, str) else value * SECONDS.get(text[-1:], 1)


def amounts(text: str) -> Any:
    """Return one amount, or a list of those between commas."""
    parts = text.split(",")
    return parts if len(parts) > 1 else text


def _arm(text: str) -> str | tuple[str, Any]:
    """Return an arm with what it may cost, or the name of a language model."""
    return pair(text) if "=" in text else text


def _armed(arms: Iterable[Any]) -> Any:
    """Return {arm: what it may cost}, or the names of language models."""
    arms = list(arms)
    names = [arm for arm in arms if isinstance(arm, str)]
    return names if arms == names else once("arm", map(pair, names) if names else arms)


def pair(text: str, field: str = "arm", example: str = "small=0.01") -> tuple[str, Any]:
    """Return a name, which may have an equals sign in it, and an amount."""
    name, equals, amount = text.rpartition("=")
    if not (name and equals):
        words = "NAME=COST" if field == "arm" else "KEY=AMOUNT"
        raise invalid(field, text, f"must be {words}, such as {example}")
    return name, amounts(amount)


def once(field: str, pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return a dict of pairs. Raise `InvalidInput` if a name stands there twice."""
    by_name: dict[str, Any] = {}
    for name, value in pairs:
        if name in by_name:
            raise invalid(field, name, "must be given once")
        by_name[name] = value
    return by_name


def _decoded(field: str, text: str) -> Any:
    """Return the value of JSON text."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise invalid(field, text, f"must be JSON: {error}") from None


def _features(text: str) -> Any:
    """Return features from their number, from JSON, or from names between commas.

    >>> _features("length, code"), _features("3")
    (['length', 'code'], 3)
    """
    if text.lstrip()[:1] in ("[", "{"):
        return _decoded("features", text)
    count = number(text)
    return [name.strip() for name in text.split(",")] if isinstance(count, str) else count


def _context(text: str) -> Any:
    """Return a context from JSON, or from NAME=VALUE between commas; nothing stands for None.

    >>> _context("length=812, source=chat, age=")
    {'length': 812, 'source': 'chat', 'age': None}
    """
    if text.lstrip()[:1] in ("[", "{"):
        return _decoded("context", text)
    parts = [[word.strip() for word in part.partition("=")] for part in text.split(",")]
    if not all(name and equals for name, equals, _ in parts):
        raise invalid("context", text, "must be NAME=VALUE,NAME=VALUE")
    return once("context", ((name, number(value) if value else None) for name, _, value in parts))


def _noted(text: str) -> Any:
    """Return a number of entries and a digest from ENTRIES:DIGEST."""
    entries, _, digest = text.partition(":")
    return [number(entries), digest] if digest else text


def _nested(schema: Schema, depth: int) -> Schema:
    """Return the schema of one value, or of lists and objects of them."""
    if depth == 0:
        return schema
    inner = _nested(schema, depth - 1)
    several = {"minItems": 1, "items": inner}, {"minProperties": 1, "additionalProperties": inner}
    return {"anyOf": [schema, {"type": "array", **several[0]}, {"type": "object", **several[1]}]}


class Report(NamedTuple):
    """The reward and the cost of a ticket."""

    ticket: Any
    reward: Any
    cost: Any


def _reports(sent: Any) -> list[Report]:
    """Return reports from JSON; refuse those that lack a field, or have another one."""
    if len(listed("reports", sent)) > MOST:
        raise InvalidInput(f"reports: must be a list of at most {MOST:,}")
    for index, report in enumerate(sent):
        if not isinstance(report, dict) or set(report) != set(Report._fields):
            raise _wrong_report(index, report)
    return [Report(**report) for report in sent]


def triple(index: int, report: Any) -> tuple[Any, Any, Any]:
    """Return ticket, reward and cost of a report."""
    if not isinstance(report, Sequence) or isinstance(report, str) or len(report) != 3:
        raise _wrong_report(index, report)
    ticket, reward, cost = report
    return ticket, reward, cost


def _wrong_report(index: int, report: Any) -> InvalidInput:
    """Return the error for a report without its parts."""
    return InvalidInput(f"reports[{index}]={shown(report)}: must have {', '.join(Report._fields)}")


def listed(field: str, values: Any) -> Sequence[Any]:
    """Return several values, whatever holds them."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise invalid(field, values, "must be a list")
    return list(values)


def number_of(ticket: CampaignTicket | int, name: str) -> int:
    """Return the number of a ticket of the campaign of this name."""
    if isinstance(ticket, CampaignTicket):
        if ticket.campaign != name:
            raise invalid("ticket", ticket, f"must be one of campaign {name!r}")
        return ticket.id
    return integer("ticket", ticket, low=1, high=2**62)


def _amount_text(amount: Any, _: str) -> Any:
    """Return an amount for a query, as decimal text."""
    return f"{amount:.9f}" if isinstance(amount, float) else amount


UPDATE = "update"  # of `exist_ok`
MOST = 1_000  # tickets or reports in one request
_AMOUNT: Schema = {
    "anyOf": [
        {"type": "string", "pattern": r"^[0-9]{1,10}(\.[0-9]{1,9})?$"},
        {"type": "number", "minimum": 0, "maximum": 9e9},
    ],
    "examples": ["0.01"],
}
_SIGNED: Schema = {
    "anyOf": [
        {"type": "string", "pattern": r"^-?[0-9]{1,10}(\.[0-9]{1,9})?$"},
        {"type": "number", "minimum": -9e9, "maximum": 9e9},
    ],
    "examples": ["0.01"],
}
_NAME: Schema = {"type": "string", "minLength": 1, "maxLength": 200}
_NUMBER: Schema = {"type": "number"}
_REPORT: Schema = {
    "type": "object",
    "required": list(Report._fields),
    "additionalProperties": False,
    "properties": {
        "ticket": {"type": "integer", "minimum": 1, "maximum": 2**62},
        "reward": _NUMBER,
        "cost": _nested(_AMOUNT, 1),
    },
}

_OF_BUDGETS = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"


def checked_name(field: str, name: Any) -> str:
    """Return the name of a campaign or of an account. Raise `InvalidInput` if it is not one."""
    if not isinstance(name, str) or not re.fullmatch(_OF_BUDGETS, name):
        raise invalid(
            field,
            name,
            "must be 1 to 100 letters, digits, dots, dashes or underscores, beginning with a "
            "letter or digit",
        )
    return name


def read_exist_ok(value: Any) -> bool | str:
    """Return `exist_ok`. Raise `InvalidInput` if it is not one of its values."""
    if value is not True and value is not False and value != UPDATE:
        raise invalid("exist_ok", value, f'must be True, False or "{UPDATE}"')
    return cast(bool | str, value)


Name: TypeAlias = Annotated[
    str, ValueKind({"type": "string", "pattern": _OF_BUDGETS}, metavar="NAME")
]
ArmName: TypeAlias = Annotated[str, ValueKind(_NAME, metavar="ARM")]
Tickets: TypeAlias = Annotated[
    Iterable[int],
    ValueKind({"type": "array", "items": {"type": "integer"}}, number, "N", "acknowledged", list),
]
Noted: TypeAlias = Annotated[
    tuple[int, str],
    ValueKind({"type": "array", "minItems": 2, "maxItems": 2}, _noted, "ENTRIES:DIGEST"),
]
Ticket: TypeAlias = Annotated[
    CampaignTicket | int,
    ValueKind(
        {"type": "integer", "minimum": 1, "maximum": 2**62}, number, "TICKET", sent=number_of
    ),
]
RequestId: TypeAlias = Annotated[
    str, ValueKind({"type": "string", "pattern": r"^[\x20-\x7e]{1,200}$"}, metavar="ID")
]
Session: TypeAlias = RequestId
Amount: TypeAlias = Annotated[Any, ValueKind(_AMOUNT, metavar="AMOUNT", sent=_amount_text)]
_Money: TypeAlias = str | SupportsFloat  # decimal text, a whole number, a Decimal or a float
Amounts: TypeAlias = Annotated[
    _Money | Sequence[_Money] | Mapping[str, _Money],
    ValueKind(_nested(_AMOUNT, 1), amounts, "AMOUNT"),
]
SignedAmounts: TypeAlias = Annotated[Any, ValueKind(_nested(_SIGNED, 1), amounts, "AMOUNT")]
Costs: TypeAlias = Annotated[Any, ValueKind(_nested(_AMOUNT, 2), amounts, "AMOUNT")]
Reward: TypeAlias = Annotated[SupportsFloat, ValueKind(_NUMBER, number, "REWARD")]
Seconds: TypeAlias = Annotated[
    float, ValueKind({**_NUMBER, "exclusiveMinimum": 0}, seconds, "30s|5m|1h|never")
]
Rounds: TypeAlias = Annotated[
    int | str,
    ValueKind(
        {"anyOf": [{"type": "integer", "minimum": 1}, {"enum": ["auto", "traffic"]}]},
        lambda text: None if text == "never" else number(text),
        "N|traffic|never",
    ),
]
When: TypeAlias = Annotated[
    str | date,
    ValueKind(
        {"type": "string", "examples": ["2027-12-31", "2027-12-31T18:00"]},
        metavar="DATE|TIME",
        sent=lambda value, _: value.isoformat() if isinstance(value, date) else value,
    ),
]
Share: TypeAlias = Annotated[float, ValueKind(_NUMBER, number, "SHARE")]
Range: TypeAlias = Annotated[
    Sequence[float],
    ValueKind(
        {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2},
        lambda text: [number(part) for part in text.split(",")],
        "LOW,HIGH",
    ),
]
_ARMS: Schema = {
    "anyOf": [
        {"type": "array", "items": _NAME, "minItems": 1},
        {"type": "object", "minProperties": 1, "additionalProperties": _nested(_AMOUNT, 1)},
    ]
}
Arms: TypeAlias = Annotated[
    Sequence[str] | Mapping[str, Any],
    ValueKind(
        {**_ARMS, "examples": [{"small": "0.01", "large": "0.05"}]},
        _arm,
        "NAME=COST",
        "arm",
        _armed,
    ),
]
Allowed: TypeAlias = Annotated[
    Sequence[str] | Mapping[str, Any], ValueKind(_ARMS, metavar="NAME", one="arm")
]
Tokens: TypeAlias = Annotated[int, ValueKind({"type": "integer", "minimum": 0}, int, "TOKENS")]
Labels: TypeAlias = Annotated[
    Mapping[str, str],
    ValueKind(
        {"type": "object", "additionalProperties": _NAME},
        lambda text: text.partition("=")[::2],
        "KEY=VALUE",
        "label",
        partial(once, "label"),
    ),
]
Limits: TypeAlias = Annotated[
    Mapping[str, Any],
    ValueKind(
        {"type": "object", "minProperties": 1, "additionalProperties": _nested(_AMOUNT, 1)}
        | {"examples": [{"user": "2.00"}]},
        partial(pair, field="limit", example="user=2"),
        "KEY=AMOUNT",
        "limit",
        partial(once, "limit"),
    ),
]
Resources: TypeAlias = Annotated[
    Sequence[str],
    ValueKind({"type": "array", "items": _NAME, "minItems": 1}, metavar="NAME", one="resource"),
]
Alerts: TypeAlias = Annotated[
    Sequence[str],
    ValueKind({"type": "array", "items": {"type": "string"}}, metavar="RULE", one="alert"),
]
States: TypeAlias = Annotated[
    Sequence[str],
    ValueKind({"type": "array", "items": {"type": "string"}}, metavar="STATE", one="state"),
]
ExistOk: TypeAlias = Annotated[
    bool | Literal["update"],
    ValueKind({"anyOf": [{"type": "boolean"}, {"const": UPDATE}]}, _truth, "yes|no|update"),
]
Features: TypeAlias = Annotated[Any, ValueKind({}, _features, "NAME,...|JSON")]
Context: TypeAlias = Annotated[Any, ValueKind({}, _context, "NAME=VALUE,...|JSON")]
Contexts: TypeAlias = Annotated[
    Sequence[Any],
    ValueKind({"type": "array", "maxItems": MOST}, _context, "NAME=VALUE,...|JSON", "context"),
]
Reports: TypeAlias = Annotated[
    Sequence[Report],
    ValueKind(
        {"type": "array", "items": _REPORT, "maxItems": MOST},
        read=_reports,
        sent=lambda value, _: [report._asdict() for report in value],
    ),
]
_PLAIN: dict[Any, ValueKind] = {
    str: ValueKind({"type": "string"}),
    int: ValueKind({"type": "integer"}, number, "N"),
    float: ValueKind(_NUMBER, number, "X"),
    bool: ValueKind({"type": "boolean"}, _truth, "yes|no"),
    Any: ValueKind({}),
}


def kind_of(hint: Any) -> ValueKind:
    """Return the kind of what a hint says; `X | None` is the kind of X."""
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (part for part in get_args(hint) if part is not NoneType)
    if get_origin(hint) is Annotated:
        return next(part for part in get_args(hint) if isinstance(part, ValueKind))
    if get_origin(hint) is Literal:
        return ValueKind({"enum": list(get_args(hint))}, metavar="|".join(get_args(hint)))
    return _PLAIN[hint]
