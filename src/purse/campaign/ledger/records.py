"""Records beside the journal: the balances of a level, its head, and checkpoints.

A checkpoint is what a journal comes to at one of its entries, so that a reader can begin there. It
is a cache, but for the last three. It counts if it is whole and the journal still has the digest
that it had when the checkpoint was made; otherwise its reader begins at an earlier entry.

kind           body
policy         what the policy has learnt; made every few thousand entries
history        what the dashboard shows
audit          what an audit has found to be right
webhook NAME   how far a receiver was told
restored       when the level was restored, ms; it is at the last entry of then
forgotten      what the policy had learnt when contexts were forgotten, which no report has any more
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from operator import itemgetter
from typing import Any, NamedTuple

import orjson

from purse.base import amounts
from purse.campaign.api.states import RUNNING, CampaignState
from purse.campaign.terms.arms import MaskRows

# alarms about reports, and what `counts` calls these reports
ALARMS = {
    "overrun": "overruns",
    "conflict": "conflicts",
    "below-minimum": "below_minimum",
    "outside-range": "outside_range",
}
Units = Sequence[int]  # one amount of each resource
# kinds of checkpoints
POLICY, HISTORY, AUDIT, RESTORED = "policy", "history-2", "audit", "restored"
_SEAL = 16  # bytes
HOUR = 3_600_000  # ms by which a clock may go back without an alarm
text = lru_cache(10_000)(amounts.text)  # the same amounts come again and again


class Balance(NamedTuple):
    """The counters of one resource, in units. P1: whenever something is held,
    spent + held + presumed <= budget; and always spent + held + presumed <= budget + overdraft.
    """

    budget: int = 0
    spent: int = 0
    held: int = 0
    presumed: int = 0
    overrun: int = 0  # the part of what was spent for which nothing was held
    overdraft: int = 0  # what is missing because of anything else than holds; not for users

    @property
    def left(self) -> int:
        """What is left of the budget; negative if calls cost more than was held for them."""
        return self.budget - self.spent - self.held - self.presumed

    def in_text(self) -> dict[str, str]:
        """Return the counters and what is left, as decimal text."""
        return {name: text(getattr(self, name)) for name in (*COUNTERS, "left")}

    def plus(self, part: tuple[int, int, int, int, int]) -> "Balance":
        """Return the balance after a move."""
        budget, spent, held, presumed, overrun, overdraft = self
        more, paid, apart, unknown, over = part
        spent, held, presumed = spent + paid, held + apart, presumed + unknown
        return Balance(budget + more, spent, held, presumed, overrun + over, overdraft)

    def drawn_from(self, before: "Balance") -> "Balance":
        """Return the balance with its overdraft after a move that held nothing.

        >>> Balance(10, 13).drawn_from(Balance(10, 8)).overdraft
        3
        """
        left = self.left
        if left >= 0:
            return self._replace(overdraft=0) if self.overdraft else self
        overdraft = min(before.overdraft + max(0, before.left - left), -left)
        return self._replace(overdraft=overdraft)


COUNTERS = Balance._fields[:5]  # what users see of a balance, besides what is left


# what is added to each counter of each resource; as balances they would take twice as long
Move = Sequence[tuple[int, int, int, int, int]]


def apply_move(balances: Sequence[Balance], move: Move) -> list[Balance]:
    """Return balances after a move."""
    return list(map(Balance.plus, balances, move))


def drawn(before: Sequence[Balance], after: Sequence[Balance]) -> list[Balance]:
    """Return balances with their overdrafts after a move that held nothing."""
    return list(map(Balance.drawn_from, after, before))


@dataclass
class Head:
    """The outcome of a level's journal besides balances and tickets; the second half is for
    campaigns. It is stored as JSON without what is empty.
    """

    id: str = ""  # of the terms
    status: CampaignState = RUNNING  # by pause, resume and end; `state` derives the state
    created: int = 0  # ms
    changed: int = 0  # ms
    digest: str = ""  # of the journal
    turn: int = 0  # of a top level with levels below it: entries of the whole tree so far
    period: list[Any] = field(default_factory=list)  # see `Period`
    alerts: list[str] = field(default_factory=list)
    top_ups: int = 0  # and new budgets, since there are alerts
    allowance: list[int] = field(default_factory=list)  # the budget that was set last, units
    rules: int = 0  # the version of the rules that decide now, see `RULES`
    alerted: dict[str, list[int]] = field(default_factory=dict)  # the last mark of each subject
    alarmed: dict[str, int] = field(default_factory=dict)  # when each alarm had its last cause, ms
    clock_steps: int = 0  # how often a clock was ahead
    sealed: int = 0  # the last entry that was sealed
    # number, begin and end of periods that clocks which were ahead have begun; the next one last
    ahead: list[list[int]] = field(default_factory=list)

    rounds: int = 0  # asked for so far
    checkpoint: int = 0  # the last entry in the last checkpoint of the policy
    forgotten: int = 0  # entries of which personal fields are forgotten
    over: list[int] = field(default_factory=list)  # see `state.note_over`; no entry tells of it
    counts: dict[str, int] = field(default_factory=dict)
    owed: list[int] = field(default_factory=list)  # arms that owe their initial pull
    open: list[int] = field(default_factory=list)  # unfinished tickets of each arm
    masks: MaskRows = field(default_factory=list)  # counted for the policy
    silent: list[int] = field(default_factory=list)  # tickets of arms without a reward; -1: heard
    cooling: list[list[int]] = field(default_factory=list)  # see `CoolDown`
    arms: list[list[Any]] = field(default_factory=list)  # arms that are not as the terms say
    taught: list[list[Any]] = field(default_factory=list)  # `Arms.widened`, as the policy knows it
    policy: list[Any] = field(default_factory=list)  # that took over, as it is written; its version
    taught_from: int = 0  # the last entry of the seal from whose sums it has learnt; 0: of none
    seen: list[list[float]] = field(default_factory=list)  # the range of each feature so far
    labels: list[str] = field(default_factory=list)  # the keys of labels so far
    limits: dict[str, list[int]] = field(default_factory=dict)  # of each value of a key, units
    limited_after: dict[str, int] = field(default_factory=dict)  # tickets before a key had a limit
    joined: dict[str, int] = field(default_factory=dict)  # periods of levels when it joined them
    traffic: list[Any] = field(default_factory=list)  # see `Traffic`

    def to_json(self) -> str:
        """Return the head as it is stored."""
        return orjson.dumps(dict(filter(itemgetter(1), vars(self).items()))).decode()

    @classmethod
    def from_json(cls, text: str) -> "Head":
        """Return a head as it was stored."""
        return cls(**orjson.loads(text))

    def count(self, what: str, change: int = 1) -> None:
        """Count up or down."""
        self.counts[what] = self.counts.get(what, 0) + change

    def see_clock(self, at: int) -> None:
        """Record when something changed, ms; count a clock that was ahead before."""
        if at < self.changed - HOUR:
            self.clock_steps += 1
            # so that alarms of the time ahead end a day from now
            self.alarmed = {kind: min(last, at) for kind, last in self.alarmed.items()}
            self.alarmed["clock"] = at
        self.changed = at

    def alarm(self, kind: str, at: int) -> None:
        """Count a report that causes an alarm, and record when, ms."""
        self.count(ALARMS[kind])
        self.alarmed[kind] = at


def seal(body: bytes) -> bytes:
    """Return a body with a digest before it."""
    return blake2b(body, digest_size=_SEAL).digest() + body


def unseal(body: bytes) -> bytes | None:
    """Return the body that was sealed; None if it is damaged."""
    content = bytes(body)[_SEAL:]
    return content if seal(content) == bytes(body) else None
