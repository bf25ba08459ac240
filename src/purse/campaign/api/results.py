"""The answers of campaigns and accounts: tickets, receipts, status, audits.

Amounts are decimal text, one per resource.

The service describes these types in its API, and the client builds them from JSON. The text in an
`Annotated` is what the API says of a field. The client imports this: nothing heavy here.
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, Literal, NamedTuple, get_args

from purse.campaign.api.states import (
    FAILED,
    HELD,
    PRESUMED,
    RUNNING,
    SETTLED,
    SKIPPED,
    TOLD,
    VOID,
    CampaignState,
    LevelKind,
    TicketState,
)
from purse.errors import TicketError

Amount = Annotated[str, "Decimal text with at most nine decimals."]
_Amounts = tuple[Amount, ...]  # one per resource
AlarmKind = Literal[
    "overdrawn",
    "overrun",
    "dearer",
    "presumed",
    "overdue",
    "conflict",
    "below-minimum",
    "outside-range",
    "cooling-down",
    "silent",
    "storage",
    "clock",
]
ALARM_KINDS: tuple[AlarmKind, ...] = get_args(AlarmKind)
_STATE = "The same word in lists, metrics and on the dashboard."
_WHY = "One sentence about the state; empty while it is running."
# counted in the status for people
_SHOWN_STATES = (HELD, SETTLED, TOLD, FAILED, VOID, PRESUMED, SKIPPED)


def write_time(seconds: float, zone: str = "UTC") -> str:
    """Write a time in seconds since 1970 as people of a time zone read it; in UTC if this
    machine does not know the zone.

    >>> write_time(0), write_time(0, "Europe/Berlin")
    ('1970-01-01 00:00:00 UTC', '1970-01-01 01:00:00 Europe/Berlin')
    """
    if zone != "UTC":
        from datetime import datetime  # few programs need these
        from zoneinfo import ZoneInfo

        with suppress(LookupError, ValueError, OSError):
            return f"{datetime.fromtimestamp(seconds, ZoneInfo(zone)):%Y-%m-%d %H:%M:%S} {zone}"
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))


# Tickets and receipts are tuples, for each ask and tell makes one: a frozen dataclass of ten fields
# takes four times as long to make.
class _TicketFields(NamedTuple):
    campaign: str
    id: int
    t: Annotated[int, "The round."]
    arm: Annotated[str | None, "The arm to pull; None where the round passes without a pull."]
    probability: Annotated[float, "That the arm was drawn with."]
    held: _Amounts
    state: TicketState
    request_id: str | None
    asked_at: float  # seconds since 1970
    deadline: float | None


class CampaignTicket(_TicketFields):
    """Permission to pull an arm."""

    __slots__ = ()

    @property
    def skipped(self) -> bool:
        """Whether the round passes without a pull: there is nothing to tell. It may do so only if
        the campaign was created with `skip`.
        """
        return super().arm is None

    @property
    def arm(self) -> str:
        """The arm to pull. Raise `TicketError` if the round passes without a pull."""
        arm = super().arm
        if arm is None:
            raise TicketError(
                f"ticket {self.id} skipped its round: there is no arm to pull; see ticket.skipped"
            )
        return arm

    def __repr__(self) -> str:
        lead = f"<CampaignTicket {self.id} of {self.campaign!r}"
        if self.skipped:
            return f"{lead}: round {self.t} passes without a pull>"
        arm = f"{self.arm} (probability {self.probability:.3g})"
        due = "" if self.deadline is None else f", due {write_time(self.deadline)}"
        state = "" if self.state == HELD else f", {self.state}"
        when = f"asked {write_time(self.asked_at)}"
        return f"{lead}: {arm}, held {', '.join(self.held)}{state}, {when}{due}>"

    def as_dict(self) -> dict[str, Any]:
        """Return the ticket as JSON has it."""
        return self._asdict()


class Receipt(NamedTuple):
    """The answer to a report."""

    ticket: int
    state: TicketState
    duplicate: Annotated[bool, "The same was said before; it has no second effect."]
    late: Annotated[bool, "It came after the hold had expired or was voided."]
    spent: _Amounts
    refunded: _Amounts  # of what was held
    overrun: Annotated[_Amounts, "Above what was held."]

    def __repr__(self) -> str:
        amounts = {"spent": self.spent, "refunded": self.refunded, "overrun": self.overrun}
        parts = [self.state, *(f"{name} {', '.join(texts)}" for name, texts in amounts.items())]
        parts += ["duplicate"] * self.duplicate + ["late"] * self.late
        return f"<Receipt of ticket {self.ticket}: {', '.join(parts)}>"

    def as_dict(self) -> dict[str, Any]:
        """Return the receipt as JSON has it."""
        return self._asdict()


@dataclass(frozen=True)
class Audit:
    """The balances that a journal comes to, and how a campaign differs from them."""

    entries: int
    findings: tuple[str, ...]
    digest: str  # of the journal
    # entries up to this one were found right by an earlier audit
    after: int = field(default=0, compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)  # what was not checked, and why
    levels: int = field(default=1, compare=False)  # of the whole tree, which is checked
    checked: int = field(default=0, compare=False)  # entries of all levels

    @property
    def ok(self) -> bool:
        """Whether everything agrees."""
        return not self.findings


@dataclass(frozen=True, slots=True)
class BalanceStatus:
    """One resource."""

    resource: str
    budget: Amount
    spent: Amount
    held: Amount
    presumed: Amount
    left: Amount
    overrun: Amount


@dataclass(frozen=True, slots=True)
class LabelStatus:
    """The costs of the tickets with a label, of all days or of one."""

    key: str
    value: str
    tickets: int
    spent: _Amounts
    held: _Amounts
    presumed: _Amounts
    overrun: _Amounts
    day: Annotated[str | None, "Of their asks, such as 2027-12-31. None: any day."] = None
    limit: Annotated[_Amounts | None, "What it may take, of a period if there are any."] = None
    left: Annotated[_Amounts | None, "What is left of its limit."] = None

    def as_dict(self) -> dict[str, Any]:
        """Return the sums as JSON has them."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class CoolingArm:
    """An arm whose calls failed, and none has worked since."""

    arm: str
    until: Annotated[float, "When one ticket may be issued to try it again. Seconds since 1970."]
    length: float  # seconds
    probe: Annotated[int | None, "The ticket that tries it, while it is open."]

    def __str__(self) -> str:
        if self.probe is not None:
            return f"{self.arm}, tried by ticket {self.probe}"
        return f"{self.arm}, tried again from {write_time(self.until)}"


@dataclass(frozen=True, slots=True)
class FeatureStatus:
    """One number of a context, over all asks, in the user's unit and within its range."""

    column: str
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class PeriodStatus:
    """The period of a budget that is renewed; amounts are those of this period."""

    number: Annotated[int, "From 1."]
    every: Annotated[str, "`day`, `week`, `month`, or hours such as `6h`."]
    time_zone: str
    carry: Annotated[str, "`all` or `none` of the money that is left."]
    begun_at: float
    ends_at: Annotated[float | None, "None while the budget is paused, and once it has ended."]
    rounds: Annotated[int | None, "Asked for in this period, of a campaign."]
    allowance: _Amounts
    carried: Annotated[_Amounts, "What earlier periods have left to it."]
    spent: Annotated[_Amounts, "By tickets of this period, what is presumed spent included."]
    held: Annotated[_Amounts, "For tickets of this period."]
    budget: Annotated[_Amounts, "All that may be spent in it: allowance, carried, top-ups."]

    def __str__(self) -> str:
        ends_at, zone = self.ends_at, self.time_zone
        until = "" if ends_at is None else f", until {write_time(ends_at, zone)}"
        carried = any(amount != "0" for amount in self.carried)
        more = f" and {', '.join(self.carried)} carried over" if carried else ""
        return (
            f"{self.number} (every {self.every}{until}): spent {', '.join(self.spent)} of "
            f"{', '.join(self.allowance)}{more}"
        )


def in_period(
    purses: tuple[BalanceStatus, ...], period: PeriodStatus | None
) -> tuple[BalanceStatus, ...]:
    """Return the balances of a period, with presumed money as spent; without a period, as given."""
    if period is None:
        return purses
    parts = zip(purses, period.budget, period.spent, period.held, strict=True)
    return tuple(
        replace(purse, budget=budget, spent=spent, held=held, presumed="0")
        for purse, budget, spent, held in parts
    )


def _left_of(status: Any) -> str:
    """Return the remaining amount of each resource, in a few words."""
    return ", ".join(
        f"{purse.left} of {purse.budget} {purse.resource}"
        for purse in in_period(status.purses, status.period)
    )


@dataclass(frozen=True, slots=True)
class ForecastStatus:
    """The requests to come, where the campaign has a horizon."""

    requests: Annotated[int, "How many more until the end; about, if the horizon is a forecast."]
    until: Annotated[
        float | None,
        "The end: of the period, or of all asks. Seconds since 1970. None: no time ends them.",
    ]
    affords: Annotated[int | None, "For how many the money lasts, at what one has cost so far."]

    def words(self, zone: str, *, is_exact: bool) -> str:
        """Return the forecast for people of a time zone."""
        paid = f", money for about {self.affords or 0:,} at what one has cost so far"
        until = "" if self.until is None else f" until {write_time(self.until, zone)}"
        end = f"{'' if is_exact else 'about '}{self.requests:,} more requests{until}"
        return end + paid * (self.affords is not None)


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that a person should look at."""

    kind: AlarmKind
    text: str
    last_at: Annotated[float | None, "Its last cause; the alarm ends a day later."] = None

    def __str__(self) -> str:
        return self.text + (f", last at {write_time(self.last_at)}" if self.last_at else "")


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a campaign."""

    name: str
    status: Annotated[CampaignState, _STATE]
    policy: str
    arms: tuple[str, ...]
    rounds: int
    horizon: Annotated[int | None, "None: no limit, or a forecast."]
    counts: dict[str, int]
    purses: tuple[BalanceStatus, ...]
    entries: Annotated[int, "The length of the journal."]
    digest: Annotated[str, "A hash of the journal. A copy of the campaign has the same."]
    created_at: float
    changed_at: float
    overdue: Annotated[int, "Tickets past their deadline that no ask has expired yet."]
    oldest_held: float | None
    alarms: tuple[Alarm, ...]
    retired: Annotated[tuple[str, ...], "Arms that are not chosen any more."] = ()
    cooling: tuple[CoolingArm, ...] = ()
    features: tuple[FeatureStatus, ...] = ()  # of contexts so far
    account: Annotated[str, "The account above it; empty if there is none."] = ""
    labels: Annotated[tuple[str, ...], "The keys of labels so far."] = ()
    period: Annotated[PeriodStatus | None, "Where the budget is renewed."] = None
    alerts: Annotated[tuple[str, ...], "Rules of the events that webhooks are told of."] = ()
    until: Annotated[float | None, "When asks end. Seconds since 1970."] = None
    forecast: Annotated[
        ForecastStatus | None, "None without a horizon, before the first ask, or if it stands."
    ] = None
    why: Annotated[str, _WHY] = ""
    time_zone: Annotated[str, "Of periods, and of `until`."] = "UTC"
    limits: Annotated[dict[str, _Amounts], "What each value of a key may take."] = field(
        default_factory=dict
    )

    def as_dict(self) -> dict[str, Any]:
        """Return the status as JSON has it."""
        return asdict(self)

    def _key(self, key: str) -> str:
        """Return a key of labels, with the limit of its values."""
        return f"{key} ({', '.join(self.limits[key])} each)" if key in self.limits else key

    @property
    def of_horizon(self) -> str:
        """How many rounds there are, in words that follow the number of rounds."""
        if self.horizon is None:
            return ""
        if self.period is None:
            return f" of {self.horizon}"
        return f", {self.period.rounds or 0} of {self.horizon} in this period"

    @property
    def forecast_words(self) -> str:
        """The requests to come, for people; "" without a forecast."""
        if self.forecast is None:
            return ""
        return self.forecast.words(self.time_zone, is_exact=self.horizon is not None)

    def __repr__(self) -> str:
        alarms = f", {len(self.alarms)} alarms" if self.alarms else ""
        return f"<Status of {self.name!r}: {state_text(self)}, left {_left_of(self)}{alarms}>"

    def _repr_html_(self) -> str:
        """Return the balances as a table and the rest as lines, for notebooks."""
        from purse.base import html  # which a program has no use for

        title, *lines = str(self).splitlines()
        head = ["resource", "budget", "spent", "held", "presumed", "left", "overrun"]
        rows = [[getattr(purse, name) for name in head] for purse in self.purses]
        notes = lines[len(self.purses) :]
        return html.table(head, rows, title=title) + "".join(
            html.paragraph(line.strip()) for line in notes
        )

    def __str__(self) -> str:
        rounds = f"round {self.rounds}" + self.of_horizon
        shown = {name: self.counts[name] for name in _SHOWN_STATES if self.counts[name]}
        lines = [
            f"{self.name}: {state_text(self)}, {self.policy}, {rounds}",
            *(
                f"  {purse.resource}: spent {purse.spent} of {purse.budget}, held "
                f"{purse.held}, presumed {purse.presumed}, left {purse.left}"
                + (f", overrun {purse.overrun}" if purse.overrun != "0" else "")
                for purse in self.purses
            ),
            *([f"  period {self.period}"] if self.period else []),
            *([f"  until {write_time(self.until, self.time_zone)}"] if self.until else []),
            *([f"  forecast: {self.forecast_words}"] if self.forecast else []),
            "  tickets: "
            + (", ".join(f"{count} {name}" for name, count in shown.items()) or "none"),
            *([f"  account: {self.account}"] if self.account else []),
            *([f"  retired: {', '.join(self.retired)}"] if self.retired else []),
            *(f"  cooling down: {part}" for part in self.cooling),
            *(
                f"  context {part.column}: {part.least:.4g} to {part.most:.4g}"
                for part in self.features
            ),
            *(
                [f"  values clipped to their ranges: {self.counts['clipped']}"]
                if self.counts.get("clipped")
                else []
            ),
            *([f"  labels: {', '.join(map(self._key, self.labels))}"] if self.labels else []),
            *([f"  alerts: {', '.join(self.alerts)}"] if self.alerts else []),
            *(f"  ! {alarm}" for alarm in self.alarms),
        ]
        return "\n".join(lines)


def state_text(status: Any) -> str:
    """Return the state of a campaign or an account, and why."""
    return status.status + (f" ({status.why})" if status.why else "")


@dataclass(frozen=True, slots=True)
class LevelStatus:
    """A campaign or an account below an account."""

    name: str
    kind: LevelKind
    status: Annotated[CampaignState, _STATE]
    purses: tuple[BalanceStatus, ...]
    children: "tuple[LevelStatus, ...]" = ()
    why: Annotated[str, _WHY] = ""
    period: Annotated[PeriodStatus | None, "Where the budget is renewed."] = None

    def lines(self, indent: str) -> Iterator[str]:
        """Lines for people, those below it too."""
        state = "" if self.status == RUNNING else f" ({self.status})"
        yield f"{indent}{self.kind} {self.name}{state}: {_balances_of(self)}"
        for child in self.children:
            yield from child.lines(indent + "  ")


@dataclass(frozen=True, slots=True)
class AccountStatus:
    """The state of an account, and of all that is below it."""

    name: str
    status: Annotated[CampaignState, _STATE]
    account: Annotated[str, "The account above it; empty if there is none."]
    purses: tuple[BalanceStatus, ...]
    entries: Annotated[int, "The length of its journal."]
    digest: Annotated[str, "A hash of its journal."]
    created_at: float
    changed_at: float
    alarms: tuple[Alarm, ...]
    children: Annotated[
        tuple[LevelStatus, ...], "Campaigns and accounts below it, by name, with their balances."
    ] = ()
    period: Annotated[PeriodStatus | None, "Where the budget is renewed."] = None
    alerts: Annotated[tuple[str, ...], "Rules of the events that webhooks are told of."] = ()
    why: Annotated[str, _WHY] = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the status as JSON has it."""
        return asdict(self)

    def __repr__(self) -> str:
        return f"<AccountStatus of {self.name!r}: {state_text(self)}, left {_left_of(self)}>"

    def __str__(self) -> str:
        above = f", below account {self.account}" if self.account else ""
        lines = [f"account {self.name}: {state_text(self)}{above}", f"  {_balances_of(self)}"]
        lines += [f"  period {self.period}"] if self.period else []
        for child in self.children:
            lines += child.lines("  ")
        lines += [f"  alerts: {', '.join(self.alerts)}"] if self.alerts else []
        lines += [f"  ! {alarm}" for alarm in self.alarms]
        return "\n".join(lines)


def _balances_of(status: AccountStatus | LevelStatus) -> str:
    """Return balances on one line; those of its period if there is one."""
    return "; ".join(
        f"{purse.left} of {purse.budget} {purse.resource} left, spent {purse.spent}, "
        f"held {purse.held}"
        + (f", presumed {purse.presumed}" if purse.presumed != "0" else "")
        + (f", overrun {purse.overrun}" if purse.overrun != "0" else "")
        for purse in in_period(status.purses, status.period)
    )
