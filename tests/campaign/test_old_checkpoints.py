"""Checkpoints that version 0.1.0 wrote, before there were failures and rewards of their own."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

import orjson
import pytest

from purse import Campaign
from purse.base.json import compact
from purse.campaign.checkpoint import HISTORY, LEDGER, Checkpoint, checkpoint
from purse.campaign.followed_history import FollowedHistory
from purse.campaign.replay_journal import OLD_COUNTS
from purse.campaign.storage.memory import Memory


def rewritten(made: Checkpoint, body: Any) -> Checkpoint:
    """A checkpoint with another body."""
    return checkpoint(made.kind, made.seq, made.digest, compact(body).encode())


def old_history(made: Checkpoint) -> Checkpoint:
    """A history without names, arms of tickets, and failed and settled pulls."""
    facts = orjson.loads(made.body)[:4]
    facts[1][1] = [row[:6] for row in facts[1][1]]
    return rewritten(made, facts)


def old_ledger(made: Checkpoint) -> Checkpoint:
    """Books without the counts of new states, and with an old history."""
    facts = orjson.loads(made.body)
    facts[0]["counts"] = {name: facts[0]["counts"][name] for name in OLD_COUNTS}
    facts[0].pop("owed", None)
    for place, (kind, seq, digest, checksum, body) in enumerate(facts[5]):
        if kind == HISTORY:
            other = old_history(Checkpoint(kind, seq, digest, checksum, b64decode(body)))
            facts[5][place] = [*other[:4], b64encode(other.body).decode()]
    return rewritten(made, facts)


@pytest.mark.parametrize("rounds", [1, 6])  # in the initial pulls, and after them
def test_an_audit_and_a_history_go_on_from_them(rounds: int) -> None:
    storage = Memory()
    campaign = Campaign.create(
        "c",
        arms={"a": "0.02", "b": "0.05", "c": "0.05"},
        budget="3",
        cost_min="0.001",
        policy="ucb-bv1",
        stop="hold",
        storage=storage,
    )
    for _ in range(rounds):
        campaign.tell(campaign.ask(), 1, "0.01")
    ticket = campaign.ask()
    assert campaign.audit().ok
    kept = storage._campaigns["c"].checkpoints
    kept[LEDGER], kept[HISTORY] = old_ledger(kept[LEDGER]), old_history(kept[HISTORY])
    followed = FollowedHistory(campaign)
    assert followed.history.seq == kept[HISTORY].seq
    campaign.tell(ticket, 1, "0.01")
    campaign.tell(campaign.ask(), 1, "0.01")
    campaign.fail(campaign.ask())
    found = campaign.audit()
    assert (found.findings, found.after) == ((), 2 * rounds + 2)
    assert sum(row["failed"] for row in followed.follow().as_dict()["arms"]) == 1
