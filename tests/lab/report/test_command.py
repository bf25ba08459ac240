from __future__ import annotations

from pathlib import Path

import purse
from purse.lab.report.command import command


def test_what_no_command_can_say_is_said_in_python() -> None:
    options = {"horizon": 50, "stop": "hold", "reward": "my score"}
    assert command(Path("my data.csv"), "uniform", 3, "purse.replay", **options) == (
        "purse replay 'my data.csv' --budget 3 uniform --horizon 50 --stop hold --reward 'my score'"
    )
    assert (
        command(Path("t.csv"), [purse.policies.load("uniform")], [3], "purse.replay")
        == "purse.replay('t.csv', budgets=[3], policies=[purse.policies.uniform])"
    )
