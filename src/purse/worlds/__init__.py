"""The worlds that purse ships, one per file; no list has to be edited.

`purse.worlds.bernoulli(rewards=[.9, .6], costs=[.8, .3])` calls the function of a world. `names()`
lists the worlds. `make("two_worlds:world=2", budget=100)` reads a world from text, and passes the
budget on if the world depends on it. A file has a function of the file's name, which returns a
`World`, and an EXAMPLE. If no player can learn, it has HOPELESS, the reason.
"""

import inspect
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, cast

from purse.base import amounts, spec
from purse.base.catalog import Groups, as_catalog
from purse.base.spec import load_module
from purse.base.text import first_paragraph
from purse.errors import InvalidInput, invalid, unknown
from purse.types import World

as_catalog(__name__)
# by what they are for, in the order in which a newcomer meets them
GROUPS: Groups = {
    "Rewards and costs at random": ("bernoulli", "two_point", "beta", "atoms"),
    "Worlds that change": (
        "switching",
        "drifting",
        "moving_costs",
        "outages",
        "corrupted",
        "table",
    ),
    "A budget and a horizon": ("routing", "pricing", "ad_slots", "auction", "requests"),
    "Contexts": ("linear_contexts", "class_contexts", "logistic_contexts", "routing_contexts"),
    "Where theorems of the paper fail": (
        "two_worlds",
        "spend_or_save",
        "same_costs",
        "misleading_ratio",
        "misleading_costs",
    ),
    "Lower bounds": ("theorem2", "theorem5", "similar_costs"),
}
_MODULES = {
    info.name: import_module(f"{__name__}.{info.name}")
    for info in iter_modules([str(Path(__file__).parent)])
    if not info.name.startswith("_")
}
for _name, _module in _MODULES.items():
    if missing := [part for part in (_name, "EXAMPLE") if not hasattr(_module, part)]:
        raise InvalidInput(f"worlds/{_name}.py is not a world: it has no {', '.join(missing)}")
_WORLDS: dict[str, Callable[..., World]] = {
    name: getattr(module, name) for name, module in _MODULES.items()
}
# importing a file puts the module under this name; the function is what users call
globals().update(_WORLDS)


def __getattr__(name: str) -> Callable[..., World]:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def names() -> list[str]:
    """Return the names of all worlds that purse ships, sorted."""
    return sorted(_WORLDS)


def describe() -> dict[str, str]:
    """Return the first paragraph of each world's module docstring, by its name."""
    return {name: first_paragraph(_MODULES[name].__doc__) for name in names()}


def function(name: str) -> Callable[..., World]:
    """Return the function that makes the world of this name, or of the file at this path.

    In a file, the function has the file's name.

    Raise `InvalidInput` when there is no such world or function.
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
    """Return the world of this name as text, with an example of the options that it needs."""
    function(name)
    return str(_MODULES[name].EXAMPLE)


def hopeless(world: str) -> str:
    """Return why no player can learn in a world, in words; empty if players can.

    world   the world as text, with or without options

    >>> hopeless("bernoulli:rewards=[.9],costs=[.8]")
    ''
    """
    return str(getattr(_MODULES.get(world.partition(":")[0]), "HOPELESS", ""))


def make(world: str | World | Callable[[float], World], budget: Any) -> World:
    """Return a world from a `World`, from text, or from a function of the budget.

    world    a `World`, which is returned as it is; text such as `two_worlds:cost_min=0.1,world=2`
             or `my_world.py:cost=1`; or a function that takes the budget and returns a `World`
    budget   passed on to a world that depends on it

    Raise `InvalidInput` when the text names no world, or an option is not allowed.
    """
    if isinstance(world, World):
        return world
    number = (
        amounts.to_units("budget", budget) / amounts.UNIT if isinstance(budget, str) else budget
    )
    if not isinstance(world, str):
        result = world(number) if callable(world) else None
        if not isinstance(result, World):
            raise invalid(
                "world",
                world,
                "must be a World, a name with options or a function of the budget that "
                "returns a World",
            )
        return result
    name, options = spec.parse(world)
    maker = function(name)
    if "budget" in inspect.signature(maker).parameters:
        options.setdefault("budget", number)
    spec.check_options(name, maker, options)
    result = maker(**options)
    if not isinstance(result, World):
        raise InvalidInput(f"{name} returned {type(result).__name__}, and not a World")
    return replace(result, name=world)
