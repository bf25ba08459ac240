"""What is wrong about a campaign is one line, in the words of the library, and an exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from purse.base import exit_codes
from purse.base.problem_types import OF_ERRORS, PREFIX
from tests.support.cli import NEW, Command, Run, complaint
from tests.support.paths import ROOT

ONE = "new x --arm a=1 --budget 5 --cost-min 1"
SEEN = '{"length": [0, 8000], "source": ["chat", "code"]}'
SMALL = "new small --arm a=1 --arm b=2 --budget 4 --policy uniform --cooldown 1h --cost-min 1"
MISTAKES = [
    ("new 'x y' --arm a=1 --budget 5", "name='x y': must be 1 to 100 letters"),
    ("new x --budget 5", "Missing option '--arm'"),
    ("new x --arm small --budget 1", "arm='small': must be NAME=COST, such as small=0.01"),
    ("new x --arm a=1 --arm a=2 --budget 9", "arm='a': must be given once"),
    (f"{ONE},2", "cost_min=[['1', '2']]: must be one number"),
    (f"{ONE} --expires-after soon", "expires_after='soon': must be a number above 0"),
    (f"{ONE} --exlore 1", "No such option '--exlore'"),
    (f"{ONE} --missing-reward no", "missing_reward='no'"),
    (f"{ONE} --cost-ceiling =2", "arm='=2': must be NAME=COST"),
    (f"{ONE} --cost-ceiling 1,2", "must be one amount, or one per arm"),
    (f"{ONE} --features {{nonsense", "features='{nonsense': must be JSON"),
    (f"{ONE} --every day --time-zone Europe/Berln", "did you mean 'Europe/Berlin'"),
    ("ask promts", "there is no campaign 'promts'; did you mean 'prompts'?"),
    ("ask prompts -n many", "n='many': must be a whole number from 1 to 1000"),
    ("ask prompts --most small", "arm='small': must be NAME=COST"),
    ("ask prompts --most small=1,2", "must be one amount for each of the resources"),
    ("ask prompts --most small=1 --most small=2", "most='small': must be given once"),
    ("ask prompts --arm small --most small=1", "give either --arm or --most"),
    ("ask prompts --label tenant", "labels['tenant']='': must be text"),
    ("ask prompts --label =x", "labels='': a key must be text"),
    ("ask prompts --label a=x --label a=y", "label='a': must be given once"),
    (f"tell prompts {'9' * 30} --reward 1 --cost 1", "ticket=99"),
    ("tell prompts 1 --reward 1", "ticket 1: give both --reward and --cost"),
    ("tell prompts - --reward 1", "read from stdin"),
    ("tell prompts 1 --reward nan --cost 1", "ticket 1: reward=nan: must be a finite number"),
    ("tell prompts 1 --reward 1 --cost 1,000", "a comma stands between resources, not in a num"),
    (
        "ask prompts --arm small=9",
        "arms='small=9': must be a name; {'small': '9'}, or --most small=9",
    ),
    ("settle prompts 1", "Missing option '--cost'"),
    ("top-up prompts -3", "No such option '-3'"),
    ("export prompts -o no/such/folder/file", "no/such/folder/file"),
    ("restore missing.jsonl", "missing.jsonl"),
    ("restore purse.db", "purse.db"),
    ("list --storage ftp://x", "storage='ftp://x'"),
    ("watch nothing", "there is no campaign 'nothing'"),
    ("audit prompts --acknowledged missing", "cannot read 'missing': No such file"),
    ("audit prompts --noted abc", "noted='abc': must be the entries and the digest"),
    ("audit prompts --noted 3:", "noted='3:': must be the entries and the digest"),
    ("audit prompts --noted x:abc", "noted='x': must be a whole number"),
    ("ask seen --context length", "context='length': must be NAME=VALUE,NAME=VALUE"),
    ("ask seen --context length=1,length=2", "context='length': must be given once"),
    ("ask seen --context length=,source=chat", "length"),
    ("ask seen --context @missing.json", "cannot read 'missing.json': No such file"),
    ("ask seen --context {nonsense", "context='{nonsense': must be JSON"),
    ("ask seen -n 2 --context length=1,source=chat", "contexts"),
    ("ask seen --context length=1,source=chat --context length=1,source=chat", "contexts"),
]


def test_what_is_wrong_is_one_line_and_exit_code_2(
    command: Command, run: Run, tmp_path: Path
) -> None:
    run(f"{NEW} --capacity 4 --cost-ceiling 0.1")
    run(NEW.replace("prompts", "seen"), "--features", SEEN)
    before = run("list"), [path.name for path in tmp_path.iterdir()]
    for line, part in MISTAKES:
        assert part in complaint(command, f"campaign {line}")
    assert (run("list"), [path.name for path in tmp_path.iterdir()]) == before


def problem(line: str) -> Any:
    return json.loads(line)["type"].removeprefix(PREFIX), json.loads(line)["exit_code"]


def test_a_script_can_tell_why_an_ask_is_refused(command: Command, run: Run) -> None:
    def refused(line: str, code: int) -> str:
        return complaint(command, f"campaign {line}", code)

    run(SMALL)
    run("ask small --arm b -n 2")
    line = refused("ask small --json", exit_codes.HELD)
    assert problem(line) == ("budget-held", exit_codes.HELD)
    run("fail small 1")
    line = refused("ask small --arm b --json", exit_codes.COOLING)
    assert json.loads(line)["seconds"] > 3000
    run("tell small 2 --reward 1 --cost 2")
    run("ask small --arm a -n 2")
    run("tell small 3 --reward 1 --cost 1")
    assert "ticket 3" in refused("tell small 3 --reward 0 --cost 1", exit_codes.MISTAKE)
    run("pause small")
    assert problem(refused("ask small --json", exit_codes.PAUSED))[0] == "campaign-paused"
    run("resume small")
    run("tell small 4 --reward 1 --cost 1")
    assert "left" in refused("ask small", exit_codes.OVER)
    run("end small")
    assert problem(refused("ask small --json", exit_codes.OVER))[0] == "campaign-ended"


def test_errors_for_machines_are_one_problem_on_stderr(command: Command, run: Run) -> None:
    run(SMALL)
    for line, slug, code in (
        ("ask nothing", "not-found", exit_codes.MISTAKE),
        ("ask small --nonsense", "invalid-input", exit_codes.MISTAKE),
        ("list --storage sqlite:////no/such/folder/x", "storage-unavailable", 5),
    ):
        assert problem(complaint(command, f"campaign {line} --json", code)) == (slug, code)


def test_every_code_has_a_meaning_that_the_help_and_the_docs_give(run: Run) -> None:
    assert {kind.exit_code for kind in OF_ERRORS.values()} <= set(exit_codes.MEANINGS)
    page = (ROOT / "docs" / "campaigns.md").read_text()
    rows = dict(re.findall(r"^\| (\d+) \| ([^|]+) \|$", page, re.MULTILINE))
    assert rows == {str(code): words for code, words in exit_codes.MEANINGS.items()}
    words = " ".join(run("--help").split())
    assert all(f"{code} {text}" in words for code, text in exit_codes.MEANINGS.items())
