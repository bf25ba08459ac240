"""How to replay recorded rounds again: as a command, or in Python where no command can say it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

DEFAULTS: Mapping[str, Any] = {
    "horizon": None,
    "n_paths": 100,
    "seed": 0,
    "stop": None,
    "arm": "arm",
    "reward": "reward",
    "cost": "cost",
    "round": "round",
    "probability": "probability",
}  # the options of `purse replay`; one that is not here has no command
FLAGS = {"n_paths": "paths"}  # which are called otherwise there


def command(
    data: Path,
    policies: str | ModuleType | Sequence[str | ModuleType],
    budgets: float | Sequence[float],
    function: str,
    **options: Any,
) -> str:
    """The command that replays `data`, or the call of a function that does; options that are at
    their defaults are left out.

    >>> command(Path("llm.csv"), ["uniform"], [1.0, 2.5], "purse.replay", seed=0, n_paths=20)
    'purse replay llm.csv --budget 1 --budget 2.5 uniform --paths 20'
    >>> command(Path("frame"), "uniform", 1, "purse.replay", horizon=7)
    "purse.replay(frame, budgets=[1], policies=['uniform'], horizon=7)"
    """
    players = [policies] if isinstance(policies, (str, ModuleType)) else list(policies)
    sizes = [
        repr(float(budget)).removesuffix(".0")
        for budget in (budgets if isinstance(budgets, Sequence) else [budgets])
    ]
    changes = {
        name: value
        for name, value in options.items()
        if name not in DEFAULTS or value != DEFAULTS[name]
    }
    file = data.suffix != ""
    if (
        file
        and all(isinstance(policy, str) for policy in players)
        and set(changes) <= set(DEFAULTS)
    ):
        flags = [
            word
            for name, value in changes.items()
            for word in (f"--{FLAGS.get(name, name)}", str(value))
        ]
        return shlex.join(
            [
                "purse",
                "replay",
                str(data),
                *(word for size in sizes for word in ("--budget", size)),
                *map(str, players),
                *flags,
            ]
        )
    names = ", ".join(
        repr(policy) if isinstance(policy, str) else policy.__name__ for policy in players
    )
    arguments = [
        repr(str(data)) if file else data.name,
        f"budgets=[{', '.join(sizes)}]",
        f"policies=[{names}]",
    ]
    arguments += [f"{name}={value!r}" for name, value in changes.items()]
    return f"{function}({', '.join(arguments)})"
