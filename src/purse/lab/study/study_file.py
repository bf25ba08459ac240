"""The study file: a plan in TOML, checked as a whole; errors name file and line."""

import os
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from purse import worlds as known_worlds
from purse.base.files import near_file
from purse.engine.job import make_job
from purse.errors import InvalidInput, unknown
from purse.lab.study.compare import DEFAULT_PATHS
from purse.lab.study.plan import Plan, anywhere, quoted, refuse_repeats

EXAMPLE = """\
# A study: every policy on every world with every budget. Run it with `purse lab run {name}`;
# run it again after an interruption, and it continues; after a change, and it plays only what is
# new.

title = "My first study"

# `purse policies` lists them; options go behind a colon; a file of your own works too:
# "my_policy.py". With labels: [policies] as below
policies = [
    "exp3.bwk",
    "exp3++.price",
    "ucb-bv1",
    "uniform",
]

budgets = [100, 1000, 10000]

paths = 100        # independent runs of every policy on every world with every budget
seed = 0           # same seed, same numbers, on every machine
# when a pull cannot be paid: exit ends the game; hold sets the most that it may cost apart; retry
# tries another arm
stop = "exit"
# delay = 3        # rounds by which reports come late; "geometric:3" draws them with this mean

# labels and worlds: `purse lab worlds` lists them; a file of your own works too:
# "my_world.py:cost=0.5"
[worlds]
"fixed costs" = "bernoulli:rewards=[.9,.6,.4],costs=[.8,.3,.25]"
"random costs" = "misleading_ratio"
"""

_KINDS: dict[str, tuple[Any, str]] = {
    "title": (str, "text"),
    "policies": (
        list | dict,
        'a list of texts, or a table such as [policies] and "label" = "exp3.bwk"',
    ),
    "budgets": (list, "a list of positive numbers"),
    "paths": (int, "a whole number from 1 up"),
    "seed": (int, "a whole number from 0 up"),
    "stop": (str, "exit, hold, retry or fit"),
    "delay": (int | str, 'a whole number of rounds, or text such as "geometric:3"'),
    "worlds": (dict, 'a table of texts, such as [worlds] and "label" = "misleading_ratio"'),
}
_NEEDED = ("policies", "budgets", "worlds")
# where complaints have other words for them
_KEYS = {"n_paths": "paths", "policy": "policies", "budget": "budgets"}


def load(path: str | os.PathLike[str]) -> Plan:
    """Return the plan in a study file."""
    file = Path(path)
    try:
        return parse(file.read_text(encoding="utf-8"), file)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise InvalidInput(
            f"cannot read {str(file)!r}: {why}{near_file(file)}; `purse lab init` writes an example"
        ) from error


def parse(text: str, file: Path) -> Plan:
    """Yield the plan in the text of a study file."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{file}: {error}") from error

    @contextmanager
    def blame(*needles: str) -> Iterator[None]:
        try:
            yield
        except InvalidInput as error:
            raise _placed(error, file, text, *needles) from error

    _check_keys(values, blame)
    if isinstance(values["policies"], list):
        with blame("policies"):
            refuse_repeats("policy", values["policies"])
        values["policies"] = {policy: policy for policy in values["policies"]}
    chosen, worlds = (
        {label: anywhere(text, file.parent) for label, text in values[key].items()}
        for key in ("policies", "worlds")
    )
    numbers = {
        "n_paths": values.get("paths", DEFAULT_PATHS),
        "seed": values.get("seed", 0),
        "stop": values.get("stop", "exit"),
        "delay": values.get("delay", 0),
    }
    try:
        plan = Plan.of(
            chosen,
            worlds,
            budgets=values["budgets"],
            **numbers,
            title=values.get("title", file.stem),
        )
    except InvalidInput as error:
        field = re.split(r"\W", str(error))[0]
        raise _placed(error, file, text, _KEYS.get(field, field)) from error
    places = []
    for label, world in worlds.items():
        with blame(quoted(label), label, "worlds"):
            places += [(budget, known_worlds.make(world, budget)) for budget in plan.budgets]
    for label, policy in chosen.items():
        with blame(quoted(label), label, "policies"):
            for budget, made_world in places:
                make_job(policy, made_world, budget, stop=plan.stop)
    return plan


def _check_keys(values: dict[str, Any], blame: Callable[..., Any]) -> None:
    """Refuse keys that are not known, are missing, or hold something else than they should."""
    for key, value in values.items():
        with blame(key):
            if key not in _KINDS:
                raise unknown("key", key, _KINDS)
            kind, words = _KINDS[key]
            if not isinstance(value, kind) or isinstance(value, bool):
                raise InvalidInput(f"{key} must be {words}")
            if value in ([], {}):
                raise InvalidInput(f"{key} is empty; it must be {words}")
        entries = []
        if isinstance(value, dict):
            entries = [*value.items()]
        elif key == "policies":
            entries = [(key, entry) for entry in value]
        for label, entry in entries:
            with blame(quoted(label), label, key):
                if not isinstance(entry, str):
                    raise InvalidInput(f"{label}: {entry!r} is not a text; {key} must be {words}")
    if missing := [key for key in _NEEDED if key not in values]:
        with blame():
            keys = "missing key: " if len(missing) == 1 else "missing keys: "
            raise InvalidInput(f"{keys}{', '.join(missing)}; `purse lab init` writes an example")


def _placed(error: InvalidInput, file: Path, text: str, *needles: str) -> InvalidInput:
    """Return the complaint with its line: that of the first needle, as a key or anywhere."""
    lines = [
        (number, line)
        for number, line in enumerate(text.split("\n"), 1)
        if not line.lstrip().startswith("#")
    ]
    numbers = (
        number
        for needle in needles
        for pattern in (rf"\s*\[?\s*{re.escape(needle)}\s*[=.\]]", rf".*{re.escape(needle)}")
        for number, line in lines
        if re.match(pattern, line)
    )
    line = next(numbers, None)
    return InvalidInput(f"{file}, line {line}: {error}" if line else f"{file}: {error}")
