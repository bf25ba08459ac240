"""purse: bandits with knapsacks. Learn which option is worth it before the money runs out."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from purse import bounds as bounds
    from purse import environments as environments
    from purse import knapsack as knapsack
    from purse import mixture as mixture
    from purse import policies as policies
    from purse import testing as testing
    from purse.board import Leaderboard as Leaderboard
    from purse.board import leaderboard as leaderboard
    from purse.campaign.campaign import Campaign as Campaign
    from purse.client import Client as Client
    from purse.errors import BudgetExhausted as BudgetExhausted
    from purse.errors import BudgetHeld as BudgetHeld
    from purse.errors import CampaignClosed as CampaignClosed
    from purse.errors import CampaignExists as CampaignExists
    from purse.errors import CampaignPaused as CampaignPaused
    from purse.errors import Conflict as Conflict
    from purse.errors import GameOver as GameOver
    from purse.errors import HorizonReached as HorizonReached
    from purse.errors import InvalidInput as InvalidInput
    from purse.errors import MissingExtra as MissingExtra
    from purse.errors import NoSuchCampaign as NoSuchCampaign
    from purse.errors import PurseError as PurseError
    from purse.errors import StorageUnavailable as StorageUnavailable
    from purse.errors import TicketError as TicketError
    from purse.live import Policy as Policy
    from purse.measure import Regrets as Regrets
    from purse.measure import regrets as regrets
    from purse.records.replay import replay as replay
    from purse.simulation import simulate as simulate
    from purse.study import Study as Study
    from purse.study import compare as compare
    from purse.types import Problem as Problem
    from purse.types import Run as Run
    from purse.types import Ticket as Ticket
    from purse.types import Trajectory as Trajectory
    from purse.types import World as World

__version__ = "0.1.0"

_HOME = {
    "purse": ("bounds", "environments", "knapsack", "mixture", "policies", "testing"),
    "purse.campaign.campaign": ("Campaign",),
    "purse.client": ("Client",),
    "purse.errors": (
        "BudgetExhausted",
        "BudgetHeld",
        "CampaignClosed",
        "CampaignExists",
        "CampaignPaused",
        "Conflict",
        "GameOver",
        "HorizonReached",
        "InvalidInput",
        "MissingExtra",
        "NoSuchCampaign",
        "PurseError",
        "StorageUnavailable",
        "TicketError",
    ),
    "purse.board": ("Leaderboard", "leaderboard"),
    "purse.live": ("Policy",),
    "purse.measure": ("Regrets", "regrets"),
    "purse.records.replay": ("replay",),
    "purse.simulation": ("simulate",),
    "purse.study": ("Study", "compare"),
    "purse.types": ("Problem", "Run", "Ticket", "Trajectory", "World"),
}
_WHERE = {name: home for home, names in _HOME.items() for name in names}
__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    """Load a part of the public surface when it is first used; importing purse alone loads nothing
    heavy.
    """
    if name not in _WHERE:
        raise AttributeError(f"module 'purse' has no attribute {name!r}")
    home = _WHERE[name]
    value = (
        import_module(f"purse.{name}") if home == "purse" else getattr(import_module(home), name)
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
