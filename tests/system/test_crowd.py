"""A crowd of processes, killed again and again, and books that are read by a program that imports
nothing of ours: money is conserved on every level, and nothing is lost or counted twice.
"""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from purse.campaign.run.audit import audit
from purse.campaign.storage.connect import connect
from purse.campaign.terms import calendar
from tests.support import crowd, raw_books
from tests.support.paths import ROOT
from tests.support.soak import SOAK, scale

ANSWERED = {"ask", "tell"} | (
    {"settle", "reward", "fail", "void", "top_up", "pause", "resume", "expire"} if SOAK else set()
)
ANY_CAMPAIGN = "(SELECT min(id) FROM purse_levels WHERE kind = 'campaign')"
# by somebody, who was answered
ONE_TOLD = """(level, seq) IN (
  SELECT level, seq FROM purse_journal WHERE kind = 'told' AND body NOT LIKE '%missing%' LIMIT 1)"""
DAMAGE = {
    "a balance": "UPDATE purse_balances SET spent = spent + 1 WHERE level = 1 AND key = ''",
    "the balance of a label": "UPDATE purse_balances SET tickets = tickets + 1 WHERE key <> ''",
    "a cost": f"UPDATE purse_journal SET body = json_set(body, '$.costs[0]', 7) WHERE {ONE_TOLD}",
    "a reward": f"UPDATE purse_journal SET body = json_set(body, '$.reward', 7) WHERE {ONE_TOLD}",
    "an entry less": f"DELETE FROM purse_journal WHERE {ONE_TOLD}",
    "a hold less": "DELETE FROM purse_open_tickets WHERE ticket = "
    "(SELECT max(ticket) FROM purse_open_tickets)",
    "a hold more": f"INSERT INTO purse_open_tickets VALUES ({ANY_CAMPAIGN}, 'held', 9999, NULL)",
}


def output(*command: Any) -> Any:
    done = subprocess.run(
        [sys.executable, *map(str, command)], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", ["sqlite", *["postgres", "service"] * SOAK])
def test_money_is_conserved(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = f"sqlite:///{tmp_path}/purse.db"
    address = request.getfixturevalue("postgres_address") if kind == "postgres" else file
    through = ["serve"] * (kind == "service")
    size = (scale(8, 32), scale(1, 600))
    kills = output("-m", crowd.__name__, address, tmp_path, *size, 42, *through)
    books = output(raw_books.__file__, address, tmp_path)
    assert books["found"] == []
    assert books["acknowledged"].keys() >= ANSWERED
    assert books["entries"]["renewed"] > 0
    monkeypatch.setattr(calendar, "_HOUR", crowd.SHORT_HOUR)
    storage = connect(address)
    assert audit(storage, "company", full=True).findings == ()
    storage.close()
    print(kind, kills, books)
    if kind == "sqlite":
        for name, statement in DAMAGE.items():
            assert damaged(tmp_path, statement), f"{name} was changed, and nothing was found"


def damaged(folder: Path, statement: str) -> list[str]:
    """What is found in a copy of the books that somebody has changed."""
    copy = folder / "damaged.db"
    copy.unlink(missing_ok=True)
    with (
        closing(sqlite3.connect(folder / "purse.db")) as books,
        closing(sqlite3.connect(copy, isolation_level=None)) as db,
    ):
        books.backup(db)
        db.executescript("DROP TRIGGER purse_no_update; DROP TRIGGER purse_no_delete")
        assert db.execute(statement).rowcount > 0
    return list(output(raw_books.__file__, f"sqlite:///{copy}", folder)["found"])
