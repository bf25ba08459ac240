"""What SQL itself refuses, and schemas of other versions."""

from __future__ import annotations

from typing import Any

import pytest

from purse import (
    StorageUnavailable,
)
from purse.campaign.storage import schema
from tests.support.storages import SqliteHarness

TERMS: dict[str, Any] = {
    "arms": {"a": 1, "b": 3},
    "budget": 10,
    "cost_min": "0.5",
    "policy": "uniform",
}


@pytest.fixture(params=["sqlite", "postgres"])
def sql(request: pytest.FixtureRequest, make_harness: Any) -> Any:
    return make_harness(request.param)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE purse_purses SET held = 11000000000",
        "UPDATE purse_purses SET spent = -1",
        "UPDATE purse_purses SET spent = 6000000000, presumed = 5000000000",
        "UPDATE purse_purses SET budget = 0",
        "UPDATE purse_journal SET kind = 'paused'",
        "DELETE FROM purse_journal",
        "INSERT INTO purse_journal SELECT campaign, 9, at, kind, request, ticket, body, digest "
        "FROM purse_journal WHERE kind = 'asked'",
        "INSERT INTO purse_journal SELECT campaign, 9, at, kind, request, ticket, body, digest "
        "FROM purse_journal WHERE kind = 'told'",
        "INSERT INTO purse_journal SELECT * FROM purse_journal WHERE kind = 'created'",
        "INSERT INTO purse_tickets SELECT * FROM purse_tickets",
    ],
)
def test_the_database_itself_refuses_what_would_break_a_promise(sql: Any, statement: str) -> None:
    campaign = sql.create("c", **TERMS)
    campaign.tell(campaign.ask(), 0.5, "0.7")
    before = campaign.status()
    with pytest.raises(Exception, match=r"(?i)constraint|append-only|CHECK|unique"):
        sql.execute(statement)
    assert campaign.status() == before
    assert campaign.audit().ok


def test_a_newer_schema_is_refused(sql: Any) -> None:
    sql.create("c", **TERMS)
    newer = len(schema.SQLITE) + 1
    sql.execute(
        f"PRAGMA user_version = {newer}"
        if isinstance(sql, SqliteHarness)
        else f"INSERT INTO purse_schema VALUES ({newer})"
    )
    with pytest.raises(StorageUnavailable, match="upgrade purse"):
        sql.storage()


def test_a_schema_that_became_newer_is_refused_by_the_next_transaction(sql: Any) -> None:
    campaign = sql.create("c", **TERMS)
    ticket = campaign.ask()
    newer = len(schema.SQLITE) + 1
    sql.execute(
        f"PRAGMA user_version = {newer}"
        if isinstance(sql, SqliteHarness)
        else f"INSERT INTO purse_schema VALUES ({newer})"
    )
    for call in (campaign.ask, campaign.status, lambda: campaign.tell(ticket, 1, 1)):
        with pytest.raises(StorageUnavailable, match=f"schema version {newer}.*upgrade purse"):
            call()


def test_an_older_schema_is_brought_up_to_date(sql: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sql.create("c", **TERMS).ask("r")
    name = "SQLITE" if isinstance(sql, SqliteHarness) else "POSTGRES"
    monkeypatch.setattr(
        schema, name, [*getattr(schema, name), "CREATE TABLE purse_news (id INTEGER)"]
    )
    campaign = sql.open("c")
    assert campaign.ask("r").id == 1
    sql.execute("INSERT INTO purse_news VALUES (1)")
    assert sql.open("c").ask("s").id == 2, "it is made once"
