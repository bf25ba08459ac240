"""The states of tickets, campaigns and accounts, in the words that are stored and sent."""

from __future__ import annotations

from typing import Literal, get_args

TicketState = Literal["held", "told", "void", "presumed", "skipped", "settled", "failed"]
CampaignState = Literal["running", "paused", "exhausted", "ended"]  # of accounts, too
LevelKind = Literal["campaign", "account"]

STATES: tuple[TicketState, ...] = get_args(TicketState)
HELD, TOLD, VOID, PRESUMED, SKIPPED, SETTLED, FAILED = STATES
OPEN = (HELD, PRESUMED)  # states in which money is set apart
UNFINISHED = (*OPEN, SETTLED)  # states in which something is still expected
REPORTED = (TOLD, SETTLED, FAILED)  # states in which the cost is known
CAMPAIGN, ACCOUNT = get_args(LevelKind)
RUNNING, PAUSED, EXHAUSTED, ENDED = CAMPAIGN_STATES = get_args(CampaignState)
