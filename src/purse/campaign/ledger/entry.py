"""The journal: an append-only list of entries, which is the truth. All else is folded from it.

kind       body
created    the terms
asked      t (the round), arm, p (its probability), held (units of each resource); if it applies:
           deadline (ms), n (tickets wanted), of (the request that the first of them answers), mask,
           initial, left (what a level above had left, if less), periods (of each level, by its id),
           labels, context, clipped, rounds_left (that the policy planned with, see `forecast`),
           session, kept (its arm and p are those of the last ask of the session)
told       t, arm, p, reward, costs, from (the state before the cost was known); if it applies:
           context, over (it cost more than was held), missing (no reward came in time)
settled    costs, from, over: the cost is known, and the reward is not
rewarded   reward: the reward is known, and the cost is not, or nothing is learnt from it
failed     costs, from, over, reason: the call did not work; if it applies: rest (the ms for which
           the arm cools down at least)
broken     reason, and rest: the call did not work, and its cost is not known, so that the ticket
           stays open
voided, expired
conflict   report: what was said too late to count
topped_up  units
budget_set units; next, if it is for later periods and not for this one
charged    amount (units; negative: a credit), note, labels: money without a ticket
handed_over   the policy that chooses from now on has learnt again with what arms may cost by now;
           and what follows was decided by the rules of this version; policy and before, if another
           version of it takes over: both as they are written, with their versions; sealed, if it
           has learnt from the sums of the seal up to that entry
renewed    number (of the period that begins), at, next (when it ends, ms), tz; for forecasts ahead
           (ms by which local time is ahead of UTC)
clock      next and tz, if the period was begun by a clock that was ahead: another one runs until
           then; nothing, if the clock has come to it again
paused
resumed    next and tz, if the period would have ended in the pause
ended      by: `SOMEBODY` of `operators`, or (not written yet) policy or horizon
arm_added, arm_retired, arm_changed   arm (its number), name, cost_min, cost_max
alerts_set alerts
limited    key, units: the limit of its values; or with value, of one: without units that of the key
event      rule, key, period, resource or arm, balances; refused: what an ask needed
joined     periods: a restored campaign joins the levels above it with all that it has spent
sealed     seq (of the last entry that was sealed), its digest, before (ms), digests of the parts of
           the seal, `state` and `summary`, and of the entries that it has left, `kept`; archive:
           the sha256 of the file, unless the seal was written anew
seal       in the place of the entries up to its own number, see `purse.campaign.run.seal`; the
           chain goes on from the last of them

An entry says what was decided and what cannot be computed again. What follows from it, such as the
overrun of a report or the part of a refund that is dropped, is computed by the fold.

What may be about a person, its `_PERSONAL` fields, can be forgotten: the chain holds a hash of them
with a random salt. To forget, a label's value becomes a pseudonym, the rest goes, and the salt with
it; the body has the hash then, as `forgotten`.
"""

from dataclasses import dataclass
from hashlib import blake2b
from os import urandom
from typing import Any, Self

import orjson

SEAL = "seal"
_OF_THIS_COPY = ("name", "id", "restored_from", "account")  # terms that a copy has of its own
_PERSONAL = ("labels", "value", "note", "context")  # fields of a body; `value` is that of a label
FORGOTTEN = "forgotten"  # the field of the hash
_SALT = 16  # bytes


@dataclass(slots=True)
class LedgerEntry:
    """One line of a journal; amounts in it are whole numbers of units of 1e-9."""

    seq: int  # 1, 2, ... without a gap
    at: int  # ms since 1970
    kind: str
    request: str | None  # the request that it answers; no two entries answer the same one
    ticket: int | None
    body: dict[str, Any]
    text: str  # the body as JSON
    salt: bytes | None = None  # of its personal fields; None: it has none, or they are forgotten

    @classmethod
    def of(
        cls,
        seq: int,
        at: int,
        kind: str,
        body: dict[str, Any],
        request: str | None = None,
        ticket: int | None = None,
        salt: bytes | None = None,
    ) -> Self:
        """Return a new entry; personal fields without a salt get one."""
        entry = cls(seq, at, kind, request, ticket, body, orjson.dumps(body).decode(), salt)
        return entry if salt else entry.salted()

    def salted(self) -> Self:
        """Return the entry with a salt, if it needs one and has none."""
        body = self.body
        is_personal = "labels" in body or "context" in body or "value" in body or "note" in body
        if is_personal and self.salt is None and FORGOTTEN not in body and self.kind != "created":
            self.salt = urandom(_SALT)
        return self

    def facts(self) -> list[Any]:
        """Return all of it for JSON."""
        salt = self.salt and self.salt.hex()
        return [self.seq, self.at, self.kind, self.body, self.request, self.ticket, salt]

    @classmethod
    def of_facts(cls, facts: list[Any]) -> Self:
        """Return an entry from JSON."""
        seq, at, kind, body, request, ticket, salt = facts
        return cls.of(seq, at, kind, body, request, ticket, salt and bytes.fromhex(salt))

    def row(self) -> tuple[Any, ...]:
        """Return the columns of its row."""
        return self.seq, self.at, self.kind, self.request, self.ticket, self.text, self.salt

    @property
    def decided(self) -> str:
        """Its text as the rules decide it, that is without the hash of what is forgotten."""
        if FORGOTTEN not in self.body:
            return self.text
        rest = {name: value for name, value in self.body.items() if name != FORGOTTEN}
        return orjson.dumps(rest).decode()

    def chain(self, digest: str) -> str:
        """Return the digest up to this entry from the one before; a copy's is the same."""
        text = self.text
        if self.salt is not None or FORGOTTEN in self.body:
            text = orjson.dumps(self._without_personal()).decode()
        elif self.kind == "created":
            shared = {name: value for name, value in self.body.items() if name not in _OF_THIS_COPY}
            text = orjson.dumps(shared).decode()
        head = f"{digest} {self.seq} {self.at} {self.kind} {self.request!r} {self.ticket} {text}"
        return blake2b(head.encode(), digest_size=16).hexdigest()

    def has_label(self, key: str, value: str) -> bool:
        """Return whether it is about a value of a label."""
        body = self.body
        is_limit = self.kind == "limited" and body["key"] == key and body.get("value") == value
        return is_limit or body.get("labels", {}).get(key) == value

    def forgotten(self, key: str, value: str, pseudonym: str) -> Self:
        """Return the entry with a pseudonym for a value, and without its note and context. Its
        digest is the same, and nothing in it tells what they were.
        """
        labels = self.body.get("labels", {}) | {key: pseudonym}
        changed = {"labels": labels, "value": pseudonym, "context": None}
        body = {name: changed.get(name, fact) for name, fact in self.body.items() if name != "note"}
        body[FORGOTTEN] = self._without_personal()[FORGOTTEN]
        return self.of(self.seq, self.at, self.kind, body, self.request, self.ticket)

    def _without_personal(self) -> dict[str, Any]:
        """Return the body with a hash in the place of its personal fields."""
        body = self.body.copy()
        personal = [body.pop(name, None) for name in _PERSONAL]
        if self.salt is not None:
            of = self.salt + orjson.dumps(personal)
            body[FORGOTTEN] = blake2b(of, digest_size=16).hexdigest()
        return body


def kept_by(seal: LedgerEntry) -> list[LedgerEntry]:
    """Return the entries that a seal has left, in order."""
    return list(map(LedgerEntry.of_facts, seal.body["kept"]))
