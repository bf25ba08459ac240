"""The rules of accounts are broken on purpose: the database refuses, and without that an audit
finds it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from purse import PurseError
from purse.campaign.storage.postgres import _PostgresSession
from purse.campaign.storage.sqlite import _SqliteSession
from tests.support.campaigns import balance, campaign, company
from tests.support.level_mutations import look_at_the_campaign_only
from tests.support.mutations import NEVER_OVERSPENT, without
from tests.support.storages import StorageHarness


def test_the_database_stands_behind_the_rules(
    shared: StorageHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written on any level."""
    storage = shared.storage()
    top, team = company(storage, team=2)
    below = campaign(storage, "below")
    below.ask_many(2)
    look_at_the_campaign_only(monkeypatch)
    with pytest.raises(PurseError, match="would violate a constraint"):
        below.ask()
    monkeypatch.undo()
    for level, left in ((top, "8"), (team, "0"), (below, "98")):
        assert balance(level) == ("0", "2", "0", left, "0")
        assert level.audit().ok


def test_without_the_check_an_audit_finds_it(
    shared: StorageHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, NEVER_OVERSPENT)
    storage = shared.storage()
    _, team = company(storage, team=2)
    below = campaign(storage, "below")
    look_at_the_campaign_only(monkeypatch)
    below.ask_many(3)
    monkeypatch.undo()
    found = team.audit().findings
    assert found[0].startswith("entry 2 would be ")  # it saw 2 as left, not 100
    assert any("team" in finding and "is overspent" in finding for finding in found), found


def test_what_ends_between_the_levels_leaves_nothing(
    shared: StorageHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All is written but the last thing, which fails."""
    storage = shared.storage()
    top, team = company(storage)
    below = campaign(storage, "below")
    ticket = below.ask()
    with monkeypatch.context() as patch:
        for session in (_SqliteSession, _PostgresSession):
            patch.setattr(session, "write", then_fails(session.write))
        for call in (lambda: below.ask("r"), lambda: below.tell(ticket, 1, 1)):
            with pytest.raises(PurseError, match="purse_nowhere"):
                call()
    for level, left in ((top, "9"), (team, "5"), (below, "99")):
        assert balance(level) == ("0", "1", "0", left, "0")
        assert level.audit().ok
    assert below.ask("r").id == 2


def then_fails(write: Callable[..., None]) -> Callable[..., None]:
    """Return a method that writes, and then into a table that is not there."""

    def writes(session: Any, statements: list[Any]) -> None:
        write(session, [*statements, ("DELETE FROM purse_nowhere", [()])])

    return writes
