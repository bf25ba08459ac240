"""The accounts above a campaign or an account: their terms, their transactions, and what joins
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from purse.campaign.account.ledger import AccountLedger
from purse.campaign.account.records import AccountRecord
from purse.campaign.account.rules import AccountTransaction
from purse.campaign.account.terms import AccountTerms
from purse.campaign.records import Balance
from purse.campaign.storage.base import AccountWrite, LockedAccount, Storage, WriteSet
from purse.campaign.terms import Terms
from purse.errors import NoSuchCampaign, PurseError, invalid

DEEPEST = 2  # accounts above a campaign


def read_terms(storage: Storage, name: str) -> AccountTerms:
    """The terms of an account. Raise `NoSuchCampaign` where there is none of this name."""
    (first,) = storage.account_entries(name, 0, 1)
    return AccountTerms.from_dict(first.body)


def terms_above(storage: Storage, name: str) -> list[AccountTerms]:
    """The terms of an account and of those above it, from the top down; none where the name is
    empty.
    """
    if not name:
        return []
    terms = read_terms(storage, name)
    return [*terms_above(storage, terms.account), terms]


def check_above(terms: Terms | AccountTerms, above: Sequence[AccountTerms]) -> None:
    """Refuse a new campaign or account that has other resources than the account above it, or that
    is too deep.
    """
    if above and terms.resources != above[-1].resources:
        raise invalid(
            "resources",
            list(terms.resources),
            f"must be those of account {above[-1].name!r}, in its order: "
            f"{', '.join(above[-1].resources)}",
        )
    if isinstance(terms, AccountTerms) and len(above) >= DEEPEST:
        raise invalid(
            "account",
            terms.account,
            f"must not be below another account itself, and is below {above[-2].name!r}",
        )


def transactions(
    terms: Sequence[AccountTerms], found: Sequence[LockedAccount], now: int
) -> list[AccountTransaction]:
    """Transactions on the accounts that were locked, from the top down."""
    if not terms and not found:
        return []
    above = [each.name for each in terms]
    if above != [each.name for each in found]:
        raise PurseError(
            f"the storage has other accounts above it than {above or 'none'}, which the terms say"
        )
    made = []
    for known, state in zip(terms, found, strict=True):
        check_same_account(known, state.head)
        made.append(transaction(known, state, now))
    return made


def transaction(terms: AccountTerms, found: LockedAccount, now: int) -> AccountTransaction:
    """A transaction on an account that was locked."""
    ledger = AccountLedger(terms, found.seq, found.head, found.balances)
    ledger.requests = dict(found.requests)
    return AccountTransaction(ledger, now)


def check_same_account(terms: AccountTerms, found: AccountRecord) -> None:
    """Refuse an account that took the place, and the name, of the one with these terms."""
    if found.id != terms.id:
        raise NoSuchCampaign(
            f"account {terms.name!r} was deleted and recreated since it was opened; open it again"
        )


def account_write(made: AccountTransaction) -> AccountWrite:
    """What a transaction has decided, to be written."""
    ledger = made.ledger
    return AccountWrite(
        made.terms.name, ledger.seq, ledger.head, ledger.balances, made.entries, made.digests
    )


def create_campaign(storage: Storage, terms: Terms, changes: Iterable[WriteSet]) -> None:
    """Write a new campaign, which may have a past: then its totals have to fit into the accounts
    above it.

    Raise `NoSuchCampaign` where there is no such account, `CampaignClosed` where it is closed.
    """
    above = terms_above(storage, terms.account)
    check_above(terms, above)
    last: list[tuple[int, list[Balance]]] = []

    def noted() -> Iterable[WriteSet]:
        for change in changes:
            last[:] = [(change.seq, change.balances)]
            yield change

    def join(found: Sequence[LockedAccount]) -> list[AccountWrite]:
        made = transactions(above, found, storage.now())
        for each in made:
            each.renew()
            each.join(terms.name, *last[0])
        return [account_write(each) for each in made if each.entries]

    storage.create(terms.name, noted(), terms.account, join if above else None)
