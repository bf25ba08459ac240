"""Results from what is stored of an account, in the user's words."""

from __future__ import annotations

from collections.abc import Sequence

from purse.base import amounts
from purse.campaign.account.results import AccountStatus, LevelStatus
from purse.campaign.account.terms import AccountTerms
from purse.campaign.make_results import balances
from purse.campaign.records import Balance
from purse.campaign.results import Alarm
from purse.campaign.storage.base import AccountOverview, Level
from purse.errors import NoSuchCampaign


def status(terms: AccountTerms, look: AccountOverview) -> AccountStatus:
    """The status from what is stored."""
    if look.head.id != terms.id:
        raise NoSuchCampaign(
            f"account {terms.name!r} was deleted and recreated since it was opened; open it again"
        )
    return AccountStatus(
        terms.name,
        look.head.status,
        look.account,
        balances(terms.resources, look.balances),
        look.seq,
        look.head.digest,
        look.head.created / 1000,
        look.head.changed / 1000,
        tuple(alarms(terms, look.balances)),
        children(terms.resources, look.below),
    )


def children(resources: Sequence[str], below: Sequence[Level]) -> tuple[LevelStatus, ...]:
    """What is below an account."""
    return tuple(
        LevelStatus(
            each.name,
            each.kind,
            each.status,
            balances(resources, each.balances),
            children(resources, each.below),
        )
        for each in below
    )


def alarms(terms: AccountTerms, purses: Sequence[Balance]) -> list[Alarm]:
    """What a person should look at."""
    found = []
    for name, purse in zip(terms.resources, purses, strict=True):
        if purse.overrun:
            found.append(
                Alarm("overrun", f"{amounts.text(purse.overrun)} {name} more was spent than held")
            )
        if purse.budget - purse.spent - purse.presumed == 0:
            found.append(Alarm("exhausted", f"no {name} is left"))
    return found
