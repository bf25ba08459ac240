"""How things with options are written: `exp3++.bwk:beta=1,alpha=3`, `bernoulli:rewards=[.9,.6],costs=[.8,.3]`."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from purse.errors import InvalidInput, unknown


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the options; a bare word is a string.

    >>> parse("exp3++.bwk:beta=1,epsilon=printed")
    ('exp3++.bwk', {'beta': 1, 'epsilon': 'printed'})
    """
    name, _, rest = text.partition(":")
    try:
        call = ast.parse(f"_({rest})", mode="eval").body
    except SyntaxError:
        raise _malformed(text) from None
    if not isinstance(call, ast.Call) or call.args or any(keyword.arg is None for keyword in call.keywords):
        raise _malformed(text)
    return name.strip(), {str(keyword.arg): _value(keyword.value, text) for keyword in call.keywords}


def _malformed(text: str) -> InvalidInput:
    return InvalidInput(f"cannot read {text!r}; write name or name:option=value,option=value")


def _value(node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Name):
        return node.id
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise _malformed(text) from None


def write(name: str, options: Mapping[str, Any]) -> str:
    """The text that `parse` reads back."""
    return name + (":" + ",".join(f"{key}={value}" for key, value in options.items()) if options else "")


def check_options(what: str, function: Callable[..., Any], options: Mapping[str, Any], given: tuple[str, ...] = ()) -> None:
    """Refuse options that the function does not take, with the nearest that it does, and missing ones; `given` are passed otherwise."""
    parameters = {name: parameter for name, parameter in inspect.signature(function).parameters.items() if name not in given}
    for option in options:
        if option not in parameters:
            raise unknown(f"option of {what}", option, parameters)
    if missing := [name for name, parameter in parameters.items() if parameter.default is parameter.empty and name not in options]:
        raise InvalidInput(f"{what} needs {', '.join(missing)}; write {what}:{','.join(f'{name}=...' for name in missing)}")
