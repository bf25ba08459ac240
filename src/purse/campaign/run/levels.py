"""How the levels of a storage stand, read together: in three statements, whatever their number."""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from typing import Any

from purse.campaign.api.results import AccountStatus, LabelStatus, LevelStatus, Status
from purse.campaign.api.states import ACCOUNT, CAMPAIGN, ENDED
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.level import Level
from purse.campaign.ledger.records import Units
from purse.campaign.ledger.state import costs_of, horizon_reason, state_of, stop_reason
from purse.campaign.rules.transaction import Transaction
from purse.campaign.run.committer import level_chain
from purse.campaign.storage.sql import LevelGlance
from purse.campaign.storage.storage import Storage
from purse.campaign.terms.budget_terms import AccountTerms
from purse.campaign.terms.terms import Terms
from purse.campaign.views.labels import labels
from purse.campaign.views.status import account_status, balances, campaign_status, period

TERMS: dict[str, Any] = {ACCOUNT: AccountTerms, CAMPAIGN: Terms}  # of each kind of level


class LevelReader:
    """Reads the levels of a storage; it remembers their terms, which never change."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._terms: dict[str, Any] = {}  # by id

    def read(self, above: Level | None = None, only: Container[str] | None = None) -> "Levels":
        """Return all levels, or those below an account as of now, as they are now.

        only   the names of those that are wanted; None: all
        """
        glances = self._storage.glances(None if above is None else above.terms.name)
        terms = self._terms.copy()
        new = {row.key: row for (row,), *_ in glances if row.head.id not in terms}
        for key, body in (self._storage.first_bodies(list(new)) if new else {}).items():
            terms[new[key].head.id] = TERMS[new[key].kind].from_dict(body)
        now, by_key, rows = self._storage.now(), dict[int, Level](), []
        for glance in glances:
            (row,) = glance.levels
            if row.head.id in terms:  # or somebody has deleted it meanwhile
                level = level_chain([terms[row.head.id]], [row])
                assert level is not None
                level.above = by_key.get(row.parent or 0, above)
                by_key[row.key] = level
                Transaction(level, now).renew()  # whether anybody has begun what is due or not
                rows.append((level, glance))
        self._terms = {level.terms.id: level.terms for level, _ in rows}
        return Levels([row for row in rows if only is None or row[0].terms.name in only], now)


class Levels:
    """Levels with what is stored of them, as of a time in ms."""

    def __init__(self, rows: Iterable[tuple[Level, LevelGlance]], now: int) -> None:
        self._rows, self._now = sorted(rows, key=lambda row: row[0].terms.name), now
        self._children = defaultdict[str, list[Level]](list)
        for level, _ in self._rows:
            if level.above is not None:
                self._children[level.above.terms.name].append(level)

    def campaigns(self) -> Iterator[Status]:
        """Yield the status of each campaign, by name."""
        for level, glance in self._rows:
            if isinstance(level, CampaignLevel):
                yield campaign_status(level, glance, self._now)

    def accounts(self) -> Iterator[AccountStatus]:
        """Yield the status of each account, by name, with those of all below it."""
        for level, glance in self._rows:
            if not isinstance(level, CampaignLevel):
                yield account_status(level, glance, self._now, *self.below(level))

    def largest(self, storage: Storage, limit: int) -> Iterator[tuple[Level, LabelStatus]]:
        """Yield at most `limit` labels of each key that has a limit, those that have spent most."""
        keys = [
            (level, key)
            for level, _ in self._rows
            if isinstance(level, CampaignLevel)
            for key in level.head.limits
        ]
        pages = storage.largest([(level.terms.name, key) for level, key in keys], limit)
        for (level, _), page in zip(keys, pages, strict=True):
            for label in labels(page, limit, level.head.limits, level.period_number):
                yield level, label

    def below(self, account: Level) -> tuple[list[LevelStatus], list[Units]]:
        """Return the levels right below an account, each with all that is below it, and the most
        that each arm of the campaigns below it may cost that have not ended.
        """
        statuses, costs = list[LevelStatus](), list[Units]()
        for level in self._children[account.terms.name]:
            children, maxima = list[LevelStatus](), list[Units]()
            if not isinstance(level, CampaignLevel):
                children, maxima = self.below(level)
            elif (stop_reason(level, self._now) or horizon_reason(level) or ("",))[0] != ENDED:
                maxima = costs_of(level)
            costs += maxima
            state, why = state_of(level, self._now, maxima)
            purses = balances(level.terms.resources, level.balances)
            facts = state, purses, tuple(children), why, period(level)
            statuses.append(LevelStatus(level.terms.name, level.kind, *facts))
        return statuses, costs
