"""Defaults of campaigns and accounts.

The command line, the service and `purse.Campaign` share them.
"""

from typing import Final

STORAGE = "sqlite:///purse.db"
RESOURCES = ("units",)
EXPIRES_AFTER = 3600  # seconds
COOLDOWN = 1  # seconds
TIME_ZONE: Final = "UTC"
CARRY: Final = "none"
HORIZON: Final = "auto"  # `TRAFFIC` if there is an end and the policy plans by forecasts, else None
TRAFFIC: Final = "traffic"  # as a horizon: it is a forecast
ALERTS: Final = ("80%", "100%", "overrun")
REFUSE: Final = "refuse"  # an ask that lacks a label whose values have a limit
ALLOW: Final = "allow"
LEAST_SHARE = 1_000  # cost_max / cost_min if only cost_max is given
SESSION_WITHIN = 3_600_000  # ms between two asks of a session, as long as prompts are cached
