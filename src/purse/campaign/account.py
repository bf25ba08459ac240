"""`purse.Account`: one purse for many campaigns.

The class says what an account can do, wherever it is kept, and finds the class that does it by the
address of the storage. It imports nothing heavy, for the client's sake.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any, Self

from purse.campaign import defaults
from purse.campaign.account_results import AccountStatus
from purse.campaign.addresses import account_class_of
from purse.campaign.campaign import Place
from purse.campaign.journal import Entry, write_as
from purse.campaign.results import Audit
from purse.campaign.verbs.records import dumps, write_whole


class AccountVerbs(ABC):
    """What can be done with an account, wherever it is kept."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the account, unique in its storage."""

    @abstractmethod
    def status(self) -> AccountStatus:
        """Return how the account stands: its balances, and those of all that is below it."""

    @abstractmethod
    def top_up(self, amount: Any, request_id: str | None = None) -> AccountStatus:
        """Add to the budget, once for each `request_id`, and return the new status.

        amount   a positive amount; for several resources one for each

        Raise `CampaignEnded` when the account has ended.
        Raise `Conflict` when `request_id` was used before for another amount.
        """

    @abstractmethod
    def pause(self) -> AccountStatus:
        """Let campaigns below it issue no tickets until `resume`, but accept reports; return the
        new status.
        """

    @abstractmethod
    def resume(self) -> AccountStatus:
        """Let campaigns below it issue tickets again after `pause`; return the new status."""

    @abstractmethod
    def end(self) -> AccountStatus:
        """Let campaigns below it issue no tickets from now on, for good, but accept reports; return
        the new status.
        """

    @abstractmethod
    def set_alerts(self, alerts: Sequence[str]) -> AccountStatus:
        """Make events by these rules from now on, and return the new status.

        alerts   as for `create`; an empty list ends all alerts
        """

    @abstractmethod
    def journal(self, after: int = 0) -> Iterator[Entry]:
        """Yield the entries of the account's journal whose number is above `after`, in order."""

    @abstractmethod
    def audit(self) -> Audit:
        """Fold the journal, compare it with the journals of the campaigns below the account and
        with its purses, and return where they differ.
        """

    @staticmethod
    def _dumps(value: Any) -> str:
        """Return a value as JSON without spaces, as an export has it."""
        return dumps(value)

    def export(self, file: str | Path | IO[str]) -> int:
        """Write the journal as JSON lines and return the number of entries.

        file   a path, which is written whole or not at all, or an open text file
        """
        return write_whole(
            file,
            lambda lines: write_as(self._dumps, lines, self.name, self.journal(), kind="account"),
        )


class Account(AccountVerbs):
    """An account: a budget that all campaigns below it share, kept in their storage.

    A hold of a campaign has to fit into the campaign's own budget and into every account above it.
    The budget of a campaign below an account is a ceiling, not a reservation.
    """

    @classmethod
    def create(
        cls,
        name: str,
        *,
        budget: Any,
        resources: Sequence[str] = defaults.RESOURCES,
        account: str | None = None,
        every: str | None = None,
        time_zone: str = defaults.TIME_ZONE,
        carry: str = defaults.CARRY,
        alerts: Sequence[str] = (),
        storage: Place = defaults.STORAGE,
        token: str | None = None,
        exist_ok: bool = False,
    ) -> Self:
        """Create an account in its storage and return it.

        name        no other account and no campaign of the storage has it
        budget      decimal text or a number; for several resources a list, or {resource: amount}
        resources   the names of what is spent; everything below the account has the same
        account     the account above it, which has none above itself; None: none
        every, time_zone, carry   the budget is renewed, as for `Campaign.create`
        alerts      rules of the events that webhooks are told of: "80%" of the budget, from "1%" to
                    "100%", and "overrun"
        storage     an address such as sqlite:///purse.db, postgresql://user@host/database or
                    https://host
        token       for a server; None: the environment variable PURSE_TOKEN
        exist_ok    return the account of this name where the storage has one that was created
                    with the same values

        Raise `CampaignExists` when the name is in use, or with `exist_ok` for an account that was
        created with other values.
        Raise `NotFound` when there is no account above it of that name.
        Raise `InvalidInput` when a value is not allowed.
        """
        terms = {
            "budget": budget,
            "resources": resources,
            "account": account,
            "every": every,
            "time_zone": time_zone,
            "carry": carry,
            "alerts": alerts,
        }
        return cls._at(storage)._create(name, terms, storage, token, exist_ok)

    @classmethod
    def open(
        cls, name: str, *, storage: Place = defaults.STORAGE, token: str | None = None
    ) -> Self:
        """Return an existing account as its storage holds it.

        storage, token   as for `create`

        Raise `NotFound` when the storage has no account of this name.
        """
        return cls._at(storage)._open(name, storage, token)

    @classmethod
    def names(cls, *, storage: Place = defaults.STORAGE, token: str | None = None) -> list[str]:
        """Return the names of all accounts of a storage.

        storage, token   as for `create`
        """
        return cls._at(storage)._names(storage, token)

    @classmethod
    def _at(cls, storage: Place) -> type[Self]:
        """Return the class of accounts at an address; a class that is not abstract is its own."""
        return account_class_of(storage) if cls is Account else cls

    @classmethod
    @abstractmethod
    def _create(
        cls, name: str, terms: dict[str, Any], storage: Any, token: str | None, exist_ok: bool
    ) -> Self: ...

    @classmethod
    @abstractmethod
    def _open(cls, name: str, storage: Any, token: str | None) -> Self: ...

    @classmethod
    @abstractmethod
    def _names(cls, storage: Any, token: str | None) -> list[str]: ...


if TYPE_CHECKING:
    from pathlib import Path
