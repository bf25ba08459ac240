from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import purse
from purse.lab.data.question import Question


def test_the_command_says_what_was_asked_and_python_what_no_command_can_say() -> None:
    def command(path: str = "t.csv", **asked: Any) -> str:
        return Question(**{"policies": "uniform", "budgets": 3} | asked).command(Path(path))

    assert command(features=["a", "b"], per_arm=True) == (
        "purse replay t.csv --budget 3 uniform --features a,b --per-arm"
    )
    assert command(features="x_*", per_arm=False).endswith(" --features 'x_*'")
    assert command(features={"a": (0, 1)}).startswith("purse.replay('t.csv'")
    assert command("my data.csv", horizon=50, stop="hold", reward="my score") == (
        "purse replay 'my data.csv' --budget 3 uniform --horizon 50 --stop hold --reward 'my score'"
    )
    judged = command(rewards=pl.DataFrame({"id": [1]}), policies=None, budgets=None)
    assert judged == "purse.replay('t.csv', rewards=frame)"
    assert command(rewards=Path("j.csv"), on="id").endswith(" --rewards j.csv --on id")
    assert command(cost_max=np.array([0.5, 1])).endswith(", cost_max=[0.5, 1.0])")
    assert command(policies=[purse.policies.load("uniform")]) == (
        "purse.replay('t.csv', budgets=[3], policies=[purse.policies.uniform])"
    )
