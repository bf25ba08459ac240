"""What a thread wants done with a campaign."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from purse.campaign.contexts import Context
from purse.campaign.journal import Entry
from purse.campaign.labels import read_labels
from purse.campaign.learner import Learner
from purse.campaign.mask import Mask
from purse.campaign.results import Receipt
from purse.campaign.rules import Transaction
from purse.errors import PurseError


class Report(NamedTuple):
    """A report that has been read and found possible."""

    ticket: int
    rewards: list[float]
    costs: list[int]


@dataclass(eq=False)
class Operation:
    """Something that a thread wants done: what it has to know, how it decides and, once it is done,
    what came of it.
    """

    decide: Callable[[Transaction, Learner | None], Any]
    tickets: tuple[int, ...] = ()
    requests: tuple[str, ...] = ()
    needs_policy: bool = False
    needs_look: bool = False  # the policy's probabilities, which have to be compiled first
    expires: bool = False  # needs expired holds to be settled first
    done: bool = False
    # it is done, or it is its thread's turn to work; None where no thread waits for it
    ready: threading.Event | None = None
    answer: Any = None
    error: BaseException | None = None


def ask(
    n: int,
    request: str,
    mask: Mask | None = None,
    contexts: Sequence[Context] | None = None,
    labels: Mapping[str, str] | None = None,
) -> Operation:
    """Up to n tickets; `contexts` are n. Raise `InvalidInput` for labels that are none."""
    known = read_labels(labels)
    return Operation(
        lambda transaction, learner: transaction.ask(
            n, request, mask, needed(learner), contexts, known
        ),
        requests=(request,),
        needs_policy=True,
        expires=True,
    )


def tell(reports: Sequence[Report]) -> Operation:
    """A receipt for each report, or the error in its place."""
    return Operation(
        lambda transaction, _: [told(transaction, report) for report in reports],
        tickets=tuple(report.ticket for report in reports),
    )


def told(transaction: Transaction, report: Report) -> Receipt | PurseError:
    """The receipt of one report among many, or why there is none."""
    try:
        return transaction.tell(*report)
    except PurseError as error:
        return error


def void(ticket: int) -> Operation:
    """A receipt."""
    return Operation(lambda transaction, _: transaction.void(ticket), tickets=(ticket,))


def settle(ticket: int, costs: Sequence[int]) -> Operation:
    """A receipt."""
    return Operation(lambda transaction, _: transaction.settle(ticket, costs), tickets=(ticket,))


def reward(ticket: int, rewards: Sequence[float]) -> Operation:
    """A receipt."""
    return Operation(lambda transaction, _: transaction.reward(ticket, rewards), tickets=(ticket,))


def fail(ticket: int, costs: Sequence[int], reason: str) -> Operation:
    """A receipt."""
    return Operation(
        lambda transaction, _: transaction.fail(ticket, costs, reason), tickets=(ticket,)
    )


def top_up(units: Sequence[int], request: str) -> Operation:
    """More budget."""
    return Operation(lambda transaction, _: transaction.top_up(units, request), requests=(request,))


def set_status(kind: str, status: str) -> Operation:
    """Pause, resume or close."""
    return Operation(lambda transaction, _: transaction.set_status(kind, status))


def set_alerts(alerts: Sequence[str]) -> Operation:
    """Other rules of alerts."""
    return Operation(lambda transaction, _: transaction.set_alerts(alerts))


def expire() -> Operation:
    """How many tickets have expired."""
    return Operation(
        lambda transaction, _: sum(is_expiry(entry) for entry in transaction.entries), expires=True
    )


def is_expiry(entry: Entry) -> bool:
    """Whether an entry says that a deadline has passed."""
    return entry.kind == "expired" or bool(entry.body.get("missing"))


def probabilities(mask: Mask | None = None, context: Context | None = None) -> Operation:
    """(K,) The probability of each arm in the next round."""
    return Operation(
        lambda transaction, learner: transaction.foresee(mask, needed(learner), context),
        needs_policy=True,
        needs_look=True,
    )


def add_arm(name: str, low: Sequence[int] | None, high: Sequence[int] | None) -> Operation:
    """A new arm, with its least and most costs."""
    return Operation(lambda transaction, _: transaction.add_arm(name, low, high))


def set_arm(name: str, low: Sequence[int] | None, high: Sequence[int] | None) -> Operation:
    """Other costs of an arm."""
    return Operation(lambda transaction, _: transaction.set_arm(name, low, high))


def retire_arm(name: str) -> Operation:
    """An arm that is not played any more."""
    return Operation(lambda transaction, _: transaction.retire_arm(name))


def needed(learner: Learner | None) -> Learner:
    """The policy of an operation that needs one."""
    assert learner is not None
    return learner
