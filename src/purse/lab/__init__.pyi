import purse.engine.run as _run
import purse.types as _types

from . import theory as theory
from .replay.prior_from_log import prior_from_log as prior_from_log
from .replay.warm import warm as warm
from .study.regrets import Regrets as Regrets
from .study.regrets import regrets as regrets
from .study.results import Study as Study

Problem = _types.Problem
Run = _run.Run
Ticket = _types.Ticket
Trajectory = _run.Trajectory
World = _types.World
