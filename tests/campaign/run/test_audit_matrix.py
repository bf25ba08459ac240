"""The audit sees every change of what decides money, requests or learning: each column of each
table is changed, and rows are removed and added, one change at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from purse.campaign.run.audit import audit
from purse.errors import PurseError
from tests.support.soak import SOAK, scale
from tests.support.tree import Tree, execute

FAR = 1000  # beyond all numbers in the tree
# what an audit of the tree may not see
CACHE = "a cache: its reader begins at an earlier entry if it is not whole, or of another journal"
NO_LEVEL = "the row is of no level, and nobody reads it"
OTHER_TREE = "the level is in no tree that is audited"
UNSEEN = {
    ("purse_levels", "a row more", "account"): OTHER_TREE,
    ("purse_balances", "a row more by level", None): NO_LEVEL,
    ("purse_journal", "a row more by level", None): NO_LEVEL,
    ("purse_open_tickets", "a row more by level", None): NO_LEVEL,
    ("purse_checkpoints", None, "audit"): CACHE,
    ("purse_checkpoints", None, "history"): CACHE,
}
# entries that the audit compares as it does those of other kinds
OTHER_KINDS = (
    *("settled", "failed", "voided", "rewarded", "expired", "conflict", "paused", "resumed"),
    *("arm_added", "arm_retired", "arm_changed", "alerts_set"),
)
TABLES = ("levels", "balances", "journal", "open_tickets", "checkpoints")


@pytest.fixture(scope="module")
def tree() -> Tree:
    """Two campaigns below an account with entries of every kind, in which nothing is wrong."""
    tree = Tree(capacity=3)
    tree.play(scale(12, 60))
    one, two = tree.campaigns
    tree.account.top_up("1")
    one.add_arm("c", cost_max="0.04")
    one.set_arm("c", cost_max="0.05")
    one.retire_arm("c")
    one.pause()
    one.resume()
    one.ask(request_id="one")
    two.ask_many(2, request_id="two")
    two.set_alerts(["80%"])
    assert not seen(tree)
    execute(tree.storage, "PRAGMA ignore_check_constraints = ON")
    return tree


def seen(tree: Tree) -> tuple[str, ...]:
    """Return the findings of a whole audit, or the refusal to go on."""
    try:
        return audit(tree.storage, "team", full=True).findings
    except PurseError as error:
        return (str(error),)


def others(value: Any) -> list[Any]:
    """Return other values; one for each field of a text in JSON."""
    if isinstance(value, str) and value.startswith("{"):
        facts = orjson.loads(value)
        return [
            orjson.dumps(facts | {name: other}).decode()
            for name, fact in facts.items()
            for other in others(fact)
        ]
    match value:
        case None:
            return [FAR]
        case int() | float():
            return [value + FAR]
        case str():
            return [value + "x"]
        case bytes():
            return [bytes([value[0] ^ 1]) + value[1:]]
        case list():
            return [[*value, 1]]
        case _:
            return [value | {"x": 1}]


def changes(table: str, rows: list[dict[str, Any]], keys: list[str]) -> Iterator[Any]:
    """Yield a change of one row each: what it is called, the kind of the row, and the row after it;
    None if it is removed. In `make test` one row of some kinds changes, in soak every row.
    """
    kinds = set[Any]() if SOAK or table != "purse_journal" else set(OTHER_KINDS)
    for row in rows:
        kind = row.get("kind", row.get("state", row.get("key")))
        if kind in kinds and not SOAK:
            continue
        kinds.add(kind)
        for column, value in row.items():
            # a digest is of the whole body
            for other in others(value)[: 1 if column == "body" else None]:
                yield column, kind, row, {**row, column: other}
        yield "a row less", kind, row, None
        if table == "purse_levels":
            yield "a row more", kind, None, {**row, "id": FAR, "name": "more"}
        else:
            for column in keys:
                once = {name: None for name in ("request", "ticket") if table == "purse_journal"}
                more = {**once, column: others(row[column])[0]}
                yield f"a row more by {column}", kind, None, {**row, **more}


@pytest.mark.parametrize("table", [f"purse_{name}" for name in TABLES])
def test_every_change_of_every_column_is_seen(tree: Tree, table: str) -> None:
    columns = execute(tree.storage, f"PRAGMA table_info({table})")
    names, keys = [row[1] for row in columns], [row[1] for row in columns if row[5]]
    stored = [tuple(row) for row in execute(tree.storage, f"SELECT * FROM {table}")]
    put = f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})"

    def write(rows: list[tuple[Any, ...]]) -> None:
        with tree.storage.db.writing() as session:
            session.read([(f"DELETE FROM {table}", ()), (put, rows)])

    unseen, count, excused = [], 0, 0
    for what, kind, before, after in changes(
        table, [dict(zip(names, row, strict=True)) for row in stored], keys
    ):
        rest = [row for row in stored if before is None or row != tuple(before.values())]
        write([*rest, *([] if after is None else [tuple(after.values())])])
        count += 1
        allowed = {(table, what, kind), (table, what, None), (table, None, kind)} & UNSEEN.keys()
        if not seen(tree):
            excused += bool(allowed)
            unseen += [(what, kind)] * (not allowed)
        write(stored)
    print(f"{table}: {len(names)} columns, {len(stored)} rows, {count} changes, {excused} unseen")
    assert not unseen
    assert count > len(names)
    assert not seen(tree), "everything is as it was"


def test_the_tables_are_all_there_are(tree: Tree) -> None:
    rows = execute(tree.storage, "SELECT name FROM sqlite_master WHERE type = 'table'")
    assert {name for (name,) in rows} == {f"purse_{name}" for name in TABLES}
