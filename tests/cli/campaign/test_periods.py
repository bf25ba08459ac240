"""Budgets that are renewed, on the command line."""

from __future__ import annotations

import json

from tests.support.campaign_cli import Run

LINE = "new x --arm a=0.01,5 --arm b=0.5,5 --budget 25,100 --cost-min 0.01,1 --policy uniform"
TWO = "--resource USD --resource tokens"


def test_the_status_shows_the_period(run: Run) -> None:
    more = "--every month --time-zone Europe/Berlin --carry all"
    said = run(f"{LINE} {TWO} {more}").stdout
    assert "period 1 (every month, until 20" in said
    assert "spent 0, 0 of 25, 100" in said
    shown = json.loads(run("status x --json").stdout)["period"]
    assert (shown["carry"], shown["time_zone"]) == ("all", "Europe/Berlin")
