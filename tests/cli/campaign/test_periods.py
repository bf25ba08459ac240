"""Budgets that are renewed, on the command line."""

from __future__ import annotations

import json

from tests.support.campaign_cli import Complaint, Run

LINE = "new x --arm a=0.01,5 --arm b=0.5,5 --budget 25,100 --cost-min 0.01,1 --policy uniform"
TWO = "--resource USD --resource tokens"


def test_the_status_shows_the_period(run: Run) -> None:
    more = "--every month --time-zone Europe/Berlin --carry all"
    said = run(f"{LINE} {TWO} {more}").stdout
    assert "period 1 (every month, until 20" in said
    assert "spent 0, 0 of 25, 100" in said
    shown = json.loads(run("status x --json").stdout)["period"]
    assert (shown["carry"], shown["time_zone"]) == ("all", "Europe/Berlin")


def test_mistakes_are_named_in_one_line(complaint: Complaint) -> None:
    assert "every='year'" in complaint(f"{LINE} {TWO} --every year")
    assert "did you mean 'Europe/Berlin'" in complaint(
        f"{LINE} {TWO} --every day --time-zone Europe/Berln"
    )
    assert "needs every" in complaint(f"{LINE} {TWO} --carry all")
    assert "carry=" in complaint(f"{LINE} {TWO} --every day --carry some")
