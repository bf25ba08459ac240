"""The campaigns and accounts of a storage that are open, so that requests of several threads share
one object, and one transaction; and how a verb of one of them is done.

A campaign may name a policy file, which is code, and all who may write the storage choose it.
"""

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from purse.campaign.api.verb import Verb
from purse.campaign.budget import Budget
from purse.campaign.run.levels import LevelReader
from purse.campaign.storage.storage import Storage
from purse.errors import NotFound, invalid
from purse.live.save_file import is_policy_file
from purse.service.reach import Reach

# the one that was used longest ago is closed; opening it again costs time and nothing else
_OPEN_LIMIT = 256
AnyBudget: TypeAlias = Budget[Any]
B = TypeVar("B", bound=AnyBudget)


class Budgets:
    """Open campaigns and accounts by name."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.read = LevelReader(storage).read  # all of them at once
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
            if len(self._open) > _OPEN_LIMIT:
                self._open.popitem(last=False)
            return first

    def drop(self, of: type[AnyBudget], name: str) -> None:
        """Let go of a budget that is not there any more: another may have taken its name."""
        with self._lock:
            self._open.pop((of, name), None)

    def do(
        self,
        of: type[AnyBudget],
        row: Verb,
        name: str,
        arguments: dict[str, Any],
        reach: Reach | None = None,
    ) -> Any:
        """Do a verb and return its result; that of a creation is the status."""
        if row.path is None:
            if row.method == "GET":
                names = row.function(of, storage=self.storage)
                reached = names if reach is None else reach.names()
                return [name for name in names if name in reached]
            if reach is not None:
                reach.check_new(arguments)
            _refuse_new_file(arguments.get("policy"))
            created = row.function(of, **arguments, storage=self.storage)
            self.drop(of, created.name)  # an older one of this name is gone
            return self.put(created).status()
        try:
            return row.function(self.get(of, name), **arguments)
        except NotFound:
            self.drop(of, name)
            raise


def _shown(policy: str) -> str:
    """Return a policy as readers see it: a file without its folder.

    >>> _shown("/srv/mine.py:beta=1"), _shown("exp3++.bwk:beta=1")
    ('mine.py:beta=1', 'exp3++.bwk:beta=1')
    """
    path, colon, options = policy.partition(":")
    return (Path(path).name if is_policy_file(policy) else path) + colon + options


def without_folder(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the status or the terms of a campaign, as readers see them."""
    return {**facts, "policy": _shown(facts["policy"])}


def _refuse_new_file(policy: Any) -> None:
    """Refuse a policy file in the terms of a new campaign, even if files are allowed: the sender of
    a request must not choose what code the server runs.
    """
    if isinstance(policy, str) and is_policy_file(policy):
        raise invalid("policy", policy, "must be the name of a policy; a server takes no files")
