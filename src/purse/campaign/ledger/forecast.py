"""About how many requests are to come until the end of a period, by the times of those so far.

    to come = level * Lambda(now, end),     level = (A + k) / (W + k)

    Lambda(s, t)   asks that earlier periods promise between s and t, by the hour of the week
    A    sum over the asks of this period of e^(-age / q);   q = a quarter of the period
    W    the same integral of Lambda, over the period so far
    k    30 asks, or a quarter of what is promised for the period if that is less

The promise for an hour of the week is the mean over its times in earlier periods, and a quarter of
an hour of average traffic more: some hours were not there yet. The sum of what was promised between
two asks counts as if it had come evenly.

Without an ask in earlier periods the promise is the same for all hours. Then k = 0, so that it is
the rate of this period which counts, and W is at least what a thousandth of the period promises.

Hours of the week are local, with the difference to UTC at the beginning of the period. An entry of
the journal says it, so that no time-zone data can change what the journal comes to.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from operator import add
from typing import NamedTuple

from purse.campaign.ledger.records import HOUR

_WEEK_HOURS = 168
_WEEK = _WEEK_HOURS * HOUR
_MONDAY = 4 * 24 * HOUR  # ms, the first one since 1970
_PRIOR_ASKS = 30.0
_PRIOR_HOURS = 0.25
_FADES_WITHIN = 4  # parts of the period
_FIRST_PART = 1000


class Window(NamedTuple):
    """The time that a forecast is for, ms."""

    begun: int
    ends: int


class Traffic(NamedTuple):
    """The times of a campaign's asks, as far as forecasts need them: a fold of its entries."""

    last: int  # ms, up to which A and W count
    asks: float  # A
    promised: float  # W, which counts one ask an hour if there is no promise
    ahead: int  # ms by which local time was ahead of UTC when the period began
    hours: list[int]  # (168,) asks of this period in each hour of the week
    since: int  # ms, from which on earlier periods count
    before: list[int]  # (168,) the asks of these; empty if there were none

    @classmethod
    def begun_at(cls, at: int, ahead: int) -> "Traffic":
        """Return the traffic of a campaign that begins."""
        return cls(at, 0.0, 0.0, ahead, [0] * _WEEK_HOURS, at, [])

    def next_period(self, at: int, ahead: int) -> "Traffic":
        """Return it at the beginning of another period."""
        new = Traffic.begun_at(at, ahead)
        if not self.before and not any(self.hours):
            return new
        before = map(add, self.hours, self.before) if self.before else self.hours
        return new._replace(since=self.since, before=list(before))

    def after_ask(self, at: int, window: Window) -> "Traffic":
        """Return it after an ask."""
        aged, hours = self.as_of(at, window), self.hours.copy()
        hours[(at + self.ahead - _MONDAY) % _WEEK // HOUR] += 1
        return aged._replace(asks=aged.asks + 1, hours=hours)

    def as_of(self, at: int, window: Window) -> "Traffic":
        """Return it at a time. If a clock goes back, no time passes until it has reached the last
        ask again; if it goes back by more than an hour, it goes on from there.
        """
        if at <= self.last:
            return self._replace(last=at) if at < self.last - HOUR else self
        age = _FADES_WITHIN * (at - self.last) / _length(window)
        faded = _decay(age)
        came = self._promise(window, self.last, at) * (1 - faded) / age
        return self._replace(last=at, asks=self.asks * faded, promised=self.promised * faded + came)

    def to_come(self, at: int, window: Window) -> float:
        """Return about how many asks are to come after a time, up to which it counts."""
        whole = self._promise(window, window.begun, window.ends)
        if self.before:
            prior = min(_PRIOR_ASKS, whole / _FADES_WITHIN)
            level = (self.asks + prior) / (self.promised + prior)
        else:
            level = self.asks / max(self.promised, whole / _FIRST_PART)
        return level * max(0.0, self._promise(window, at, window.ends))

    def _promise(self, window: Window, start: int, end: int) -> float:
        """Lambda; one ask an hour if earlier periods had none."""
        if not self.before:
            return (end - start) / HOUR
        sums = _promises(tuple(self.before), self.since, window.begun, self.ahead)
        return _summed(sums, end + self.ahead) - _summed(sums, start + self.ahead)


def _length(window: Window) -> int:
    """Return how long it is, ms; a clock may have ended it before it began."""
    return max(1, window.ends - window.begun)


@lru_cache(64)
def _promises(before: Sequence[int], since: int, until: int, ahead: int) -> list[float]:
    """(169,) Return the asks that are promised from the beginning of a week to each of its hours.

    before         (168,) asks in each hour of the week
    since, until   the time in which they came, ms
    """
    weeks, remainder = divmod(max(HOUR, until - since), _WEEK)
    times = [float(weeks)] * _WEEK_HOURS
    at = until - remainder
    while at < until:
        into_week = (at + ahead - _MONDAY) % _WEEK
        step = min(HOUR - into_week % HOUR, until - at)
        times[into_week // HOUR] += step / HOUR
        at += step
    usual = sum(before) / (weeks * _WEEK_HOURS + remainder / HOUR) * _PRIOR_HOURS
    rates = [(n + usual) / (hours + _PRIOR_HOURS) for n, hours in zip(before, times, strict=True)]
    return [0.0, *accumulate(rates)]


def _summed(sums: Sequence[float], local: int) -> float:
    """Return the asks that are promised from a Monday long ago to a local time, ms."""
    weeks, into_week = divmod(local - _MONDAY, _WEEK)
    hour, part = divmod(into_week, HOUR)
    return weeks * sums[-1] + sums[hour] + (sums[hour + 1] - sums[hour]) * (part / HOUR)


def _decay(age: float) -> float:
    """Return e^-age, with the same bits on all machines. `purse.kernels.fastmath` does the same,
    and takes twenty times as long in plain Python.
    """
    halved = 0
    while age > 0.125:
        age, halved = age / 2, halved + 1
        if halved > 10:
            return 0.0  # of more than 128
    result = 1.0
    for n in range(8, 0, -1):
        result = 1 - age / n * result
    for _ in range(halved):
        result *= result
    return result
