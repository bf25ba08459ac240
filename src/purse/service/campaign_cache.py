"""The campaigns of a storage that are open, so that requests of several threads share one object,
and one transaction.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator

from purse.campaign.account_results import AccountStatus
from purse.campaign.local.account import LocalAccount
from purse.campaign.local.campaign import LocalCampaign
from purse.campaign.results import Status
from purse.campaign.storage.storage import Storage
from purse.service.policy_files import refuse_file

# whichever was used longest ago is let go; opening it again costs time and nothing else
MOST_OPEN = 256


class CampaignCache:
    """Open campaigns by name."""

    def __init__(self, storage: Storage, allow_policy_files: bool = False) -> None:
        self.storage, self.allow_policy_files = storage, allow_policy_files
        self._open: OrderedDict[str, LocalCampaign] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: str) -> LocalCampaign:
        """The campaign of this name."""
        with self._lock:
            if name in self._open:
                self._open.move_to_end(name)
                return self._open[name]
        return self.put(LocalCampaign.open(name, storage=self.storage))

    def get_to_ask(self, name: str) -> LocalCampaign:
        """The campaign of this name, if its policy may be run here."""
        campaign = self.get(name)
        if not self.allow_policy_files:
            refuse_file(name, campaign.terms.policy)
        return campaign

    def put(self, campaign: LocalCampaign) -> LocalCampaign:
        """Keep a campaign; the one that is here already where another thread was faster."""
        with self._lock:
            kept = self._open.setdefault(campaign.name, campaign)
            if len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
            return kept

    def drop(self, name: str) -> None:
        """Let go of a campaign that is not there any more: another may have taken its name."""
        with self._lock:
            self._open.pop(name, None)

    def statuses(self) -> Iterator[Status]:
        """How all campaigns stand."""
        for name in LocalCampaign.names(storage=self.storage):
            yield self.get(name).status()

    def account(self, name: str) -> LocalAccount:
        """The account of this name."""
        return LocalAccount.open(name, storage=self.storage)

    def account_statuses(self) -> Iterator[AccountStatus]:
        """How all accounts stand, those that are below another too."""
        for name in LocalAccount.names(storage=self.storage):
            yield self.account(name).status()
