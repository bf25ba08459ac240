"""What a thread wants done with a campaign: verbs and their arguments, which can be sent to another
process as they are.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from purse.campaign import contexts as contexts_module
from purse.campaign.contexts import Context
from purse.campaign.journal import Entry
from purse.campaign.labels import Label, read_labels, wanted
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

    verb: str
    arguments: tuple[Any, ...]
    decide: Callable[[Transaction, Learner | None], Any]
    tickets: tuple[int, ...] = ()
    requests: tuple[str, ...] = ()
    labels: tuple[Label, ...] = ()
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
    mask: Sequence[Any] | None = None,
    contexts: Sequence[Sequence[Any]] | None = None,
    labels: Mapping[str, str] | None = None,
) -> Operation:
    """Up to n tickets; `mask` is a `Mask` and `contexts` are n of `Context`, or their parts as JSON
    has them. Raise `InvalidInput` for labels that are none.
    """
    allowed, seen, known = read_sent(mask), contexts_module.read_sent(contexts), read_labels(labels)
    return Operation(
        "ask",
        (n, request, mask, contexts, known),
        lambda transaction, learner: transaction.ask(
            n, request, allowed, needed(learner), seen, known
        ),
        requests=(request,),
        labels=wanted(known),
        needs_policy=True,
        expires=True,
    )


def tell(reports: Sequence[Sequence[Any]]) -> Operation:
    """A receipt for each report, or the error in its place."""
    read = [Report(*report) for report in reports]
    return Operation(
        "tell",
        (read,),
        lambda transaction, _: [told(transaction, report) for report in read],
        tickets=tuple(report.ticket for report in read),
    )


def told(transaction: Transaction, report: Report) -> Receipt | PurseError:
    """The receipt of one report among many, or why there is none."""
    try:
        return transaction.tell(*report)
    except PurseError as error:
        return error


def void(ticket: int) -> Operation:
    """A receipt."""
    return Operation(
        "void", (ticket,), lambda transaction, _: transaction.void(ticket), tickets=(ticket,)
    )


def settle(ticket: int, costs: Sequence[int]) -> Operation:
    """A receipt."""
    return Operation(
        "settle",
        (ticket, costs),
        lambda transaction, _: transaction.settle(ticket, costs),
        tickets=(ticket,),
    )


def reward(ticket: int, rewards: Sequence[float]) -> Operation:
    """A receipt."""
    return Operation(
        "reward",
        (ticket, rewards),
        lambda transaction, _: transaction.reward(ticket, rewards),
        tickets=(ticket,),
    )


def fail(ticket: int, costs: Sequence[int], reason: str) -> Operation:
    """A receipt."""
    return Operation(
        "fail",
        (ticket, costs, reason),
        lambda transaction, _: transaction.fail(ticket, costs, reason),
        tickets=(ticket,),
    )


def top_up(units: Sequence[int], request: str) -> Operation:
    """More budget."""
    return Operation(
        "top_up",
        (units, request),
        lambda transaction, _: transaction.top_up(units, request),
        requests=(request,),
    )


def set_status(kind: str, status: str) -> Operation:
    """Pause, resume or close."""
    return Operation(
        "set_status",
        (kind, status),
        lambda transaction, _: transaction.set_status(kind, status),
    )


def acknowledge(kind: str, count: int | None) -> Operation:
    """An alarm that somebody has looked at."""
    return Operation(
        "acknowledge",
        (kind, count),
        lambda transaction, _: transaction.acknowledge(kind, count),
    )


def expire() -> Operation:
    """How many tickets have expired."""
    return Operation(
        "expire",
        (),
        lambda transaction, _: sum(is_expiry(entry) for entry in transaction.entries),
        expires=True,
    )


def is_expiry(entry: Entry) -> bool:
    """Whether an entry says that a deadline has passed."""
    return entry.kind in ("expired", "unrewarded") or bool(entry.body.get("missing"))


def probabilities(
    mask: Sequence[Any] | None = None, context: Sequence[Any] | None = None
) -> Operation:
    """(K,) The probability of each arm in the next round; `mask` as for `ask`, and a `Context`."""
    allowed, seen = read_sent(mask), None if context is None else Context(*context)
    return Operation(
        "probabilities",
        (mask,) if context is None else (mask, context),
        lambda transaction, learner: transaction.foresee(allowed, needed(learner), seen),
        needs_policy=True,
        needs_look=True,
    )


def change_arm(verb: str, name: str, *bounds: Sequence[int] | None) -> Operation:
    """A new arm, a retired one, or other costs: `verb` is the name of one of `ArmRules`."""
    return Operation(
        "change_arm",
        (verb, name, *bounds),
        lambda transaction, _: ARM_VERBS[verb](transaction, name, *bounds),
    )


def read_sent(mask: Sequence[Any] | None) -> Mask | None:
    """A mask from its parts."""
    if mask is None:
        return None
    allowed, most = mask
    return Mask(tuple(allowed), tuple((arm, tuple(units)) for arm, units in most))


def needed(learner: Learner | None) -> Learner:
    """The policy of an operation that needs one."""
    assert learner is not None
    return learner


ARM_VERBS: dict[str, Callable[..., None]] = {
    "add_arm": Transaction.add_arm,
    "retire_arm": Transaction.retire_arm,
    "set_arm": Transaction.set_arm,
}
VERBS = (
    ask,
    tell,
    settle,
    reward,
    fail,
    void,
    top_up,
    set_status,
    acknowledge,
    change_arm,
    expire,
    probabilities,
)
OPERATIONS: dict[str, Callable[..., Operation]] = {made.__name__: made for made in VERBS}
