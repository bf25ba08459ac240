"""Storages of version 0.1.0 are brought to the newest version when they are opened."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from purse import Campaign, StorageUnavailable
from purse.campaign.storage import schema
from tests.support.storages import MemoryHarness, StorageHarness

TERMS: dict[str, Any] = {
    "arms": {name: 1 + place for place, name in enumerate("abcdefgh")},
    "budget": 100,
    "cost_min": "0.5",
    "stop": "hold",
    "cooldown": None,
}
OLD_COUNTS = (
    "tickets", "held", "told", "void", "presumed", "released", "skipped",
    "conflicts", "overruns", "below_minimum",
)  # fmt: skip


def quoted(value: Any) -> str:
    """A value in SQL."""
    if isinstance(value, (dict, list)):
        value = json.dumps(value, separators=(",", ":"))
    return (
        "NULL"
        if value is None
        else "'" + value.replace("'", "''") + "'"
        if isinstance(value, str)
        else str(value)
    )


def old_statements(campaign: Campaign, script: str) -> list[str]:
    """What 0.1.0 would have written of a campaign."""
    stored = campaign.storage._campaigns[campaign.name]  # type: ignore[attr-defined]
    head = {**stored.head.as_dict(), "handover": "a mark"}
    for name in ("digest", "archived", "open", "owed", "silent"):
        head.pop(name, None)
    head["counts"] = {name: stored.head.counts[name] for name in OLD_COUNTS}
    insert = "INSERT INTO purse_{} VALUES ({})"
    rows: list[tuple[str, list[Any]]] = [
        ("purses", [1, m, *purse]) for m, purse in enumerate(stored.balances)
    ]
    rows += [("journal", [1, *entry]) for entry in stored.entries]
    rows += [("tickets", [1, *record]) for record in stored.tickets.values()]
    return [
        script,
        f"INSERT INTO purse_campaigns (name, seq, head) VALUES ('c', {stored.seq}, {quoted(head)})",
        *(insert.format(table, ", ".join(map(quoted, row))) for table, row in rows),
        insert.format("snapshots", "1, 3, 'code', 'digest', 'body'"),
    ]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("policy", ["exp3.bwk", "ucb-bv1"])
def test_a_campaign_of_the_first_version_goes_on(
    make_harness: Callable[[str], StorageHarness], kind: str, policy: str
) -> None:
    """With `ucb-bv1` it is in the middle of its initial pulls."""
    memory, harness = MemoryHarness(), make_harness(kind)
    expected = memory.create("c", **TERMS, policy=policy)
    for number in range(6):
        ticket = expected.ask(f"r{number}")
        if number % 3:
            expected.tell(ticket, 1, "0.75")
    if kind == "sqlite":
        script, *rest = old_statements(expected, schema.SQLITE[0])
        version = "PRAGMA user_version = 1"
        gate = Path(f"{harness.path}-gate")  # type: ignore[attr-defined]
        gate.write_bytes(b"notices")
    else:
        for table in (
            "labels",
            "archived",
            "checkpoints",
            "identity",
            "tickets",
            "journal",
            "purses",
        ):
            harness.execute(f"DROP TABLE IF EXISTS purse_{table} CASCADE")
        harness.execute("DROP TABLE IF EXISTS purse_campaigns, purse_schema CASCADE")
        harness.execute("DROP FUNCTION IF EXISTS purse_refuse, purse_refuse_loss CASCADE")
        script, *rest = old_statements(expected, schema.POSTGRES[0])
        version = (
            "CREATE TABLE purse_schema (version INTEGER NOT NULL);"
            "INSERT INTO purse_schema VALUES (1)"
        )
    for statement in (script, *rest, version):
        harness.execute(statement)
    campaign = harness.open("c")
    assert campaign.audit(full=True).ok
    assert campaign.status() == expected.status()
    assert campaign.ask("r1") == expected.ask("r1")
    assert campaign.probabilities() == expected.probabilities()
    campaign.tell(campaign.ask("next"), 1, 1)
    assert campaign.audit().ok
    if kind == "sqlite":
        assert not gate.exists()


def test_a_newer_file_is_refused(make_harness: Callable[[str], StorageHarness]) -> None:
    harness = make_harness("sqlite")
    harness.create("c", **TERMS, policy="uniform")
    harness.close()
    harness.execute(f"PRAGMA user_version = {len(schema.SQLITE) + 1}")
    with pytest.raises(StorageUnavailable, match="upgrade purse"):
        harness.open("c")
