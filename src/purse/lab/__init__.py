"""The laboratory: games in simulated worlds, what they return, and how policies are judged.

`purse.simulate`, `purse.compare` and `purse.replay` are where most studies start; this module has
the rest, and `purse.lab.theory` has optima and bounds.
"""

from purse.lab import theory
from purse.offline.prior_from_log import prior_from_log
from purse.offline.warm import warm
from purse.ranking.leaderboard import leaderboard
from purse.ranking.scores import Leaderboard
from purse.study.regrets import Regrets, regrets
from purse.study.results import Study
from purse.types import Problem, Run, Ticket, Trajectory, World

__all__ = [
    "Leaderboard",
    "Problem",
    "Regrets",
    "Run",
    "Study",
    "Ticket",
    "Trajectory",
    "World",
    "leaderboard",
    "prior_from_log",
    "regrets",
    "theory",
    "warm",
]
