"""The top of the command line; and what is wrong about a campaign is one line, in the words of the
library, and an exit code.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from purse import policies, worlds
from purse._version import __version__
from purse.base import exit_codes
from purse.base.catalog import Groups
from purse.base.problem_types import OF_ERRORS, PREFIX
from purse.cli import cli
from purse.cli.lab import lab
from tests.support.cli import NEW, Command, Run, check_mistake, complaint
from tests.support.paths import ROOT

TOP = (
    "campaign account apply recommend serve token webhook storage demo replay compare lab policies "
    "warm"
)
LAB = "simulate regret init run status show report bounds optimum worlds"


def test_the_commands_are_these() -> None:
    assert (" ".join(cli.commands), " ".join(lab.commands)) == (TOP, LAB)


def test_groups_without_a_verb_help(command: Command) -> None:
    for verb in ("", "campaign", "token", "lab"):
        code, out, err = command(verb)
        assert (code, err) == (0, "")
        assert out.startswith(f"Usage: purse {verb}")
        assert command(f"{verb} --help") == (0, out, "")
    assert command("--version") == (0, f"purse, version {__version__}\n", "")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("compere", "did you mean 'compare'?"),
        ("lab simulat", "did you mean 'simulate'?"),
        ("simulate uniform", "did you mean 'purse lab simulate'?"),
        ("run study.toml", "did you mean 'purse webhook run' or 'purse lab run'?"),
        ("version", f"known: {', '.join(sorted(TOP.split()))}"),
    ],
)
def test_an_unknown_verb_is_a_mistake(
    command: Command, tmp_path: Path, line: str, hint: str
) -> None:
    check_mistake(command, tmp_path, line, hint)
    assert command(line)[2].startswith("purse: unknown command '")


def test_warm_compiles_and_says_where_the_code_is(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[dict[str, Any]] = []
    monkeypatch.setattr(
        "purse.lab.replay.warm.warm", lambda **how: given.append(how) or Path("/code")
    )
    assert command("warm", "uniform", "--workers", "2") == (0, "Compiled code is in /code\n", "")
    assert command("warm")[0] == 0
    assert given == [{"policies": ("uniform",), "n_workers": 2}, {"n_workers": None}]


@pytest.mark.parametrize(
    ("verb", "names", "of"),
    [
        ("policies", policies.names(), policies.GROUPS),
        ("lab worlds", worlds.names(), worlds.GROUPS),
    ],
)
def test_lists_are_grouped_fit_a_terminal_and_explain_one(
    command: Command, monkeypatch: pytest.MonkeyPatch, verb: str, names: list[str], of: Groups
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = command(verb)[1].splitlines()
    assert max(map(len, lines)) <= 80
    starts = [line.split()[0] for line in lines if line[:2] == "  " and line[2] != " "]
    assert sorted(starts) == names
    assert {name for members in of.values() for name in members} <= set(names)
    assert sum("(the default)" in line for line in lines) == (verb == "policies")
    assert len(lines) == len(names) + 2 * len([line for line in lines if line.endswith(":")]) + 1
    assert lines[-1] == f"`purse {verb} NAME` explains one, with its options."
    assert sorted(row["name"] for row in json.loads(command(f"{verb} --json")[1])) == names
    code, out, _ = command(f"{verb} {names[0]}")
    assert (code, "\n\nOptions: " in out) == (0, True)
    assert ("\n\nSource: " in out) == (verb == "policies")
    if verb == "policies":
        worse, better = next(iter(policies.dominated().items()))
        assert f"\n\nDominated by: {better}.\n" in command(f"policies {worse}")[1]
        assert f"(dominated by {better})" in next(line for line in lines if f" {worse} " in line)
    kind = verb.split()[-1][:-3].rstrip("i")
    assert f"unknown {kind}" in complaint(command, f"{verb} x")


ONE = "new x --arm a=1 --budget 5 --cost-min 1"
SEEN = '{"length": [0, 8000], "source": ["chat", "code"]}'
SMALL = "new small --arm a=1 --arm b=2 --budget 4 --policy uniform --cooldown 1h --cost-min 1"
MISTAKES = [
    ("new 'x y' --arm a=1 --budget 5", "name='x y': must be 1 to 100 letters"),
    ("new x --budget 5", "Missing option '--arm'"),
    ("new x --arm small --budget 1", "arms=['small']: must say the most that a pull of each arm"),
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
    run("fail small 1 --cost 0")
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
