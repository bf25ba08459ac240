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


def set_version(sql: Any, version: int) -> None:
    sql.execute(
        f"PRAGMA user_version = {version}"
        if isinstance(sql, SqliteHarness)
        else f"UPDATE purse_schema SET version = {version}"
    )


@pytest.mark.parametrize("version", [1, schema.VERSION - 1, schema.VERSION + 1])
def test_tables_of_another_version_are_refused_in_one_line(sql: Any, version: int) -> None:
    sql.create("c", **TERMS)
    sql.close()
    set_version(sql, version)
    with pytest.raises(StorageUnavailable) as refused:
        sql.storage()
    said = str(refused.value)
    assert f"has tables of version {version}, and this version of purse reads" in said
    assert said.endswith("use the version of purse that made them, or another storage")
    assert "\n" not in said


def test_tables_that_got_another_version_are_refused_by_the_next_transaction(sql: Any) -> None:
    campaign = sql.create("c", **TERMS)
    ticket = campaign.ask()
    set_version(sql, schema.VERSION + 1)
    for call in (campaign.ask, campaign.status, lambda: campaign.tell(ticket, 1, 1)):
        with pytest.raises(StorageUnavailable, match=f"tables of version {schema.VERSION + 1}"):
            call()
