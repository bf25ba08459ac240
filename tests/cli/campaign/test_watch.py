from __future__ import annotations

import pytest

from tests.support.campaign_cli import NEW, Run


def test_watch_once_shows_budget_arms_tickets_and_alarms(run: Run) -> None:
    run(*NEW, "--resource", "USD", "--resource", "calls")
    run("ask prompts -n 12")
    for ticket, reward, cost in ((1, "0.5", "0.002,0.002"), (2, "1", "0.07,0.01")):
        run("tell", "prompts", str(ticket), "--reward", reward, "--cost", cost)
    text = run("watch prompts --once").stdout
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
            lambda: run("ask prompts"),
            lambda: None,
            lambda: run("tell prompts 1 --reward 1 --cost 0.5"),
            None,
        ]
    )

    def sleep(_: float) -> None:
        doing = next(doings)
        if doing is None:
            raise KeyboardInterrupt
        doing()

    monkeypatch.setattr("purse.cli.campaign.watch.time.sleep", sleep)
    empty, asked, told = run("watch prompts").stdout.splitlines()
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

    monkeypatch.setattr("purse.cli.campaign.watch.time.sleep", sleep)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")  # what makes rich take the output for a terminal
    text = run("watch prompts").stdout
    assert text.count("round 0") > len(seen) == 3  # and once more when it ends
    assert "\x1b[1A" in text  # each view is written over the last
