"""What accounts and campaigns have in common: a budget in a storage, and the verbs of a budget."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Generic, Self, TypeVar, cast

from purse.base import validation
from purse.base.json import compact
from purse.campaign import operators
from purse.campaign.alert_rules import read_alerts
from purse.campaign.audit import audit
from purse.campaign.budget_terms import AccountTerms
from purse.campaign.campaign_ledger import CampaignLevel
from purse.campaign.commit import Committer, Operation, written
from purse.campaign.journal import Entry as PublicEntry
from purse.campaign.ledger import Level
from purse.campaign.request_ids import checked_request, new_request
from purse.campaign.results import Audit
from purse.campaign.states import ACCOUNT, CAMPAIGN, ENDED, PAUSED, RUNNING, TOLD
from purse.campaign.storage.connect import connect
from purse.campaign.storage.rows import Found, Overview, Writes
from purse.campaign.storage.storage import Storage
from purse.campaign.terms import Terms
from purse.campaign.ticket import folded
from purse.campaign.transaction import Transaction
from purse.errors import (
    CampaignEnded,
    CampaignExists,
    InvalidInput,
    NotFound,
    invalid,
    suggest,
)

PAGE_SIZE = 1_000  # entries read at a time
LARGEST = 2**62  # of numbers of entries and tickets
DEEPEST = 2  # accounts above a campaign
TERMS: dict[str, Any] = {ACCOUNT: AccountTerms, CAMPAIGN: Terms}  # of each kind of level
StatusT = TypeVar("StatusT")
T = TypeVar("T")


class Budget(Generic[StatusT]):
    """A level whose storage this process reaches itself."""

    kind: ClassVar[str]
    words: ClassVar[Sequence[str]]  # of alerts
    title: ClassVar[str]  # of its class
    _dumps = staticmethod(compact)

    def __init__(self, terms: Any, storage: Storage) -> None:
        self.terms, self.storage = terms, storage
        self.above = terms_above(storage, terms.account)
        self._committer = Committer(terms, self.above, storage)

    @property
    def name(self) -> str:
        return cast(str, self.terms.name)

    @staticmethod
    def _connected(storage: Any, token: str | None, *, create: bool = False) -> Storage:
        """Return the storage behind an address; `create` says whether a missing file is made."""
        if token is not None:
            raise InvalidInput("token: must be left out, since only a server has tokens")
        return connect(storage, create=create)

    @classmethod
    def _made(cls, terms: Any, kept: Storage, exist_ok: bool) -> Self:
        """Return a new level with these terms, or the one that has them already."""
        above = terms_above(kept, terms.account)
        check_above(terms, above)
        terms = terms.begun_at(kept.now())

        def decide(found: list[Found], _: Any) -> Iterator[Writes]:
            level = below(terms, above, found)
            transaction = Transaction(level, kept.now())
            for each in level.chain():
                if each.head.status == ENDED:
                    raise CampaignEnded(f"{each.title} has ended")
            transaction.add("created", terms.as_dict())
            yield written(transaction, found)

        try:
            kept.create(terms.name, cls.kind, terms.account, len(terms.resources), decide)
        except CampaignExists as error:
            if not exist_ok or terms.name not in kept.names(cls.kind):
                article = "an" if cls.kind == ACCOUNT else "a"
                raise CampaignExists(
                    f"{error}; {cls.title}.open opens {article} {cls.kind}, exist_ok (--exist-ok) "
                    "takes it where all is the same"
                ) from None
            found = cls._open(terms.name, kept, None)
            terms.check_same_as(found.terms)
            return found
        return cls(terms, kept)

    @classmethod
    def _open(cls, name: str, storage: Any, token: str | None) -> Self:
        kept = cls._connected(storage, token)
        try:
            return cls(read_terms(kept, name, cls.kind), kept)
        except NotFound as error:
            hint = suggest(str(name), kept.names(cls.kind))
            raise NotFound(f"{error}; {hint}" if hint else str(error)) from None

    @classmethod
    def _names(cls, storage: Any, token: str | None) -> list[str]:
        return cls._connected(storage, token).names(cls.kind)

    def _do(self, decide: Callable[[Transaction], T], **wants: Any) -> T:
        """Have something decided in the next transaction; return its answer once it is durable."""
        return cast(T, self._committer.do(Operation(decide, **wants)))

    @abstractmethod
    def status(self) -> StatusT: ...

    def _look(self) -> tuple[Level, Overview, int]:
        """Return the level as of now, the same as it is stored, and the time in ms."""
        look, now = self.storage.overview(self.name), self.storage.now()
        level = self._committer.level(look.levels)
        Transaction(level, now).renew()  # whether anybody has begun what is due or not
        return level, look, now

    def top_up(self, amount: Any, request_id: str | None = None) -> StatusT:
        units, request = self.terms.amounts("amount", amount), request_of(request_id)
        if min(units) < 0 or max(units) == 0:
            raise invalid("amount", amount, "must be positive")
        self._do(
            lambda transaction: operators.top_up(transaction, units, request), requests=(request,)
        )
        return self.status()

    def pause(self) -> StatusT:
        self._do(lambda transaction: operators.set_status(transaction, "paused", PAUSED))
        return self.status()

    def resume(self) -> StatusT:
        self._do(lambda transaction: operators.set_status(transaction, "resumed", RUNNING))
        return self.status()

    def end(self) -> StatusT:
        self._do(lambda transaction: operators.set_status(transaction, "ended", ENDED))
        return self.status()

    def set_alerts(self, alerts: Sequence[str]) -> StatusT:
        rules = read_alerts(alerts, self.words)
        self._do(lambda transaction: operators.set_alerts(transaction, rules))
        return self.status()

    def journal(self, after: int = 0) -> Iterator[PublicEntry]:
        after = validation.integer("after", after, low=0, high=LARGEST)
        while page := self.storage.entries(self.name, after, PAGE_SIZE):
            for entry, _, _ in page:
                head = entry.seq, entry.at, entry.kind, entry.request, entry.ticket
                yield PublicEntry(*head, entry.body)
            after = page[-1][0].seq

    def _audited(
        self,
        *,
        full: bool,
        acknowledged: Iterable[int] = (),
        noted: tuple[int, str] | None = None,
    ) -> Audit:
        """Decide the entries of the whole tree again, and compare with what is stored, and with
        what others have kept.
        """
        own = self.storage.level(self.name)[-1]
        found = audit(self.storage, self.name, full=full)
        outside = self._outside(acknowledged, noted)
        findings = (*found.findings, *outside)
        return Audit(own.seq, findings, own.head.digest, found.after, found.notes)

    def _outside(self, acknowledged: Iterable[int], noted: tuple[int, str] | None) -> Iterator[str]:
        """Yield where what others have kept differs: only that shows what never got here."""
        for number in acknowledged:
            ticket = folded(self.storage.about(self.name, number), None)
            if ticket is None or ticket.state != TOLD:
                yield (
                    f"the report on ticket {number} was acknowledged, and the ticket is "
                    f"{'not there' if ticket is None else ticket.state}"
                )
        if noted is not None:
            entries, digest = noted
            found, _ = self.storage.told(self.name, entries, 1)
            if found != digest:
                yield (
                    f"the journal had the digest {digest} after {entries} entries, and has "
                    f"{found or 'fewer entries'} now"
                )


def read_terms(storage: Storage, name: str, kind: str) -> Any:
    """Return the terms of a level. Raise `NotFound` where there is none of this kind."""
    return TERMS[kind].from_dict(storage.created(name, kind).body)


def terms_above(storage: Storage, name: str) -> list[AccountTerms]:
    """Return the terms of an account and of those above it, from the top down; none where the name
    is empty.
    """
    if not name:
        return []
    terms = read_terms(storage, name, ACCOUNT)
    return [*terms_above(storage, terms.account), terms]


def check_above(terms: Any, above: Sequence[AccountTerms]) -> None:
    """Refuse a new level that has other resources than the account above it, or is too deep."""
    if above and terms.resources != above[-1].resources:
        raise invalid(
            "resources",
            list(terms.resources),
            f"must be those of account {above[-1].name!r}, in its order: "
            f"{', '.join(above[-1].resources)}",
        )
    if isinstance(terms, AccountTerms) and len(above) >= DEEPEST:
        raise invalid(
            "account",
            terms.account,
            f"must not be below another account itself, and is below {above[-2].name!r}",
        )


def below(terms: Any, above: Sequence[Any], found: Sequence[Found]) -> Level:
    """Return a new level below others, as they are stored."""
    level: Level | None = None
    for known, each in zip(above, found, strict=False):
        level = Level(known, each.seq, each.head, each.balances, level)
    return (CampaignLevel if isinstance(terms, Terms) else Level)(terms, above=level)


def request_of(given: str | None) -> str:
    """Return the id of a request, a new one where none is given."""
    return new_request() if given is None else checked_request(given)
