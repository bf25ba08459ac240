"""The course of a campaign for the dashboard, from the fold of its journal, in bounded room."""

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import astuple, replace
from itertools import zip_longest
from typing import Any

import numpy as np
import orjson

from purse.base.json import compact_bytes
from purse.campaign.api.states import (
    FAILED,
    OPEN,
    PRESUMED,
    RUNNING,
    SETTLED,
    SKIPPED,
    TOLD,
    UNFINISHED,
    CampaignState,
)
from purse.campaign.ledger.ask_inputs import from_body
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.entry import SEAL, LedgerEntry
from purse.campaign.ledger.records import HISTORY, Balance, Head, seal, unseal
from purse.campaign.ledger.ticket import SKIP, TicketRecord
from purse.campaign.storage.storage import Storage
from purse.campaign.terms.terms import Terms
from purse.campaign.views.arm_stats import ArmStats, ArmSums, value
from purse.campaign.views.time_series import (
    ALL,
    LENGTHS,
    MINUTE,
    Incidents,
    LastMinute,
    RecentSeries,
    Sample,
    Span,
    TimeSeries,
    projection,
    purses,
    sample,
)
from purse.errors import PurseError
from purse.kernels.replan.fading_means import find_change, new_change_test

_RECENT = 8  # what is recent: the last eighth of a campaign's life, at least a minute
_MOST_TICKETS = 50_000  # unfinished ones that are kept in memory
_SHOWN = 7  # arms with a series of their own; the rest are added up
_CHECKPOINT_EVERY = 50_000  # entries
_PAGE_SIZE = 1_000  # entries read at a time
MASKED = "masked"  # what its own counts call asks with a mask
_NUMBERS = ("asks", "tells", "drifted", "_settled", "_at", "_slot", "_second")  # of a checkpoint
_SURE = 3.5  # of a change: 0 of 20 campaigns of 3,000 reports that do not change are said to


class History:
    """The course of a campaign so far; balances, tickets and arms are those of `level`."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.asks = self.tells = 0
        # no policy chooses by it, so masks are not counted
        self._shown = replace(terms, masks=False)
        self.level = CampaignLevel(self._shown, balances=[Balance(units) for units in terms.budget])
        nothing = [0] * len(terms.resources)
        self._arms = [ArmStats(nothing) for _ in range(terms.n_arms)]
        self.drifted = 0  # the round in which an arm was found to have changed; 0: in none
        signals = (terms.n_arms, 1 + len(terms.resources))  # rewards and costs
        self._test, self._tops = new_change_test(*signals), np.zeros(signals)
        self._settled = 0  # tickets that wait for their reward
        self._series = TimeSeries(self._point(0))
        self._recent_series = {span: RecentSeries(length) for span, length in LENGTHS.items()}
        self._minute = LastMinute()
        self._incidents = Incidents(terms)
        self._at = self._slot = self._second = 0

    @property
    def seq(self) -> int:
        """The last entry that was folded."""
        return self.level.seq

    def fold(
        self,
        entries: Iterable[LedgerEntry],
        load: Callable[[int], Iterable[LedgerEntry]] = lambda _: (),
    ) -> None:
        """Take in the next entries of the journal, all at once or a few at a time.

        load   finds the entries about a ticket that was finished before
        """
        for entry in entries:
            if entry.kind == SEAL:
                self._begin_at(orjson.dumps(entry.body["summary"]["history"]))
                continue
            level = self.level
            if entry.at > self._at:
                self._move(entry.at)
            level.recall(entry, load)
            level.apply(entry)  # digests and requests are of no use here
            level.seq = entry.seq
            while len(self._arms) < level.arms.n_places:
                self._arms.append(ArmStats([0] * len(self.terms.resources)))
                if len(self._arms) > len(self._tops):  # one that the terms have no place for
                    wider = [np.concatenate([each, 0 * each[:1]]) for each in self._arrays()]
                    self._test, self._tops = type(self._test)(*wider[:-1]), wider[-1]
            if entry.kind == "asked":
                self.asks += 1
                self._count_mask(entry)
                if entry.body["arm"] != SKIP:  # else a round that the policy lets pass
                    self._arms[entry.body["arm"]].pulls += 1
            self._incidents.see(entry)
            if entry.kind != "asked" and entry.ticket is not None:
                self._reported(entry, level.tickets.get(entry.ticket))
        level = self.level
        level.labels.rows.clear()
        level.limited.clear()
        if len(level.tickets) > _MOST_TICKETS:
            level.tickets.clear()  # `load` finds them again

    def _count_mask(self, entry: LedgerEntry) -> None:
        """Count the asks that some arms were not good enough for."""
        level = self.level
        if "mask" in entry.body:
            allowed = from_body(entry.body["mask"], level.arms.n_places).allowed
            if not set(level.arms.there) <= set(allowed):
                level.head.count(MASKED)

    def _reported(self, entry: LedgerEntry, ticket: TicketRecord | None) -> None:
        if ticket is None:
            return  # a conflict about one that is long finished
        arm = self._arms[ticket.arm]
        if entry.kind == "told":
            self.tells += 1
            arm.add(entry.body["reward"], entry.body["costs"])
            self._look_for_change(ticket.arm, entry.body["reward"], entry.body["costs"])
        elif entry.kind == "failed":
            arm.failed += 1
        settled = self.level.head.counts.get(SETTLED, 0)
        if settled != self._settled:
            if ticket.source in OPEN:  # one that was voided before is not expected
                arm.settled += settled - self._settled
            self._settled = settled
        if ticket.state not in UNFINISHED:
            del self.level.tickets[ticket.id]

    def _look_for_change(self, arm: int, reward: float, costs: list[int]) -> None:
        """Test whether the newest reports on an arm differ from those before, whatever its policy
        thinks.
        """
        least = (self.terms.reward_range or (0.0, 1.0))[0]
        values = np.array([max(0.0, reward - least), *costs])
        self._test.sums[arm] += values
        self._tops[arm] = np.maximum(self._tops[arm], values)
        threshold = _SURE + math.log(self.terms.n_arms)
        if find_change(self._test, arm, self._tops[arm], threshold) >= 0 and not self.drifted:
            self.drifted = self.asks

    def _arrays(self) -> list[Any]:
        return [*self._test, self._tops]

    def arm_sums(self) -> dict[str, ArmSums]:
        """Return each arm's sums by name, in arm order."""
        names = self.level.arms.names
        return {name: arm.sums() for name, arm in zip(names, self._arms, strict=False)}

    @property
    def worth(self) -> float | None:
        """The mean reward of a request that is finished; None before the first."""
        counts = self.level.head.counts
        finished = sum(counts.get(state, 0) for state in (TOLD, FAILED, PRESUMED, SKIPPED))
        return sum(arm.reward for arm in self._arms) / finished if finished else None

    def to_json(self) -> bytes:
        """Return the history as a checkpoint stores it."""
        facts = [
            [getattr(self, name) for name in _NUMBERS],
            [vars(self.level.head), self.level.balances, self.level.seq],
            [astuple(arm) for arm in self._arms],
            [self._series.first, self._series.width, self._series.points],
            {span: list(series.points) for span, series in self._recent_series.items()},
            list(self._minute.seconds),
            self._incidents.as_dict(),
            [array.tolist() for array in self._arrays()],
        ]
        return compact_bytes(facts)

    @classmethod
    def from_json(cls, terms: Terms, text: bytes) -> "History":
        """Return a history as a checkpoint has it."""
        history = cls(terms)
        history._begin_at(text)
        return history

    def _begin_at(self, text: bytes) -> None:
        """Be what a checkpoint says."""
        (numbers, (head, balances, seq), arms, series, recent, seconds, incidents, test) = (
            orjson.loads(text)
        )
        known = zip(test, self._arrays(), strict=True)
        *arrays, self._tops = (np.array(values, array.dtype) for values, array in known)
        self._test = type(self._test)(*arrays)
        parts = [Balance(*counters) for counters in balances]
        self.level = CampaignLevel(self._shown, seq, Head(**head), parts)
        for name, number in zip(_NUMBERS, numbers, strict=True):
            setattr(self, name, number)
        self._arms = [ArmStats(*facts) for facts in arms]
        first, width, points = series
        self._series = TimeSeries(sample(*first))
        self._series.width, self._series.points = width, [sample(*point) for point in points]
        for span, points_of_span in recent.items():
            self._recent_series[span] = RecentSeries(LENGTHS[span])
            self._recent_series[span].points.extend(sample(*point) for point in points_of_span)
        self._minute, self._incidents = LastMinute(), Incidents(self.terms)
        self._minute.seconds.extend((second, asks, tells) for second, asks, tells in seconds)
        self._incidents.take_over(incidents)

    def _move(self, at: int) -> None:
        """Let time pass: keep a sample if a slot of the series is over."""
        if self._at == 0:
            self._series = TimeSeries(self._point(at))
        elif self._series.slot(at) > self._slot:
            self._series.add(self._point(self._at))
        for recent in self._recent_series.values():
            if self._at and at // recent.width > self._at // recent.width:
                recent.add(self._point(self._at))
        self._at, self._slot = at, self._series.slot(at)
        if (second := at // 1000) > self._second:
            self._second = second
            self._minute.begin(second, self.asks, self.tells)

    def _point(self, at: int) -> Sample:
        pulls = [arm.pulls for arm in self._arms]
        return Sample(at, self.level.balances, pulls, sum(arm.reward for arm in self._arms))

    def _recent(self, now: int) -> tuple[int, Sample]:
        """Return when the recent time began, and how things stood then."""
        start = self._series.first.at
        since = max(start, now - max(MINUTE * 1000, (now - start) // _RECENT))
        return since, self._point(self._at) if self._at <= since else self._series.at(since)

    def projections(self, now: int, state: CampaignState) -> list[dict[str, float] | None]:
        """Return when each resource runs out at this speed; None if the campaign does not run."""
        since, before = self._recent(now)
        return [
            projection(was, part, since, now) if state == RUNNING else None
            for was, part in zip(before.balances, self.level.balances, strict=True)
        ]

    def summary(self, now: int, state: CampaignState = RUNNING) -> dict[str, Any]:
        """Return a campaign's row in a list, seen at a time (ms), in a state."""
        now = max(self._at, now)
        life = max(1.0, (now - self._series.first.at) / 1000)
        asks, tells = self._minute.since(now // 1000, self.asks, self.tells)
        paid = [part.spent for part in self.level.balances]
        return {
            "seq": self.seq,
            "rates": {"asks": asks / min(life, MINUTE), "tells": tells / min(life, MINUTE)},
            "value": value(
                self.level.arms.names, self._arms, paid, is_limited=self.terms.horizon is not None
            ),
            "projections": self.projections(now, state),
        }

    def as_dict(
        self, now: int | None = None, span: Span = ALL, state: CampaignState = RUNNING
    ) -> dict[str, Any]:
        """Return the history as JSON has it, seen at a time (ms; None: that of the last
        entry): amounts are decimal text, times seconds since 1970.

        span    what of it the series show: the last hour, the last day, or all
        state   of the campaign
        """
        now = max(self._at, now or 0)
        points, summary = self._points(now, span), self.summary(now, state)
        projections = summary.pop("projections")
        return {
            **summary,
            "started_at": self._series.first.at / 1000,
            "changed_at": self._at / 1000,
            "incidents": self._incidents.as_dict(),
            "arms": self._arm_rows(self._recent(now)[1]),
            "purses": [
                {"resource": resource, **purse, "projection": at_this_speed}
                for resource, purse, at_this_speed in zip(
                    self.terms.resources, purses(points), projections, strict=True
                )
            ],
            "series": {
                "at": [point.at / 1000 for point in points],
                "pulls": self._pull_rows(points),
                "gain": [point.gain for point in points],
            },
        }

    def _points(self, now: int, span: Span) -> list[Sample]:
        """Return the points of a span up to the present one; a younger campaign shows all."""
        since = now - LENGTHS.get(span, now)
        if since <= self._series.first.at:
            return [self._series.first, *self._series.points, self._point(self._at)]
        if self._at <= since:
            return [self._point(self._at)._replace(at=since)]
        return [*self._recent_series[span].since(since, self._series), self._point(self._at)]

    def _arm_rows(self, before: Sample) -> list[dict[str, Any]]:
        """Return one row for each arm; its share of all pulls, and of those after a point."""
        pulls = [arm.pulls for arm in self._arms]
        recent = [new - old for new, old in zip_longest(pulls, before.pulls, fillvalue=0)]
        all_pulls, all_recent = sum(pulls) or 1, sum(recent) or 1
        return [
            {
                "arm": name,
                **arm.as_dict(),
                "share": arm.pulls / all_pulls,
                "recent_share": new / all_recent,
            }
            for name, arm, new in zip(self.level.arms.names, self._arms, recent, strict=False)
        ]

    def _pull_rows(self, points: list[Sample]) -> list[dict[str, Any]]:
        """Return pulls over time, of the arms with the most; the others are one, of arm None."""
        ranked = sorted(range(len(self.level.arms.names)), key=lambda arm: -self._arms[arm].pulls)
        shown = sorted(ranked if len(ranked) <= _SHOWN + 1 else ranked[:_SHOWN])
        rows: list[dict[str, Any]] = [
            {"arm": self.level.arms.names[arm], "pulls": [point.pulls_of(arm) for point in points]}
            for arm in shown
        ]
        if len(shown) < len(ranked):
            others = [sum(point.pulls) - sum(map(point.pulls_of, shown)) for point in points]
            rows.append({"arm": None, "pulls": others})
        return rows


class FollowedHistory:
    """The history of one campaign as it grows, from checkpoint to checkpoint."""

    def __init__(self, terms: Terms, storage: Storage) -> None:
        self.terms, self.storage = terms, storage
        self.history = self._kept_history() or History(terms)
        self._kept = self.history.seq

    def _kept_history(self) -> History | None:
        """Return the history at its last checkpoint, None if that cannot be trusted."""
        name, storage = self.terms.name, self.storage
        row = storage.checkpoint(name, HISTORY)
        if row is None or storage.reports(name, row.seq, 1)[0] != row.digest:
            return None
        body = unseal(row.body)
        return None if body is None else History.from_json(self.terms, body)

    def follow(self) -> History:
        """Return the history up to the last entry of the journal."""
        history, storage, name = self.history, self.storage, self.terms.name
        read = -1
        while read < history.seq:
            read = history.seq
            history.fold(storage.entries(name, read, _PAGE_SIZE), self._load)
        if history.seq >= self._kept + _CHECKPOINT_EVERY:
            self._kept, body = history.seq, seal(history.to_json())
            with suppress(PurseError):  # a checkpoint only saves time
                if digest := storage.reports(name, history.seq, 1)[0]:
                    storage.keep(name, HISTORY, history.seq, digest, body)
        return history

    def _load(self, ticket: int) -> list[LedgerEntry]:
        return self.storage.about(self.terms.name, ticket)
