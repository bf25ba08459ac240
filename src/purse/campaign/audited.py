"""What an audit has found right, kept as a checkpoint of each level, so that the next audit goes on
from there.

The checkpoints of one audit belong together: each holds the mark of the audit, and that of the top
level holds the names of all levels. A level without its checkpoint sends the next audit back to the
first entries of the whole tree.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import orjson

from purse.base.json import compact_bytes
from purse.campaign.campaign_ledger import CampaignLevel
from purse.campaign.checkpoint import AUDIT, opened, sealed
from purse.campaign.learner import Learner
from purse.campaign.ledger import Level
from purse.campaign.records import Balance, Head
from purse.campaign.replay_journal import Replay
from purse.campaign.storage.storage import Storage
from purse.campaign.ticket import Ticket
from purse.errors import StorageUnavailable


def keep(storage: Storage, replays: Mapping[str, Replay]) -> None:
    """Keep what an audit has found right, by the names of levels, the top first."""
    names = list(replays)
    top = replays[names[0]].level
    mark = f"{top.head.turn} {top.head.digest}"
    with suppress(StorageUnavailable):  # a checkpoint only saves time
        for name, replay in replays.items():
            body, level = sealed(compact_bytes([mark, names, *facts(replay)])), replay.level
            storage.keep(name, AUDIT, level.seq, level.head.digest, body)


def facts(replay: Replay) -> list[Any]:
    """Return what a level and its policy have come to."""
    level, policy = replay.level, replay.policy
    known: list[Any] = [vars(level.head), level.balances]
    if isinstance(level, CampaignLevel) and policy is not None:
        sums = [[*label, *row] for label, row in level.labels.rows.items()]
        _, *kept, body = policy.stored()
        known += [list(level.tickets.values()), sums, [*kept, b64encode(body).decode()]]
    return known


def begin(storage: Storage, replays: Mapping[str, Replay]) -> bool:
    """Let levels begin where the last audit that found nothing ended, those that are new since then
    at their first entry; return whether they do. If not, nothing has changed.
    """
    found: dict[str, tuple[int, list[Any]]] = {}
    for name in replays:
        kept = storage.checkpoint(name, AUDIT)
        body = None if kept is None else opened(kept.body)
        if kept is None or body is None or storage.told(name, kept.seq, 1)[0] != kept.digest:
            continue
        found[name] = kept.seq, orjson.loads(body)
    top = next(iter(replays))
    if top not in found:
        return False
    mark, names, *_ = found[top][1]
    same = {name: (seq, rest) for name, (seq, (made, _, *rest)) in found.items() if made == mark}
    if not set(names) <= set(same):
        return False
    policies: dict[str, Learner] = {}
    for name, (_, rest) in same.items():
        if len(rest) > 2:
            policy = policies[name] = Learner(replays[name].level.terms)
            seq, digest, body = rest[4]
            if not policy.begin_at((seq, digest, b64decode(body))):
                return False  # other code has made it
            policy.compile_ask()
    for name, (seq, rest) in same.items():
        replays[name].policy = policies.get(name)
        take_over(replays[name].level, seq, *rest[:4])
    return True


def take_over(
    level: Level, seq: int, head: Any, balances: Any, tickets: Any = (), sums: Any = ()
) -> None:
    """Let a level be what a checkpoint says."""
    level.seq, level.head = seq, Head(**head)
    level.balances = [Balance(*each) for each in balances]
    if isinstance(level, CampaignLevel):
        level.arms = type(level)(level.terms, seq, level.head).arms
        level.tickets = {row[0]: Ticket(*row) for row in tickets}
        level.labels.rows = {
            (key, value): (count, [Balance(*each) for each in parts])
            for key, value, count, parts in sums
        }
