"""What the journals of a tree come to before a time: what a seal holds.

A seal has two parts. The state is what later entries are decided by, and what an audit with the
archive compares: head, balances and sums of labels, in all and of each day. The summary is what
else would have to be made of the entries again: sums of each arm's reports, what the policy has
learnt from them, and the history. Open tickets are known by the entries that stay.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from copy import deepcopy
from hashlib import blake2b
from operator import add
from typing import Any

import orjson

from purse.base.json import compact_bytes
from purse.campaign.api.states import OPEN
from purse.campaign.ledger.ask_inputs import CONTEXT
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.entry import SEAL, LedgerEntry, kept_by
from purse.campaign.run.learner import Lessons
from purse.campaign.run.replay_journal import Replay
from purse.campaign.views.history import History
from purse.campaign.views.labels import DaySums

_UNTOLD = ("seen", "forgotten")  # parts of a head that are others once contexts are forgotten


class Summary:
    """What is sealed of a level besides its state."""

    def __init__(self, replay: Replay) -> None:
        level = self.level = replay.level
        self.replay = replay
        self.days = DaySums(level.terms.time_zone)
        self.history = History(level.terms) if isinstance(level, CampaignLevel) else None
        # of each arm: reports, rewards, costs, and numbers of contexts
        self.sums: dict[str, list[Any]] = {}
        if replay.seal is not None:
            self.add(replay.seal)

    def add(self, entry: LedgerEntry) -> None:
        """Take in the next entry."""
        self.days.add(entry)
        if self.history is not None:
            self.history.fold([entry], self.replay.load)
        body = entry.body
        if entry.kind == SEAL:
            self.sums = deepcopy(body["summary"]["sums"])
        elif entry.kind == "told" and body["from"] in OPEN:
            reward, costs, numbers = body["reward"], body["costs"], body.get(CONTEXT) or []
            if row := self.sums.get(arm := str(body["arm"])):
                row[:] = row[0] + 1, row[1] + reward, _added(row[2], costs), _added(row[3], numbers)
            else:
                self.sums[arm] = [1, reward, costs, numbers]

    def state(self, before: int) -> dict[str, Any]:
        """Return the state as of now, for a cut."""
        level, days = self.level, self.days.facts()
        head, *more = level.facts()
        head = {name: value for name, value in head.items() if name not in _UNTOLD}
        return {"seq": level.seq, "before": before, "level": [head, *more], "days": days}

    def rest(self) -> dict[str, Any]:
        """Return the summary, as of now."""
        policy = self.replay.policy
        return {
            "head": {name: getattr(self.level.head, name) for name in _UNTOLD},
            "sums": self.sums,
            "policy": policy and b64encode(policy.stored()[3]).decode(),
            "taught": {},  # what the policy has learnt at each later entry `handed_over`
            "history": self.history and orjson.loads(self.history.to_json()),
        }


def _added(sums: list[Any], more: list[Any]) -> list[Any]:
    return list(map(add, sums, more)) if sums and more else sums or more


class Cut:
    """What the journals of a tree come to before a time, ms.

    It lies before the first entry of that time or later, in the order of the tree: what a clock
    that was ahead has written ends it. A level that stood alone is cut in its own order.
    """

    def __init__(self, before: int, *, is_sealing: bool = False) -> None:
        self.before, self.is_sealing = before, is_sealing
        self.states: dict[str, bytes] = {}  # as JSON, by level; b"": it was not there yet
        self.rests: dict[str, dict[str, Any]] = {}  # for a seal
        self.replays: dict[str, Replay] = {}

    def see(
        self, summaries: Mapping[str, Summary], turn: int, name: str, entry: LedgerEntry
    ) -> None:
        """See an entry of a level before it is folded."""
        if name not in self.states and entry.at >= self.before:
            self.end(summaries if turn else {name: summaries[name]})

    def end(self, summaries: Mapping[str, Summary]) -> None:
        """Take what levels come to by now, if that was not done before."""
        for name, summary in summaries.items():
            if name in self.states:
                continue
            is_there = summary.level.seq > 0
            self.states[name] = compact_bytes(summary.state(self.before)) if is_there else b""
            replay, level = summary.replay, summary.level
            lessons = Lessons(level.seq, level.head.digest, level.head.rounds, summary.sums)
            replay.lessons[level.seq] = deepcopy(lessons)
            if self.is_sealing and is_there:
                self.rests[name], self.replays[name] = summary.rest(), replay


def _digest_of(part: Any) -> str:
    """Return the digest of a part of a seal, which may be JSON already."""
    content = part if isinstance(part, bytes) else compact_bytes(part)
    return blake2b(content, digest_size=16).hexdigest()


def claim_of(content: dict[str, Any], digest: str, kept: Sequence[LedgerEntry]) -> dict[str, Any]:
    """Return the claim of an entry `sealed` about a seal.

    content   the parts of the seal, which may be JSON already
    digest    of the journal up to its last entry
    kept      the entries that it has left
    """
    state = content["state"]
    state = orjson.loads(state) if isinstance(state, bytes) else state
    parts = {part: _digest_of(content[part]) for part in ("state", "summary")}
    facts = {"seq": state["seq"], "digest": digest, "before": state["before"]}
    return {**facts, **parts, "kept": _digest_of([entry.chain("") for entry in kept])}


def check_seals(replay: Replay, cuts: Sequence[Cut] = ()) -> None:
    """Compare seals with what the journal says of them, and the latter with what was cut."""
    level = replay.level
    if replay.seal is not None:
        body, claim = replay.seal.body, replay.claims.get(replay.seal.seq, {})
        sealed = claim_of(body, body["digest"], kept_by(replay.seal))
        if any(claim.get(part) != value for part, value in sealed.items()):
            replay.find(f"the seal of {level.title} is not what its journal says")
    last = replay.claims.get(level.head.sealed, {})  # of earlier seals values may be forgotten
    states = (cut.states[level.terms.name] for cut in cuts if cut.before == last.get("before"))
    if any(_digest_of(state) != last["state"] for state in states):
        replay.find(f"the entries of {level.title} do not come to what was sealed")
