"""What a request gives to the function of its route: parts of the path, the query, headers and the
body, checked together by one model of pydantic.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_args, get_origin

from fastapi import params
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError, create_model
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.types import Scope

KINDS = (params.Path, params.Query, params.Header, params.Body)  # in the order of their errors


class Parameters:
    """The parameters of one function, each declared in the way of FastAPI."""

    def __init__(self, function: Callable[..., Any]) -> None:
        declared = inspect.signature(function, eval_str=True).parameters
        kinds = {name: kind_of(each.annotation) for name, each in declared.items()}
        fields: dict[str, Any] = {
            name: (declared[name].annotation, default_of(declared[name]))
            for name in sorted(kinds, key=lambda name: KINDS.index(kinds[name]))
        }
        model = create_model(getattr(function, "__name__", "Given"), **fields)
        self._check = model.__pydantic_validator__.validate_python
        self._path = [name for name in fields if kinds[name] is params.Path]
        self._query = {
            name: set(lists_of(declared[name].annotation))
            for name in fields
            if kinds[name] is params.Query
        }
        headers = [name for name in fields if kinds[name] is params.Header]
        self._headers = {
            str(model.model_fields[name].alias).lower().encode(): model.model_fields[name].alias
            for name in headers
        }
        self.body = next((name for name in fields if kinds[name] is params.Body), None)
        self._places = {
            **{name: ("path", name) for name in self._path},
            **dict.fromkeys(self._query, ("query",)),
            **{alias: ("header", alias) for alias in self._headers.values()},
            self.body: ("body",),
        }

    def read(self, scope: Scope, body: bytes) -> dict[str, Any]:
        """Return the arguments; raise `RequestValidationError` where they are not allowed."""
        found = scope["path_params"]
        given: dict[str, Any] = {name: found[name] for name in self._path}
        for name, lists in self._query.items():
            given[name] = read_query(scope["query_string"], lists)
        if self._headers:
            for sent, value in reversed(scope["headers"]):  # of one that comes twice the first
                if sent in self._headers:
                    given[self._headers[sent]] = value.decode("latin-1")
        # a body of null is none
        if self.body and body and (value := read_json(body)) is not None:
            given[self.body] = value
        try:
            return vars(self._check(given))
        except ValidationError as error:
            entries: Any = error.errors(include_url=False)
            for entry in entries:
                first, *rest = entry["loc"]
                entry["loc"] = (*self._places[first], *rest)
            raise RequestValidationError(entries) from None


def kind_of(annotation: Any) -> type[Any]:
    """Where a parameter comes from; a model that says nothing of it is the body."""
    given = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    return next((kind for kind in KINDS if any(isinstance(x, kind) for x in given)), params.Body)


def default_of(parameter: inspect.Parameter) -> Any:
    """What a parameter is where it is not given; `...` where it has to be."""
    return ... if parameter.default is inspect.Parameter.empty else parameter.default


def lists_of(annotation: Any) -> list[str]:
    """The fields of a query that may be repeated."""
    model: type[BaseModel] = get_args(annotation)[0]
    return [
        name for name, each in model.model_fields.items() if get_origin(each.annotation) is list
    ]


def read_query(text: bytes, lists: set[str]) -> Mapping[str, Any]:
    """A query by names: the last value of each, or all where it may be repeated."""
    if not text:
        return {}
    query = QueryParams(text)
    return {name: query.getlist(name) if name in lists else query[name] for name in query}


def read_json(body: bytes) -> Any:
    """A body that is JSON."""
    try:
        return json.loads(body)
    except json.JSONDecodeError as error:
        entry = {"type": "json_invalid", "loc": ("body", error.pos), "ctx": {"error": error.msg}}
        raise RequestValidationError([entry]) from None
    except (ValueError, RecursionError):
        raise HTTPException(400) from None
