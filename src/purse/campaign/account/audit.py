"""An account checked against its journal, and its journal against those of its campaigns."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from purse.base.json import compact
from purse.campaign.account.above import check_same_account
from purse.campaign.account.campaign_moves import CampaignMoves
from purse.campaign.account.replay import AccountReplay
from purse.campaign.account.terms import AccountTerms
from purse.campaign.journal import Entry
from purse.campaign.results import Audit
from purse.campaign.states import CAMPAIGN
from purse.campaign.storage.base import AccountOverview, Level, Storage
from purse.errors import InvalidInput

PAGE_SIZE = 5_000


def audit(terms: AccountTerms, storage: Storage) -> Audit:
    """Fold the journal beside those of the campaigns below the account, and compare purses and
    status with what it comes to.
    """
    below = campaigns(storage.account(terms.name).below)
    # what a campaign has moved up to here is booked in the account's journal up to `look`
    lengths = {name: storage.overview(name).seq for name in below}
    look = storage.account(terms.name)
    check_same_account(terms, look.head)
    there = set(campaigns(look.below))
    replay = AccountReplay(
        terms.checked(), lambda name: CampaignMoves(storage, name) if name in there else None
    )
    try:
        for entry in account_pages(storage, terms.name, look.seq):
            replay.fold(entry)
        replay.finish(lengths)
    except InvalidInput as error:  # all that follows would be wrong, too
        replay.find(str(error))
    else:
        compare(replay, look)
    ledger = replay.ledger
    text = compact([ledger.seq, ledger.head.status, ledger.balances])
    digest = sha256(text.encode()).hexdigest()
    return Audit(look.seq, tuple(replay.findings), digest, 0, tuple(replay.notes))


def campaigns(levels: tuple[Level, ...]) -> list[str]:
    """The names of all campaigns among these levels and below them."""
    found = []
    for level in levels:
        found += [level.name] if level.kind == CAMPAIGN else campaigns(level.below)
    return found


def account_pages(storage: Storage, name: str, upto: int) -> Iterator[Entry]:
    """The entries of an account up to one."""
    after = 0
    while after < upto and (
        page := storage.account_entries(name, after, min(PAGE_SIZE, upto - after))
    ):
        yield from (entry for entry in page if entry.seq <= upto)
        after = page[-1].seq


def compare(replay: AccountReplay, look: AccountOverview) -> None:
    """Balances, status and the account above against what is stored."""
    ledger, terms = replay.ledger, replay.terms
    if ledger.seq != look.seq:
        replay.find(f"the journal has {ledger.seq} entries, and should have {look.seq}")
    if ledger.balances != look.balances:
        replay.find(
            f"the purses are {[tuple(purse) for purse in look.balances]}, and the journal "
            f"comes to {[tuple(purse) for purse in ledger.balances]}"
        )
    if ledger.head.as_dict() != look.head.as_dict():
        replay.find(
            f"the head is {look.head.as_dict()}, and the journal comes to {ledger.head.as_dict()}"
        )
    if look.account != terms.account:
        replay.find(f"the account above it is {look.account!r}, and should be {terms.account!r}")
