"""The states of tickets, campaigns and accounts, and the rules of alerts ("80%", "overrun"), in the
words that are stored and sent.
"""

import re
from collections.abc import Sequence
from typing import Any, Literal, get_args

from purse.errors import invalid

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

_PERCENT = re.compile(r"([1-9][0-9]?|100)%")
ALERT_WORDS = ("overrun", "cooling-down", "expired", "forecast")
ACCOUNT_ALERT_WORDS = ("overrun",)  # the words that accounts have


def read_alerts(alerts: Sequence[str] | Any, words: Sequence[str] = ALERT_WORDS) -> tuple[str, ...]:
    """Return rules in order: rising percentages, then words.

    words   that are allowed, besides percentages

    Raise `InvalidInput` if one is not a rule, or stands there twice.

    >>> read_alerts(["overrun", "100%", "80%"])
    ('80%', '100%', 'overrun')
    """
    if isinstance(alerts, str) or not isinstance(alerts, (list, tuple)):
        raise invalid("alerts", alerts, 'must be a list of rules, such as ["80%", "overrun"]')
    for rule in alerts:
        if not isinstance(rule, str) or not (rule in words or _PERCENT.fullmatch(rule)):
            allowed = f'must be a percentage from "1%" to "100%", or {" or ".join(words)}'
            raise invalid("alerts", rule, allowed)
    if len(set(alerts)) < len(alerts):
        raise invalid("alerts", list(alerts), "must be different rules")
    return tuple(sorted(alerts, key=_rule_order))


def _rule_order(rule: str) -> tuple[int, int]:
    """Return the rank of a rule among others."""
    return (1, ALERT_WORDS.index(rule)) if rule in ALERT_WORDS else (0, int(rule[:-1]))
