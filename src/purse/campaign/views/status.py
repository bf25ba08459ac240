"""The status of a campaign or an account, with its alarms and its forecast."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from shlex import quote
from typing import Any

from purse.base.text import count
from purse.campaign.api.results import (
    AccountStatus,
    Alarm,
    AlarmKind,
    BalanceStatus,
    CoolingArm,
    FeatureStatus,
    ForecastStatus,
    LevelStatus,
    PeriodStatus,
    Status,
)
from purse.campaign.api.states import RUNNING, STATES
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.cooldown import CoolDown
from purse.campaign.ledger.level import Level, fits
from purse.campaign.ledger.masks import SILENT, SILENT_SHARE
from purse.campaign.ledger.records import ALARMS, Balance, Head, Units, text
from purse.campaign.ledger.state import StateReason, state_of
from purse.campaign.ledger.ticket import texts
from purse.campaign.storage.sql import LevelGlance
from purse.campaign.terms.arms import Arms

_DAY = 86_400_000  # ms after which an alarm about reports or clocks ends
# alarms about reports, besides overruns: what they say of a number of reports
_ABOUT_REPORTS: dict[AlarmKind, str] = {
    "conflict": "{} against what was told before, kept in the journal",
    "below-minimum": "{} of less than the declared minimum cost",
    "outside-range": "{} of a reward outside the declared range, which the policy saw as its "
    "nearest end",
}
_COUNTS = ("tickets", *STATES, *ALARMS.values(), "clipped")


def campaign_status(level: CampaignLevel, look: LevelGlance, now: int) -> Status:
    """Return how a campaign stands.

    level   the campaign as of now (ms): periods that are due have begun
    look    the same as it is stored
    """
    terms, head, arms, context = level.terms, level.head, level.arms, level.terms.context
    facts = _common(level, look, state_of(level, now))
    return Status(
        **facts,
        policy=level.policy[0],
        arms=tuple(arms.names[arm] for arm in arms.there),
        rounds=head.rounds,
        horizon=terms.horizon if isinstance(terms.horizon, int) else None,
        counts={**dict.fromkeys(_COUNTS, 0), **head.counts},
        overdue=look.overdue,
        oldest_held=None if look.oldest is None else look.oldest / 1000,
        alarms=tuple(_campaign_alarms(level, look, now)),
        retired=tuple(name for name, gone in zip(arms.names, arms.is_retired, strict=True) if gone),
        cooling=tuple(
            CoolingArm(
                arms.names[cool.arm],
                (cool.begun + cool.length) / 1000,
                cool.length / 1000,
                cool.probe or None,
            )
            for cool in _cooling(head, arms)
        ),
        features=tuple(map(FeatureStatus, context.columns, *map(context.in_units, head.seen)))
        if head.seen
        else (),
        labels=tuple(sorted(head.labels)),
        until=terms.until / 1000 if terms.until else None,
        forecast=_forecast(level, now) if facts["status"] == RUNNING else None,
        time_zone=terms.time_zone,
        limits={key: texts(units) for key, units in head.limits.items()},
    )


def _forecast(level: CampaignLevel, now: int) -> ForecastStatus | None:
    """Return the requests to come; None without a horizon, or before the first ask."""
    horizon, ends = level.terms.horizon, level.window.ends
    if isinstance(horizon, int):
        to_come = horizon - level.asked_in_period
        if not level.asked_in_period:
            return None
    elif horizon is None or not (level.traffic.before or level.traffic.asks):
        return None
    else:
        to_come = round(level.to_come(now) or 0)
    lasts = min(level.lasts())
    affords = None if lasts == math.inf else int(lasts)
    return ForecastStatus(to_come, ends / 1000 if ends else None, affords)


def account_status(
    level: Level,
    look: LevelGlance,
    now: int,
    children: Sequence[LevelStatus],
    below: Sequence[Units],
) -> AccountStatus:
    """Return how an account stands, as for `campaign_status`, and all that is below it.

    below   the most that each arm of the campaigns below it may cost
    """
    return AccountStatus(
        **_common(level, look, state_of(level, now, below)),
        alarms=tuple(_account_alarms(level, now)),
        children=tuple(children),
    )


def _common(level: Level, look: LevelGlance, state: StateReason) -> dict[str, Any]:
    """Return the fields that the status of a campaign and of an account share."""
    stored, terms, head = look.levels[-1], level.terms, level.head
    head_before = Head.from_json(stored.text)
    return {
        "name": terms.name,
        "status": state[0],
        "why": state[1],
        "purses": balances(terms.resources, level.balances),
        "entries": stored.seq,
        "digest": head_before.digest,
        "created_at": head.created / 1000,
        "changed_at": head_before.changed / 1000,
        "account": terms.account,
        "period": period(level),
        "alerts": tuple(head.alerts),
    }


def balances(resources: Sequence[str], units: Sequence[Balance]) -> tuple[BalanceStatus, ...]:
    """Return balances for people, one of each resource."""
    return tuple(
        BalanceStatus(name, **part.in_text()) for name, part in zip(resources, units, strict=True)
    )


def period(level: Level) -> PeriodStatus | None:
    """Return the period of a level for people; None if the budget is not renewed."""
    now, terms = level.period, level.terms
    if now is None:
        return None
    return PeriodStatus(
        now.number,
        terms.every,
        terms.time_zone,
        terms.carry,
        now.begun / 1000,
        now.ends / 1000 if level.head.status == RUNNING else None,
        level.head.rounds - now.rounds if isinstance(level, CampaignLevel) else None,
        texts(level.allowance),
        texts(now.carried),
        texts(now.spent(level.balances)),
        texts([part.held - held for part, held in zip(level.balances, now.held, strict=True)]),
        texts(now.budget(level.balances)),
    )


def _cooling(head: Head, arms: Arms) -> list[CoolDown]:
    """Return the cool-downs of arms that are there and have not recovered."""
    cools = map(CoolDown._make, head.cooling)
    return [cool for cool in cools if cool.length and not arms.is_retired[cool.arm]]


def _campaign_alarms(level: CampaignLevel, look: LevelGlance, now: int) -> Iterator[Alarm]:
    """Yield what a person should look at."""
    terms, head, arms = level.terms, level.head, level.arms
    if look.danger is not None:
        yield Alarm("storage", look.danger)
    yield from _clock_alarm(head, now)
    number = head.counts.get("overruns", 0)
    words = f"{count(number, 'call')} {'was' if number == 1 else 'were'} billed above "
    words += "its maximum" if number == 1 else "their maximum"
    yield from _money_alarms(level, now, f": {words}" if number else "")
    yield from map(partial(Alarm, "dearer"), _dearer(level))
    for name, part in zip(terms.resources, level.balances, strict=True):
        if part.presumed:
            tickets = count(head.counts["presumed"], "ticket")
            yield Alarm(
                "presumed",
                f"{text(part.presumed)} {name} is presumed spent for {tickets} without a report",
            )
    if look.overdue:
        yield Alarm("overdue", f"{count(look.overdue, 'ticket')} past the deadline")
    for kind, words in _ABOUT_REPORTS.items():
        if (last := _last_cause(head, kind, now)) is not None:
            yield Alarm(kind, words.format(count(head.counts[ALARMS[kind]], "report")), last)
    for cool in _cooling(head, arms):
        words = f"calls of {arms.names[cool.arm]!r} fail: it is tried one ticket at a time"
        yield Alarm("cooling-down", words)
    for name, silent in zip(arms.names, head.silent, strict=False):
        if silent >= SILENT and silent >= head.counts["tickets"] / SILENT_SHARE:
            words = f"{count(silent, 'ticket')} of {name!r} and no reward yet: it is asked for less"
            yield Alarm("silent", words)


def _account_alarms(level: Level, now: int) -> Iterator[Alarm]:
    """Yield what a person should look at."""
    yield from _clock_alarm(level.head, now)
    yield from _money_alarms(level, now)


def _money_alarms(level: Level, now: int, why: str = "") -> Iterator[Alarm]:
    """Yield that more was spent than there is, and within a day that more was spent than held.

    why   it was, in words
    """
    last = _last_cause(level.head, "overrun", now)
    for name, part in zip(level.terms.resources, level.balances, strict=True):
        if part.left < 0:
            yield Alarm("overdrawn", f"{text(-part.left)} {name} above its budget{why}")
        if part.overrun and last is not None:
            words = f"{text(part.overrun)} {name} more was spent than held{why}"
            yield Alarm("overrun", words, last)


def _dearer(level: CampaignLevel) -> Iterator[str]:
    """Yield which arms cost more than declared, whether money is left for them, and what to type
    if a report was mistaken.
    """
    arms, free, campaign = level.arms, level.available(), level.terms.name
    for arm, declared in arms.declared.items():
        if not arms.is_retired[arm]:
            name, waits = arms.names[arm], not fits(arms.cost_max[arm], free)
            now, before = (",".join(texts(units)) for units in (arms.cost_max[arm], declared))
            yield (
                f"a call of {name!r} was billed above its maximum, {before}, and the next one "
                f"holds {now}{', more than is left: it waits' if waits else ''}; purse campaign "
                f"set-arm {campaign} {quote(name)} --cost-max {now} says that this is right; "
                f"--cost-max {before} and purse campaign charge {campaign} --credit AMOUNT undo "
                "a wrong report"
            )


def _clock_alarm(head: Head, now: int) -> Iterator[Alarm]:
    """Yield that a clock was ahead, for a day."""
    if (last := _last_cause(head, "clock", now)) is not None:
        steps = count(head.clock_steps, "time")
        words = f"the clock was more than an hour ahead, {steps}: deadlines and periods may have "
        yield Alarm("clock", words + "ended early", last)


def _last_cause(head: Head, kind: str, now: int) -> float | None:
    """Return when an alarm had its last cause, in seconds; None if a day has passed since."""
    at = head.alarmed.get(kind)
    return None if at is None or now >= at + _DAY else at / 1000
