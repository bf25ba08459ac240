from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import purse
from purse import cli
from purse.campaign.storage import base
from purse.cli.campaign import watch
from purse.cli.campaign import write as verbs
from purse.live import policy

Run = Callable[..., Result]
NEW = (
    "new",
    "prompts",
    "--arm",
    "small=0.01",
    "--arm",
    "large=0.05",
    "--budget",
    "25",
    "--cost-min",
    "0.0001",
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `purse campaign ...` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def go(*words: str, stdin: str | None = None, code: int = 0) -> Result:
        result = CliRunner().invoke(cli.cli, ["campaign", *words], input=stdin)
        if result.exception is not None and not isinstance(
            result.exception, (SystemExit, purse.PurseError)
        ):
            raise result.exception
        assert (result.exit_code, result.stderr) == (code, result.stderr if code else ""), (
            result.output
        )
        return result

    return go


def data(result: Result) -> Any:
    return json.loads(result.stdout)


@pytest.fixture
def complaint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """What the command says on stderr, which is one line, with exit code 2 and nothing on
    stdout.
    """
    monkeypatch.chdir(tmp_path)

    def go(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["purse", "campaign", *words])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        captured = capsys.readouterr()
        assert (exit_.value.code, captured.out, captured.err.count("\n")) == (2, "", 1)
        return captured.err

    return go


def test_a_campaign_from_its_creation_to_its_end(run: Run) -> None:
    assert "spent 0 of 25" in run(*NEW, "--resource", "USD").stdout
    first, second, third = [
        line.split("\t") for line in run("ask", "prompts", "-n", "3").stdout.splitlines()
    ]
    assert [first[0], second[0], third[0]] == ["1", "2", "3"]
    assert {first[1]: first[3], second[1]: second[3]} == {"small": "0.01", "large": "0.05"}
    assert run("tell", "prompts", "1", "--reward", "0.93", "--cost", "0.0021").stdout.startswith(
        "ticket 1 told, spent 0.0021, refunded 0."
    )
    assert run("tell", "prompts", "1", "--reward", "0.93", "--cost", "0.0021").stdout.endswith(
        "(duplicate)\n"
    )
    assert run("void", "prompts", "2").stdout.startswith("ticket 2 void, spent 0, refunded 0.")
    assert "spent 0.0021 of 30" in run("top-up", "prompts", "5", "--request", "raise").stdout
    assert "spent 0.0021 of 30" in run("top-up", "prompts", "5", "--request", "raise").stdout
    for verb, status in (("pause", "paused"), ("resume", "running"), ("close", "closed")):
        assert run(verb, "prompts").stdout.startswith(f"prompts: {status}")
    assert run("tell", "prompts", "3", "--reward", "1", "--cost", "0.06").stdout.split("overrun ")[
        1
    ] == ("0.05\n" if third[1] == "small" else "0.01\n")
    found = data(run("status", "prompts", "--json"))
    assert (
        found["status"],
        found["purses"][0]["resource"],
        found["counts"]["told"],
        found["counts"]["void"],
    ) == ("closed", "USD", 2, 1)
    assert "more was spent than held" in run("status", "prompts").stdout.split("!")[1]


def test_a_repeated_request_gets_the_same_ticket_and_holds_nothing_more(run: Run) -> None:
    run(*NEW)
    first = data(run("ask", "prompts", "--request", "a", "--json"))
    assert data(run("ask", "prompts", "--request", "a", "--json")) == first
    assert (
        data(run("status", "prompts", "--json"))["purses"][0]["held"]
        == first["tickets"][0]["held"][0]
    )


def test_tickets_are_listed_by_state(run: Run) -> None:
    run(*NEW)
    run("ask", "prompts", "-n", "3")
    run("void", "prompts", "2")
    assert [line.split("\t")[0] for line in run("tickets", "prompts").stdout.splitlines()] == [
        "1",
        "3",
    ]
    assert [
        line.split("\t")[::4]
        for line in run("tickets", "prompts", "--state", "void").stdout.splitlines()
    ] == [["2", "void"]]
    assert [
        ticket["id"]
        for ticket in data(run("tickets", "prompts", "--limit", "1", "--json"))["tickets"]
    ] == [1]


def test_reports_from_stdin_stand_alone(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verbs, "BATCH", 2)
    run(*NEW)
    run("ask", "prompts", "-n", "3")
    reports = "".join(
        json.dumps({"ticket": ticket, "reward": 0.5, "cost": "0.002"}) + "\n\n"
        for ticket in (1, 99, 3)
    )
    result = run("tell", "prompts", "-", stdin=reports, code=2)
    assert [line.split(",")[0] for line in result.stdout.splitlines()] == [
        "ticket 1 told",
        "ticket 3 told",
    ]
    assert result.stderr.startswith("purse: ticket 99 is not one")
    assert result.stderr.count("\n") == 1
    again = data(run("tell", "prompts", "-", "--json", stdin=reports, code=2))
    assert [(receipt["ticket"], receipt["duplicate"]) for receipt in again["receipts"]] == [
        (1, True),
        (3, True),
    ]
    assert [wrong["ticket"] for wrong in again["errors"]] == [99]
    assert run("tell", "prompts", "2", "--reward", "7", "--cost", "0", code=2).stderr.startswith(
        "purse: ticket 2: reward=7"
    )
    run("tell", "prompts", "-", stdin="")


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[1, 2, 3]",
        '{"ticket": 1, "reward": 1}',
        '{"ticket": "1", "reward": 1, "cost": 1}',
        '{"ticket": 1, "reward": 1, "cost": 1, "x": 0}',
    ],
)
def test_a_bad_line_is_named_and_nothing_is_told(run: Run, line: str) -> None:
    run(*NEW)
    run("ask", "prompts", "-n", "2")
    result = run(
        "tell",
        "prompts",
        "-",
        stdin=f'{{"ticket": 1, "reward": 1, "cost": "0.001"}}\n{line}\n',
        code=1,
    )
    assert str(result.exception).startswith("stdin, line 2=")
    assert data(run("status", "prompts", "--json"))["counts"]["told"] == 0


def test_several_resources_are_given_between_commas(run: Run) -> None:
    pair = ("--resource", "USD", "--resource", "tokens")
    run(
        "new",
        "pair",
        "--arm",
        "a=0.01,500",
        "--arm",
        "b=0.05,100",
        "--budget",
        "2,10000",
        "--cost-min",
        "0.0001,1",
        *pair,
        "--seed",
        "3",
        "--horizon",
        "9",
    )
    assert run("ask", "pair").stdout.split("\t")[3] in ("0.01,500\n", "0.05,100\n")
    run("tell", "pair", "1", "--reward", "1", "--cost", "0.002,70")
    run("top-up", "pair", "1,100")
    assert [
        (each["budget"], each["spent"]) for each in data(run("status", "pair", "--json"))["purses"]
    ] == [("3", "0.002"), ("10100", "70")]


def test_release_on_expiry_prints_the_weaker_promise(run: Run) -> None:
    assert "released" not in run(*NEW).stdout
    text = run(
        "new",
        "weak",
        "--arm",
        "a=1",
        "--budget",
        "5",
        "--cost-min",
        "1",
        "--on-expiry",
        "release",
        "--expires-after",
        "30m",
    ).stdout
    assert "a hold that outlives its deadline is released" in text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("30m", 1800), ("1h", 3600), ("1.5d", 129600), ("never", None)],
)
def test_times_are_written_short(run: Run, text: str, seconds: float | None) -> None:
    run(*NEW, "--expires-after", text)
    (ticket,) = data(run("ask", "prompts", "--json"))["tickets"]
    assert ticket["deadline"] == (
        None if seconds is None else pytest.approx(ticket["asked_at"] + seconds)
    )


def test_the_storage_is_an_option_or_an_environment_variable(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*NEW, "--storage", "sqlite:///other.db")
    assert (tmp_path / "other.db").exists()
    monkeypatch.setenv("PURSE_STORAGE", "sqlite:///other.db")
    assert [each["name"] for each in data(run("list", "--json"))["campaigns"]] == ["prompts"]
    monkeypatch.delenv("PURSE_STORAGE")
    assert isinstance(run("list", code=1).exception, purse.StorageUnavailable)
    assert not (tmp_path / "purse.db").exists()


def test_status_without_a_name_lists_all(run: Run) -> None:
    run(*NEW)
    run("new", "ads", "--arm", "a=1", "--budget", "5", "--cost-min", "1", "--resource", "EUR")
    lines = run("status").stdout.splitlines()
    assert [line.split("\t")[:2] for line in lines] == [["ads", "running"], ["prompts", "running"]]
    assert lines[0].split("\t")[2] == "0 of 5 EUR spent"
    assert run("list").stdout.splitlines() == lines
    run("ask", "ads")
    run("tell", "ads", "1", "--reward", "1", "--cost", "2")
    assert run("list").stdout.splitlines()[0] == "ads\trunning\t1 of 5 EUR spent\t! overrun"


def test_an_exported_campaign_is_restored_and_audited(run: Run, tmp_path: Path) -> None:
    run(*NEW)
    run("ask", "prompts", "-n", "4")
    run("tell", "prompts", "1", "--reward", "0.5", "--cost", "0.003")
    lines = run("export", "prompts").stdout
    CliRunner().invoke(
        cli.cli, ["campaign", "export", "prompts", "-o", "journal.jsonl"], catch_exceptions=False
    )
    assert (tmp_path / "journal.jsonl").read_text() == lines
    assert [path.name for path in tmp_path.glob(".*")] == []
    assert run("restore", "journal.jsonl", "--name", "copy").stdout.startswith("copy: running")
    assert data(run("audit", "copy", "--json"))["ok"] is True
    assert "3 entries" in run("audit", "prompts").stdout
    assert (
        data(run("status", "copy", "--json"))["purses"]
        == data(run("status", "prompts", "--json"))["purses"]
    )


def test_an_audit_that_finds_something_exits_with_1(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*NEW)

    class Audit:
        ok, entries, findings, digest = False, 1, ["held is 5 and should be 0"], "abc"

    monkeypatch.setattr(purse.Campaign, "audit", lambda _: Audit)
    assert run("audit", "prompts", code=1).stdout.splitlines() == [
        "held is 5 and should be 0",
        "prompts: 1 entries, 1 findings; digest abc",
    ]
    assert data(run("audit", "prompts", "--json", code=1))["findings"] == [
        "held is 5 and should be 0"
    ]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("status", "nothing"), "'nothing'"),
        (("new", "x y", *NEW[2:]), "name='x y'"),
        (
            ("new", "x", "--arm", "small", "--budget", "1", "--cost-min", "1"),
            "arm='small': must be NAME=COST",
        ),
        (("new", "x", "--arm", "a=1", "--arm", "a=2", "--budget", "9", "--cost-min", "1"), "arms="),
        (("new", "x", "--arm", "a=1", "--budget", "-5", "--cost-min", "1"), "budget="),
        (
            ("new", "x", "--arm", "a=1", "--budget", "5,6", "--cost-min", "1"),
            "budget='5,6': must be one amount",
        ),
        (("new", "x", "--arm", "a=1", "--budget", "5", "--cost-min", "2"), "cost_min=2"),
        (
            (
                "new",
                "x",
                "--arm",
                "a=1",
                "--budget",
                "5",
                "--cost-min",
                "1",
                "--expires-after",
                "soon",
            ),
            "'soon' is not a time",
        ),
        (
            (
                "new",
                "x",
                "--arm",
                "a=1",
                "--budget",
                "5",
                "--cost-min",
                "1",
                "--on-expiry",
                "forget",
            ),
            "on_expiry='forget'",
        ),
        (
            ("new", "x", "--arm", "a=1", "--budget", "5", "--cost-min", "1", "--policy", "exp4"),
            "unknown policy 'exp4'",
        ),
        (("new", "x", "--budget", "5", "--cost-min", "1"), "--arm"),
        (("ask", "prompts", "-n", "0"), "n=0"),
        (("tell", "prompts", "one", "--reward", "1", "--cost", "1"), "ticket='one'"),
        (("tell", "prompts", "9" * 30, "--reward", "1", "--cost", "1"), "ticket="),
        (("tell", "prompts", "7", "--reward", "1", "--cost", "1"), "ticket 7"),
        (("tell", "prompts", "1", "--reward", "1"), "ticket 1: give both --reward and --cost"),
        (("tell", "prompts", "-", "--reward", "1"), "read from stdin"),
        (("void", "prompts", "7"), "ticket 7"),
        (("void", "prompts", "x"), "ticket='x'"),
        (("top-up", "prompts", "-3"), "-3"),
        (("top-up", "prompts", "0"), "amount="),
        (("tickets", "prompts", "--state", "lost"), "'lost'"),
        (("export", "prompts", "-o", "no/such/folder/file"), "no/such/folder/file"),
        (("restore", "missing.jsonl"), "missing.jsonl"),
        (("restore", "purse.db"), "purse.db"),
        (("list", "--storage", "ftp://x"), "storage='ftp://x'"),
        (("list", "--storage", "sqlite:////no/such/folder/x.db"), "/no/such/folder"),
        (("watch", "nothing"), "'nothing'"),
        (("audit", "nothing"), "'nothing'"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(
    complaint: Callable[..., str], run: Run, words: tuple[str, ...], part: str
) -> None:
    run(*NEW)
    assert part in complaint(*words)


def test_reports_that_are_refused_are_one_line_and_exit_code_2(
    complaint: Callable[..., str], run: Run
) -> None:
    run(*NEW)
    run("ask", "prompts")
    for reward, cost in (
        ("2", "0.001"),
        ("nan", "0.001"),
        ("0.5", "-1"),
        ("0.5", "NaN"),
        ("0.5", "0.00000000001"),
        ("0.5", "9999999999"),
        ("0.5", "1,2"),
    ):
        assert (
            "reward="
            in (line := complaint("tell", "prompts", "1", "--reward", reward, "--cost", cost))
            or "cost=" in line
        )
    run("tell", "prompts", "1", "--reward", "0.5", "--cost", "0.001")
    assert "ticket 1" in complaint("tell", "prompts", "1", "--reward", "0.6", "--cost", "0.001")
    run("close", "prompts")
    assert "closed" in complaint("ask", "prompts")


def test_the_defaults_are_those_of_the_library() -> None:
    defaults = {option.name: option.default for option in verbs.new.params}
    assert (defaults["policy"], defaults["storage"]) == (policy.DEFAULT, base.DEFAULT)


def test_watch_once_shows_budget_arms_tickets_and_alarms(run: Run) -> None:
    run(*NEW, "--resource", "USD", "--resource", "calls")
    run("ask", "prompts", "-n", "12")
    for ticket, reward, cost in ((1, "0.5", "0.002,0.002"), (2, "1", "0.07,0.01")):
        run("tell", "prompts", str(ticket), "--reward", reward, "--cost", cost)
    text = run("watch", "prompts", "--once").stdout
    for part in (
        "prompts  running",
        "round 12",
        "█",
        "25 USD",
        "25 calls",
        "an hour it lasts",
        "USD a pull",
        "10 open tickets:",
        " old",
        "more was spent than held",
    ):
        assert part in text
    rows = {
        line.split()[0]: line.split()[1:]
        for line in text.splitlines()
        if line.split()[:1] in (["small"], ["large"])
    }
    assert {rows["small"][1], rows["large"][1]} == {"0.5", "1"}
    assert int(rows["small"][0]) + int(rows["large"][0]) == 12


def test_watch_prints_a_line_for_each_change_where_there_is_no_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*NEW)
    doings = iter(
        [
            lambda: run("ask", "prompts"),
            lambda: None,
            lambda: run("tell", "prompts", "1", "--reward", "1", "--cost", "0.5"),
            None,
        ]
    )

    def sleep(_: float) -> None:
        doing = next(doings)
        if doing is None:
            raise KeyboardInterrupt
        doing()

    monkeypatch.setattr(watch.time, "sleep", sleep)
    empty, asked, told = run("watch", "prompts").stdout.splitlines()
    assert (
        empty
        == "1 running: units spent 0 held 0 presumed 0 left 25 overrun 0; pulls small 0, large 0"
    )
    assert asked.startswith("2 running: units spent 0 held 0.0")
    assert told.startswith("3 running: units spent 0.0")
    assert "more was spent than held" in told


def test_watch_refreshes_in_a_terminal_until_it_is_interrupted(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*NEW)
    seen = []

    def sleep(_: float) -> None:
        seen.append(1)
        if len(seen) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(watch.time, "sleep", sleep)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")  # what makes rich take the output for a terminal
    text = run("watch", "prompts").stdout
    assert text.count("round 0") > len(seen) == 3  # and once more when it ends
    assert "\x1b[1A" in text  # each view is written over the last
