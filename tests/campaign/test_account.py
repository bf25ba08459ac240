"""Accounts: a hold has to fit every level, and every level has its own journal and purses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from purse import Account, Campaign, InvalidInput
from purse.campaign.storage.connect import in_memory
from purse.errors import CampaignExists, NoSuchStorage, NotFound
from tests.support.campaigns import balance, campaign, company, opened, refusal
from tests.support.processes import forked
from tests.support.soak import scale
from tests.support.storages import START, MemoryHarness, StorageHarness


@pytest.fixture
def storage() -> Any:
    return MemoryHarness().storage()


def test_the_status_is_a_tree() -> None:
    harness = MemoryHarness()
    storage = harness.storage()
    top, team = company(storage)
    campaign(storage, "first").ask()
    campaign(storage, "second", "company").pause()
    status = opened(harness, "company").status()
    assert [(each.name, each.kind, each.status) for each in status.children] == [
        ("second", "campaign", "paused"),
        ("team", "account", "running"),
    ]
    (below,) = status.children[1].children
    assert (below.name, below.kind, below.purses[0].left) == ("first", "campaign", "99")
    assert str(status) == (
        "account company: running\n"
        "  9 of 10 units left, spent 0, held 1\n"
        "  campaign second (paused): 100 of 100 units left, spent 0, held 0\n"
        "  account team: 5 of 6 units left, spent 0, held 1\n"
        "    campaign first: 99 of 100 units left, spent 0, held 1"
    )
    assert (status.account, team.status().account) == ("", "company")
    assert status.as_dict()["children"][1]["children"][0]["name"] == "first"
    assert repr(top.status()) == "<AccountStatus of 'company': running, left 9 of 10 units>"


def test_names_are_shared_with_campaigns(storage: Any) -> None:
    company(storage)
    campaign(storage, "first")
    assert Account.names(storage=storage) == ["company", "team"]
    taken = refusal(CampaignExists, campaign, storage, "team", "company")
    assert taken.startswith("there is an account 'team' already")
    for cls, name, kind in ((Campaign, "team", "campaign"), (Account, "first", "account")):
        missing = refusal(NotFound, cls.open, name, storage=storage)
        assert missing.startswith(f"there is no {kind} {name!r}")
    assert Campaign.names(storage=storage) == ["first"]


def test_exist_ok(storage: Any) -> None:
    for _ in range(2):
        Account.create("a", budget=1, storage=storage, exist_ok=True)
    campaign(storage, "c", "a")
    refusal(CampaignExists, Account.create, "c", budget=2, storage=storage, exist_ok=True)
    taken = refusal(CampaignExists, campaign, storage, "a", None, exist_ok=True)
    assert taken.startswith("there is an account 'a' already")


def test_the_alarm_about_an_overrun_ends_after_a_day() -> None:
    harness = MemoryHarness()
    storage = harness.storage()
    _, team = company(storage)
    below = campaign(storage, "below")
    below.tell(below.ask(), 1, 3)
    (alarm,) = team.status().alarms
    assert (alarm.kind, alarm.last_at) == ("overrun", harness.clock / 1000)
    harness.clock += 86_400_000
    assert team.status().alarms == ()
    assert team.audit().ok


HOUR = 3_600_000  # ms
TERMS: dict[str, Any] = {"arms": {"a": 1, "b": 1}, "budget": 100, "policy": "uniform"}


def test_an_account_shows_what_is_below_it_as_of_now() -> None:
    now, kept = START, in_memory()
    kept.now = lambda: now
    top = Account.create("top", budget=90, every="6h", storage=kept)
    Account.create("team", budget=50, account="top", every="1h", storage=kept)
    campaign = Campaign.create("c", **TERMS, account="team", every="1h", storage=kept)
    campaign.tell(campaign.ask(), 1, 1)

    def left() -> list[str]:
        (team,) = top.status().children
        (below,) = team.children
        return [each.purses[0].left for each in (top.status(), team, below)]

    assert left() == ["89", "49", "99"]
    now += HOUR
    assert left() == ["89", "50", "100"]
    assert campaign.status().purses[0].left == "100"
    assert campaign.status().entries == 3, "to look writes nothing"


def test_a_level_takes_resources_and_time_zone_from_the_account_above(storage: Any) -> None:
    Account.create(
        "firm", budget=9, resources=["USD"], every="month", time_zone="Asia/Tokyo", storage=storage
    )
    team = Account.create("team", budget=5, account="firm", every="week", storage=storage)
    assert (team.terms.resources, team.terms.time_zone) == (("USD",), "Asia/Tokyo")
    daily = Campaign.create("daily", **TERMS, account="team", every="day", storage=storage)
    assert (daily.terms.resources, daily.terms.time_zone) == (("USD",), "Asia/Tokyo")
    plain = Campaign.create("plain", **TERMS, account="team", storage=storage)
    assert (plain.terms.resources, plain.terms.every, plain.terms.time_zone) == (
        ("USD",),
        "",
        "UTC",
    )
    own = Campaign.create(
        "own", **TERMS, account="team", every="day", time_zone="Europe/Berlin", storage=storage
    )
    assert own.terms.time_zone == "Europe/Berlin"
    again = Campaign.create("daily", **TERMS, account="team", every="day", storage=storage,
                            exist_ok=True)  # fmt: skip
    assert again.terms == daily.terms
    assert Campaign.create("alone", **TERMS, storage=storage).terms.resources == ("units",)


def test_an_account_that_is_missing_is_named_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="'team'"):
        Campaign.create("c", **TERMS, account="team", storage="memory:kept")
    with pytest.raises(NoSuchStorage):
        Campaign.create("c", **TERMS, account="team", storage=f"sqlite:///{tmp_path}/new.db")
    assert not (tmp_path / "new.db").exists()
    with pytest.raises(InvalidInput, match="account=5: must be 1 to 100 letters"):
        Campaign.create("c", **TERMS, account=5, storage=in_memory())


ASK = """
import json, pathlib, sys, time
from purse import BudgetExhausted, Campaign
address, name, go = sys.argv[1:]
campaign = Campaign.open(name, storage=address)
pathlib.Path(f"{go}-{name}").touch()
while not pathlib.Path(go).exists():
    time.sleep(0.001)
won = 0
try:
    while True:
        campaign.ask()
        won += 1
except BudgetExhausted as error:
    print(json.dumps([won, str(error)]))
"""
BUDGET = scale(20, 2_000)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_the_last_of_an_account(
    make_harness: Callable[[str], StorageHarness], kind: str, tmp_path: Path
) -> None:
    harness = make_harness(kind)
    address = harness.address
    account = Account.create("shared", budget=BUDGET, storage=address)
    names = ("first", "second")
    campaigns = [campaign(address, name, "shared", budget=2 * BUDGET) for name in names]
    go = tmp_path / "go"
    files = [tmp_path / f"{name}.out" for name in names]
    racers = [
        forked(ASK, address, name, go, out=file) for name, file in zip(names, files, strict=True)
    ]
    while not all(Path(f"{go}-{name}").exists() for name in names):
        assert all(racer.exitcode is None for racer in racers), [f.read_text() for f in files]
        racers[0].join(0.01)
    go.touch()
    for racer in racers:
        racer.join()
    answers = [json.loads(file.read_text()) for file in files]
    assert sum(won for won, _ in answers) == BUDGET
    assert all("account 'shared' has 0 left" in why for _, why in answers)
    assert balance(account) == ("0", str(BUDGET), "0", "0", "0")
    assert all(each.audit().ok for each in (account, *campaigns))
