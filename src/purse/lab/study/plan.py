"""A plan: policies, worlds, budgets and paths, checked before anything runs."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from purse import worlds as known_worlds
from purse.base import validation
from purse.base.text import count_in_words, first_paragraph, join_words
from purse.engine.delay import NO_DELAY, Delay, parse_delay
from purse.engine.job import SEEDS, rule_alone
from purse.engine.python_policy import as_module
from purse.errors import InvalidInput, invalid
from purse.lab.study.shard import JobSpec, Shard, shards_of
from purse.policies import load
from purse.types import STOP_RULES, World

_PolicyLike = str | ModuleType | type[Any]
Policies = _PolicyLike | Sequence[_PolicyLike] | Mapping[str, _PolicyLike]
WorldLike = str | World | Callable[[float], World]
Worlds = WorldLike | Sequence[WorldLike] | Mapping[str, WorldLike]

_CHECKPOINTS = 20  # slices of the budget over which arms are counted
_MOST_TITLE = 60  # characters of the policies in a title
_MOST_ARMS = 100  # with more, the share of each arm is not counted


class Cell(NamedTuple):
    """A world and a budget, with the shards of every policy and of every arm alone."""

    label: str
    world: World
    budget: float
    stop: str
    policies: dict[str, list[Shard]]
    alone: list[list[Shard]]  # their reports are never late
    delay: Delay = NO_DELAY


@dataclass(frozen=True, eq=False)
class Plan:
    """Policies and worlds by their labels; without any they are called what they are written."""

    policies: dict[str, str | ModuleType]
    worlds: dict[str, WorldLike]
    budgets: tuple[float, ...]
    n_paths: int
    seed: int
    stop: str
    title: str
    delay: Delay = NO_DELAY

    @classmethod
    def of(
        cls,
        policies: Policies,
        world: Worlds,
        *,
        budgets: Any,
        n_paths: Any,
        seed: Any,
        stop: Any,
        title: str | None,
        delay: Any = 0,
    ) -> "Plan":
        """Return the plan from what a user gives: one thing or several of each."""
        chosen = {
            label: as_module(policy) for label, policy in _labelled("policy", policies).items()
        }
        worlds = _labelled("world", world)
        sizes = tuple(validation.number("budgets", budget, above=0) for budget in _several(budgets))
        if not chosen or not worlds or not sizes:
            raise InvalidInput(
                "nothing to compare: give at least one policy, one world and one budget"
            )
        refuse_repeats("budget", sizes)
        validation.choice("stop", stop, STOP_RULES)
        paths = validation.integer("n_paths", n_paths, low=1)
        seed = validation.integer("seed", seed, low=0, high=SEEDS)
        title = _title_of(list(chosen), list(worlds)) if title is None else title
        return cls(chosen, worlds, sizes, paths, seed, stop, title, parse_delay(delay))

    def cells(self, recipes: dict[str, JobSpec]) -> Iterator[Cell]:
        """Yield worlds and budgets, and fill `recipes` with the recipe of each job's key."""

        def shards(recipe: JobSpec, world: World) -> list[Shard]:
            # all jobs of a cell share its world's tables
            cut = list(shards_of(recipe._replace(world=world).make(), self.n_paths))
            recipes[cut[0].key] = recipe
            return cut

        for label, source in self.worlds.items():
            for budget in self.budgets:
                world = known_worlds.make(source, budget)
                sent = source if isinstance(source, str) else world
                checkpoints = _CHECKPOINTS if world.n_arms <= _MOST_ARMS else 0
                common = (sent, budget, self.seed, self.stop, checkpoints, self.delay.value)
                chosen = {
                    name: shards(JobSpec(policy, *common), world)
                    for name, policy in self.policies.items()
                }
                rule = rule_alone(self.stop)
                alone = [
                    shards(JobSpec(f"fixed:arm={arm}", sent, budget, self.seed, rule), world)
                    for arm in range(world.n_arms)
                ]
                yield Cell(label, world, budget, self.stop, chosen, alone, self.delay)

    @property
    def toml(self) -> str | None:
        """The plan as a study file; None if a policy or a world is not given as text."""
        every = (*self.policies.values(), *self.worlds.values())
        if not all(isinstance(thing, str) for thing in every):
            return None
        numbers = ", ".join(repr(budget).removesuffix(".0") for budget in self.budgets)
        chosen, worlds = (
            {label: anywhere(str(thing)) for label, thing in things.items()}
            for things in (self.policies, self.worlds)
        )
        plain = all(label == policy for label, policy in chosen.items())  # then a list will do
        lines = [f"title = {quoted(self.title)}"]
        if plain:
            lines += ["policies = [", *(f"    {quoted(policy)}," for policy in chosen), "]"]
        lines += [f"budgets = [{numbers}]", f"paths = {self.n_paths}", f"seed = {self.seed}"]
        lines.append(f'stop = "{self.stop}"')
        if self.delay.is_late:
            lines.append(f"delay = {quoted(self.delay.value)}")
        for key, things in {**({} if plain else {"policies": chosen}), "worlds": worlds}.items():
            entries = [f"{quoted(label)} = {quoted(text)}" for label, text in things.items()]
            lines += ["", f"[{key}]", *entries]
        return "\n".join(lines) + "\n"

    @property
    def facts(self) -> dict[str, Any]:
        """What is planned, for people and as JSON."""
        worlds, command = {}, "purse lab run study.toml"
        for label, source in self.worlds.items():
            text = isinstance(source, str)
            worlds[label] = source if text else known_worlds.make(source, self.budgets[0]).name
        if not self.toml:
            command = "purse.compare(...), with policies or worlds that are Python objects"
        return {
            "title": self.title,
            "policies": list(self.policies),
            "worlds": worlds,
            "budgets": list(self.budgets),
            "n_paths": self.n_paths,
            "seed": self.seed,
            "stop": self.stop,
            "delay": self.delay.value,
            "study": self.toml,
            "command": command,
            "about": {label: _describe_policy(policy) for label, policy in self.policies.items()},
        }


def _describe_policy(policy: str | ModuleType) -> dict[str, str]:
    """Return how a policy is written, and what it is: the first paragraph of its docstring."""
    module = load(policy.partition(":")[0] if isinstance(policy, str) else policy)
    spec = policy if isinstance(policy, str) else str(module.NAME)
    return {"spec": spec, "says": first_paragraph(module.__doc__)}


def _title_of(policies: Sequence[str], worlds: Sequence[str]) -> str:
    """Return the title of a study without one.

    >>> _title_of(["replan", "uniform"], ["misleading_ratio"])
    'replan and uniform on misleading_ratio'
    >>> _title_of(["a", "b", "c", "d"], ["one", "two"])
    'a, b, c and d on two worlds'
    """
    who = count_in_words(len(policies), "policy", "policies")
    named = join_words(policies) if len(", ".join(policies)) <= _MOST_TITLE else who
    where = count_in_words(len(worlds), "world")
    title = f"{named} on {worlds[0] if len(worlds) == 1 else where}"
    return title if len(title) <= 2 * _MOST_TITLE else f"{named} on one world"


def _several(values: Any) -> list[Any]:
    """Return what is values as a list; one thing is a list of one."""
    many = isinstance(values, (Sequence, np.ndarray)) and not isinstance(values, str)
    return list(values) if many else [values]


def anywhere(text: str, folder: Path = Path()) -> str:
    """Return a policy or world as written; a user's file with its path from this folder."""
    name, colon, options = text.partition(":")
    return f"{(folder / name).resolve()}{colon}{options}" if name.endswith(".py") else text


def quoted(text: Any) -> str:
    """Return a text as TOML has it: as JSON does, but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _labelled(what: str, values: Any) -> dict[str, Any]:
    """Policies or worlds with a label each."""
    if isinstance(values, Mapping):
        for label in values:
            if not isinstance(label, str):
                raise invalid(what, label, f"the name of a {what} must be text")
        return dict(values)
    names = [_name_of(thing, what) for thing in _several(values)]
    hint = "; give them names of their own: {'one': world, 'two': world}"
    refuse_repeats(what, names, hint if what == "world" else "")
    return dict(zip(names, _several(values), strict=True))


def _name_of(thing: Any, what: str) -> str:
    """Return the label of a thing without one: its text, or its own name."""
    if isinstance(thing, str):
        return thing
    if what == "policy":
        return str(load(as_module(thing)).NAME)
    return thing.name if isinstance(thing, World) else getattr(thing, "__name__", what)


def refuse_repeats(what: str, names: Sequence[object], hint: str = "") -> None:
    """Refuse a list that names something twice, whose paths would be counted twice."""
    for name in names:
        if list(names).count(name) > 1:
            raise InvalidInput(f"{what} {name!r} appears twice{hint}")
