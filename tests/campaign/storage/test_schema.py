"""What SQL itself refuses, and tables of other versions."""

from collections.abc import Callable
from typing import Any

import pytest

from purse.campaign.storage import schema
from purse.campaign.storage.connect import connect
from purse.errors import StorageUnavailable
from tests.support.storages import TERMS, SqliteHarness, StorageHarness, balance, kinds

COPY = (
    "INSERT INTO purse_journal SELECT level, 99, at, kind, request, ticket, body, digest, turn, "
    "session, salt FROM purse_journal WHERE "
)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE purse_balances SET held = 11000000000 WHERE key = ''",
        "UPDATE purse_balances SET spent = -1 WHERE key = ''",
        "UPDATE purse_balances SET overrun = -1 WHERE key = ''",
        "UPDATE purse_balances SET spent = 6000000000, presumed = 5000000000 WHERE key = ''",
        "UPDATE purse_balances SET budget = 0 WHERE key = ''",
        "INSERT INTO purse_balances SELECT * FROM purse_balances",
        "UPDATE purse_journal SET kind = 'paused'",
        "UPDATE purse_journal SET at = 0 WHERE seq = 1",
        "DELETE FROM purse_journal",
        f"{COPY} request = 'r'",
        f"{COPY} kind = 'told'",
        f"{COPY} kind = 'settled'",
        f"{COPY} kind = 'expired'",
        "INSERT INTO purse_journal SELECT * FROM purse_journal WHERE kind = 'created'",
        "INSERT INTO purse_open_tickets SELECT * FROM purse_open_tickets",
        "INSERT INTO purse_levels (name, kind, seq, head) VALUES ('c', 'account', 0, '')",
    ],
)
def test_the_database_itself_refuses_what_would_break_a_promise(
    shared: StorageHarness, statement: str
) -> None:
    campaign = shared.create("c", **TERMS, expires_after=60)
    campaign.tell(campaign.ask("r"), 0.5, "0.7")
    campaign.settle(campaign.ask(arms=["a"]), "0.7")
    campaign.ask(arms=["a"])
    shared.clock += 61_000
    campaign.expire()
    before = balance(campaign), kinds(campaign)
    with pytest.raises(Exception, match=r"(?i)constraint|append-only|CHECK|unique"):
        shared.execute(statement)
    assert (balance(campaign), kinds(campaign)) == before
    assert campaign.audit().ok


def test_a_second_conflict_about_a_ticket_is_kept(shared: StorageHarness) -> None:
    campaign = shared.create("c", **TERMS)
    ticket = campaign.ask()
    campaign.tell(ticket, 1, 1)
    for reward in (0.5, 0.25):
        with pytest.raises(Exception, match="the first report stands"):
            campaign.tell(ticket, reward, 1)
    assert kinds(campaign)[-2:] == ["conflict", "conflict"]


def set_version(harness: StorageHarness, version: int) -> None:
    harness.execute(
        f"PRAGMA user_version = {version}"
        if isinstance(harness, SqliteHarness)
        else f"UPDATE purse_schema SET version = {version}"
    )


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (schema.VERSION + 1, "upgrade purse"),
        (schema.VERSION - 1, "`purse storage migrate` takes it there"),
        (8, "use the purse"),
    ],
)
def test_tables_of_another_version_are_refused_in_one_line(
    shared: StorageHarness, version: int, words: str
) -> None:
    """When they are opened, and by the next transaction of those who have them open."""
    campaign = shared.create("c", **TERMS)
    ticket = campaign.ask()
    set_version(shared, version)
    said = f"has schema version {version} and this version of purse knows {schema.VERSION}: {words}"
    for call in (
        shared.connect,
        campaign.ask,
        campaign.status,
        lambda: campaign.tell(ticket, 1, 1),
    ):
        with pytest.raises(StorageUnavailable) as caught:
            call()
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)
    set_version(shared, schema.VERSION)
    assert campaign.tell(ticket, 1, 1).state == "told"


def test_tables_without_levels_are_refused(make_harness: Callable[[str], Any]) -> None:
    """Files of before there were levels have versions from 1 to 8."""
    harness = make_harness("sqlite")
    harness.execute(
        "CREATE TABLE purse_campaigns (id INTEGER PRIMARY KEY); PRAGMA user_version = 8"
    )
    before = harness.path.read_bytes()
    for create in (True, False):
        with pytest.raises(
            StorageUnavailable, match=r"schema version 8 .* use the purse that made"
        ):
            connect(harness.address, create=create)
    assert harness.path.read_bytes()[100:] == before[100:]
