"""The parts that a policy file must have, checked before anything is compiled.

Without these checks the same mistakes come as errors of the compiler, which name our lines and
not those of the file.
"""

from inspect import signature
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from purse.errors import InvalidInput, shorten
from purse.types import Problem

_ARGUMENTS = {
    "choose": ("params", "state", "scratch", "now", "play"),
    "update": ("params", "state", "scratch", "now", "play"),
    "probabilities": ("params", "state", "scratch", "now", "out"),
}
_STATE = (np.float64, np.int64, np.uint64, np.bool_)  # what all devices hold alike


def check_contract(module: ModuleType, params: Any, problem: Problem) -> None:
    """Check the kernels, parameters, state and scratch of a policy.

    Raise `InvalidInput`, which names the file and what is wrong.
    """
    where = getattr(module, "__file__", None) or module.NAME
    for name, arguments in _ARGUMENTS.items():
        if (function := getattr(module, name, None)) is not None:
            _check_kernel(where, name, function, arguments)
    _check_numbers(where, "params", params)
    _check_arrays(where, "init", "state", state := module.init(params, problem))
    _check_period(where, getattr(module, "PERIOD", ()), state._fields)
    if (scratch := getattr(module, "scratch", None)) is not None:
        _check_arrays(where, "scratch", "scratch", scratch(params, problem))


def _check_period(where: str, names: Any, fields: tuple[str, ...]) -> None:
    if not isinstance(names, tuple) or not set(names) <= set(fields):
        raise InvalidInput(
            f"{where}: PERIOD is {shorten(repr(names), 60)}, and must be a tuple of fields of the "
            f"state: {', '.join(fields)}"
        )


def _check_kernel(where: str, name: str, function: Any, arguments: tuple[str, ...]) -> None:
    if isinstance(function, FunctionType):
        raise InvalidInput(f"{where}: {name} lacks @kernel")
    parameters = tuple(signature(getattr(function, "py_func", function)).parameters)
    if len(parameters) != len(arguments):
        raise InvalidInput(
            f"{where}: {name} takes ({', '.join(parameters)}), and must take "
            f"({', '.join(arguments)})"
        )


def _fields(where: str, maker: str, value: Any, of_what: str) -> tuple[str, ...]:
    if not (isinstance(value, tuple) and hasattr(value, "_fields")):
        raise InvalidInput(
            f"{where}: {maker} returned {shorten(repr(value), 60)}, and must return a NamedTuple "
            f"of {of_what}"
        )
    return tuple(value._fields)


def _check_numbers(where: str, field: str, value: Any) -> None:
    """Check the parameters: numbers, arrays, and tuples of them."""
    if field == "params":
        _fields(where, "params", value, "numbers and arrays")
    if isinstance(value, tuple):
        names = getattr(value, "_fields", range(len(value)))
        for name, part in zip(names, value, strict=True):
            _check_numbers(where, f"{field}.{name}", part)
    elif isinstance(value, np.ndarray):
        _check_array(where, field, value)
    elif not isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating)):
        raise InvalidInput(
            f"{where}: {field} is {shorten(repr(value), 60)}, and must be a number or an array"
        )


def _check_arrays(where: str, maker: str, field: str, value: Any) -> None:
    """Check state or scratch: a NamedTuple of arrays."""
    for name, part in zip(_fields(where, maker, value, "arrays"), value, strict=True):
        if isinstance(part, tuple):
            _check_arrays(where, maker, f"{field}.{name}", part)
        elif not isinstance(part, np.ndarray):
            raise InvalidInput(
                f"{where}: {field}.{name} is {shorten(repr(part), 60)}, and must be an array; "
                f"a single number is an array of shape (1,)"
            )
        else:
            _check_array(where, f"{field}.{name}", part)


def _check_array(where: str, field: str, value: Any) -> None:
    if value.dtype not in _STATE:
        raise InvalidInput(
            f"{where}: {field} has dtype {value.dtype}, and must have one of "
            f"{', '.join(np.dtype(kind).name for kind in _STATE)}"
        )
    if value.ndim == 0 or not value.flags.c_contiguous:
        raise InvalidInput(
            f"{where}: {field} has shape {value.shape}, and must be an array in C order of one "
            "dimension or more"
        )
