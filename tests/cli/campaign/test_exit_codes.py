from __future__ import annotations

import json
import re
from typing import Any

import pytest

from purse.base import exit_codes
from purse.base.problem_types import OF_ERRORS, PREFIX
from tests.support.campaign_cli import Complaint, Run
from tests.support.paths import ROOT

SMALL = "new small --arm a=1 --arm b=2 --budget 4 --policy uniform --cooldown 1h"


def problem(line: str) -> Any:
    return json.loads(line)["type"].removeprefix(PREFIX), json.loads(line)["exit_code"]


def test_a_script_can_tell_why_an_ask_is_refused(complaint: Complaint, run: Run) -> None:
    run(f"{SMALL} --cost-min 1")
    run("ask small --arm b -n 2")
    line = complaint("ask small --json", code=exit_codes.HELD)
    assert problem(line) == ("budget-held", exit_codes.HELD)
    run("fail small 1")
    line = complaint("ask small --arm b --json", code=exit_codes.COOLING)
    assert json.loads(line)["seconds"] > 3000
    run("tell small 2 --reward 1 --cost 2")
    run("ask small --arm a -n 2")
    run("tell small 3 --reward 1 --cost 1")
    run("pause small")
    assert problem(complaint("ask small --json", code=exit_codes.PAUSED))[0] == "campaign-paused"
    run("resume small")
    run("tell small 4 --reward 1 --cost 1")
    assert "left" in complaint("ask small", code=exit_codes.OVER)
    run("end small")
    assert problem(complaint("ask small --json", code=exit_codes.OVER))[0] == "campaign-ended"


@pytest.mark.parametrize(
    ("line", "slug", "code"),
    [
        ("ask nothing", "not-found", exit_codes.MISTAKE),
        ("ask small --nonsense", "invalid-input", exit_codes.MISTAKE),
        ("list --storage sqlite:////no/such/folder/x", "storage-unavailable", 5),
    ],
)
def test_errors_for_machines_are_one_problem_on_stderr(
    complaint: Complaint, run: Run, line: str, slug: str, code: int
) -> None:
    run(f"{SMALL} --cost-min 1")
    assert problem(complaint(f"{line} --json", code=code)) == (slug, code)


def test_every_code_has_a_meaning_that_the_help_and_the_docs_give(run: Run) -> None:
    assert {kind.exit_code for kind in OF_ERRORS.values()} <= set(exit_codes.MEANINGS)
    page = (ROOT / "docs" / "campaigns.md").read_text()
    rows = dict(re.findall(r"^\| (\d+) \| ([^|]+) \|$", page, re.MULTILINE))
    assert rows == {str(code): words for code, words in exit_codes.MEANINGS.items()}
    words = " ".join(run("--help").stdout.split())
    assert all(f"{code} {text}" in words for code, text in exit_codes.MEANINGS.items())
