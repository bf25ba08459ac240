"""The campaigns and accounts of a storage that are open, so that requests of several threads share
one object, and one transaction; and how a verb of one of them is done.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, TypeAlias, TypeVar

from purse.campaign.api.states import CAMPAIGN
from purse.campaign.api.verb import Verb
from purse.campaign.budget import Budget
from purse.campaign.storage.storage import Storage
from purse.errors import NotFound
from purse.service.policy_files import refuse_file, refuse_new_file

# the one that was used longest ago is closed; opening it again costs time and nothing else
_MOST_OPEN = 256
AnyBudget: TypeAlias = Budget[Any]
B = TypeVar("B", bound=AnyBudget)


class Budgets:
    """Open campaigns and accounts by name."""

    def __init__(self, storage: Storage, allow_policy_files: bool = False) -> None:
        self.storage, self.allow_policy_files = storage, allow_policy_files
        self._open: OrderedDict[tuple[type[AnyBudget], str], Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, of: type[B], name: str) -> B:
        """Return the campaign or the account of this name."""
        key = of, name
        with self._lock:
            if key in self._open:
                self._open.move_to_end(key)
                budget: B = self._open[key]
                return budget
        return self.put(of.open(name, storage=self.storage))

    def put(self, budget: B) -> B:
        """Keep a budget, and return it, or the one that another thread has put."""
        with self._lock:
            first: B = self._open.setdefault((type(budget), budget.name), budget)
            if len(self._open) > _MOST_OPEN:
                self._open.popitem(last=False)
            return first

    def drop(self, of: type[AnyBudget], name: str) -> None:
        """Let go of a budget that is not there any more: another may have taken its name."""
        with self._lock:
            self._open.pop((of, name), None)

    def do(self, of: type[AnyBudget], row: Verb, name: str, given: dict[str, Any]) -> Any:
        """Do a verb and return its result; that of a creation is the status."""
        if row.path is None:
            if row.method == "GET":
                return row.function(of, storage=self.storage)
            refuse_new_file(given.get("policy"))
            created = row.function(of, **given, storage=self.storage)
            self.drop(of, created.name)  # an older one of this name is gone
            return self.put(created).status()
        budget = self.get(of, name)
        if row.plays and of.KIND == CAMPAIGN and not self.allow_policy_files:
            refuse_file(name, budget._local.terms.policy)
        try:
            return row.function(budget, **given)
        except NotFound:
            self.drop(of, name)
            raise

    def statuses(self, of: type[AnyBudget]) -> Iterator[Any]:
        """Yield how all campaigns stand, or all accounts, those below another too."""
        for name in of.names(storage=self.storage):
            yield self.get(of, name).status()
