"""Numbers for Prometheus: how campaigns stand, read from the storage when asked for, and what this
process has answered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from purse.campaign.account import Account
from purse.campaign.api.results import ALARM_KINDS, in_period
from purse.campaign.api.states import CAMPAIGN_STATES
from purse.campaign.campaign import Campaign
from purse.errors import StorageUnavailable

if TYPE_CHECKING:
    from purse.campaign.api.results import BalanceStatus, Status
    from purse.campaign.storage.storage import Storage
    from purse.campaign.webhooks.follower import Follower
    from purse.service.budgets import Budgets

MEDIA_TYPE = CONTENT_TYPE_LATEST
_AMOUNTS = {
    "budget": "Granted so far",
    "spent": "Spent",
    "held": "Held for open tickets",
    "presumed": "Presumed spent",
    "left": "Left for new tickets",
    "overrun": "Spent above what was held",
}
_OF_PERIOD = "The budget of the period; the budget if it is not renewed"
_COUNTS = {
    "tickets": "Tickets given out.",
    "told": "Tickets that were reported on.",
    "void": "Tickets that were cancelled.",
    "failed": "Tickets whose call did not work, and whose cost is known.",
    "skipped": "Rounds that the policy let pass.",
    "conflicts": "Reports that contradicted an earlier one.",
    "overruns": "Reports of a cost above what was held.",
    "below_minimum": "Reports of a cost below the declared minimum.",
    "outside_range": "Reports of a reward outside the declared range.",
    "clipped": "Values of contexts outside their declared range.",
}
# what one number says of a campaign, and how it is found
_GAUGES: dict[str, tuple[str, Callable[[Status], float]]] = {
    "open_tickets": ("Tickets that are held.", lambda status: status.counts["held"]),
    "presumed_tickets": (
        "Tickets that expired and are presumed spent.",
        lambda status: status.counts["presumed"],
    ),
    "settled_tickets": (
        "Tickets whose cost is known and whose reward is not.",
        lambda status: status.counts["settled"],
    ),
    "cooling_arms": (
        "Arms whose calls fail, and that are tried one ticket at a time.",
        lambda status: len(status.cooling),
    ),
    "overdue_tickets": (
        "Tickets past their deadline that no ask has expired yet.",
        lambda status: status.overdue,
    ),
    "alarms": ("Things that a person should look at.", lambda status: len(status.alarms)),
}
_DELIVERIES = {
    "events_delivered": ("delivered", "Events that a receiver was told of."),
    "events_skipped": ("skipped", "Events that were given up after three days of attempts."),
    "deliveries_failed": ("failed", "Attempts to tell a receiver of events that failed."),
}
_LABELS = 10  # values of a key with a limit that are shown: there may be millions
_Row: TypeAlias = tuple[tuple[str, ...], float]  # values of labels, and a number
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class _Collected:
    """Numbers that are made when they are asked for."""

    def __init__(self, collect: Callable[[], Iterable[Metric]]) -> None:
        self.collect = collect

    def describe(self) -> Iterable[Metric]:
        """Return nothing: what is collected is known only then."""
        return []


class _Family:
    """Makes the numbers of several campaigns, accounts or receivers; each has a label."""

    def __init__(self, prefix: str, label: str) -> None:
        self.prefix, self.label = prefix, label

    def numbers(
        self, word: str, text: str, rows: Iterable[_Row], *more: str, grows: bool = False
    ) -> Metric:
        """Return numbers, each with the value of the label, and of `more` labels.

        grows   whether they are counters, which only grow
        """
        kind = CounterMetricFamily if grows else GaugeMetricFamily
        metric: Metric = kind(self.prefix + word, text, labels=(self.label, *more))
        for labels, value in rows:
            metric.add_metric(labels, float(value))  # type: ignore[attr-defined]
        return metric

    def states(self, text: str, statuses: Sequence[Any]) -> Metric:
        """Return a number for each state: 1 for the one that it is."""
        rows = [
            ((status.name, word), status.status == word)
            for status in statuses
            for word in CAMPAIGN_STATES
        ]
        return self.numbers("state", text, rows, "state")

    def balances(self, statuses: Sequence[Any]) -> Iterator[Metric]:
        """Yield the amounts of each resource."""
        whole = [(status.name, purse) for status in statuses for purse in status.purses]
        for word, text in _AMOUNTS.items():
            yield self.amounts(word, text, whole, word)
        now = [
            (status.name, purse)
            for status in statuses
            for purse in in_period(status.purses, status.period)
        ]
        yield self.amounts("period_budget", _OF_PERIOD, now, "budget")

    def amounts(
        self, word: str, text: str, purses: Sequence[tuple[str, BalanceStatus]], field: str
    ) -> Metric:
        """Return a field of balances, each with a name."""
        rows = [((name, purse.resource), float(getattr(purse, field))) for name, purse in purses]
        return self.numbers(word, f"{text}, in the resource's own unit.", rows, "resource")


def _of_campaigns(budgets: Budgets) -> Iterator[Metric]:
    """Yield how all campaigns stand at this moment."""
    try:
        statuses, up = list(budgets.statuses(Campaign)), 1
        labels = [
            (status, label)
            for status in statuses
            for key in status.limits
            for label in budgets.get(Campaign, status.name).labels(key, _LABELS)
        ]
    except StorageUnavailable:
        statuses, up, labels = [], 0, []
    family = _Family("purse_", "campaign")
    yield GaugeMetricFamily("purse_storage_up", "Whether the storage answers.", value=up)
    yield from family.balances(statuses)
    yield family.states("1 for the state that the campaign is in.", statuses)
    alarms = [
        ((status.name, word), any(alarm.kind == word for alarm in status.alarms))
        for status in statuses
        for word in ALARM_KINDS
    ]
    yield family.numbers("alarm", "1 for each kind of alarm that is raised.", alarms, "kind")
    each = "of a key of labels, in the resource's own unit."
    limits = [
        ((status.name, key, purse.resource), float(units))
        for status in statuses
        for key, limit in status.limits.items()
        for purse, units in zip(status.purses, limit, strict=True)
    ]
    yield family.numbers(
        "label_limit", f"The limit of each value {each}", limits, "key", "resource"
    )
    left = [
        ((status.name, label.key, label.value, purse.resource), float(units))
        for status, label in labels
        for purse, units in zip(status.purses, label.left or (), strict=True)
    ]
    text = f"Left of the limits of the {_LABELS} values that have spent most {each}"
    yield family.numbers("label_left", text, left, "key", "value", "resource")
    for word, (text, number) in _GAUGES.items():
        yield family.numbers(word, text, [((status.name,), number(status)) for status in statuses])
    now = budgets.storage.now() / 1000
    ages = [((status.name,), _age(status.oldest_held, now)) for status in statuses]
    text = "The age of the oldest ticket that is held; 0 without any."
    yield family.numbers("oldest_ticket_seconds", text, ages)
    for word, text in _COUNTS.items():
        counts = [((status.name,), status.counts[word]) for status in statuses]
        yield family.numbers(word, text, counts, grows=True)


def _of_accounts(budgets: Budgets) -> Iterator[Metric]:
    """Yield how all accounts stand at this moment; nothing if the storage does not answer."""
    statuses = []
    with suppress(StorageUnavailable):
        statuses = list(budgets.statuses(Account))
    family = _Family("purse_account_", "account")
    yield from family.balances(statuses)
    yield family.states("1 for the state that the account is in.", statuses)


def _of_webhooks(followers: Sequence[Follower], storage: Storage) -> Iterator[Metric]:
    """Yield how the followers of this process stand."""
    family = _Family("purse_", "receiver")
    for name, (word, text) in _DELIVERIES.items():
        counts = [((follower.receiver.name,), follower.counts[word]) for follower in followers]
        yield family.numbers(name, text, counts, grows=True)
    text = "The age of the oldest event that a receiver was not told of yet; 0 without any."
    rows = []
    for follower in followers:
        times = [event.since / 1000 for event in list(follower.waiting.values())]
        oldest = _age(min(times, default=None), storage.now() / 1000)
        rows.append(((follower.receiver.name,), oldest))
    yield family.numbers("oldest_event_seconds", text, rows)


def _age(since: float | None, now: float) -> float:
    """Return the seconds since a time; 0 if the time is None."""
    return 0.0 if since is None else max(0.0, now - since)


class Metrics:
    """The metrics of one app, in a registry of its own."""

    def __init__(self, budgets: Budgets, followers: Sequence[Follower]) -> None:
        self.registry = registry = CollectorRegistry()
        registry.register(_Collected(partial(_of_webhooks, followers, budgets.storage)))
        registry.register(_Collected(partial(_of_campaigns, budgets)))
        registry.register(_Collected(partial(_of_accounts, budgets)))
        answer = ("method", "route", "status")
        self.requests = Counter(
            "purse_http_requests", "Requests answered.", answer, registry=registry
        )
        self.seconds = Histogram(
            "purse_http_seconds",
            "How long answers took.",
            answer[1:],
            buckets=_SECONDS,
            registry=registry,
        )
        # looked up once for each kind of answer
        self._of_answers: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        asks = "Tickets that this process has given out."
        tells = "Reports that this process has taken."
        self.asks = Counter("purse_process_asks", asks, ("campaign",), registry=registry)
        self.tells = Counter("purse_process_tells", tells, ("campaign",), registry=registry)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        key = method, route, status
        if key not in self._of_answers:
            self._of_answers[key] = (
                self.requests.labels(method, route, str(status)),
                self.seconds.labels(route, str(status)),
            )
        requests, times = self._of_answers[key]
        requests.inc()
        times.observe(seconds)

    def text(self, names: Collection[str] | None = None) -> bytes:
        """Return everything, as Prometheus reads it; with names only what is of these campaigns
        and accounts.
        """
        if names is None:
            return generate_latest(self.registry)
        own = CollectorRegistry()
        own.register(_Collected(lambda: self._only(names)))
        return generate_latest(own)

    def _only(self, names: Collection[str]) -> Iterator[Metric]:
        """Yield the numbers of some campaigns and accounts."""
        for metric in self.registry.collect():
            metric.samples = [
                sample
                for sample in metric.samples
                if sample.labels.get("campaign", sample.labels.get("account")) in names
            ]
            if metric.samples:
                yield metric
