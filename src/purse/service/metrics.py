"""Numbers for Prometheus: how campaigns stand, read from the storage when asked for, and what this
process has answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from purse.campaign.results import ALARM_KINDS
from purse.campaign.states import ACCOUNT, CAMPAIGN, CAMPAIGN_STATES, RUNNING
from purse.errors import StorageUnavailable

if TYPE_CHECKING:
    from purse.campaign.account_results import AccountStatus
    from purse.campaign.results import Status
    from purse.campaign.webhooks.follower import Follower

S = TypeVar("S", "Status", "AccountStatus")
MEDIA_TYPE = CONTENT_TYPE_LATEST
AMOUNTS = ("budget", "spent", "held", "presumed", "left", "overrun")
COUNTS = {
    "tickets": "Tickets given out.",
    "told": "Tickets that were reported on.",
    "void": "Tickets that were cancelled.",
    "failed": "Tickets whose call did not work.",
    "skipped": "Rounds that the policy let pass.",
    "conflicts": "Reports that contradicted an earlier one.",
    "overruns": "Reports of a cost above what was held.",
    "below_minimum": "Reports of a cost below the declared minimum.",
    "outside_range": "Reports of a reward outside the declared range.",
    "clipped": "Values of contexts outside their declared range.",
}
DELIVERIES = {
    "events_delivered": ("delivered", "Events that a receiver was told of."),
    "events_skipped": ("skipped", "Events that were given up after three days of attempts."),
    "deliveries_failed": ("failed", "Attempts to tell a receiver of events that failed."),
}
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


# one value for each campaign
GAUGES: dict[str, tuple[str, Callable[[Status], float]]] = {
    "running": (
        "Whether the campaign gives out tickets.",
        lambda status: status.status == RUNNING,
    ),
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


class Collected:
    """Numbers that are made when they are asked for."""

    def describe(self) -> Iterable[Metric]:
        """Return nothing: what is collected is known only then."""
        return []


class Campaigns(Collected):
    """How all campaigns stand at this moment."""

    def __init__(self, statuses: Callable[[], Iterable[Status]], now: Callable[[], float]) -> None:
        self.statuses, self.now = statuses, now

    def collect(self) -> Iterator[Metric]:
        """Yield one value for each campaign, and resource."""
        try:
            found, up = list(self.statuses()), 1
        except StorageUnavailable:
            found, up = [], 0
        yield GaugeMetricFamily("purse_storage_up", "Whether the storage answers.", value=up)
        yield from balances("purse_", "The {} of a resource, in its own unit.", CAMPAIGN, found)
        yield by_word(
            "purse_state",
            "1 for the state that the campaign is in.",
            "state",
            CAMPAIGN_STATES,
            [(status.name, {status.status}) for status in found],
        )
        yield by_word(
            "purse_alarm",
            "1 for each kind of alarm that is raised.",
            "kind",
            ALARM_KINDS,
            [(status.name, {alarm.kind for alarm in status.alarms}) for status in found],
        )
        oldest = "The age of the oldest ticket that is held; 0 without any."
        for word, (text, value) in {**GAUGES, "oldest_ticket_seconds": (oldest, self.age)}.items():
            yield of_each(f"purse_{word}", text, CAMPAIGN, found, value)
        for word, text in COUNTS.items():
            counter = CounterMetricFamily(f"purse_{word}", text, labels=(CAMPAIGN,))
            for status in found:
                counter.add_metric((status.name,), status.counts[word])
            yield counter

    def age(self, status: Status) -> float:
        """Return the seconds since the oldest ticket that is held was asked for."""
        return 0.0 if status.oldest_held is None else max(0.0, self.now() - status.oldest_held)


class Accounts(Collected):
    """How all accounts stand at this moment."""

    def __init__(self, statuses: Callable[[], Iterable[AccountStatus]]) -> None:
        self.statuses = statuses

    def collect(self) -> Iterator[Metric]:
        """Yield one value for each account, and resource; none if the storage does not answer."""
        found: list[AccountStatus] = []
        with suppress(StorageUnavailable):
            found = list(self.statuses())
        text = "The {} of a resource of an account, in its own unit."
        yield from balances("purse_account_", text, ACCOUNT, found)
        yield of_each(
            "purse_account_running",
            "Whether campaigns below the account may give out tickets.",
            ACCOUNT,
            found,
            lambda status: status.status == RUNNING,
        )


def balances(
    prefix: str, text: str, label: str, found: Sequence[Status] | Sequence[AccountStatus]
) -> Iterator[GaugeMetricFamily]:
    """Yield the amounts of each campaign or account, and resource."""
    for word in AMOUNTS:
        gauge = GaugeMetricFamily(prefix + word, text.format(word), labels=(label, "resource"))
        for status in found:
            for purse in status.purses:
                gauge.add_metric((status.name, purse.resource), float(getattr(purse, word)))
        yield gauge


def of_each(
    name: str, text: str, label: str, found: Sequence[S], value: Callable[[S], float]
) -> GaugeMetricFamily:
    """Return one value for each campaign or account."""
    gauge = GaugeMetricFamily(name, text, labels=(label,))
    for status in found:
        gauge.add_metric((status.name,), float(value(status)))
    return gauge


def by_word(
    name: str,
    text: str,
    label: str,
    words: Iterable[str],
    found: list[tuple[str, set[str]]],
) -> GaugeMetricFamily:
    """Return 1 or 0 for each campaign and word: whether the word is among those found."""
    gauge = GaugeMetricFamily(name, text, labels=(CAMPAIGN, label))
    for campaign, present in found:
        for word in words:
            gauge.add_metric((campaign, word), float(word in present))
    return gauge


class Webhooks(Collected):
    """How the followers of this process stand."""

    def __init__(self, followers: Sequence[Follower], now: Callable[[], float]) -> None:
        self.followers, self.now = followers, now

    def collect(self) -> Iterator[Metric]:
        """Yield one value for each receiver."""
        for name, (word, text) in DELIVERIES.items():
            sent = CounterMetricFamily(f"purse_{name}", text, labels=("receiver",))
            for each in self.followers:
                sent.add_metric((each.receiver.name,), each.counts[word])
            yield sent
        oldest = GaugeMetricFamily(
            "purse_oldest_event_seconds",
            "The age of the oldest event that a receiver was not told of yet; 0 without any.",
            labels=("receiver",),
        )
        for each in self.followers:
            made = [waiting.made / 1000 for waiting in list(each.waiting.values())]
            age = max(0.0, self.now() - min(made)) if made else 0.0
            oldest.add_metric((each.receiver.name,), age)
        yield oldest


class Metrics:
    """What one app counts, in a registry of its own."""

    def __init__(
        self,
        statuses: Callable[[], Iterable[Status]],
        accounts: Callable[[], Iterable[AccountStatus]],
        now: Callable[[], float],
        followers: Sequence[Follower],
    ) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(Webhooks(followers, now))
        self.registry.register(Campaigns(statuses, now))
        self.registry.register(Accounts(accounts))
        self.requests = Counter(
            "purse_http_requests",
            "Requests answered.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "purse_http_seconds",
            "How long answers took.",
            ("route", "status"),
            buckets=SECONDS,
            registry=self.registry,
        )
        # looked up once for each kind of answer
        self._of_answers: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self.asks = Counter(
            "purse_process_asks",
            "Tickets that this process has given out.",
            ("campaign",),
            registry=self.registry,
        )
        self.tells = Counter(
            "purse_process_tells",
            "Reports that this process has taken.",
            ("campaign",),
            registry=self.registry,
        )

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

    def text(self) -> bytes:
        """Return everything, as Prometheus reads it."""
        return generate_latest(self.registry)
