"""A question about recorded rounds, and how to ask it again: as a command, or in Python if no
command can say it.
"""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType
from typing import Any

from purse.base import validation
from purse.engine.job import SEEDS
from purse.errors import invalid

_Players = str | ModuleType | Sequence[str | ModuleType]
Wanted = str | Sequence[str] | Mapping[str, Any]  # features

_COLUMNS = ("arm", "reward", "cost", "round", "probability")
NO_LIMIT = "none"  # as a horizon
_PATHS, _THOROUGH_PATHS = 100, 1_000  # orders of a table's rows, or simulated games
_REPLICATES, _THOROUGH_REPLICATES = 100, 1_000  # logs drawn from the log
WITHIN = 0.02  # of the log's gain may be missing, if something else is as good
# the fields that `purse replay` has no option for; a question with another value has no command
_NO_OPTION = ("reward_range", "cost_min", "cost_max")
# fields that are written otherwise, or that `purse.replay` decides
_UNWRITTEN = ("policies", "budgets", "replicates", "arms", "references")
_FLAGS = {"n_paths": "paths", "per_arm": "per-arm", "skip_empty": "skip-empty"}


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question about recorded rounds; `purse.replay` explains the first fields.

    The rest is about logs:

    replicates    logs that are drawn again from the log, for the intervals; None: 100
    arms          all arms, if some were never logged, or in the order in which policies know them;
                  None: those in the log, sorted
    reward_range, cost_min, cost_max   what policies are told, if that is wider than the log
    references    whether to add what the log itself gained, and each arm alone
    rewards, on   judged answers, and the column of ids that they share with the log
    block         a column of sessions, which blocks of rows keep whole
    within        without budgets: the part of the log's gain that a saving may cost
    """

    policies: _Players | None = None
    budgets: Any = None
    horizon: int | str | None = None
    n_paths: int | None = None
    thorough: bool = False
    seed: int = 0
    stop: str | None = None
    decimal: str | None = None
    skip_empty: bool = False
    empty: str | Sequence[str] = ()
    arm: str = "arm"
    reward: str = "reward"
    cost: str = "cost"
    round: str = "round"
    probability: str | None = "probability"
    features: Wanted | None = None
    per_arm: bool = False
    map: str | None = None
    replicates: int | None = None
    arms: Sequence[str] | None = None
    reward_range: tuple[float, float] | None = None
    cost_min: Any = None
    cost_max: Any = None
    references: bool = False
    rewards: Any = None
    on: str | None = None
    block: str | None = None
    within: float = WITHIN

    @property
    def names(self) -> dict[str, str]:
        """The names of the columns by what they are."""
        return {name: getattr(self, name) for name in _COLUMNS if getattr(self, name) is not None}

    @property
    def players(self) -> list[str | ModuleType]:
        """The policies, as a list."""
        if isinstance(self.policies, (str, ModuleType, type)):  # a class is refused by its name
            return [self.policies]
        return list(self.policies or ())

    @property
    def sizes(self) -> list[Any]:
        """The budgets in the user's unit, as a list: numbers, or lists with one per resource."""
        if self.budgets is None:
            return []
        return list(self.budgets) if isinstance(self.budgets, Sequence) else [self.budgets]

    @property
    def limit(self) -> int | None:
        """The horizon as a number of rounds; None: no limit."""
        if self.horizon is None or self.horizon == NO_LIMIT:
            return None
        return validation.integer("horizon", self.horizon, low=1)

    @property
    def games(self) -> int:
        """How many orders or games are played."""
        usual = _THOROUGH_PATHS if self.thorough else _PATHS
        return usual if self.n_paths is None else self.n_paths

    @property
    def logs(self) -> int:
        """How many logs are drawn again."""
        usual = _THOROUGH_REPLICATES if self.thorough else _REPLICATES
        return usual if self.replicates is None else self.replicates

    def check(self) -> None:
        """Raise `InvalidInput` if a value is not allowed for a log."""
        validation.integer("n_paths", self.games, low=2)
        validation.integer("replicates", self.logs, low=2)
        validation.integer("seed", self.seed, low=0, high=SEEDS)
        for field, values in {"policies": self.players, "budgets": self.sizes}.items():
            if not values:
                raise invalid(field, values, "must have at least one entry")

    def command(self, data: Path | str) -> str:
        """Return the command that asks this of `data`, or the call of `purse.replay`; fields that
        are at their defaults are left out.

        >>> from dataclasses import replace
        >>> question = Question(policies=["uniform"], budgets=[1.0, 2.5], n_paths=20)
        >>> question.command(Path("llm.csv"))
        'purse replay llm.csv --budget 1 --budget 2.5 uniform --paths 20'
        >>> replace(question, budgets=1, n_paths=None, horizon=7).command("frame")
        "purse.replay(frame, budgets=[1], policies=['uniform'], horizon=7)"
        """
        values = {field.name: _as_list(getattr(self, field.name)) for field in fields(self)}
        judged = not isinstance(self.rewards, str | os.PathLike | None)  # in a frame
        values["rewards"] = None if judged or self.rewards is None else str(self.rewards)
        changes = {
            field.name: values[field.name]
            for field in fields(self)
            if field.name not in _UNWRITTEN and values[field.name] != field.default
        }
        single = not any(isinstance(budget, Sequence) for budget in self.sizes)
        sizes = [
            repr(float(budget)).removesuffix(".0") if single else repr(budget)
            for budget in self.sizes
        ]
        file = Path(data).suffix != "" or data == "-"
        written = all(isinstance(policy, str) for policy in self.players)
        # declared features would have to be read from a file
        declared = isinstance(self.features, Mapping)
        said = single and written and not (declared or judged or set(changes) & set(_NO_OPTION))
        if file and said:
            words = ["purse", "replay", str(data)]
            for size in sizes:
                words += ["--budget", size]
            words += map(str, self.players)
            for name, value in changes.items():
                if name == "features" and not isinstance(value, str):
                    value = ",".join(value)
                entries = [value] if isinstance(value, str) or name != "empty" else value
                for entry in entries:
                    words += [
                        f"--{_FLAGS.get(name, name)}",
                        *([] if entry is True else [str(entry)]),
                    ]
            return shlex.join(words)
        names = ", ".join(
            repr(policy) if isinstance(policy, str) else policy.__name__ for policy in self.players
        )
        arguments = [repr(str(data)) if file else str(data)]
        arguments += [f"budgets=[{', '.join(sizes)}]"] if sizes else []
        arguments += [f"policies=[{names}]"] if names else []
        arguments += [f"{name}={value!r}" for name, value in changes.items()]
        arguments += ["rewards=frame"] if judged else []
        return f"purse.replay({', '.join(arguments)})"


def _as_list(value: Any) -> Any:
    """Return an array as a list, which can be compared and written; else the value."""
    return value.tolist() if hasattr(value, "tolist") else value
