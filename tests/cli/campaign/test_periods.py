"""Budgets that are renewed, on the command line."""

from __future__ import annotations

import json

import pytest

from tests.support.campaign_cli import Complaint, Run

LINE = "new x --arm a=0.01,5 --arm b=0.5,5 --budget 25,100 --cost-min 0.01,1 --policy uniform"
TWO = "--resource USD --resource tokens"


def test_the_status_shows_the_period(run: Run) -> None:
    more = "--every month --time-zone Europe/Berlin --carry 5,10 --starts 2026-01-31T09:00"
    said = run(f"{LINE} {TWO} {more}").stdout
    assert "period 1 (every month, until 20" in said
    assert "spent 0, 0 of 25, 100" in said
    shown = json.loads(run("status x --json").stdout)["period"]
    assert (shown["carry"], shown["time_zone"]) == (["5", "10"], "Europe/Berlin")


@pytest.mark.parametrize("carry", ["none", "all", "5"])
def test_what_is_carried_over_is_a_word_or_an_amount(run: Run, carry: str) -> None:
    run(f"{LINE} {TWO} --every 6h --carry {carry}")
    expected = [carry] * (2 if carry == "5" else 1)
    assert json.loads(run("status x --json").stdout)["period"]["carry"] == expected


def test_mistakes_are_named_in_one_line(complaint: Complaint) -> None:
    assert "every='year'" in complaint(f"{LINE} {TWO} --every year")
    assert "did you mean 'Europe/Berlin'" in complaint(
        f"{LINE} {TWO} --every day --time-zone Europe/Berln"
    )
    assert "needs every" in complaint(f"{LINE} {TWO} --carry all")
    assert "carry=" in complaint(f"{LINE} {TWO} --every day --carry some")
    assert "starts=" in complaint(f"{LINE} {TWO} --every day --starts noon")
