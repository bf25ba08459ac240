"""How to replay recorded rounds again: as a command, or in Python where no command can say it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

COLUMNS = ("arm", "reward", "cost", "round", "probability")
# the options of `purse replay`; one that is not here has no command
DEFAULTS: Mapping[str, Any] = {
    "horizon": None,
    "n_paths": None,
    "thorough": False,
    "seed": 0,
    "stop": None,
    "features": None,
    "per_arm": False,
    "decimal": None,
    "skip_empty": False,
} | {name: name for name in COLUMNS}
# which are called otherwise there; a list is one option for each entry
FLAGS = {
    "n_paths": "paths",
    "per_arm": "per-arm",
    "skip_empty": "skip-empty",
}


def command(
    data: Path | str,
    policies: str | ModuleType | Sequence[str | ModuleType],
    budgets: float | Sequence[Any],
    function: str,
    **options: Any,
) -> str:
    """Return the command that replays `data`, or the call of a function that does; options that are
    at their defaults are left out, and budgets where there are none.

    >>> command(Path("llm.csv"), ["uniform"], [1.0, 2.5], "purse.replay", seed=0, n_paths=20)
    'purse replay llm.csv --budget 1 --budget 2.5 uniform --paths 20'
    >>> command(Path("frame"), "uniform", 1, "purse.replay", horizon=7)
    "purse.replay(frame, budgets=[1], policies=['uniform'], horizon=7)"
    """
    players = [policies] if isinstance(policies, (str, ModuleType)) else list(policies)
    amounts = budgets if isinstance(budgets, Sequence) else [budgets]
    single = not any(isinstance(budget, Sequence) for budget in amounts)
    sizes = [
        repr(float(budget)).removesuffix(".0") if single else repr(budget) for budget in amounts
    ]
    changes = {
        name: value
        for name, value in options.items()
        if name not in DEFAULTS or value != DEFAULTS[name]
    }
    file, written = (
        Path(data).suffix != "" or data == "-",
        all(isinstance(policy, str) for policy in players),
    )
    declared = isinstance(changes.get("features"), Mapping)  # which the command reads from a file
    if file and written and single and not declared and set(changes) <= set(DEFAULTS):
        words = ["purse", "replay", str(data)]
        for size in sizes:
            words += ["--budget", size]
        words += map(str, players)
        for name, value in changes.items():
            if name == "features" and not isinstance(value, str):
                value = ",".join(value)
            for each in value if isinstance(value, list) else [value]:
                words += [f"--{FLAGS.get(name, name)}", *([] if each is True else [str(each)])]
        return shlex.join(words)
    names = ", ".join(
        repr(policy) if isinstance(policy, str) else policy.__name__ for policy in players
    )
    place = repr(str(data)) if file else str(data)
    arguments = [place, *([f"budgets=[{', '.join(sizes)}]"] if sizes else [])]
    arguments.append(f"policies=[{names}]")
    arguments += [f"{name}={value!r}" for name, value in changes.items()]
    return f"{function}({', '.join(arguments)})"
