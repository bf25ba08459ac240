"""A storage of an earlier purse becomes one of this version: its tables change, and its journals
are folded again, because the fold has changed. Journals stay as they are, with one more entry; but
what is personal in entries gets salts, so that the digests from the first such entry on are others.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from typing import Any, NamedTuple

import orjson

from purse.campaign.api.states import CAMPAIGN
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.entry import LedgerEntry
from purse.campaign.ledger.level import Level
from purse.campaign.ledger.records import Balance, Head
from purse.campaign.rules import operators
from purse.campaign.rules.transaction import Transaction
from purse.campaign.run.committer import writes_of
from purse.campaign.run.teacher import try_take_over
from purse.campaign.storage import sql
from purse.campaign.storage.migrate import look, migrate
from purse.campaign.storage.sql import Session, Statement, StoredLevel, read_entry
from purse.campaign.terms.budget_terms import AccountTerms
from purse.campaign.terms.terms import Terms
from purse.errors import PurseError

_PAGE_SIZE = 5_000  # entries read at a time
_LEVELS = "SELECT id, name, kind, parent, head FROM purse_levels ORDER BY id"
_BALANCES = """SELECT budget, spent, held, presumed, overrun, overdraft FROM purse_balances
WHERE level = ? AND key = '' AND value = '' ORDER BY resource"""
# kind, number of entries, head and terms of each level
_FIRST = """SELECT this.kind, this.seq, this.head, first.body FROM purse_levels this
JOIN purse_journal first ON first.level = this.id AND first.seq = 1 ORDER BY this.id"""
_ENTRIES_A_SECOND = 10_000
FEW = 20_000  # entries of a storage that is upgraded when it is opened
_SALT = "UPDATE purse_journal SET salt = ?, digest = ? WHERE level = ? AND seq = ?"
_ABOUT = sql.ABOUT.format(among=sql.ONE)
_Line = tuple[int, int, int, LedgerEntry]  # turn in the tree, place of the level, number, entry


class Plan(NamedTuple):
    """What an upgrade of a storage changes."""

    version: int  # of its tables
    levels: int
    entries: int
    said: list[str]  # of each campaign whose policy is to be handed over, and of those that cannot

    @property
    def seconds(self) -> int:
        """About how long it takes."""
        return 1 + self.entries // _ENTRIES_A_SECOND


def plan(address: str) -> Plan:
    """Return the changes that an upgrade of a storage would make; nothing is written."""
    version, rows = look(address, _FIRST)
    said = []
    for kind, _, head, body in rows:
        if kind == CAMPAIGN:
            terms = Terms.from_dict(orjson.loads(body))
            now = orjson.loads(head).get("policy") or [terms.policy, terms.policy_version]
            title = f"{kind} {terms.name!r}"
            try:
                if (policy := terms.in_charge(now).present_policy()) != now:
                    over = operators.handing_over(title, now, policy)
                    said.append(f"would hand over {over}")
            except PurseError as error:
                said.append(f"{title}: {error}")
    return Plan(version, len(rows), sum(row[1] for row in rows), said)


def upgrade(address: str) -> list[str]:
    """Make a storage of an earlier version one of this version, all of it or nothing; return which
    policies took over from which.

    Raise what `migrate` raises, and `PurseError` if the journals do not come to what is stored.
    """
    said: list[str] = []
    migrate(address, lambda session: _refold(session, said))
    return said


class _FoldedLevel:
    """A level that is folded from its journal."""

    def __init__(self, session: Session, row: Sequence[Any], above: "_FoldedLevel | None") -> None:
        self.key, self.name, kind, _, self.head = row
        self.session, self.above = session, above
        self.digest = ""  # of the journal so far, as it was stored
        self._salted: list[Sequence[Any]] = []  # entries that get another digest, not written yet
        first = self._page(0, 1)[0][3]
        parent = None if above is None else above.level
        self.level: Level = (
            CampaignLevel(Terms.from_dict(first.body), above=parent)
            if kind == CAMPAIGN
            else Level(AccountTerms.from_dict(first.body), above=parent)
        )

    def _page(self, position: int, limit: int, after: int = 0) -> list[_Line]:
        """Return entries of the journal after one."""
        rows = self.session.read([(sql.DIGESTED, (self.name, after, limit))])[0]
        return [(row[7] or 0, position, row[0], read_entry(row)) for row in rows]

    def lines(self, position: int) -> Iterator[_Line]:
        """Yield all entries of the journal."""
        after = 0
        while page := self._page(position, _PAGE_SIZE, after):
            yield from page
            after = page[-1][2]

    def fold(self, entry: LedgerEntry, turn: int) -> None:
        """Take in an entry; before its turns are counted, a level stands alone."""
        above = self.above.level if turn and self.above is not None else None
        self.digest = entry.chain(self.digest)
        entry.salted()
        self.level.take(entry, above, self._about)
        if (digest := self.level.head.digest) != self.digest:
            self._salted.append((entry.salt, bytes.fromhex(digest), self.key, entry.seq))
            if len(self._salted) == _PAGE_SIZE:
                self._write()

    def _write(self) -> None:
        """Write salts and digests."""
        if self._salted:
            self.session.read([(_SALT, self._salted)])
        self._salted = []

    def _about(self, ticket: int) -> list[LedgerEntry]:
        rows = self.session.read([(_ABOUT, (self.name, ticket, ticket))])[0]
        return list(map(read_entry, rows))

    def stored(self) -> StoredLevel:
        """Return the level as it is stored. Raise `PurseError` if the journal says otherwise."""
        self._write()
        balances = [Balance(*row) for row in self.session.read([(_BALANCES, (self.key,))])[0]]
        head = orjson.loads(self.head)
        pairs = zip(balances, self.level.balances, strict=True)
        # the budgets of periods, and so overdrafts, are others now
        is_same = all(one[1:5] == other[1:5] for one, other in pairs)
        if not is_same or head["digest"] != self.digest:
            raise PurseError(f"the journal of {self.level.title} does not come to what is stored")
        self.level.head.over = head.get("over", [])  # no entry tells of it
        kind, parent = self.level.kind, None if self.above is None else self.above.key
        return StoredLevel(self.key, self.name, kind, parent, 0, Head(), self.head, balances)


def _refold(session: Session, said: list[str]) -> Iterable[Statement]:
    """Return the statements that make all levels what their journals come to, handed over.

    said   gets which policies took over from which
    """
    folded: dict[int, _FoldedLevel] = {}
    for row in session.read([(_LEVELS, ())])[0]:  # a level is younger than those above it
        folded[row[0]] = _FoldedLevel(session, row, folded.get(row[3] or 0))
    trees = defaultdict[str, list[_FoldedLevel]](list)
    for one in folded.values():
        trees[one.level.chain()[-1].terms.name].append(one)
    for tree in trees.values():  # one after the other, as a page of each journal is in memory
        journals = [one.lines(position) for position, one in enumerate(tree)]
        for turn, position, _, entry in merge(*journals, key=lambda line: line[:3]):
            tree[position].fold(entry, turn)
    statements: list[Statement] = []
    stored = {key: one.stored() for key, one in folded.items()}
    latest = max((one.level.head.changed for one in folded.values()), default=0)
    for key, one in folded.items():
        one.level.above = None if one.above is None else one.above.level
        transaction = Transaction(one.level, latest)
        transaction.renew()
        said += try_take_over(transaction)
        chain, above = [stored[key]], one.above
        while above is not None:
            chain, above = [stored[above.key], *chain], above.above
        statements += writes_of(transaction, chain)._replace(labels=()).statements()
        for row, level in zip(chain, one.level.chain()[::-1], strict=True):
            now = list(level.balances)
            stored[row.key] = row._replace(balances=now, seq=level.seq, text=level.head.to_json())
    return statements
