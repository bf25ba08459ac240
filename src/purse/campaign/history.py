"""How a campaign went: a read model folded from its journal, entry by entry, in bounded room."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from purse.base import amounts
from purse.base.json import compact_bytes
from purse.campaign.arm_stats import ArmStats, ArmSums, ExpectedPulls
from purse.campaign.baselines import value
from purse.campaign.checkpoint import HISTORY, Checkpoint, checkpoint
from purse.campaign.incidents import Incidents
from purse.campaign.journal import Entry
from purse.campaign.periods.period import DROPPED
from purse.campaign.terms import Terms
from purse.campaign.time_series import (
    ALL,
    LENGTHS,
    MINUTE,
    LastMinute,
    RecentSeries,
    Sample,
    Span,
    TimeSeries,
    lefts,
    purses,
    sample,
)

RECENT = 8  # what is recent: the last eighth of a campaign's life, at least a minute
SHOWN = 7  # arms with a series of their own; the rest are added up


class History:
    """What happened in a campaign so far: `fold` takes the next entries of the journal, all at once
    or a few at a time, to the same end.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.seq = 0
        self.asks = self.tells = 0
        self.running = True
        none = (0,) * len(terms.resources)
        self._now = Sample(0, terms.budget, none, none, none, none, (0,) * terms.n_arms, 0.0)
        self._purses = [list(part) for part in self._now[1:6]]
        self._arms = [ArmStats(len(none)) for _ in range(terms.n_arms)]
        self._names = list(terms.arms)
        self._holds: dict[int, list[int]] = {}  # what is held or presumed for each open ticket
        self._expected = ExpectedPulls(self._arms, expires=terms.reward_within is not None)
        self._series = TimeSeries(self._now)
        self._recent_series = {span: RecentSeries(length) for span, length in LENGTHS.items()}
        self._minute = LastMinute()
        self._incidents = Incidents(terms)
        self._at = self._slot = self._second = 0

    def fold(self, entries: Iterable[Entry]) -> None:
        """Take in the next entries of the journal."""
        doings = {
            "asked": self._asked,
            "told": self._told,
            "settled": self._settled,
            "failed": self._failed,
            "voided": self._voided,
            "expired": self._expired,
            "topped_up": self._topped_up,
            "renewed": self._renewed,
        }
        for seq, at, kind, _, ticket, body in entries:
            if at > self._at:
                self._move(at)
            if doing := doings.get(kind):
                doing(ticket or 0, body)
            elif kind == "arm_added":
                self._names[body["arm"] : body["arm"] + 1] = [body["name"]]
            elif kind in ("created", "resumed", "paused", "closed"):
                self.running = kind in ("created", "resumed")
            if DROPPED in body:
                take(self._purses[0], body[DROPPED])
            self._incidents.see(kind, at, ticket, body)
            self.seq = seq

    def arm_sums(self) -> dict[str, ArmSums]:
        """What the reports of each arm come to, by its name, in the order of the places."""
        return {name: arm.sums() for name, arm in zip(self._names, self._arms, strict=False)}

    def checkpoint(self, digest: str) -> Checkpoint:
        """What was folded so far; `digest` is that of the journal up to it."""
        facts = [
            [self.seq, self.asks, self.tells, self.running, self._at, self._slot, self._second],
            [self._purses, [arm.as_list() for arm in self._arms], list(self._holds.items())],
            [self._series.first, self._series.width, self._series.points],
            list(self._minute.seconds),
            self._names,
            list(self._expected.arms.items()),
            {span: list(series.points) for span, series in self._recent_series.items()},
            self._incidents.as_dict(),
        ]
        return checkpoint(HISTORY, self.seq, digest, compact_bytes(facts))

    def restore(self, stored: Checkpoint | None) -> bool:
        """Take over what was folded before; False, and nothing happens, where it is damaged."""
        if stored is None or not stored.is_whole:
            return False
        numbers, (purses, arms, holds), (first, width, points), seconds, *more = orjson.loads(
            stored.body
        )
        self._names, expected, recent, incidents = more
        self._expected.arms = dict(expected)
        for span, kept in recent.items():
            self._recent_series[span].points.extend(map(sample, kept))
        self._incidents.take_over(incidents)
        self.seq, self.asks, self.tells, self.running, self._at, self._slot, self._second = numbers
        self._purses, self._holds = purses, dict(holds)
        for arm, facts in zip(self._arms, arms, strict=True):
            arm.take_over(facts)
        self._series = TimeSeries(sample(first))
        self._series.width, self._series.points = width, [sample(point) for point in points]
        self._minute.seconds.extend((second, asks, tells) for second, asks, tells in seconds)
        return True

    def _move(self, at: int) -> None:
        """Let time pass: keep how things stood where a slot of the series is over."""
        if self._at == 0:
            self._series = TimeSeries(self._now._replace(at=at))
        elif self._series.slot(at) > self._slot:
            self._series.add(self._point())
        for recent in self._recent_series.values():
            if self._at and at // recent.width > self._at // recent.width:
                recent.add(self._point())
        self._at, self._slot = at, self._series.slot(at)
        if (second := at // 1000) > self._second:
            self._second = second
            self._minute.begin(second, self.asks, self.tells)

    def _point(self) -> Sample:
        budget, spent, held, presumed, overrun = map(tuple, self._purses)
        pulls = tuple(arm.pulls for arm in self._arms)
        return Sample(self._at, budget, spent, held, presumed, overrun, pulls, self._gain())

    def _gain(self) -> float:
        return sum(arm.reward for arm in self._arms)

    def _asked(self, _: int, body: dict[str, Any]) -> None:
        held = self._purses[2]
        for ticket in body["tickets"]:
            arms = ticket["arms"]
            self.asks += 1
            if arms[0] < 0:
                continue  # a round that the policy skips
            self._expected.asked(ticket["id"], arms)
            self._holds[ticket["id"]] = ticket["held"]
            add(held, ticket["held"])

    def _paid(self, ticket: int, body: dict[str, Any]) -> None:
        _, spent, held, presumed, overrun = self._purses
        if units := self._holds.pop(ticket, None):
            take(held if body["from"] == "held" else presumed, units)
        add(spent, body["spent"])
        add(overrun, body["overrun"])

    def _settled(self, ticket: int, body: dict[str, Any]) -> None:
        self._paid(ticket, body)
        self._expected.settled(ticket)

    def _failed(self, ticket: int, body: dict[str, Any]) -> None:
        self._paid(ticket, body)
        self._expected.failed(ticket)

    def _told(self, ticket: int, body: dict[str, Any]) -> None:
        if not body.get("settled"):
            self._paid(ticket, body)
        self._expected.told(ticket, body)
        self.tells += 1
        costs, width = body["costs"], len(self._purses[0])
        for place, (arm, reward) in enumerate(zip(body["arms"], body["rewards"], strict=True)):
            self._arms[arm].add(reward, costs[place * width : (place + 1) * width])

    def _voided(self, ticket: int, body: dict[str, Any]) -> None:
        if units := self._holds.pop(ticket, None):
            take(self._purses[2 if body["from"] == "held" else 3], units)
        self._expected.ended(ticket)

    def _expired(self, _: int, body: dict[str, Any]) -> None:
        take(self._purses[2], body["units"])
        add(self._purses[3], body["units"])

    def _topped_up(self, _: int, body: dict[str, Any]) -> None:
        add(self._purses[0], body["units"])

    def _renewed(self, _: int, body: dict[str, Any]) -> None:
        add(self._purses[0], body["allowance"])

    def _recent(self, now: int) -> tuple[int, Sample]:
        """When the recent time began, and how things stood then."""
        start = self._series.first.at
        since = max(start, now - max(MINUTE * 1000, (now - start) // RECENT))
        return since, self._point() if self._at <= since else self._series.at(since)

    def forecast(self, now: int) -> list[dict[str, float] | None]:
        """When each resource runs out, at the recent rate of spending; None where nothing was spent
        of late, or the campaign does not run.

        The rate is how much spent + presumed grew in the last eighth of the campaign's life (at
        least in the last minute), over that time. What is left lasts as long as that rate and what
        is held stay as they are.
        """
        (since, before), point = self._recent(now), self._point()
        seconds = (now - since) / 1000
        made: list[dict[str, float] | None] = []
        for place, left in enumerate(lefts(point)):
            paid = (
                point.spent[place]
                + point.presumed[place]
                - before.spent[place]
                - before.presumed[place]
            )
            if paid <= 0 or seconds <= 0 or not self.running:
                made.append(None)
                continue
            lasts = left * seconds / paid
            made.append(
                {
                    "per_second": paid / seconds / amounts.UNIT,
                    "seconds": lasts,
                    "at": now / 1000 + lasts,
                }
            )
        return made

    def summary(self, now: int) -> dict[str, Any]:
        """What a list of campaigns shows, seen at a time (ms)."""
        now = max(self._at, now)
        life = max(1.0, (now - self._series.first.at) / 1000)
        asks, tells = self._minute.since(now // 1000, self.asks, self.tells)
        _, spent, _, _, overrun = self._purses
        paid = [inside + above for inside, above in zip(spent, overrun, strict=True)]
        return {
            "seq": self.seq,
            "rates": {"asks": asks / min(life, MINUTE), "tells": tells / min(life, MINUTE)},
            "value": value(
                self._names, self._arms, paid, is_limited=self.terms.horizon is not None
            ),
            "forecasts": self.forecast(now),
        }

    def as_dict(self, now: int | None = None, span: Span = ALL) -> dict[str, Any]:
        """The history as JSON has it, seen at a time (ms; the last entry's where none is given):
        amounts are decimal text, times seconds since 1970.

        span   what of it the series show: the last hour, the last day, or all
        """
        now = max(self._at, now or 0)
        points, summary = self._points(now, span), self.summary(now)
        forecasts = summary.pop("forecasts")
        return {
            **summary,
            "started_at": self._series.first.at / 1000,
            "changed_at": self._at / 1000,
            "incidents": self._incidents.as_dict(),
            "arms": self._arm_rows(self._recent(now)[1]),
            "purses": [
                {"resource": resource, **purse, "forecast": forecast}
                for resource, purse, forecast in zip(
                    self.terms.resources, purses(points), forecasts, strict=True
                )
            ],
            "series": {
                "at": [point.at / 1000 for point in points],
                "pulls": self._pull_rows(points),
                "gain": [point.gain for point in points],
            },
        }

    def _points(self, now: int, span: Span) -> list[Sample]:
        """The points of a span up to the present one; a campaign that is younger shows all."""
        since = now - LENGTHS.get(span, now)
        if since <= self._series.first.at:
            return [self._series.first, *self._series.points, self._point()]
        if self._at <= since:
            return [self._point()._replace(at=since)]
        return [*self._recent_series[span].since(since, self._series), self._point()]

    def _arm_rows(self, before: Sample) -> list[dict[str, Any]]:
        """One row for each arm; its share of all pulls, and of those after a point."""
        pulls = [arm.pulls for arm in self._arms]
        recent = [new - old for new, old in zip(pulls, before.pulls, strict=True)]
        all_pulls, all_recent = sum(pulls) or 1, sum(recent) or 1
        return [
            {
                "arm": name,
                "pulls": arm.pulls,
                "told": arm.told,
                "settled": arm.settled,
                "failed": arm.failed,
                "mean_reward": arm.reward / arm.told if arm.told else None,
                "mean_costs": [units / arm.told / amounts.UNIT for units in arm.costs]
                if arm.told
                else None,
                **dict(zip(("efficiency", "interval"), arm.efficiency(), strict=True)),
                "share": arm.pulls / all_pulls,
                "recent_share": new / all_recent,
            }
            for name, arm, new in zip(self._names, self._arms, recent, strict=False)
        ]

    def _pull_rows(self, points: list[Sample]) -> list[dict[str, Any]]:
        """Pulls over time of the arms that were pulled most, in the order of the terms, and of the
        others together (arm None).
        """
        ranked = sorted(range(len(self._names)), key=lambda arm: -self._arms[arm].pulls)
        shown = sorted(ranked if len(ranked) <= SHOWN + 1 else ranked[:SHOWN])
        rows: list[dict[str, Any]] = [
            {"arm": self._names[arm], "pulls": [point.pulls[arm] for point in points]}
            for arm in shown
        ]
        if len(shown) < len(ranked):
            rows.append(
                {
                    "arm": None,
                    "pulls": [
                        sum(point.pulls) - sum(point.pulls[arm] for arm in shown)
                        for point in points
                    ],
                }
            )
        return rows


def add(total: list[int], units: list[int]) -> None:
    """Add units of each resource."""
    for place, part in enumerate(units):
        total[place] += part


def take(total: list[int], units: list[int]) -> None:
    """Take units of each resource away."""
    for place, part in enumerate(units):
        total[place] -= part
