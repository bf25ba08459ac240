"""The core that tests run on: today's, or with PURSE_CORE=levels the one in `purse.levels`.

Its modules stand in for those of today, by name, in this process and in those that it starts.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

LEVELS = os.environ.get("PURSE_CORE") == "levels"
INSTEAD = {  # what stands in for a module of today
    "purse.campaign.local.campaign": "purse.campaign.local.campaign",
    "purse.campaign.local.account": "purse.campaign.local.account",
    "purse.campaign.local.recommendations": "purse.campaign.recommendations",
    "purse.campaign.storage.connect": "purse.campaign.storage.connect",
    "purse.campaign.storage.memory": "tests.support.levels_core.memory",
    "purse.campaign.history": "purse.campaign.history",
    "purse.campaign.followed_history": "purse.campaign.followed_history",
    "purse.campaign.time_series": "purse.campaign.time_series",
    "purse.offline.journal_log": "purse.offline.journal_log",
    "tests.support.mutations": "tests.support.levels_mutations",
    "tests.support.account_mutations": "tests.support.levels_account_mutations",
    "tests.support.period_mutations": "tests.support.levels_period_mutations",
    "tests.support.traffic_mutations": "tests.support.levels_traffic_mutations",
    "tests.support.client_log": "tests.support.client_log",
    "tests.system.test_power_cuts": "tests.levels.test_power_cuts",
    "tests.system.test_unavailable": "tests.levels.test_unavailable",
}


class StandIns(MetaPathFinder, Loader):
    """Finds what stands in for a module."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in INSTEAD else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return import_module(INSTEAD[spec.name])

    def exec_module(self, module: ModuleType) -> None:
        pass


def empty(storage: Any) -> None:
    """Delete all campaigns and accounts of a storage in memory."""
    if LEVELS:
        storage.__init__()
    else:
        storage._campaigns.clear()
        storage._accounts.clear()


def rewards_of(campaign: Any) -> list[float]:
    """Return the rewards of whole reports, in the order of the journal."""
    told = [entry.body for entry in campaign.journal() if entry.kind == "told"]
    return [body["reward"] if LEVELS else body["rewards"][0] for body in told]


if LEVELS:
    sys.meta_path.insert(0, StandIns())
    parts = [str(Path(__file__).parent / "levels_core"), os.environ.get("PYTHONPATH")]
    os.environ["PYTHONPATH"] = os.pathsep.join(part for part in parts if part)
