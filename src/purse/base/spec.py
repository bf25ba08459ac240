"""The spelling of policies and worlds: a name with options, `exp3++.bwk:beta=1,alpha=3` or
`bernoulli:rewards=[.9,.6],costs=[.8,.3]`, or the path of a user's own Python file.
"""

import ast
import importlib.util
import inspect
import sys
from collections.abc import Callable, Collection, Mapping
from hashlib import sha256
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any

from purse.base.files import near_file
from purse.errors import InvalidInput, shorten, unknown


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options; a bare word is a string.

    >>> parse("exp3++.bwk:beta=1,epsilon=printed")
    ('exp3++.bwk', {'beta': 1, 'epsilon': 'printed'})
    """
    name, _, arguments = text.partition(":")
    source = f"_({arguments})"
    try:
        call = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # as a deep one ends
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


def without(text: str, options: Collection[str]) -> str:
    """Return how a policy is written without some of its options.

    >>> without("replan:guard=.5,looks=[1,2]", ["guard"]), without("replan:guard=.5", ["guard"])
    ('replan:looks=[1,2]', 'replan')
    """
    name, _, arguments = text.partition(":")
    source = f"_({arguments})"
    call = ast.parse(source, mode="eval").body
    assert isinstance(call, ast.Call)
    kept = [
        ast.get_source_segment(source, keyword) or ""
        for keyword in call.keywords
        if keyword.arg not in options
    ]
    return f"{name}:{','.join(kept)}" if kept else name


def _malformed(
    text: str, allowed: str = "write name or name:option=value,option=value"
) -> InvalidInput:
    return InvalidInput(f"cannot read {shorten(text)!r}; {allowed}")


def _value(option: str, node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Name):
        return node.id
    try:
        return ast.literal_eval(node)
    except (TypeError, ValueError, MemoryError, RecursionError):
        allowed = "a word, a number, a text in quotes, or a list of these"
        raise _malformed(text, f"the value of {option} must be {allowed}") from None


def check_options(
    what: str,
    function: Callable[..., Any],
    options: Mapping[str, Any],
    supplied: tuple[str, ...] = (),
) -> None:
    """Refuse options that the function does not take, and missing ones but `supplied`."""
    parameters = {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in supplied
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


def load_module(kind: str, path: Path) -> ModuleType:
    """Return the module in this file, a policy or a world; it is loaded again if it has changed."""
    if not path.is_file():
        raise InvalidInput(f"{kind} file {str(path)!r} does not exist{near_file(path)}")
    name, source = (
        f"{path.stem}_{sha256(str(path.resolve()).encode()).hexdigest()[:8]}",
        path.read_bytes(),
    )
    loaded = sys.modules.get(name)
    if loaded is not None and loaded._source == source:
        return loaded
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InvalidInput(f"{kind} file {str(path)!r} does not load")
    module = importlib.util.module_from_spec(spec)
    # before it runs: numba looks its classes up here when it reads its cache
    sys.modules[name] = module
    try:
        # not through the loader, whose cache may miss a quick edit
        exec(compile(source, str(path), "exec"), module.__dict__)
    except Exception as error:
        del sys.modules[name]
        raise InvalidInput(
            f"{kind} file {str(path)!r} does not load: {_line(error, path)}"
            f"{type(error).__name__}: {error}"
        ) from error
    vars(module)["_source"] = source
    return module


def _line(error: Exception, path: Path) -> str:
    """Return "line 12: " if the error arose in this file."""
    steps = [step for step in extract_tb(error.__traceback__) if step.filename == str(path)]
    return f"line {steps[-1].lineno}: " if steps else ""
