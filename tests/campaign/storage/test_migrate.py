"""Tables of earlier versions, as an earlier purse has filled them, become those of this one."""

from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import orjson
import psycopg
import pytest

from purse.campaign.storage import schema
from purse.campaign.storage.migrate import migrate
from purse.campaign.storage.sql import Session, Statement
from purse.errors import InvalidInput, NoSuchStorage, PurseError, StorageUnavailable
from tests.support.old_storages import load
from tests.support.storages import SqliteHarness, StorageHarness

TABLES = ("levels", "balances", "journal", "open_tickets", "checkpoints")
BALANCES = """SELECT name, key, value, resource, budget, spent, held, presumed, overrun, overdraft
FROM purse_balances JOIN purse_levels ON id = level"""
OWN = f"{BALANCES} WHERE key = ''"


@pytest.fixture
def old(shared: StorageHarness) -> StorageHarness:
    load(shared)
    return shared


def nothing(_: Session) -> list[Statement]:
    return []


def rows(harness: StorageHarness, query: str) -> list[tuple[Any, ...]]:
    """The rows of a query, by no code of ours."""
    if isinstance(harness, SqliteHarness):
        with closing(apsw.Connection(str(harness.path))) as db:
            return sorted(db.execute(query).fetchall(), key=repr)
    with psycopg.connect(harness.address) as connection:
        return sorted(connection.execute(query.encode()).fetchall(), key=repr)


def everything(harness: StorageHarness) -> dict[str, list[tuple[Any, ...]]]:
    """All that is stored, and what it is stored in."""
    parts = {table: rows(harness, f"SELECT * FROM purse_{table}") for table in TABLES}
    return parts | {"tables": sorted(definitions(harness).items())}


def definitions(harness: StorageHarness) -> dict[str, str]:
    """What the database says of each table and index."""
    if isinstance(harness, SqliteHarness):
        found = rows(harness, "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        return {name: " ".join(text.split()) for name, text in found}
    parts: dict[str, str] = defaultdict(str)
    for query in (
        "SELECT table_name, column_name || ' ' || ordinal_position || ' ' || data_type || ' '"
        " || is_nullable || coalesce(' ' || column_default, '') FROM information_schema.columns"
        " WHERE table_schema = current_schema()",
        "SELECT conrelid::regclass::text, conname || ' ' || pg_get_constraintdef(oid)"
        " FROM pg_constraint WHERE connamespace = current_schema()::regnamespace"
        " AND contype <> 'n'",
        "SELECT tablename, replace(indexdef, schemaname || '.', '') FROM pg_indexes"
        " WHERE schemaname = current_schema()",
        "SELECT tgrelid::regclass::text, tgname::text FROM pg_trigger WHERE tgname LIKE 'purse_%'"
        " AND tgrelid = to_regclass('purse_journal')",
    ):
        for name, text in rows(harness, query):
            parts[name] += f"{text}\n"
    return dict(parts)


def version(harness: StorageHarness) -> int:
    is_file = isinstance(harness, SqliteHarness)
    query = "PRAGMA user_version" if is_file else "SELECT version FROM purse_schema"
    return int(rows(harness, query)[0][0])


def bills(harness: StorageHarness) -> dict[tuple[str, str, str, int], int]:
    """What the journals say was billed: of each level, and of each label, in units."""
    levels = {key: (name, parent) for key, name, parent in rows(
        harness, "SELECT id, name, parent FROM purse_levels")}  # fmt: skip
    costs, labels = dict[Any, Any](), dict[Any, Any]()
    for level, seq, ticket, kind, text in rows(
        harness, "SELECT level, seq, ticket, kind, body FROM purse_journal"
    ):
        body = orjson.loads(text)
        if kind == "asked":
            labels[level, ticket] = body.get("labels", {})
        elif kind == "charged":
            labels[level, -seq], costs[level, -seq] = body.get("labels", {}), body["amount"]
        elif "costs" in body:
            costs[level, ticket] = body["costs"]
    sums: dict[tuple[str, str, str, int], int] = defaultdict(int)
    for (level, ticket), units in costs.items():
        for resource, cost in enumerate(units):
            for key, value in labels[level, ticket].items():
                sums[levels[level][0], key, value, resource] += cost
            above = level
            while above is not None:
                name, above = levels[above]
                sums[name, "", "", resource] += cost
    return sums


def test_what_is_spent_is_all_that_was_billed(old: StorageHarness) -> None:
    expected = bills(old)
    migrate(old.address, nothing)
    spent = {row[:4]: row[5] for row in rows(old, BALANCES) if row[5]}
    assert spent == {label: units for label, units in expected.items() if units}
    assert version(old) == schema.VERSION


def test_what_is_above_the_budget_is_overdrawn(old: StorageHarness) -> None:
    migrate(old.address, nothing)
    own = {(row[0], row[3]): row[4:] for row in rows(old, OWN)}
    # twenty calls of 0.03 under a budget of 0.2
    assert own["mispriced", 0] == (2 * 10**8, 6 * 10**8, 0, 0, 4 * 10**8, 4 * 10**8)
    # hours: 9, 9, 8 and half an hour were billed, of 30.500000001
    assert own["resources", 1][1:] == (265 * 10**8, 15 * 10**8, 0, 215 * 10**8, 0)
    for budget, spent, held, presumed, _, overdraft in own.values():
        assert overdraft == max(0, spent + held + presumed - budget)
    assert {name for (name, _), row in own.items() if row[-1]} == {"mispriced", "horizon", "sales"}
    assert {row[-1] for row in rows(old, BALANCES) if row[1]} == {0}  # of labels


@pytest.mark.parametrize(
    "change",
    [
        "spent = spent + 1",
        "held = held + 1",
        "budget = budget - 1",
        "overdraft = overdraft - 1",
        "overrun = -1",
        "spent = 0, overdraft = -1",
    ],
)
def test_the_new_tables_refuse_more_than_budget_and_overdraft(
    old: StorageHarness, change: str
) -> None:
    migrate(old.address, nothing)
    this = "(SELECT id FROM purse_levels WHERE name = 'mispriced')"
    with pytest.raises(Exception, match=r"(?i)constraint"):
        old.execute(f"UPDATE purse_balances SET {change} WHERE key = '' AND level = {this}")
    old.execute(f"UPDATE purse_balances SET spent = 0 WHERE key = '' AND level = {this}")


def test_all_else_stays_but_what_an_older_fold_has_made(old: StorageHarness) -> None:
    before = everything(old)
    migrate(old.address, nothing)
    after = everything(old)
    for table in ("levels", "journal", "open_tickets"):
        new = (None, None) if table == "journal" else ()  # session and salt
        assert [(*row, *new) for row in before[table]] == after[table]
    kept = {row[1] for row in after["checkpoints"]}
    dropped = {row[1] for row in before["checkpoints"]} - kept
    assert (kept, dropped) == ({"webhook finance", "restored"}, {"policy", "history", "audit"})
    assert [row for row in before["checkpoints"] if row[1] in kept] == after["checkpoints"]


def test_the_tables_are_those_of_a_new_storage(
    old: StorageHarness, make_harness: Callable[[str], StorageHarness]
) -> None:
    """But for the order of columns that were added."""
    new = make_harness("sqlite" if isinstance(old, SqliteHarness) else "postgres")
    new.storage()
    migrate(old.address, nothing)
    migrated, made = definitions(old), definitions(new)
    changed = {name for name in migrated | made if migrated.get(name) != made.get(name)}
    assert changed <= {"purse_balances", "purse_largest"}
    assert "spent DESC, tickets DESC, value" in " ".join(migrated.values())


def test_what_is_folded_again_is_written_in_the_same_transaction(old: StorageHarness) -> None:
    found = list[Any]()

    def forgive(session: Session) -> list[Statement]:
        (over,) = session.read([("SELECT level FROM purse_balances WHERE overdraft > ?", (0,))])
        found.extend(over)
        budget = "UPDATE purse_balances SET budget = ?, overdraft = 0 WHERE level = ? AND key = ''"
        return [(budget, [(10**12, level) for (level,) in over])]

    migrate(old.address, forgive)
    assert len(found) == 3
    assert sum(row[4] == 10**12 for row in rows(old, OWN)) == 3
    assert {row[-1] for row in rows(old, OWN)} == {0}


@pytest.mark.parametrize("what", ["raises", "breaks a constraint"])
def test_a_migration_that_fails_has_changed_nothing(old: StorageHarness, what: str) -> None:
    before = everything(old)

    def fail(_: Session) -> list[Statement]:
        if what == "raises":
            raise PurseError("the journals do not come to it")
        return [("UPDATE purse_balances SET overdraft = 0 WHERE key = ?", [("",)])]

    with pytest.raises(PurseError, match=r"do not come to it|constraint"):
        migrate(old.address, fail)
    assert (everything(old), version(old)) == (before, 9)
    migrate(old.address, nothing)
    assert version(old) == schema.VERSION


def test_what_is_migrated_stays_and_other_places_are_refused(
    old: StorageHarness, tmp_path: Path
) -> None:
    migrate(old.address, nothing)
    before = everything(old)
    migrate(old.address, nothing)
    assert everything(old) == before
    is_file = isinstance(old, SqliteHarness)
    for number, words in ((8, "use the purse that made it"), (12, "upgrade purse")):
        old.execute(
            ("PRAGMA user_version" if is_file else "UPDATE purse_schema SET version")
            + f" = {number}"
        )
        with pytest.raises(StorageUnavailable, match=f"has schema version {number} .*: {words}"):
            migrate(old.address, nothing)
    with pytest.raises(NoSuchStorage, match=r"nowhere\.db"):
        migrate(f"sqlite:///{tmp_path}/nowhere.db", nothing)
    with pytest.raises(InvalidInput, match="storage='memory:'"):
        migrate("memory:", nothing)
