"""Steps that the checks of storages are made of."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from purse.campaign.account.above import transactions
from purse.campaign.account.terms import AccountTerms
from purse.campaign.checkpoint import POLICY, checkpoint
from purse.campaign.group_commit import write_set
from purse.campaign.ledger import Ledger
from purse.campaign.rules import Transaction
from purse.campaign.storage.base import LockedState, ReadSet, Storage, WriteSet
from purse.campaign.terms import Terms

Open = Callable[[], Storage]
THREADS, TURNS = 4, 25


def terms(name: str, budget: int = 100, account: str = "") -> Terms:
    """A campaign of two arms, which may cost 1 and 3."""
    facts: dict[str, Any] = {
        "horizon": None,
        "seed": 0,
        "expires_after": 1,
        "reward_within": 1,
        "missing_reward": 0,
    }
    return Terms.of(
        name,
        arms={"a": 1, "b": 3},
        budget=budget,
        cost_min=1,
        resources=["units"],
        policy="uniform",
        account=account,
        **facts,
    )


def begun(storage: Storage, name: str, budget: int = 100, account: str = "") -> Terms:
    """A new campaign."""
    made = terms(name, budget, account)
    storage.create(name, [first_write(made)], account)
    return made


def first_write(made: Terms) -> WriteSet:
    """The first entry of a campaign."""
    transaction = Transaction(Ledger(made), 1_000)
    transaction.add("created", made.as_dict())
    return write_set(transaction)


def book_of(
    made: Terms, found: LockedState, now: int = 2_000, above: Sequence[AccountTerms] = ()
) -> Transaction:
    """A transaction on what was found."""
    ledger = Ledger(made, found.seq, found.head, found.balances)
    ledger.tickets, ledger.requests = found.tickets, found.requests
    return Transaction(ledger, now, transactions(above, found.accounts, now))


def changed(
    storage: Storage,
    made: Terms,
    wants: ReadSet,
    act: Callable[[Transaction], object],
    above: Sequence[AccountTerms] = (),
) -> list[LockedState]:
    """One change; what it found."""
    seen: list[LockedState] = []

    def decide(found: LockedState) -> WriteSet | None:
        seen.append(
            found._replace(
                head=found.head,
                balances=list(found.balances),
                tickets=dict(found.tickets),
                requests=dict(found.requests),
            )
        )
        transaction = book_of(made, found, above=above)
        act(transaction)
        return (
            write_set(transaction, [checkpoint(POLICY, found.seq, "digest", b"\0body")])
            if transaction.entries
            else None
        )

    storage.change(made.name, wants, decide)
    return seen


class FirstArm:
    """A policy that always takes the first arm."""

    def choose(self, *_: object) -> tuple[list[int], list[float]]:
        """Return arms and their probabilities."""
        return [0], [0.5]

    def probabilities(self, *_: object) -> list[float]:
        """Return the probability of each arm."""
        return [0.5, 0.5]

    def begin_period(self, rounds: int) -> None:
        """Nothing here depends on a horizon."""


def ask(
    transaction: Transaction, n: int, request: str, labels: dict[str, str] | None = None
) -> None:
    """Issue tickets for the first arm."""
    transaction.ask(n, request, None, FirstArm(), labels=labels)


def in_threads(work: Callable[[int], None], count: int) -> None:
    """Do something in so many threads at once."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def raises(
    kind: type[BaseException] | tuple[type[BaseException], ...], act: Callable[[], object]
) -> bool:
    """Whether this is raised."""
    try:
        act()
    except kind:
        return True
    return False
