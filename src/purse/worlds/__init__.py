"""One file per world: a function of the file's name that returns a `World`, and an EXAMPLE. Nothing
is registered by hand.

`purse.worlds.bernoulli(rewards=[.9, .6], costs=[.8, .3])` calls one; `names()` lists them;
`make("two_worlds:world=2", budget=100)` reads one from text and fills the budget in where the world
depends on it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, cast

from purse.base import amounts, spec
from purse.base.loading import load_module
from purse.errors import InvalidInput, invalid, unknown
from purse.types import World

_MODULES = {
    info.name: import_module(f"{__name__}.{info.name}")
    for info in iter_modules([str(Path(__file__).parent)])
    if not info.name.startswith("_")
}
_WORLDS: dict[str, Callable[..., World]] = {
    name: getattr(module, name) for name, module in _MODULES.items()
}
# importing a file puts the module under this name; the function is what users call
globals().update(_WORLDS)


def __getattr__(name: str) -> Callable[..., World]:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def names() -> list[str]:
    """The names of all worlds that purse ships."""
    return sorted(_WORLDS)


def function(name: str) -> Callable[..., World]:
    """The function that makes the world of this name, or the one in the file at this path, which
    has the file's name.
    """
    if name.endswith(".py"):
        module = load_module("world", Path(name))
        if not callable(getattr(module, Path(name).stem, None)):
            raise InvalidInput(f"{name} is not a world: it has no function {Path(name).stem!r}")
        return cast(Callable[..., World], getattr(module, Path(name).stem))
    if name not in _WORLDS:
        raise unknown("world", name, _WORLDS)
    return _WORLDS[name]


def example(name: str) -> str:
    """The world of this name written out as text, with an example of the options that it needs."""
    function(name)
    return str(_MODULES[name].EXAMPLE)


def make(world: str | World | Callable[[float], World], budget: Any) -> World:
    """The world itself, one written as text such as `two_worlds:cost_min=0.1,world=2` or
    `my_world.py:cost=1`, or a function of the budget.
    """
    if isinstance(world, World):
        return world
    number = (
        amounts.to_units("budget", budget) / amounts.UNIT if isinstance(budget, str) else budget
    )
    if not isinstance(world, str):
        made = world(number) if callable(world) else None
        if not isinstance(made, World):
            raise invalid(
                "world",
                world,
                "must be a World, a name with options or a function of the budget that "
                "returns a World",
            )
        return made
    name, options = spec.parse(world)
    maker = function(name)
    if "budget" in inspect.signature(maker).parameters:
        options.setdefault("budget", number)
    spec.check_options(name, maker, options)
    made = maker(**options)
    if not isinstance(made, World):
        raise InvalidInput(f"{name} returned {type(made).__name__}, and not a World")
    return replace(made, name=world)
