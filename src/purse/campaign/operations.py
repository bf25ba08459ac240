"""What a thread wants done with a campaign; asking and telling also in words that another process
understands, which can do it for this one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from purse import errors
from purse._version import __version__
from purse.base.json import compact
from purse.campaign.ledger import TicketRecord
from purse.campaign.results import Receipt
from purse.campaign.rules import Choose, Transaction
from purse.campaign.storage.base import ROOM
from purse.campaign.terms import Terms
from purse.errors import PurseError

ASK, TELL = "ask", "tell"


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

    decide: Callable[[Transaction], Any]
    tickets: tuple[int, ...] = ()
    requests: tuple[str, ...] = ()
    needs_policy: bool = False  # needs the policy
    expires: bool = False  # needs expired holds to be settled first
    words: tuple[Any, ...] = ()  # the same for others; none where it has to be done here
    size: int = 0  # tickets and reports that come of it
    done: bool = False
    # it is done, or it is its thread's turn to work
    ready: threading.Event = field(default_factory=threading.Event)
    answer: Any = None
    error: BaseException | None = None


def ask_operation(n: int, request: str, choose: Choose) -> Operation:
    """Up to n tickets."""
    return Operation(
        lambda transaction: transaction.ask(n, request, choose),
        requests=(request,),
        needs_policy=True,
        expires=True,
        words=(ASK, n, request),
        size=n,
    )


def tell_operation(reports: Sequence[Report]) -> Operation:
    """A receipt for each report, or the error in its place."""
    tickets = tuple(report.ticket for report in reports)
    return Operation(
        lambda transaction: [told(transaction, report) for report in reports],
        tickets=tickets,
        words=(TELL, reports),
        size=len(reports),
    )


def told(transaction: Transaction, report: Report) -> Receipt | PurseError:
    """The receipt of one report among many, or why there is none."""
    try:
        return transaction.tell(*report)
    except PurseError as error:
        return error


def encode(terms: Terms, operations: Sequence[Operation]) -> bytes | None:
    """These operations in words, where all of them have some and the answer will find room."""
    if (
        not all(operation.words for operation in operations)
        or sum(room(terms, operation) for operation in operations) > ROOM
    ):
        return None
    try:
        return compact(
            [__version__, terms.id, terms.name, [operation.words for operation in operations]]
        ).encode()
    except TypeError:  # a number that JSON cannot hold: the transaction will refuse it
        return None


def room(terms: Terms, operation: Operation) -> int:
    """Bytes of what comes of an operation, at most: tickets or receipts, or errors that say names
    and amounts. JSON makes two of a quotation mark.
    """
    names = (
        terms.name,
        *operation.requests,
        max(terms.resources, key=wide),
        *[max(terms.arms, key=wide)] * terms.plays,
    )
    said = 2 * sum(map(wide, names))
    return 100 + operation.size * (
        500 + said + terms.plays * 60 + 100 * len(terms.resources) * (1 + terms.plays)
    )


def wide(name: str) -> int:
    """Bytes of a name."""
    return len(name.encode())


def decode(terms: Terms, text: bytes, choose: Choose) -> list[Operation]:
    """The operations of a notice; none where it is for another campaign, or from another
    version.
    """
    try:
        version, *campaign, wanted = orjson.loads(text)
        # by name, too: a copy that was restored under another name has the same id
        if (version, *campaign) != (__version__, terms.id, terms.name):
            return []
        return [
            ask_operation(words[0], words[1], choose)
            if verb == ASK
            else tell_operation([Report(*each) for each in words[0]])
            for verb, *words in wanted
        ]
    except (ValueError, TypeError, IndexError):
        return []


def encode_results(operations: Sequence[Operation]) -> bytes | None:
    """What came of operations, in words; none where there is no room for them, against all
    expectation.
    """
    text = orjson.dumps(
        [operation.error or operation.answer for operation in operations], default=plain
    )
    return text if len(text) <= ROOM else None


def plain(value: Any) -> Any:
    """What JSON does not know."""
    return (
        {"error": type(value).__name__, "text": str(value)}
        if isinstance(value, PurseError)
        else list(value)
    )


def apply_results(operations: Sequence[Operation], text: bytes) -> None:
    """Let operations have come to what another process says."""
    for operation, found in zip(operations, orjson.loads(text), strict=True):
        operation.answer, operation.error = None, None
        if isinstance(found, dict):
            operation.error = error_of(found)
        elif operation.words[0] == ASK:
            operation.answer = [TicketRecord(*each) for each in found]
        else:
            operation.answer = [
                error_of(each)
                if isinstance(each, dict)
                else Receipt(*each[:4], *map(tuple, each[4:]))
                for each in found
            ]


def error_of(found: dict[str, str]) -> PurseError:
    """The error that another process has met."""
    kind: type[PurseError] = getattr(errors, found["error"], PurseError)
    return kind(found["text"])
