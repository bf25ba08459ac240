"""A level of a storage in this process, and the way from a verb to its rule.

This imports all that rules need. The public classes import it late: a client of a server never
does.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import copy_context
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path
from typing import IO, Any, cast

import orjson

from purse.base.fork_safety import cached_property
from purse.base.plain_validation import request_of
from purse.campaign.api.kinds import UPDATE, checked_name
from purse.campaign.api.results import Audit, CampaignTicket
from purse.campaign.api.states import ACCOUNT, CAMPAIGN, ENDED, TOLD, UNFINISHED
from purse.campaign.ledger.ask_inputs import Context, Mask, read_context, read_mask
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.entry import LedgerEntry
from purse.campaign.ledger.level import Level
from purse.campaign.ledger.ticket import TicketRecord, fold_ticket, user_ticket
from purse.campaign.rules import operators
from purse.campaign.rules.transaction import Transaction, unknown_ticket
from purse.campaign.run import upgrade
from purse.campaign.run.audit import audit
from purse.campaign.run.committer import Committer, level_chain, recreated_error, writes_of
from purse.campaign.run.levels import TERMS, LevelReader
from purse.campaign.run.restore import read_journal, restore
from purse.campaign.run.teacher import try_take_over
from purse.campaign.storage.connect import connect
from purse.campaign.storage.schema import OldTables
from purse.campaign.storage.sql import LevelGlance, StoredLevel, Writes
from purse.campaign.storage.storage import Storage
from purse.campaign.terms.arms import Arms
from purse.campaign.terms.budget_terms import CHANGING, AccountTerms
from purse.campaign.terms.readers import MOST_GIVEN, names
from purse.campaign.terms.terms import Terms
from purse.campaign.views.recommendation import SharedHistory
from purse.campaign.views.status import account_status, campaign_status
from purse.errors import CampaignEnded, CampaignExists, InvalidInput, NotFound, invalid, suggest
from purse.policies import runs_files

_LOGGER = logging.getLogger(__name__)
_PAGE_SIZE = 5_000  # entries about tickets read at a time, more than one ticket has
_DEEPEST = 2  # accounts above a campaign


class LocalLevel:
    """A level whose storage this process reaches itself."""

    def __init__(self, terms: Any, storage: Storage) -> None:
        self.name, self.terms, self.storage = cast(str, terms.name), terms, storage
        self.committer = Committer(terms, terms_above(storage, terms.account), storage)
        self.do = self.committer.do
        self._reader = LevelReader(storage)  # of what is below it

    def look(self) -> tuple[Level, LevelGlance, int]:
        """Return the level as of now, the same as it is stored, and the time in ms."""
        look, now = self.storage.overview(self.name), self.storage.now()
        level = self.committer.level(look.levels)
        Transaction(level, now).renew()  # whether anybody has begun what is due or not
        return level, look, now

    def status(self) -> Any:
        """Return the status of a campaign, or of an account."""
        level, look, now = self.look()
        if isinstance(level, CampaignLevel):
            return campaign_status(level, look, now)
        return account_status(level, look, now, *self._reader.read(level).below(level))

    @property
    def campaign(self) -> CampaignLevel:
        """The level as it is stored now, of a campaign."""
        return cast(CampaignLevel, self.committer.level(self.storage.level(self.name)))

    @property
    def arms(self) -> Arms:
        """The arms as they are now."""
        return self.campaign.arms

    @cached_property
    def history(self) -> SharedHistory:
        """The history of a campaign, which all threads share."""
        return SharedHistory(self.terms, self.storage)

    def mask(self, arms: Sequence[str] | Mapping[str, Any] | None) -> Mask | None:
        """Return which arms an ask allows; arms that were added later are looked up."""
        all_names: Sequence[str] = self.terms.arms
        if (
            isinstance(arms, (Sequence, Mapping))
            and len(arms) <= MOST_GIVEN
            and any(name not in all_names for name in arms)
        ):
            all_names = self.arms.names
        return read_mask(self.terms, arms, all_names)

    def context(self, context: Any) -> Context | None:
        """Return the context of an ask, encoded; None if there are no features."""
        if context is None and not self.terms.features:
            return None
        return read_context(self.terms, context)

    def change_arm(self, rule: Callable[..., None], name: str, *bounds: Any) -> None:
        """Have an arm changed by a rule; bounds are the least and the most that a pull costs."""
        (name,) = names("name", [name])
        units = [
            None if amount is None else self.terms.amounts(field, amount)
            for field, amount in zip(("cost_min", "cost_max"), bounds, strict=False)
        ]
        self.do(lambda change: rule(change, name, *units))

    def update(self, terms: Any) -> None:
        """Set budget, alerts, arms and limits as terms say. Raise `CampaignExists` if they differ
        in more, before anything is written.
        """
        self.try_update(terms)
        request = request_of(None)
        self.do(
            lambda change: operators.update(change, terms, request),
            requests=(request,),
            limits=[key for key, _ in getattr(terms, "limits", ())],
        )

    def check_same(self, terms: Any, besides: Collection[str] = ()) -> None:
        """Raise `CampaignExists` if terms differ, as `check_same_as` does."""
        is_account = isinstance(self.terms, AccountTerms)
        mine = self.terms if is_account else self.terms.in_charge(self.campaign.policy)
        terms.check_same_as(mine, besides)

    def try_update(self, terms: Any) -> Transaction:
        """Return the changes that `update` would make, unwritten. Raise what it would raise."""
        self.check_same(terms, CHANGING)
        level, _, now = self.look()
        transaction = Transaction(level, now)
        operators.update(transaction, terms, request_of(None))
        return transaction

    def ticket(self, number: int) -> CampaignTicket:
        """Return a ticket. Raise `TicketError` if the campaign did not issue it."""
        ticket = fold_ticket(self.storage.about(self.name, number), self.terms.reward_within)
        if ticket is None:
            raise unknown_ticket(self.campaign, number)
        return user_ticket(self.terms, self.arms, ticket)

    def tickets(self, states: Sequence[str], limit: int, after: int) -> list[CampaignTicket]:
        """Return at most `limit` tickets in these states whose number is above `after`."""
        records, arms = self._records(states, limit, after), self.arms
        return [user_ticket(self.terms, arms, ticket) for ticket in records]

    def _records(self, states: Sequence[str], limit: int, after: int) -> list[TicketRecord]:
        if set(states) <= set(UNFINISHED):
            return self._folded(self.storage.open_tickets(self.name, states, after, limit))
        matching: list[TicketRecord] = []
        while len(matching) < limit:
            page = self.storage.tickets(self.name, after, _PAGE_SIZE)
            tickets = self._folded(page)
            if len(page) == _PAGE_SIZE:
                tickets.pop()  # of which entries may be missing
            matching += [ticket for ticket in tickets if ticket.state in states]
            if len(page) < _PAGE_SIZE:
                break
            after = tickets[-1].id
        return matching[:limit]

    def _folded(self, entries: Iterable[LedgerEntry]) -> list[TicketRecord]:
        """Return the tickets that entries, in the order of tickets, are about."""
        parts = groupby(entries, lambda entry: entry.ticket)
        tickets = [fold_ticket(part, self.terms.reward_within) for _, part in parts]
        return [ticket for ticket in tickets if ticket is not None]

    def audited(
        self,
        *,
        full: bool = True,
        acknowledged: Iterable[int] = (),
        noted: Sequence[Any] | None = None,
    ) -> Audit:
        """Audit the whole tree, and compare with what others have kept."""
        outcome = audit(self.storage, self.name, full=full)
        if not outcome.findings:
            self.refuse_another()
        findings = (*outcome.findings, *self._outside(acknowledged, noted))
        return replace(outcome, findings=findings)

    def entries(self, after: int, limit: int) -> Iterator[LedgerEntry]:
        """Return the entries of the journal that follow one."""
        self.refuse_another()
        return self.storage.entries(self.name, after, limit)

    def journal(self) -> Iterator[LedgerEntry]:
        """Yield all entries of the journal, in order."""
        after = 0
        while page := list(self.entries(after, _PAGE_SIZE)):
            yield from page
            after = page[-1].seq

    def refuse_another(self) -> None:
        """Raise `NotFound` if the name is that of another level now."""
        kind = CAMPAIGN if isinstance(self.terms, Terms) else ACCOUNT
        if self.storage.created(self.name, kind).body.get("id") != self.terms.id:
            raise recreated_error(self.terms)

    def _outside(self, acknowledged: Iterable[int], noted: Sequence[Any] | None) -> Iterator[str]:
        """Yield the differences from what others have kept: only these show what never got here.
        What is sealed by now is not compared.
        """
        head = self.storage.level(self.name)[-1].head
        for number in acknowledged:
            ticket = fold_ticket(self.storage.about(self.name, number), None)
            if head.sealed and ticket is None and number <= head.counts.get("tickets", 0):
                continue
            if ticket is None or ticket.state != TOLD:
                yield (
                    f"the report on ticket {number} was acknowledged, and the ticket is "
                    f"{'not there' if ticket is None else ticket.state}"
                )
        if noted is not None and noted[0] >= head.sealed:
            entries, digest = noted
            now, _ = self.storage.reports(self.name, entries, 1)
            if now != digest:
                yield (
                    f"the journal had the digest {digest} after {entries} entries, and has "
                    f"{now or 'fewer entries'} now"
                )


def connect_storage(storage: Any, token: str | None = None, *, create: bool = False) -> Storage:
    """Return the storage behind an address; `create` says whether a missing file is made. One of
    an earlier version is upgraded if that is a matter of seconds.
    """
    if token is not None:
        raise InvalidInput("token: must be left out, since only a server has tokens")
    try:
        return connect(storage, create=create)
    except OldTables:
        if upgrade.plan(storage).entries > upgrade.FEW:
            raise
    # no file of somebody runs unasked
    context = copy_context()
    context.run(runs_files.set, False)
    for text in context.run(upgrade.upgrade, storage):
        _LOGGER.info(text)
    return connect(storage, create=create)


def hand_over_all(storage: Storage) -> list[str]:
    """Let the policies of all campaigns take over as this purse has them; return what is to be
    said of them.
    """
    campaigns = [open_level(CAMPAIGN, name, storage) for name in storage.names()]
    return [said for level in campaigns for said in level.do(try_take_over)]


def create_level(
    kind: str, values: dict[str, Any], storage: Any, token: str | None, exist_ok: bool | str
) -> LocalLevel:
    """Return a new level with the terms that are given, or the one that has them already.

    exist_ok   whether there may be one; `UPDATE`: it gets budget, alerts, arms and limits
    """
    above: list[AccountTerms] = []
    if values["account"] is not None:
        storage = connect_storage(storage, token)
        above = terms_above(storage, checked_name("account", values["account"]))
    terms = new_terms(kind, values, above)
    storage = connect_storage(storage, token, create=True)
    terms = terms.begun_at(storage.now())

    def decide(stored: list[StoredLevel], *_: Any) -> Iterator[Writes]:
        yield writes_of(begin(terms, above, stored, storage.now()), stored)

    try:
        storage.create(terms.name, kind, terms.account, len(terms.resources), decide)
    except CampaignExists as error:
        if not exist_ok or terms.name not in storage.names(kind):
            article = "an" if kind == ACCOUNT else "a"
            raise CampaignExists(
                f"{error}; {kind.title()}.open opens {article} {kind}, exist_ok (--exist-ok) "
                "takes it if all is the same"
            ) from None
        there = open_level(kind, terms.name, storage)
        if exist_ok != UPDATE:
            there.check_same(terms)
        else:
            there.update(terms)
        return there
    if isinstance(terms, Terms) and (advice := terms.advice()):
        _LOGGER.info(advice)
    return LocalLevel(terms, storage)


def new_terms(kind: str, values: Mapping[str, Any], above: Sequence[AccountTerms]) -> Any:
    """Return the checked terms of a new level.

    values   the arguments of `create`
    above    the terms of the accounts above it, from the top down
    """
    if above:
        timed = values["every"] or values.get("until") is not None
        inherited = ("resources", "time_zone") if timed else ("resources",)
        own = {name: getattr(above[-1], name) for name in inherited if values[name] is None}
        values = {**values, **own}
    terms = TERMS[kind].of(values)
    if isinstance(terms, Terms):
        terms.check_state()
    _check_text(terms)
    _check_above(terms, above)
    return terms


def begin(
    terms: Any, above: Sequence[AccountTerms], stored: Sequence[StoredLevel], now: int
) -> Transaction:
    """Return the transaction that creates a level below those that are stored; time in ms."""
    make = CampaignLevel if isinstance(terms, Terms) else Level
    transaction = Transaction(make(terms, above=level_chain(above, stored)), now)
    for part in transaction.level.chain():
        if part.head.status == ENDED:
            raise CampaignEnded(f"{part.title} has ended")
    if isinstance(terms, Terms):
        terms.check_until(now)
    transaction.add("created", terms.as_dict())
    return transaction


def open_level(kind: str, name: str, storage: Storage) -> LocalLevel:
    """Return a level of a storage. Raise `NotFound` if it has none of this kind and name."""
    try:
        return LocalLevel(_read_terms(storage, name, kind), storage)
    except NotFound as error:
        hint = suggest(str(name), storage.names(kind))
        raise NotFound(f"{error}; {hint}" if hint else str(error)) from None


def restore_level(
    file: str | Path | IO[str], storage: Any, name: str | None, account: str | None
) -> LocalLevel:
    """Return a new campaign from an exported journal."""
    entries = read_journal(file)
    first = next(entries)  # before a storage is made
    storage = connect_storage(storage, None, create=True)
    above = terms_above(storage, account or "")
    return LocalLevel(restore(chain([first], entries), storage, name, above), storage)


def _read_terms(storage: Storage, name: str, kind: str) -> Any:
    """Return the terms of a level. Raise `NotFound` if the storage has no such level."""
    return TERMS[kind].from_dict(storage.created(name, kind).body)


def terms_above(storage: Storage, name: str) -> list[AccountTerms]:
    """Return the terms of an account, if there is one, and those above it, top down."""
    if not name:
        return []
    terms = _read_terms(storage, name, ACCOUNT)
    return [*terms_above(storage, terms.account), terms]


def _check_text(terms: Any) -> None:
    """Refuse text that cannot be written."""
    for name, value in terms.as_dict().items():
        try:
            orjson.dumps(value)
        except TypeError:
            raise InvalidInput(f"{name}: must be text that UTF-8 has, not {value!r:.100}") from None


def _check_above(terms: Any, above: Sequence[AccountTerms]) -> None:
    """Refuse a new level that has other resources than the account above it, or is too deep."""
    if above and terms.resources != above[-1].resources:
        raise invalid(
            "resources",
            list(terms.resources),
            f"must be those of account {above[-1].name!r}, in its order: "
            f"{', '.join(above[-1].resources)}",
        )
    if isinstance(terms, AccountTerms) and len(above) >= _DEEPEST:
        raise invalid(
            "account",
            terms.account,
            f"must not be below another account itself, and is below {above[-2].name!r}",
        )
