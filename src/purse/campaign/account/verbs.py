"""The verbs of an account. This imports nothing heavy, for the client's sake."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

from purse.campaign.account.results import AccountStatus
from purse.campaign.journal import Entry, write_as
from purse.campaign.results import Audit
from purse.campaign.verbs.records import dumps, write_whole

if TYPE_CHECKING:
    from pathlib import Path


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

        Raise `CampaignClosed` when the account is closed.
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
    def close(self) -> AccountStatus:
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
