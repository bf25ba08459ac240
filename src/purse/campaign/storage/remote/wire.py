"""What is sent between a client and the process that commits for it: JSON, in which tuples are
lists and bytes are base64.

A request is [number, deadline, verb, arguments]; verbs are those of `OPERATIONS` and of
`ACCOUNT_OPERATIONS`, whose first two arguments are the name and the id of the campaign or account,
and the methods of `Storage` that read. An answer
is [number, answer] or, where something was raised, [number, null, {"error": ..., "text": ...}].
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any

import orjson

from purse import errors
from purse.campaign.account.records import AccountRecord
from purse.campaign.archived_ticket import ArchivedTicket
from purse.campaign.checkpoint import Checkpoint
from purse.campaign.journal import Entry
from purse.campaign.labels import LabelRow
from purse.campaign.records import Balance, CampaignRecord, TicketRecord
from purse.campaign.results import Receipt
from purse.campaign.storage.base import (
    AccountOverview,
    AccountWrite,
    LabelTable,
    Level,
    Overview,
    Reports,
    WriteSet,
)
from purse.errors import ArmsCoolingDown, PurseError

HELLO, CREATE, CREATE_ACCOUNT = "hello", "create", "create_account"  # verbs besides


def encode(message: Any) -> bytes:
    """A message as JSON."""
    return orjson.dumps(message, default=plain, option=orjson.OPT_PASSTHROUGH_DATACLASS)


def plain(value: Any) -> Any:
    """What JSON has no word for."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, (CampaignRecord, AccountRecord)):
        return value.as_dict()
    if isinstance(value, BaseException):
        return failure(value)
    raise TypeError(f"{value!r} cannot be sent")


def failure(error: BaseException) -> dict[str, Any]:
    """An error by the nearest name in `purse.errors`; one that is not ours keeps its own name in
    the text.
    """
    if not isinstance(error, PurseError):
        text = f"the server failed: {type(error).__name__}: {' '.join(str(error).split())}"
        return {"error": PurseError.__name__, "text": text}
    known = next(each for each in type(error).mro() if each.__module__ == errors.__name__)
    more = {"seconds": error.seconds} if isinstance(error, ArmsCoolingDown) else {}
    return {"error": known.__name__, "text": str(error), **more}


def error_of(found: dict[str, Any]) -> PurseError:
    """The error that was sent."""
    if "seconds" in found:
        return ArmsCoolingDown(found["text"], found["seconds"])
    known = getattr(errors, found["error"], PurseError)
    is_ours = isinstance(known, type) and issubclass(known, PurseError)
    return (known if is_ours else PurseError)(found["text"])


def decode(verb: str, answer: Any) -> Any:
    """The answer to a verb, as the verb gives it."""
    made = ANSWERS.get(verb)
    return answer if made is None or answer is None else made(answer)


def receipt(row: Any) -> Receipt:
    """A receipt from its fields."""
    ticket, state, duplicate, late, *amounts = row
    return Receipt(ticket, state, duplicate, late, *map(tuple, amounts))


def receipt_or_error(row: Any) -> Receipt | PurseError:
    """The answer to one report among many."""
    return error_of(row) if isinstance(row, dict) else receipt(row)


def checkpoint(row: Any) -> Checkpoint:
    """A checkpoint from its fields."""
    kind, seq, digest, checksum, body = row
    return Checkpoint(kind, seq, digest, checksum, b64decode(body))


def archived(row: Any) -> ArchivedTicket:
    """An archived ticket from its fields."""
    number, told, request, body = row
    return ArchivedTicket(number, told, None if request is None else b64decode(request), body)


def overview(row: Any) -> Overview:
    """A glance from its fields."""
    seq, head, balances, *rest = row
    return Overview(seq, CampaignRecord(**head), [Balance(*each) for each in balances], *rest)


def reports(row: Any) -> Reports:
    """Reports from their fields."""
    digest, rows, seq, last = row
    return Reports(digest, [(number, body) for number, body in rows], seq, last)


def write_set(row: Any) -> WriteSet:
    """What is to be written, from its fields."""
    seq, head, balances, tickets, entries, digests, checkpoints, moved, accounts, labels = row
    return WriteSet(
        seq,
        CampaignRecord(**head),
        [Balance(*each) for each in balances],
        [TicketRecord(*each) for each in tickets],
        [Entry(*each) for each in entries],
        digests,
        [checkpoint(each) for each in checkpoints],
        None if moved is None else [archived(each) for each in moved],
        tuple(account_write(each) for each in accounts),
        [LabelRow(*each) for each in labels],
    )


def account_write(row: Any) -> AccountWrite:
    """What is to be written of an account, from its fields."""
    name, seq, head, balances, entries, digests = row
    return AccountWrite(
        name,
        seq,
        AccountRecord(**head),
        [Balance(*each) for each in balances],
        [Entry(*each) for each in entries],
        digests,
    )


def account_overview(row: Any) -> AccountOverview:
    """A glance at an account, from its fields."""
    above, seq, head, balances, below = row
    purses = [Balance(*each) for each in balances]
    return AccountOverview(above, seq, AccountRecord(**head), purses, levels(below))


def levels(rows: Any) -> tuple[Level, ...]:
    """What is below an account, from its fields."""
    return tuple(
        Level(name, kind, status, [Balance(*each) for each in balances], levels(below), period)
        for name, kind, status, balances, below, period in rows
    )


ANSWERS: dict[str, Callable[[Any], Any]] = {
    "ask": lambda rows: [TicketRecord(*row) for row in rows],
    "tell": lambda rows: [receipt_or_error(row) for row in rows],
    **dict.fromkeys(("settle", "reward", "fail", "void"), receipt),
    "overview": overview,
    "account": account_overview,
    **dict.fromkeys(("entries", "account_entries"), lambda rows: [Entry(*row) for row in rows]),
    "told": reports,
    "tickets": lambda rows: [TicketRecord(*row) for row in rows],
    "archived": lambda rows: [archived(row) for row in rows],
    "checkpoint": checkpoint,
    "labels": lambda row: LabelTable(row[0], [LabelRow(*each) for each in row[1]]),
}
