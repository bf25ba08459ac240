"""How both databases find what a statement wants: by an index, however long a journal has become.

SQLite plans without statistics. PostgreSQL is asked with a long journal, before and after it has
gathered statistics.
"""

import json
from collections.abc import Iterator
from typing import Any

import apsw
import pytest

from purse.campaign.storage import schema, sql
from purse.campaign.storage.postgres import Postgres
from purse.campaign.storage.sqlite import Memory

# for each statement, the index by which it finds its rows in each table that may be large
KEY = "key"  # the primary key
LARGE = ("purse_journal", "purse_open_tickets", "purse_balances")
ALIASES = ("sums", "entry")  # SQLite says these instead
LATE = {"purse_journal": "purse_one_of_each", "purse_open_tickets": "purse_due"}
INDEXES = {
    "LEVEL": {}, "NAMES": {}, "TOPS": {}, "CHAIN": {}, "TREE": {}, "SEAL": {},
    "JOURNALS": {"purse_journal": "purse_events"},
    "LEFT_OVER": dict.fromkeys(LARGE, KEY),
    "BALANCES": {"purse_balances": KEY},
    "ALL_BALANCES": {"purse_balances": KEY},
    "OUTSIDE": {"purse_journal": KEY},
    "LARGEST": {"purse_balances": "purse_largest"},
    "LABEL": {"purse_balances": KEY},
    "ENTRIES": {"purse_journal": KEY},
    "DIGESTED": {"purse_journal": KEY},
    "TICKETS": {"purse_journal": "purse_one_of_each"},
    "EVENTS": {"purse_journal": "purse_events"},
    "ANSWERS": {"purse_journal": "purse_one_answer"},
    "ABOUT": {"purse_journal": "purse_one_of_each"},
    "DUE": {"purse_journal": "purse_one_of_each", "purse_open_tickets": "purse_due"},
    "SINCE": {"purse_journal": KEY},
    "REPORTS": {"purse_journal": KEY},
    "LATEST": {"purse_journal": "purse_sessions"},
    "OPEN": {"purse_open_tickets": KEY},
    "OPEN_PAGE": {"purse_open_tickets": KEY},
    "OVERDUE": {"purse_open_tickets": "purse_due"},
    "OLDEST": {"purse_journal": "purse_one_of_each", "purse_open_tickets": KEY},
    "ALL_LEVELS": LATE, "BELOW": LATE,
    "ALL_PARTS": {"purse_balances": KEY}, "BELOW_PARTS": {"purse_balances": KEY},
    "CREATED": {"purse_journal": KEY},
    "CHECKPOINT": {}, "MOVE_CHECKPOINT": {},
    "MOVE": {"purse_balances": KEY},
    "DROP_OPEN": {"purse_open_tickets": KEY},
    "PUT_HEAD": {}, "DROP_CHECKPOINT": {},
    "MENTIONS": {"purse_journal": KEY}, "FORGET_ENTRY": {"purse_journal": KEY},
    "FORGET_LABEL": {"purse_balances": KEY},
    "KEPT": {"purse_journal": KEY}, "DROP_SEALED": {"purse_journal": KEY},
}  # fmt: skip
# what reads all rows of a level may read them as it likes
EVERYTHING = {
    "ALL_BALANCES": ("purse_balances",), "ALL_PARTS": ("purse_balances",),
    "OPEN": ("purse_open_tickets",), "LEFT_OVER": LARGE, "KEPT": LARGE, "DROP_SEALED": LARGE,
}  # fmt: skip
INSERTS = ("ADD_LEVEL", "ADD_BALANCE", "ADD_LABEL", "PUT_LABEL", "ADD_ENTRY", "ADD_OPEN",
           "PUT_CHECKPOINT", "BEGIN_CHECKPOINT", "PUT_SEAL", "COPY_LEVEL")  # fmt: skip
VALUES: dict[str, tuple[Any, ...]] = {
    "ALL_LEVELS": (5,), "BELOW": (5, "c"), "NAMES": ("campaign",), "JOURNALS": ("webhook",),
    "LARGEST": ("c", "team", 10, "c", "team"), "LABEL": ("c", "team", "x7"),
    "ENTRIES": ("c", 40_000, 100), "DIGESTED": ("c", 40_000, 100),
    "TICKETS": ("c", 20_000, 100), "EVENTS": ("c", "c", 1_000, 100), "DUE": ("c", "c", 5),
    "LATEST": ("c", "s7", "s7", sql.LAST),
    "SINCE": ("c", 49_000, 49_000, "c"), "REPORTS": ("c", 49_000, 49_000, "c", 100),
    "OPEN_PAGE": ("c", "settled", 100, 50), "OVERDUE": ("c", 5), "OLDEST": ("c", "c"),
    "CHECKPOINT": ("c", "policy"), "MOVE": (0, 0, 0, 0, 0, 0, 1, 0), "DROP_OPEN": (1, 7),
    "PUT_HEAD": (1, "", 1), "LEFT_OVER": (1, 1, 1, 1, 1), "TOPS": (),
    "SEAL": ("c", 0), "KEPT": ("c", 40_000), "DROP_SEALED": (1, 1, 40_000, 1, 40_000, 0, 1, 1),
    "MOVE_CHECKPOINT": (2, b"", "c", "policy", 1), "DROP_CHECKPOINT": (1, "audit"),
    "MENTIONS": ("c", 40_000, 41_000, "ada"), "FORGET_ENTRY": ("{}", 1, 7),
    "FORGET_LABEL": ("x", 1, "team", "x7"),
}  # fmt: skip
AMONG: dict[str, tuple[Any, ...]] = {"ANSWERS": ("c", "x"), "ABOUT": ("c", 5_000), "CREATED": (1,)}
ENTRIES, TICKETS, VALUES_OF_A_LABEL = 60_000, 5_000, 5_000


def statements() -> dict[str, str]:
    """Return all statements by their names."""
    return {
        name: text
        for name, text in vars(sql).items()
        if name.isupper() and not name.startswith("_") and isinstance(text, str)
        and name not in ("THIS", "ONE")
    }  # fmt: skip


def test_every_statement_is_looked_at() -> None:
    assert set(statements()) == {*INDEXES, *INSERTS}


@pytest.fixture(scope="module")
def sqlite() -> apsw.Connection:
    db = apsw.Connection(":memory:")
    db.execute(schema.SQLITE)
    return db


@pytest.mark.parametrize("among", [Memory.among, sql.ONE], ids=["several", "one"])
@pytest.mark.parametrize("name", INDEXES)
def test_sqlite_finds_rows_by_an_index(sqlite: apsw.Connection, name: str, among: str) -> None:
    text = statements()[name].format(among=among, lock="")
    values = (1,) * text.count("?")
    steps = [str(row[3]) for row in sqlite.execute(f"EXPLAIN QUERY PLAN {text}", values)]
    for table, index in INDEXES[name].items():
        uses = [step for step in steps if any(name in step for name in (table, *ALIASES))]
        wanted = "USING PRIMARY KEY" if index == KEY else f"INDEX {index} "
        assert any(step.startswith("SEARCH") and wanted in step for step in uses), steps
    large = [step for step in steps if f"{step} ".split(" ")[1] in (*LARGE, *ALIASES)]
    assert not [step for step in large if step.startswith("SCAN")], steps
    if name not in EVERYTHING:
        assert not [step for step in large if step.endswith("(level=?)")], steps


@pytest.fixture(scope="module")
def postgres(postgres_server: Any) -> Iterator[Any]:
    """A long journal, many open tickets and labels."""
    import psycopg

    with psycopg.connect(postgres_server.get_uri(), autocommit=True) as db:
        db.execute("CREATE SCHEMA plans")
        db.execute("SET search_path = plans")
        db.execute(schema.POSTGRES.encode())
        db.execute(
            "INSERT INTO purse_levels (name, kind, seq, head) "
            "VALUES ('c', 'campaign', 0, ''), ('d', 'campaign', 0, '')"
        )
        db.execute(
            "INSERT INTO purse_journal SELECT 1 + g / 50000, g, 1, CASE WHEN g % 5000 = 0 THEN "
            "'event' WHEN g % 2 = 0 THEN 'asked' ELSE 'told' END, CASE g % 2 WHEN 0 THEN "
            f"md5(g::text) END, g / 2, '{{}}', ''::bytea, NULL, "
            f"CASE g % 2 WHEN 0 THEN 's' || g % 1000 END FROM generate_series(1, {ENTRIES}) g"
        )
        db.execute(
            "INSERT INTO purse_open_tickets SELECT 1, CASE g % 3 WHEN 0 THEN 'held' ELSE 'settled' "
            f"END, g, CASE g % 3 WHEN 0 THEN g END FROM generate_series(1, {TICKETS}) g"
        )
        db.execute(
            "INSERT INTO purse_balances SELECT 1, 'team', 'x' || g, 0, 1, 0, g, 0, 0, 0, 0, 0, "
            f"NULL, NULL FROM generate_series(1, {VALUES_OF_A_LABEL}) g"
        )
        db.execute(
            "INSERT INTO purse_balances VALUES (1, '', '', 0, 0, 10, 0, 0, 0, 0, 0, 0, NULL, NULL)"
        )
        yield db


@pytest.fixture(scope="module", params=["without statistics", "with statistics"])
def planned(request: pytest.FixtureRequest, postgres: Any) -> Any:
    if request.param == "with statistics":
        postgres.execute("ANALYZE")
    return postgres


@pytest.mark.parametrize("among", [Postgres.among, sql.ONE], ids=["several", "one"])
@pytest.mark.parametrize("name", INDEXES)
def test_postgres_finds_rows_by_an_index(planned: Any, name: str, among: str) -> None:
    text = statements()[name].format(among=among, lock=Postgres.lock).replace("?", "%s")
    values = VALUES.get(name, ("c",) * text.count("%s"))
    if name in AMONG:
        *before, value = AMONG[name]
        values = (*before, value, value) if among == sql.ONE else (*before, [value])
    ((plan,),) = planned.execute(f"EXPLAIN (FORMAT JSON) {text}".encode(), values).fetchall()
    scans = list(nodes(plan[0]["Plan"] if isinstance(plan, list) else json.loads(plan)[0]["Plan"]))
    whole = [node["Relation Name"] for node in scans if node["Node Type"] == "Seq Scan"]
    assert not set(whole) & ({*LARGE} - set(EVERYTHING.get(name, ()))), scans
    for table, index in INDEXES[name].items():
        wanted = f"{table}_pkey" if index == KEY else index
        found = [node["Index Cond"] for node in scans if node.get("Index Name") == wanted]
        if name not in EVERYTHING:
            assert any(" AND " in condition for condition in found), scans


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the scans of a plan."""
    if "Scan" in plan["Node Type"]:
        yield plan
    for each in plan.get("Plans", ()):
        yield from nodes(each)
