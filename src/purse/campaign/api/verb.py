"""The way of a verb to its face: one row beside each method, from which requests, routes, the
description of the API and commands are made.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from importlib import import_module
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Concatenate,
    Literal,
    NamedTuple,
    ParamSpec,
    Self,
    TypeVar,
    get_type_hints,
)
from urllib.parse import quote, urlencode

from purse.base.fork_safety import cached_property
from purse.base.plain_validation import request_of
from purse.campaign.api.kinds import ValueKind, kind_of
from purse.client import wire
from purse.errors import InvalidInput, PurseError, invalid, unknown

if TYPE_CHECKING:
    from purse.client.server import Server

Role = Literal["read", "act", "admin"]
_Place = Literal["path", "query", "body"]
_HERE = ("self", "cls", "storage", "token")  # arguments that do not travel
WANTED = inspect.Parameter.empty  # the default of an argument that has to be given
TEXT = re.compile(r"^(\w+(?:, \w+)*)  +(.+(?:\n  +.+)*)", re.MULTILINE)
_NONE = "; None: "  # begins what a text says of None
_SAME = re.compile(r"as for `(?:(\w+)\.)?(\w+)`")

B = TypeVar("B", bound="BudgetBase")
P = ParamSpec("P")
R = TypeVar("R")


class BudgetBase:
    """The part of a budget that verbs need to be sent."""

    KIND: ClassVar[str]
    STATUS: ClassVar[type[Any]]
    name: str
    _server: Server | None = None  # that keeps it, if this process does not


class Argument(NamedTuple):
    """An argument of a verb."""

    name: str
    location: _Place
    kind: ValueKind
    default: Any
    optional: bool  # whether it may be None
    text: str

    @property
    def field(self) -> str:
        """What it is called in a request: a query repeats the name of one of several."""
        return self.kind.one or self.name if self.location == "query" else self.name

    def read(self, value: Any) -> Any:
        """Return the method's value, from JSON or from the texts of a query."""
        if self.location == "body":
            return self.kind.read(value)
        values = [self.kind.typed(text) for text in value]
        return self.kind.several(values) if self.kind.one else values[-1]


@dataclass(frozen=True)
class Verb:
    """The row of a verb."""

    function: Callable[..., Any]
    method: Literal["GET", "POST"]
    path: str | None  # below the budget's own; None: that of all campaigns, or of all accounts
    role: Role
    refuses: tuple[type[PurseError], ...] = ()
    key: str = ""  # of the list, or of the number, in the answer
    lines: bool = False  # whether the answer is JSON lines
    timeout: float | None = None  # seconds, if the client's own are too few

    @property
    def name(self) -> str:
        """What the description of the API and the command line call it."""
        return self.function.__name__.strip("_")

    @cached_property
    def signature(self) -> inspect.Signature:
        """The signature of the method."""
        return inspect.signature(self.function)

    @cached_property
    def arguments(self) -> dict[str, Argument]:
        """The arguments that travel, by name."""
        return arguments_of(self.function, self.method, self.path or "")

    def address(self, of: type[BudgetBase]) -> str:
        """Return the path of its route."""
        parts = [f"{of.KIND}s"] if self.path is None else [f"{of.KIND}s", "{name}", self.path]
        return "/" + "/".join(part for part in parts if part)

    def returns(self, of: type[BudgetBase]) -> Any:
        """Return the type of its result; that of a creation is the status."""
        result = self.hints["return"]
        return of.STATUS if isinstance(result, TypeVar) or result is Self else result

    @cached_property
    def hints(self) -> dict[str, Any]:
        """The types of the arguments and of the result."""
        return get_type_hints(self.function, include_extras=True)

    def send(self, server: Server, of: type[BudgetBase], name: str, values: dict[str, Any]) -> Any:
        """Send the verb, with the arguments that have values; return its result or raise its error.

        of, name   the class and the name of the budget; "" for the verbs of all budgets
        """
        if "request_id" in self.arguments:
            values["request_id"] = request_of(values.get("request_id"))
        path = self.address(of).replace("{name}", quote(name, safe=""))
        query: dict[str, Any] = {}
        body: dict[str, Any] = {}
        for key, value in values.items():
            argument = self.arguments[key]
            if value is argument.default:  # an older server knows no newer terms
                continue
            value = argument.kind.sent(value, name)
            if argument.location == "path":
                path = path.replace(f"{{{key}}}", str(value))
            else:
                (query if argument.location == "query" else body)[argument.field] = value
        if query:
            path += "?" + urlencode(query, doseq=True, errors="backslashreplace")
        read = wire.reader(self.returns(of))

        def result(text: bytes) -> Any:
            if self.lines:
                answer = [json.loads(line) for line in text.splitlines()]
            else:
                answer = json.loads(text)[self.key] if self.key else json.loads(text)
            if self.path == "asks" and not answer:
                raise ValueError("an ask has a ticket at least")
            return answer if read is None else read(answer)

        content = wire.encoded(body) if body else b""
        return server.send(self.method, path, content, result, self.timeout or server.timeout)

    def read(
        self, path: Mapping[str, str], query: Mapping[str, list[str]], body: Any, key: str | None
    ) -> dict[str, Any]:
        """Return the arguments of a request. Raise `InvalidInput` if one is missing or unknown.

        key   the header Idempotency-Key, which means the same as `request_id`
        """
        sent = query if self.method == "GET" else body
        if not isinstance(sent, Mapping):
            raise InvalidInput("body: must be a JSON object")
        values = {name: self.arguments[name].kind.typed(text) for name, text in path.items()}
        for field, value in sent.items():
            if field not in self.fields:
                raise unknown(f"field of {self.name}", field, self.fields)
            values[self.fields[field].name] = self.fields[field].read(value)
        if key is not None and "request_id" in self.arguments:
            if not key.isascii():
                raise invalid("Idempotency-Key", key, "must be text in ASCII")
            if values.setdefault("request_id", key) != key:
                raise InvalidInput(
                    f"Idempotency-Key={key!r}: must be the same as "
                    f"request_id={values['request_id']!r}, or one of them left out"
                )
        for name, argument in self.arguments.items():
            if name not in values and argument.default is WANTED:
                raise InvalidInput(f"{name}: is missing")
        return values

    @cached_property
    def fields(self) -> dict[str, Argument]:
        """The arguments in a query or a body, by what they are called there."""
        return {
            argument.field: argument
            for argument in self.arguments.values()
            if argument.location != "path"
        }


@cache
def arguments_of(
    function: Callable[..., Any], method: str = "POST", path: str = ""
) -> dict[str, Argument]:
    """Return the arguments of a method that travel, and where each stands in a request."""
    hints, text = get_type_hints(function, include_extras=True), _texts(function)
    default: _Place = "query" if method == "GET" else "body"
    return {
        name: Argument(
            name,
            "path" if f"{{{name}}}" in path else default,
            kind_of(hints[name]),
            parameter.default,
            type(None) in getattr(hints[name], "__args__", ()),
            text.get(name, ""),
        )
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in _HERE
    }


def verb(
    method: Literal["GET", "POST"],
    path: str,
    role: Role,
    *refuses: type[PurseError],
    key: str = "",
    lines: bool = False,
    timeout: float | None = None,
) -> Callable[[Callable[Concatenate[B, P], R]], Callable[Concatenate[B, P], R]]:
    """Give a method its row, which is sent if the budget is kept on a server."""

    def decorate(function: Callable[Concatenate[B, P], R]) -> Callable[Concatenate[B, P], R]:
        row = Verb(function, method, path, role, refuses, key, lines, timeout)

        @wraps(function)
        def do(self: B, /, *args: P.args, **kwargs: P.kwargs) -> R:
            if self._server is None:
                return function(self, *args, **kwargs)
            values = dict(row.signature.bind(self, *args, **kwargs).arguments)
            del values["self"]
            answer: R = row.send(self._server, type(self), self.name, values)
            return answer

        do.__dict__["row"] = row
        return do

    return decorate


def of_all(
    method: Literal["GET", "POST"], role: Role, *refuses: type[PurseError], key: str = ""
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Give a class method its row: it is about no campaign that is there."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        function.__dict__["row"] = Verb(function, method, None, role, refuses, key)
        return function

    return decorate


def verbs(of: type[BudgetBase]) -> Iterator[Verb]:
    """Yield the rows of a class, in the order of its methods, those of its parents first."""
    for name in dict.fromkeys(name for parent in reversed(of.__mro__) for name in vars(parent)):
        member = inspect.getattr_static(of, name)
        if row := getattr(getattr(member, "__func__", member), "row", None):
            yield row


def row_of(method: Callable[..., Any]) -> Verb:
    """Return the row of a verb."""
    row: Verb = method.row  # type: ignore[attr-defined]
    return row


def _texts(function: Callable[..., Any]) -> dict[str, str]:
    """Return the text of each argument in a docstring."""
    by_name: dict[str, str] = {}
    for names, text in TEXT.findall(inspect.getdoc(function) or ""):
        for name in names.split(", "):
            by_name[name] = " ".join(text.split())
    return by_name


def argument_text(of: type[BudgetBase], argument: Argument) -> str:
    """Return the text of an argument, or that of the method that it says to be `as for`."""
    same = _SAME.match(argument.text)
    if same is None:
        return argument.text
    title, method = same.groups()
    whose = getattr(import_module(f"purse.campaign.{title.lower()}"), title) if title else of
    text = _texts(getattr(whose, method)).get(argument.name, argument.text)
    own = argument.text[same.end() :]
    return text.partition(_NONE)[0] + own if own.startswith(_NONE) else text
