"""Entries and their digests, tickets as folds of entries, labels."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from purse.campaign import asks, reports
from purse.campaign.entry import Entry
from purse.campaign.make_results import receipt
from purse.campaign.storage.storage import read_entries
from purse.campaign.ticket import TicketRecord, folded
from purse.errors import InvalidInput
from tests.support.game import START, USD, Game, money

WITHIN = 20_000  # ms, for a reward


def about(*rows: tuple[str, dict[str, Any]]) -> list[Entry]:
    """Return the entries about ticket 7, for which 4 USD are held until a deadline."""
    ask = {"t": 3, "arm": 1, "p": 0.25, "held": [4 * USD], "deadline": START + 60_000}
    return [
        Entry.of(seq, START + 1000 * seq, kind, body, "it" if seq == 0 else None, 7)
        for seq, (kind, body) in enumerate([("asked", ask), *rows])
    ]


def report(kind: str, cost: int, source: str = "held", **more: Any) -> tuple[str, dict[str, Any]]:
    return kind, {"costs": [cost * USD], "from": source, **more}


def ticket_of(*rows: tuple[str, dict[str, Any]]) -> TicketRecord:
    ticket = folded(about(*rows), WITHIN)
    assert ticket is not None
    return ticket


def test_an_entry_is_read_as_it_was_written() -> None:
    entry = about()[0]
    assert read_entries([entry.row()]) == [entry]
    assert entry.chain("") != entry.chain("other")


def test_every_part_of_an_entry_is_in_the_digest() -> None:
    facts: dict[str, Any] = {
        "seq": 2, "at": 5, "kind": "topped_up", "body": {"units": [1]}, "request": "r", "ticket": 1,
    }  # fmt: skip
    others: dict[str, Any] = {
        "seq": 3, "at": 6, "kind": "told", "body": {"units": [2]}, "request": None, "ticket": None,
    }  # fmt: skip
    digests = {Entry.of(**{**facts, name: other}).chain("") for name, other in others.items()}
    assert len(digests | {Entry.of(**facts).chain("")}) == 7


def test_a_copy_has_the_digest_of_the_original_under_another_name() -> None:
    terms = {"name": "one", "id": "a" * 16, "budget": [10]}
    copy = {"name": "two", "id": "b" * 16, "restored_from": "a" * 16, "account": "x"}
    one, two = (Entry.of(1, START, "created", body) for body in (terms, {**terms, **copy}))
    assert one.chain("") == two.chain("")
    richer = Entry.of(1, START, "created", {**terms, "budget": [11]})
    assert richer.chain("") != one.chain("")


def test_a_ticket_is_the_fold_of_its_entries_in_any_order() -> None:
    entries = about(report("settled", 3), ("rewarded", {"reward": 1}), report("told", 3, reward=1))
    whole = folded(entries, WITHIN)
    assert all(folded(order, WITHIN) == whole for order in permutations(entries))
    assert folded([], WITHIN) is None


def test_states_and_amounts_of_a_ticket() -> None:
    held = ticket_of()
    assert (held.state, held.request, held.due(WITHIN)) == ("held", "it", START + 60_000)
    settled = ticket_of(report("settled", 3))
    assert (settled.state, settled.spent, settled.overrun) == ("settled", [3 * USD], [0])
    assert settled.due(WITHIN) == START + 1000 + WITHIN
    assert settled.due(None) is None
    told = ticket_of(report("settled", 3), report("told", 3, reward=0.5))
    assert (told.state, told.reward, told.source, told.due(WITHIN)) == ("told", 0.5, "held", None)
    failed = ticket_of(report("failed", 5, over=True))
    assert (failed.state, failed.spent, failed.overrun) == ("failed", [4 * USD], [USD])
    late = ticket_of(("expired", {}), report("told", 5, "presumed", reward=1))
    assert (late.state, late.spent, late.overrun) == ("told", [4 * USD], [USD])
    void = ticket_of(("voided", {}), report("told", 5, "void", reward=1))
    assert (void.state, void.spent, void.overrun) == ("told", [0], [5 * USD])
    assert ticket_of(("expired", {})).state == "presumed"
    assert ticket_of(("expired", {})).due(WITHIN) is None


def test_receipts_say_what_came_back_and_whether_it_was_late() -> None:
    def said(*rows: tuple[str, dict[str, Any]]) -> list[Any]:
        made = receipt(ticket_of(*rows))
        return [made.state, *made.spent, *made.refunded, *made.overrun, made.late]

    assert said(report("told", 3, reward=1)) == ["told", "3", "1", "0", False]
    assert said(("rewarded", {"reward": 1})) == ["held", "0", "0", "0", False]
    assert said(("voided", {})) == ["void", "0", "4", "0", False]
    assert said(("expired", {}), report("failed", 6, "presumed")) == ["failed", "4", "0", "2", True]
    assert said(("voided", {}), report("settled", 6, "void")) == ["settled", "0", "0", "6", True]


def test_the_sums_of_labels_are_balances_without_a_budget() -> None:
    game = Game(budget=20)
    game.do(asks.ask, 2, "one", None, None, {"team": "x", "user": "1"})
    game.do(asks.ask, 1, "two", None, None, {"team": "x", "user": "2"})
    game.do(asks.ask, 1, "none")
    game.do(reports.tell, 1, 1.0, [5 * USD])
    game.do(reports.void, 2)
    assert money(game.campaign) == "20 4 5 0 1 11"
    sums = {
        "=".join(label): (tickets, *(part / USD for part in balances[0]))
        for label, (tickets, balances) in game.campaign.labels.rows.items()
    }
    assert sums == {
        "team=x": (3, 0, 4, 4, 0, 1),
        "user=1": (2, 0, 4, 0, 0, 1),
        "user=2": (1, 0, 0, 4, 0, 0),
    }
    assert game.campaign.head.labels == ["team", "user"]


def test_a_campaign_has_eight_keys_of_labels_and_any_number_of_values() -> None:
    game = Game(budget=10_000)
    for number in range(8):
        game.do(asks.ask, 1, f"{number}", None, None, {f"key{number}": "x"})
    with pytest.raises(InvalidInput, match=r"labels='key8': must be one of the 8 keys"):
        game.do(asks.ask, 1, "8", None, None, {"key8": "x"})
    for number in range(1_010):
        game.do(asks.ask, 1, f"value {number}", None, None, {"key0": f"{number}"})
    assert len(game.campaign.labels.rows) == 8 + 1_010
    assert game.last("asked").body["labels"] == {"key0": "1009"}
