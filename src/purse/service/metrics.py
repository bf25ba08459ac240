"""Numbers for Prometheus: how campaigns stand, read from the storage when asked for, and what this
process has answered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from purse.campaign.api.results import ALARM_KINDS, in_period
from purse.campaign.api.states import CAMPAIGN_STATES
from purse.campaign.run.levels import Levels
from purse.errors import StorageUnavailable

if TYPE_CHECKING:
    from purse.campaign.api.results import AccountStatus, BalanceStatus, LabelStatus, Status
    from purse.campaign.ledger.level import Level
    from purse.campaign.storage.storage import Storage
    from purse.campaign.webhooks.follower import Follower
    from purse.service.budgets import Budgets

MEDIA_TYPE = CONTENT_TYPE_LATEST
ACCOUNTS, CAMPAIGNS = "accounts", "campaigns"  # what is shown; campaigns besides accounts
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
_Label: TypeAlias = "tuple[Level, LabelStatus]"
_Row: TypeAlias = tuple[tuple[str, ...], float]  # values of labels, and a number
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class _Family:
    """Writes the numbers of several campaigns, accounts or receivers; each has a label."""

    def __init__(self, prefix: str, label: str) -> None:
        self.prefix, self.label = prefix, label

    def numbers(
        self, word: str, text: str, rows: Iterable[_Row], *more: str, grows: bool = False
    ) -> str:
        """Return numbers, each with the value of the label, and of `more` labels. A library would
        take four times as long to write them.

        grows   whether they are counters, which only grow
        """
        name = f"{self.prefix}{word}{'_total' if grows else ''}"
        form = ",".join(f'{label}="%s"' for label in (self.label, *more))
        lines = [f"# HELP {name} {text}\n# TYPE {name} {'counter' if grows else 'gauge'}\n"]
        for values, number in rows:
            lines.append(f"{name}{{{form % tuple(map(_escaped, values))}}} {float(number)}\n")
        return "".join(lines)

    def states(self, text: str, statuses: Sequence[Any]) -> str:
        """Return a number for each state: 1 for the one that it is."""
        rows = [
            ((status.name, word), status.status == word)
            for status in statuses
            for word in CAMPAIGN_STATES
        ]
        return self.numbers("state", text, rows, "state")

    def balances(self, statuses: Sequence[Any]) -> Iterator[str]:
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
    ) -> str:
        """Return a field of balances, each with a name."""
        rows = [((name, purse.resource), float(getattr(purse, field))) for name, purse in purses]
        return self.numbers(word, f"{text}, in the resource's own unit.", rows, "resource")


def _escaped(value: str) -> str:
    """Return the value of a label as Prometheus reads it."""
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _of_accounts(statuses: Sequence[AccountStatus]) -> Iterator[str]:
    """Yield how accounts stand."""
    family = _Family("purse_account_", "account")
    yield from family.balances(statuses)
    yield family.states("1 for the state that the account is in.", statuses)


def _of_campaigns(
    statuses: Sequence[Status], labels: Sequence[_Label], now: float
) -> Iterator[str]:
    """Yield how campaigns stand at a time in seconds, and what is left of labels with a limit."""
    family = _Family("purse_", "campaign")
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
        ((level.terms.name, label.key, label.value, resource), float(units))
        for level, label in labels
        for resource, units in zip(level.terms.resources, label.left or (), strict=True)
    ]
    text = f"Left of the limits of the {_LABELS} values that have spent most {each}"
    yield family.numbers("label_left", text, left, "key", "value", "resource")
    for word, (text, number) in _GAUGES.items():
        yield family.numbers(word, text, [((status.name,), number(status)) for status in statuses])
    ages = [((status.name,), _age(status.oldest_held, now)) for status in statuses]
    text = "The age of the oldest ticket that is held; 0 without any."
    yield family.numbers("oldest_ticket_seconds", text, ages)
    for word, text in _COUNTS.items():
        counts = [((status.name,), status.counts[word]) for status in statuses]
        yield family.numbers(word, text, counts, grows=True)


def _of_webhooks(followers: Sequence[Follower], storage: Storage) -> Iterator[str]:
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
        self._budgets, self._followers = budgets, followers
        self._registry = CollectorRegistry()
        answer = ("method", "route", "status")
        self.requests = Counter(
            "purse_http_requests", "Requests answered.", answer, registry=self._registry
        )
        self.seconds = Histogram(
            "purse_http_seconds",
            "How long answers took.",
            answer[1:],
            buckets=_SECONDS,
            registry=self._registry,
        )
        # looked up once for each kind of answer
        self._of_answers: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        asks = "Tickets that this process has given out."
        tells = "Reports that this process has taken."
        self.asks = Counter("purse_process_asks", asks, ("campaign",), registry=None)
        self.tells = Counter("purse_process_tells", tells, ("campaign",), registry=None)

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

    def text(self, names: Collection[str] | None = None, *, campaigns: bool = False) -> bytes:
        """Return everything, as Prometheus reads it; with names only what is of these campaigns
        and accounts.

        campaigns   whether campaigns are shown, too
        """
        own = "".join(self._of_levels(names, campaigns)).encode()
        return own + generate_latest(self._registry) if names is None else own

    def _of_levels(self, names: Collection[str] | None, campaigns: bool) -> Iterator[str]:
        storage = self._budgets.storage
        try:
            levels, up = self._budgets.read(only=names), 1
            labels = list(levels.largest(storage, _LABELS)) if campaigns else []
        except StorageUnavailable:
            levels, up, labels = Levels((), 0), 0, []
        if names is None:
            text = "Whether the storage answers."
            yield f"# HELP purse_storage_up {text}\n# TYPE purse_storage_up gauge\n"
            yield f"purse_storage_up {float(up)}\n"
            yield from _of_webhooks(self._followers, storage)
        yield from _of_accounts(list(levels.accounts()))
        if campaigns:
            yield from _of_campaigns(list(levels.campaigns()), labels, storage.now() / 1000)
            family = _Family("purse_process_", "campaign")
            for word, counter in (("asks", self.asks), ("tells", self.tells)):
                (metric,) = counter.collect()
                rows = [
                    ((name,), sample.value)
                    for sample in metric.samples
                    if sample.name.endswith("_total")
                    and (names is None or sample.labels["campaign"] in names)
                    for name in sample.labels.values()
                ]
                yield family.numbers(word, metric.documentation, rows, grows=True)
