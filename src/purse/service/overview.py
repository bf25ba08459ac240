"""The first page of the dashboard: how all campaigns stand."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path
from typing import Any

from purse._version import __version__
from purse.campaign.campaign import Campaign
from purse.campaign.storage.storage import Storage
from purse.errors import NotFound
from purse.service import live_view
from purse.service.budgets import Budgets
from purse.service.live_view import LiveViews
from purse.service.policy_files import without_folder


class Overview:
    """All campaigns of a storage, read at most every half second, however many look."""

    def __init__(self, budgets: Budgets, views: LiveViews, storage: str | Storage) -> None:
        self.budgets, self.views = budgets, views
        self.storage = absolute(address_shown(storage))
        self._lock = threading.Lock()
        self._taken, self._latest = -live_view.FRESH, dict[str, Any]()

    def facts(self) -> dict[str, Any]:
        """Return the status of each campaign and, where its history is kept, a summary of it."""
        with self._lock:
            if time.monotonic() - self._taken >= live_view.FRESH:
                self._latest = self._take()
                self._taken = time.monotonic()
            return self._latest

    def _take(self) -> dict[str, Any]:
        rows = []
        for name in self.budgets.storage.names():
            try:
                status = self.budgets.get(Campaign, name).status()
            except NotFound:  # it went, and another may have its name
                self.budgets.drop(Campaign, name)
                continue
            summary = self.views.summary(name, status.entries)
            rows.append({"status": without_folder(status.as_dict()), "summary": summary})
        now = self.budgets.storage.now() / 1000
        return {"now": now, "version": __version__, "campaigns": rows, "accounts": self._tops()}

    def _tops(self) -> list[dict[str, Any]]:
        """Return the accounts that have none above them, each with all that is below it."""
        found = list(self.budgets.account_statuses())
        return [status.as_dict() for status in found if not status.account]


def absolute(address: str) -> str:
    """Return an address that means the same in every folder.

    >>> absolute("sqlite:////srv/purse.db")
    'sqlite:////srv/purse.db'
    """
    scheme, found, path = address.partition("sqlite:///")
    return f"{found}{Path(path).absolute()}" if found and not scheme and path else address


def address_shown(storage: str | Storage) -> str:
    """Where a storage is, without user, password and options.

    >>> address_shown("postgresql://me:secret@host/base?sslmode=require")
    'postgresql://host/base'
    """
    if not isinstance(storage, str):
        return type(storage).__name__
    return re.sub(r"(?<=//)[^/@]*@|\?.*", "", storage)
