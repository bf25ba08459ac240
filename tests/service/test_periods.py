"""Budgets that are renewed, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from purse.campaign.storage.memory import Memory
from purse.service.live_view import LiveViews
from tests.support.service import PROMPTS, problem, running, service

DAY = 86_400_000  # ms
TERMS: dict[str, Any] = {
    "every": "month",
    "time_zone": "Europe/Berlin",
    "carry": "all",
}


def clock(storage: Memory, now: int) -> None:
    storage.now = lambda: now


def test_a_campaign_with_periods_shows_the_one_it_is_in() -> None:
    storage = Memory()
    clock(storage, 1_800_000_000_000)  # 15 January 2027
    client = running(storage, **TERMS)
    first = client.get("/campaigns/prompts").json()["period"]
    assert first == {
        "number": 1,
        "every": "month",
        "time_zone": "Europe/Berlin",
        "carry": "all",
        "begun_at": 1_800_000_000.0,
        "ends_at": 1_801_436_400.0,  # 31 January, 23:00 UTC
        "rounds": 0,
        "allowance": ["25"],
        "carried": ["0"],
        "spent": ["0"],
    }
    clock(storage, 1_800_000_000_000 + 40 * DAY)
    second = client.get("/campaigns/prompts").json()
    assert (second["period"]["number"], second["period"]["carried"]) == (2, ["25"])
    assert second["purses"][0]["left"] == "50"
    assert second["entries"] == 1


def test_a_campaign_without_periods_has_none() -> None:
    assert running().get("/campaigns/prompts").json()["period"] is None


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"every": "year"}, "every"),
        ({"time_zone": "Berlin"}, "time_zone"),
        ({"carry": "some"}, "carry"),
        ({"carry": -1}, "carry"),
        ({"every": None}, "time_zone"),
    ],
)
def test_what_makes_no_sense_is_refused(change: dict[str, Any], field: str) -> None:
    answer = service().post("/campaigns", json={**PROMPTS, **TERMS, **change})
    assert field in problem(answer, 400, "invalid-input")


def test_a_viewer_sees_a_period_begin_that_nobody_has_made() -> None:
    storage = Memory()
    clock(storage, 1_800_000_000_000)
    running(storage, every="day")
    before = LiveViews(storage).version("prompts").version
    clock(storage, 1_800_000_000_000 + DAY)
    after = LiveViews(storage).version("prompts").version
    assert (before[0], before[3], after[3]) == (after[0], 1, 2)


def test_an_account_has_periods_of_its_own() -> None:
    storage = Memory()
    clock(storage, 1_800_000_000_000)
    client = service(storage)
    terms = {"name": "team-a", "budget": "500", "resources": ["USD"], **TERMS}
    made = client.post("/accounts", json=terms)
    assert (made.status_code, made.json()["period"]["number"]) == (201, 1)
    clock(storage, 1_800_000_000_000 + 40 * DAY)
    shown = client.get("/accounts/team-a").json()
    assert (shown["period"]["number"], shown["period"]["rounds"]) == (2, None)
    assert shown["purses"][0]["left"] == "1000"
    refused = client.post("/accounts", json={**terms, "name": "x", "every": "year"})
    assert "every" in problem(refused, 400, "invalid-input")
