"""What this process keeps itself: pages of tickets, trees of accounts, new levels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from purse.campaign import kept as module
from purse.campaign.account import Account
from purse.campaign.campaign import Campaign
from purse.campaign.states import STATES
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage
from purse.errors import CampaignEnded, CampaignExists, InvalidInput, NoSuchStorage, NotFound

START, HOUR = 1_800_000_000_000, 3_600_000
TERMS: dict[str, Any] = {"arms": {"a": 1, "b": 1}, "budget": 100, "policy": "uniform"}


@pytest.fixture
def storage() -> Storage:
    kept = in_memory()
    kept.now = lambda: START
    return kept


def test_finished_tickets_are_listed_page_by_page(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = Campaign.create("c", **TERMS, storage=storage)
    for number, ticket in enumerate(campaign.ask_many(40)):
        if number % 4 == 1:
            campaign.settle(ticket, "0.1")
        if number % 4 < 2:
            (campaign.tell if number % 4 == 0 else campaign.reward)(
                ticket, 1, *(["0.1"] if number % 4 == 0 else [])
            )
        elif number % 4 == 2:
            campaign.void(ticket)
    for size in (9, 20, 5_000):
        monkeypatch.setattr(module, "PAGE_SIZE", size)
        told = campaign.tickets(states=["told"])
        assert [ticket.id for ticket in told] == [n for n in range(1, 41) if n % 4 in (1, 2)]
        assert [ticket.id for ticket in campaign.tickets(STATES)] == list(range(1, 41))
        page = campaign.tickets(["void", "held"], limit=3, after=8)
        assert [(ticket.id, ticket.state) for ticket in page] == [
            (11, "void"), (12, "held"), (15, "void"),
        ]  # fmt: skip
    assert campaign.tickets(states=[]) == []


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


def test_names_are_of_one_kind_and_of_one_storage(storage: Storage) -> None:
    Account.create("team", budget=5, storage=storage)
    campaign = Campaign.create("c", **TERMS, storage=storage)
    assert (Campaign.names(storage=storage), Account.names(storage=storage)) == (
        ["c"],
        ["team"],
    )
    with pytest.raises(NotFound, match="there is no campaign 'team'"):
        Campaign.open("team", storage=storage)
    with pytest.raises(NotFound, match="there is no account 'c'"):
        Campaign.create("d", **TERMS, account="c", storage=storage)
    with pytest.raises(CampaignExists, match=r"there is an account 'team' already; Campaign\.open"):
        Campaign.create("team", **TERMS, exist_ok=True, storage=storage)
    again = Campaign.create("c", **TERMS, exist_ok=True, storage=storage)
    assert again.terms.id == campaign.terms.id


def test_nothing_begins_below_an_account_that_has_ended(storage: Storage) -> None:
    account = Account.create("team", budget=5, resources=["USD"], storage=storage)
    with pytest.raises(InvalidInput, match="must be those of account 'team', in its order: USD"):
        Campaign.create("c", **TERMS, resources=["EUR"], account="team", storage=storage)
    assert account.end().status == "ended"
    with pytest.raises(CampaignEnded, match="account 'team' has ended"):
        Campaign.create("c", **TERMS, account="team", storage=storage)


def test_a_level_takes_resources_and_time_zone_from_the_account_above(storage: Storage) -> None:
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


def test_labels_of_all_keys_come_in_the_order_of_what_was_spent(storage: Storage) -> None:
    campaign = Campaign.create("c", **TERMS, storage=storage)
    for cost, labels in (
        ("0.2", {"team": "x", "user": "u1"}),
        ("0.3", {"team": "y", "user": "u1"}),
        ("1.5", {"user": "u2"}),  # 0.5 of it is an overrun
    ):
        campaign.tell(campaign.ask(labels=labels), 1, cost)
    found = [(each.key, each.value, each.spent, each.overrun) for each in campaign.labels()]
    assert found == [
        ("user", "u2", ("1",), ("0.5",)),
        ("user", "u1", ("0.5",), ("0",)),
        ("team", "y", ("0.3",), ("0",)),
        ("team", "x", ("0.2",), ("0",)),
    ]
    assert [each.value for each in campaign.labels("team", 1)] == ["y"]
    assert campaign.labels("nobody") == []
