"""An audit finds damage of every kind: changed behind the library's back, and forged with all
digests made right again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

from purse.campaign.storage.connect import connect
from purse.campaign.storage.storage import Storage
from tests.support.tree import Change, Tree, execute, findings, forge

LAST = "(SELECT max(seq) FROM purse_journal WHERE level = 2)"
BEHIND_ITS_BACK = [
    "UPDATE purse_journal SET body = replace(body, '\"reward\":0.5', '\"reward\":0.25') "
    "WHERE kind = 'told'",
    "DELETE FROM purse_journal WHERE level = 2 AND seq = 9",
    f"DELETE FROM purse_journal WHERE level = 2 AND seq = {LAST}",
    "UPDATE purse_balances SET spent = spent + 1 WHERE key = '' AND level = 1",
    "UPDATE purse_balances SET overrun = overrun + 1 WHERE key = '' AND level = 2",
    "UPDATE purse_balances SET tickets = tickets + 1 WHERE value = 'x'",
    "UPDATE purse_levels SET head = replace(head, '\"rounds\":', '\"rounds\":1') WHERE id = 2",
    "DELETE FROM purse_open_tickets WHERE ticket = (SELECT min(ticket) FROM purse_open_tickets)",
    "UPDATE purse_open_tickets SET deadline = 5 WHERE deadline IS NOT NULL",
    "UPDATE purse_journal SET turn = turn + 1000 WHERE level = 2 AND seq = 20",
]


def more(field: str, change: Any) -> Change:
    """Return a change that adds to an amount, to each of several, or to a number."""

    def changed(body: dict[str, Any]) -> None:
        was = body[field]
        body[field] = [part + change for part in was] if isinstance(was, list) else was + change

    return changed


FORGED: dict[str, tuple[str, str, Change]] = {
    "a larger hold": ("one", "asked", more("held", 1)),
    "a smaller hold": ("one", "asked", more("held", -1)),
    "another probability": ("one", "asked", more("p", -0.0001)),
    "a later deadline": ("one", "asked", more("deadline", 1)),
    "another arm": ("one", "asked", lambda body: body.update(arm=1 - body["arm"])),
    "another period": (
        "one", "asked", lambda body: body.update(periods={**body["periods"], "own": 9}),
    ),
    "a larger cost": ("one", "told", more("costs", 1)),
    "a larger reward": ("one", "told", more("reward", 0.1)),
    "another round": ("one", "told", more("t", 1)),
    "another state before": ("one", "told", lambda body: body.update({"from": "presumed"})),
    "a larger cost of a failure": ("one", "failed", more("costs", 1)),
    "a larger cost of what was settled": ("one", "settled", more("costs", 1)),
    "a longer period": ("team", "renewed", more("next", 3_600_000)),
    "an event of another period": ("one", "event", more("period", 1)),
}  # fmt: skip


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with two campaigns below an account, in which an audit finds nothing."""
    path: Path = tmp_path_factory.mktemp("played") / "purse.db"
    tree = Tree(connect(f"sqlite:///{path}"))
    tree.play(160)
    assert findings(tree.storage) == ()
    tree.storage.close()
    return path


@pytest.fixture
def storage(played: Path, tmp_path: Path) -> Iterator[Storage]:
    """Open a copy of it."""
    storage = connect(f"sqlite:///{copy(played, tmp_path / 'copy.db')}")
    yield storage
    storage.close()


@pytest.mark.parametrize("statement", BEHIND_ITS_BACK)
def test_what_is_changed_behind_its_back_is_found(storage: Storage, statement: str) -> None:
    execute(storage, statement)
    assert findings(storage)


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_entry_is_found(storage: Storage, what: str) -> None:
    forge(storage, *FORGED[what])
    found = findings(storage)
    assert found
    assert not any("another digest" in line for line in found), "the digests were made right again"
