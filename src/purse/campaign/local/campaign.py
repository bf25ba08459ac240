"""A campaign whose storage this process reaches itself."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

from purse.base import validation
from purse.campaign import make_results, operations
from purse.campaign.account.above import create_campaign
from purse.campaign.arms import Arms
from purse.campaign.campaign import Campaign
from purse.campaign.contexts import Context, read_context, read_contexts
from purse.campaign.group_commit import write_set
from purse.campaign.journal import read_journal
from purse.campaign.ledger import Ledger
from purse.campaign.local.operators import LocalOperators
from purse.campaign.local.recommendations import LocalRecommendations
from purse.campaign.local.records import LocalRecords
from purse.campaign.local.reports import LocalReports
from purse.campaign.mask import Mask, read_mask
from purse.campaign.restore import restore
from purse.campaign.results import CampaignTicket
from purse.campaign.rules import Transaction
from purse.campaign.storage.base import Storage
from purse.campaign.storage.connect import connect
from purse.campaign.terms import Terms
from purse.errors import CampaignExists, InvalidInput, NoSuchCampaign, suggest

MAX_BATCH = 1_000  # tickets in one request


class LocalCampaign(LocalReports, LocalOperators, LocalRecommendations, LocalRecords, Campaign):
    """A campaign in a file or a database."""

    @staticmethod
    def _connected(storage: Any, token: str | None, *, create: bool = False) -> Storage:
        """Return the storage behind an address; `create` says whether a missing file is made."""
        if token is not None:
            raise InvalidInput("token: must be left out, since only a server has tokens")
        return connect(storage, create=create)

    @classmethod
    def _create(
        cls,
        name: str,
        terms: dict[str, Any],
        storage: Any,
        token: str | None,
        exist_ok: bool,
    ) -> Self:
        made = Terms.of(name, **terms)
        made.check_state()
        kept = cls._connected(storage, token, create=True)
        now = kept.now()
        made = made.begun_at(now)
        transaction = Transaction(Ledger(made), now)
        transaction.add("created", made.as_dict())
        try:
            create_campaign(kept, made, [write_set(transaction)])
        except CampaignExists as error:
            if not exist_ok or name not in kept.names():
                hint = (
                    "Campaign.open opens a campaign, exist_ok (--exist-ok) takes it where all is "
                    "the same"
                )
                raise CampaignExists(f"{error}; {hint}") from None
            found = cls._open(name, kept, None)
            made.check_same_as(found.terms)
            return found
        return cls(made, kept)

    @classmethod
    def _open(cls, name: str, storage: Any, token: str | None) -> Self:
        kept = cls._connected(storage, token)
        try:
            (first,) = kept.entries(name, 0, 1)
        except NoSuchCampaign as error:
            raise with_hint(error, name, kept) from None
        return cls(Terms.from_dict(first.body), kept)

    @classmethod
    def _names(cls, storage: Any, token: str | None) -> list[str]:
        return cls._connected(storage, token).names()

    @classmethod
    def _restore(
        cls,
        file: str | Path | IO[str],
        storage: Any,
        name: str | None,
        account: str | None,
    ) -> Self:
        if not isinstance(file, (str, Path)):
            with tempfile.TemporaryDirectory() as folder:  # it is read twice
                copy = Path(folder, "journal")
                with copy.open("w", encoding="utf-8") as whole:
                    shutil.copyfileobj(file, whole)
                return cls._restore(copy, storage, name, account)
        path = file
        try:
            list(zip(range(1), read_journal(path), strict=False))  # before a storage is made
            kept = connect(storage)
            return cls(restore(lambda: read_journal(path), kept, name, account), kept)
        except UnicodeError:
            raise InvalidInput(f"cannot read {str(file)!r}: it is not text") from None

    def ask(
        self,
        request_id: str | None = None,
        *,
        arms: Sequence[str] | Mapping[str, Any] | None = None,
        context: Any = None,
        labels: Mapping[str, str] | None = None,
    ) -> CampaignTicket:
        mask, seen = self._mask(arms), self._context(context)
        return self._ask(1, request_id, mask, None if seen is None else [seen], labels)[0]

    def ask_many(
        self,
        n: int,
        request_id: str | None = None,
        *,
        arms: Sequence[str] | Mapping[str, Any] | None = None,
        contexts: Sequence[Any] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> list[CampaignTicket]:
        n = validation.integer("n", n, low=1, high=MAX_BATCH)
        mask, seen = self._mask(arms), None
        if contexts is not None or self.terms.features:
            seen = read_contexts(self.terms, n, contexts)
        return self._ask(n, request_id, mask, seen, labels)

    def _ask(
        self,
        n: int,
        request_id: str | None,
        mask: Mask | None,
        contexts: list[Context] | None,
        labels: Mapping[str, str] | None,
    ) -> list[CampaignTicket]:
        operation = operations.ask(n, self._request(request_id), mask, contexts, labels)
        return [make_results.ticket(self.terms, record) for record in self._committer.do(operation)]

    def probabilities(
        self,
        arms: Sequence[str] | Mapping[str, Any] | None = None,
        context: Any = None,
    ) -> dict[str, float]:
        mask, seen = self._mask(arms), self._context(context)
        chances = self._committer.do(operations.probabilities(mask, seen))
        return dict(zip(self._arms().names, chances, strict=False))

    def _mask(self, arms: Sequence[str] | Mapping[str, Any] | None) -> Mask | None:
        """Return which arms an ask allows; arms that were added later are looked up."""
        known: Sequence[str] = self.terms.arms
        if (
            self.terms.capacity
            and isinstance(arms, (Sequence, Mapping))
            and any(name not in known for name in arms)
        ):
            known = self._arms().names
        return read_mask(self.terms, arms, known)

    def _context(self, context: Any) -> Context | None:
        """Return the context of an ask, encoded; None where there are no features."""
        if context is None and not self.terms.features:
            return None
        return read_context(self.terms, context)

    def _arms(self) -> Arms:
        return Arms(self.terms, self.storage.overview(self.name).head.arms)


def with_hint(error: NoSuchCampaign, name: str, storage: Storage) -> NoSuchCampaign:
    """Return the error with the nearest name that the storage has."""
    hint = suggest(str(name), storage.names())
    return NoSuchCampaign(f"{error}; {hint}" if hint else str(error))
