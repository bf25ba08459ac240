"""What an account answers. Amounts are decimal text, one per resource.

This module imports nothing heavy, for the client's sake.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from purse.campaign.results import Alarm, BalanceStatus, PeriodStatus
from purse.campaign.states import CampaignState, LevelKind


@dataclass(frozen=True, slots=True)
class LevelStatus:
    """A campaign or an account below an account."""

    name: str
    kind: LevelKind
    status: CampaignState
    purses: tuple[BalanceStatus, ...]
    children: tuple[LevelStatus, ...] = ()

    def lines(self, indent: str) -> Iterator[str]:
        """Lines for people, those below it too."""
        state = "" if self.status == "running" else f" ({self.status})"
        yield f"{indent}{self.kind} {self.name}{state}: {said(self.purses)}"
        for child in self.children:
            yield from child.lines(indent + "  ")


@dataclass(frozen=True, slots=True)
class AccountStatus:
    """How an account stands, and all that is below it."""

    name: str
    status: CampaignState
    account: Annotated[str, "The account above it; empty where there is none."]
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

    def as_dict(self) -> dict[str, Any]:
        """Return the status as JSON has it."""
        return asdict(self)

    def __repr__(self) -> str:
        """Return the status in a line."""
        left = ", ".join(f"{each.left} of {each.budget} {each.resource}" for each in self.purses)
        return f"<AccountStatus of {self.name!r}: {self.status}, left {left}>"

    def __str__(self) -> str:
        """Return a tree for people, with what is left on each level."""
        above = f", below account {self.account}" if self.account else ""
        lines = [f"account {self.name}: {self.status}{above}", f"  {said(self.purses)}"]
        lines += [f"  period {self.period}"] if self.period else []
        for child in self.children:
            lines += child.lines("  ")
        lines += [f"  alerts: {', '.join(self.alerts)}"] if self.alerts else []
        lines += [f"  ! {alarm}" for alarm in self.alarms]
        return "\n".join(lines)


def said(purses: tuple[BalanceStatus, ...]) -> str:
    """Balances on one line."""
    return "; ".join(
        f"{each.left} of {each.budget} {each.resource} left, spent {each.spent}, held {each.held}"
        + (f", presumed {each.presumed}" if each.presumed != "0" else "")
        + (f", overrun {each.overrun}" if each.overrun != "0" else "")
        for each in purses
    )
