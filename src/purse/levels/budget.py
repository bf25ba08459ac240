"""What accounts and campaigns have in common: a budget in a storage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any, Self, TypeVar, cast

from purse.campaign import defaults
from purse.campaign.account.terms import AccountTerms
from purse.campaign.alert_rules import OF_ACCOUNTS, read_alerts
from purse.campaign.request_ids import checked_request, new_request
from purse.errors import CampaignExists, invalid
from purse.levels import operators
from purse.levels.audit import Audit, audit
from purse.levels.campaign_ledger import CampaignLevel
from purse.levels.commit import Committer, Operation, written
from purse.levels.connect import connect
from purse.levels.entry import Entry
from purse.levels.ledger import ACCOUNT, Level
from purse.levels.period import Period
from purse.levels.records import ENDED, PAUSED, RUNNING, Balance
from purse.levels.restore import export
from purse.levels.results import Status
from purse.levels.storage import Storage
from purse.levels.storage_records import Found, Writes
from purse.levels.transaction import Transaction

PAGE_SIZE = 1_000
T = TypeVar("T")


class Budget:
    """A level: a budget in a storage. `create` makes a new one, and `open` opens one."""

    kind = ACCOUNT
    words: Sequence[str] = OF_ACCOUNTS  # of alerts

    def __init__(self, terms: Any, storage: Storage) -> None:
        self.terms, self.name, self.storage = terms, terms.name, storage
        self.above = terms_above(storage, terms.account)
        self._committer = Committer(terms, self.above, storage)

    @classmethod
    def _read(cls, facts: Mapping[str, Any]) -> Any:
        return AccountTerms.from_dict(facts)

    @classmethod
    def _make(cls, terms: Any, storage: Storage) -> Self:
        terms = terms.begun_at(storage.now())
        above = terms_above(storage, terms.account)
        if above and above[-1].resources != terms.resources:
            raise invalid("resources", list(terms.resources), "must be those of the account")

        def decide(found: list[Found], _: Any) -> Iterator[Writes]:
            transaction = Transaction(below(terms, above, found), storage.now())
            transaction.add("created", terms.as_dict())
            yield written(transaction, found)

        storage.create(terms.name, cls.kind, terms.account, len(terms.resources), decide)
        return cls(terms, storage)

    @classmethod
    def _create(cls, terms: Any, storage: str | Storage, exist_ok: bool) -> Self:
        kept = connect(storage)
        try:
            return cls._make(terms, kept)
        except CampaignExists:
            if not exist_ok or terms.name not in kept.names(cls.kind):
                raise
            found = cls.open(terms.name, kept)
            terms.check_same_as(found.terms)
            return found

    @classmethod
    def open(cls, name: str, storage: str | Storage) -> Self:
        """Return one that exists."""
        kept = connect(storage, create=False)
        return cls(cls._read(kept.created(name, cls.kind).body), kept)

    def _do(self, decide: Callable[[Transaction], T], **wants: Any) -> T:
        """Have something decided in the next transaction; return its answer once it is durable."""
        return cast(T, self._committer.do(Operation(decide, **wants)))

    def top_up(self, amount: Any, request_id: str | None = None) -> Status:
        """Add to the budget, once for each request id."""
        units, request = self.terms.amounts("amount", amount), request_of(request_id)
        if min(units) < 0 or max(units) == 0:
            raise invalid("amount", amount, "must be positive")
        self._do(
            lambda transaction: operators.top_up(transaction, units, request), requests=(request,)
        )
        return self.status()

    def pause(self) -> Status:
        """Let nothing be held until `resume`."""
        self._do(lambda transaction: operators.set_status(transaction, "paused", PAUSED))
        return self.status()

    def resume(self) -> Status:
        """Let money be held again."""
        self._do(lambda transaction: operators.set_status(transaction, "resumed", RUNNING))
        return self.status()

    def end(self) -> Status:
        """Let nothing be held any more, for good."""
        self._do(lambda transaction: operators.set_status(transaction, "ended", ENDED))
        return self.status()

    def set_alerts(self, alerts: Sequence[str]) -> None:
        """Make events by these rules from now on."""
        rules = read_alerts(alerts, self.words)
        self._do(lambda transaction: operators.set_alerts(transaction, rules))

    def status(self) -> Status:
        """Return balances, counts and the period as they are now, and those of the levels below."""
        found = self.storage.level(self.name)
        level = self._committer.level(found)
        Transaction(level, self.storage.now()).renew()  # what is due, whether begun or not
        return status(self.storage, found[-1], level.balances)

    def journal(self, after: int = 0) -> Iterator[Entry]:
        """Yield the entries, from the first on."""
        while page := self.storage.entries(self.name, after, PAGE_SIZE):
            yield from (entry for entry, _, _ in page)
            after = page[-1][0].seq

    def export(self, file: IO[str]) -> None:
        """Write the journal as JSON lines."""
        export(file, self.name, self.journal())

    def audit(self) -> Audit:
        """Decide every entry of the whole tree again, and compare with what is stored."""
        return audit(self.storage, self.name)


class Account(Budget):
    """A budget for the levels below it."""

    @classmethod
    def create(
        cls, name: str, *, storage: str | Storage, exist_ok: bool = False, **terms: Any
    ) -> Self:
        """Create an account."""
        made = AccountTerms.of(name, **{"resources": defaults.RESOURCES, **terms})
        return cls._create(made, storage, exist_ok)


def below(terms: Any, above: Sequence[Any], found: Sequence[Found]) -> Level:
    """Return a new level below others, as they are stored."""
    level: Level | None = None
    for known, each in zip(above, found, strict=False):
        level = Level(known, each.seq, each.head, each.balances, level)
    return (CampaignLevel if hasattr(terms, "arms") else Level)(terms, above=level)


def status(storage: Storage, found: Found, balances: Sequence[Balance] = ()) -> Status:
    """Return a level, and those below it, as they are stored; `balances` are newer ones."""
    head = found.head
    period = Period(*head.period) if head.period else None
    return Status(
        found.name,
        found.kind,
        head.status,
        found.seq,
        head.digest,
        tuple(balances or found.balances),
        {name: count for name, count in head.counts.items() if count},
        head.rounds,
        period and (period.number, period.begun / 1000, period.ends / 1000),
        tuple(status(storage, each) for each in storage.below(found.name))
        if found.kind == ACCOUNT
        else (),
    )


def terms_above(storage: Storage, name: str) -> list[Any]:
    """Return the terms of an account and of those above it, from the top down."""
    if not name:
        return []
    terms = AccountTerms.from_dict(storage.created(name, ACCOUNT).body)
    return [*terms_above(storage, terms.account), terms]


def request_of(given: str | None) -> str:
    """Return the id of a request, a new one where none is given."""
    return new_request() if given is None else checked_request(given)
