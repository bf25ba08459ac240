"""The spelling of things with options: `exp3++.bwk:beta=1,alpha=3`,
`bernoulli:rewards=[.9,.6],costs=[.8,.3]`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from purse.errors import InvalidInput, unknown


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options; a bare word is a string.

    >>> parse("exp3++.bwk:beta=1,epsilon=printed")
    ('exp3++.bwk', {'beta': 1, 'epsilon': 'printed'})
    """
    name, _, rest = text.partition(":")
    source = f"_({rest})"
    try:
        call = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError):
        raise _malformed(text) from None
    whole = (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.end_col_offset == len(source.encode())
    )
    if not isinstance(call, ast.Call) or not whole or call.args:
        raise _malformed(text)
    options = {
        keyword.arg: _value(keyword.arg, keyword.value, text)
        for keyword in call.keywords
        if keyword.arg is not None
    }
    if len(options) != len(call.keywords):
        raise _malformed(text)
    return name.strip(), options


def _malformed(
    text: str, allowed: str = "write name or name:option=value,option=value"
) -> InvalidInput:
    return InvalidInput(f"cannot read {text!r}; {allowed}")


def _value(option: str, node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Name):
        return node.id
    try:
        return ast.literal_eval(node)
    except (TypeError, ValueError):
        allowed = "a word, a number, a text in quotes, or a list of these"
        raise _malformed(text, f"the value of {option} must be {allowed}") from None


def check_options(
    what: str, function: Callable[..., Any], options: Mapping[str, Any], given: tuple[str, ...] = ()
) -> None:
    """Refuse options that the function does not take, and missing ones but `given`."""
    parameters = {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in given
    }
    for option in options:
        if option not in parameters:
            raise unknown(f"option of {what}", option, parameters)
    if missing := [
        name
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty and name not in options
    ]:
        raise InvalidInput(
            f"{what} needs {', '.join(missing)}; write "
            f"{what}:{','.join(f'{name}=...' for name in missing)}"
        )


def absolute(name: str) -> str:
    """Return how a policy is written elsewhere: the path of a policy file in full."""
    path, colon, options = name.partition(":")
    return (str(Path(path).resolve()) if path.endswith(".py") else path) + colon + options
