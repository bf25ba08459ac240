"""The status of an account, and of what is below it; the client builds them, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from purse.campaign.api.results import (
    STATE,
    WHY,
    Alarm,
    BalanceStatus,
    PeriodStatus,
    in_period,
    left_of,
    state_text,
)
from purse.campaign.api.states import RUNNING, CampaignState, LevelKind


@dataclass(frozen=True, slots=True)
class LevelStatus:
    """A campaign or an account below an account."""

    name: str
    kind: LevelKind
    status: Annotated[CampaignState, STATE]
    purses: tuple[BalanceStatus, ...]
    children: tuple[LevelStatus, ...] = ()
    why: Annotated[str, WHY] = ""
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
    status: Annotated[CampaignState, STATE]
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
    why: Annotated[str, WHY] = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the status as JSON has it."""
        return asdict(self)

    def __repr__(self) -> str:
        return f"<AccountStatus of {self.name!r}: {state_text(self)}, left {left_of(self)}>"

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
