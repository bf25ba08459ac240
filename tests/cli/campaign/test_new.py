from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.campaign_cli import Complaint, Run
from tests.support.cli import run as run_main

LINE = "new x --arm a=0.01 --arm b=5 --budget 25 --policy uniform --resource USD"


def test_without_a_least_cost_it_is_a_thousandth_and_the_command_says_so(
    run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(f"{LINE} --cost-min 0.01")
    assert run_main(monkeypatch, "campaign", *LINE.replace(" x ", " y ").split()) == 0
    said = "A pull is taken to cost at least: a 0.00001, b 0.005 (--cost-min changes it)"
    assert said in capsys.readouterr().err


def test_a_repeat_takes_what_is_there_only_where_all_is_the_same(
    complaint: Complaint, run: Run
) -> None:
    first = run(f"{LINE} --cost-min 0.01").stdout
    assert "exist_ok" in complaint(f"{LINE} --cost-min 0.01")
    assert run(f"{LINE} --cost-min 0.01 --exist-ok").stdout == first
    other = complaint(f"{LINE} --cost-min 0.01 --exist-ok --seed 1")
    assert "there is a campaign 'x' already, with other seed than these" in other


def test_the_policy_is_not_compiled_yet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compiled: list[Any] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("purse.campaign.learner.Learner", compiled.append)
    assert run_main(monkeypatch, "campaign", *LINE.split(), "--cost-min", "0.01") == 0
    assert not compiled


def test_a_campaign_that_is_kept_to_the_end_of_python_prints_nothing(tmp_path: Path) -> None:
    lines = (
        "import logging, purse",
        "purse.Campaign.create('x', arms={'a': 1}, budget=5, policy='uniform')",
        "logging.kept = purse.Campaign.open('x')",  # what others keep goes last
    )
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
