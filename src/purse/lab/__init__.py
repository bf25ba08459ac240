"""The laboratory: games in simulated worlds, what they return, and how policies are judged.

`purse.simulate`, `purse.compare` and `purse.replay` are where most studies start; this module has
the rest, and `purse.lab.theory` has optima and bounds. Each name is loaded when it is first used.
"""

from typing import TYPE_CHECKING, Any

import lazy_loader

from purse.engine.run import Run as Run
from purse.engine.run import Trajectory as Trajectory
from purse.lab.result import PageResult as _PageResult
from purse.types import Problem as Problem
from purse.types import Ticket as Ticket
from purse.types import World as World

if TYPE_CHECKING:
    from purse.lab.result import Page


def _page_of(result: Any) -> "Page":
    """Return the page of a result, which does not know that there are pages."""
    from purse.lab.page.page import page_of

    return page_of(result)


_PageResult._make_page = staticmethod(_page_of)
__getattr__, __dir__, _lazy = lazy_loader.attach_stub(__name__, __file__)
__all__ = sorted(["Problem", "Run", "Ticket", "Trajectory", "World", *_lazy])
