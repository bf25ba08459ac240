"""What a child process must not share with its parent: locks that another thread held, and connections."""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Renewed(Protocol):
    """Something that begins anew in a child process."""

    def renew(self) -> None:
        """Take new locks, and let go of what belongs to the parent without closing it."""


_known: WeakSet[Renewed] = WeakSet()
left_behind: list[object] = []  # connections of the parent: closing them here would disturb it


def renew_after_fork(item: Renewed) -> None:
    """Have the item renewed in every child."""
    _known.add(item)


def _renew_all() -> None:
    for item in list(_known):
        item.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
