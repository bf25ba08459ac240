"""Results from what is stored of an account, in the user's words."""

from __future__ import annotations

from collections.abc import Sequence

from purse.base import amounts
from purse.campaign.account.above import check_same_account, read_terms
from purse.campaign.account.ledger import AccountLedger
from purse.campaign.account.records import AccountRecord
from purse.campaign.account.results import AccountStatus, LevelStatus
from purse.campaign.account.terms import AccountTerms
from purse.campaign.ledger import Ledger
from purse.campaign.make_results import balances, last_cause
from purse.campaign.periods.as_of import AsOf, FoldedLedger, period_status
from purse.campaign.periods.period import Period
from purse.campaign.records import Balance, CampaignRecord
from purse.campaign.results import Alarm
from purse.campaign.states import ACCOUNT, RUNNING
from purse.campaign.storage.base import Level, Storage
from purse.campaign.terms import Terms


def status(terms: AccountTerms, storage: Storage) -> AccountStatus:
    """The status from what is stored, as of now: periods that are due have begun."""
    look, now = storage.account(terms.name), storage.now()
    check_same_account(terms, look.head)
    ledger = AccountLedger(terms, look.seq, look.head.copied(), look.balances)
    AsOf(ledger, now).renew()
    period = ledger.period
    return AccountStatus(
        terms.name,
        look.head.status,
        look.account,
        balances(terms.resources, ledger.balances),
        look.seq,
        look.head.digest,
        look.head.created / 1000,
        look.head.changed / 1000,
        tuple(alarms(terms, look.head, ledger.balances, now)),
        children(storage, terms.resources, look.below, now),
        None if period is None else period_status(terms, period, ledger.balances, look.head.status),
        tuple(look.head.alerts),
    )


def children(
    storage: Storage, resources: Sequence[str], below: Sequence[Level], now: int
) -> tuple[LevelStatus, ...]:
    """What is below an account, as of a time in ms."""
    return tuple(
        LevelStatus(
            each.name,
            each.kind,
            each.status,
            balances(resources, level_balances(storage, each, now)),
            children(storage, resources, each.below, now),
        )
        for each in below
    )


def level_balances(storage: Storage, level: Level, now: int) -> list[Balance]:
    """The balances of a level at a time; its terms are read only where a period is due."""
    if not level.period or level.status != RUNNING or now < Period(*level.period).ends:
        return level.balances
    ledger: FoldedLedger
    if level.kind == ACCOUNT:
        known = AccountRecord(status=level.status, period=list(level.period))
        ledger = AccountLedger(read_terms(storage, level.name), 0, known, level.balances)
    else:
        (first,) = storage.entries(level.name, 0, 1)
        head = CampaignRecord(status=level.status, period=list(level.period))
        ledger = Ledger(Terms.from_dict(first.body), 0, head, level.balances)
    AsOf(ledger, now).renew()
    return ledger.balances


def alarms(
    terms: AccountTerms, head: AccountRecord, purses: Sequence[Balance], now: int
) -> list[Alarm]:
    """What a person should look at, as of a time (ms)."""
    found, last = [], last_cause(head, "overrun", now)
    for name, purse in zip(terms.resources, purses, strict=True):
        if purse.overrun and last is not None:
            text = f"{amounts.text(purse.overrun)} {name} more was spent than held"
            found.append(Alarm("overrun", text, last))
        if purse.budget - purse.spent - purse.presumed == 0:
            found.append(Alarm("exhausted", f"no {name} is left"))
    return found
