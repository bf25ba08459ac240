"""Reports on tickets: how they are read, and their rules. The first report stands."""

from collections.abc import Iterable, Mapping, Sequence
from operator import gt
from typing import Any

import numpy as np

from purse.base import amounts, validation
from purse.base.text import legible
from purse.campaign.api.results import Receipt
from purse.campaign.api.states import FAILED, HELD, OPEN, REPORTED, SETTLED, SKIPPED, TOLD, VOID
from purse.campaign.ledger.records import Units
from purse.campaign.ledger.ticket import TicketRecord, receipt
from purse.campaign.rules.transaction import Transaction, check_counted
from purse.campaign.terms.terms import Terms
from purse.errors import Conflict, TicketError, invalid

_NOTE = 200  # characters of a reason or a note that the journal keeps


def tell(transaction: Transaction, number: int, reward: float, costs: Units) -> Receipt:
    """Take a whole report (P3, P6)."""
    ticket, costs = _pulled_ticket(transaction, number), list(costs)
    if ticket.state == TOLD and ticket.reward == reward and ticket.costs == costs:
        return receipt(ticket, duplicate=True)
    if (
        ticket.state in (TOLD, FAILED)
        or (ticket.state == SETTLED and ticket.costs != costs)
        or ticket.reward not in (None, reward)
    ):
        report = {"reward": reward, "costs": costs}
        raise _conflict(transaction, ticket, report, _report_text(reward, costs))
    return _complete(transaction, ticket, reward, costs)


def settle(transaction: Transaction, number: int, costs: Units) -> Receipt:
    """Take what a pull cost; its reward may be known already, or come later."""
    ticket = _pulled_ticket(transaction, number)
    costs = list(costs)
    if ticket.state in REPORTED:
        if ticket.costs == costs:
            return receipt(ticket, duplicate=True)
        raise _conflict(transaction, ticket, {"settle": costs}, _report_text(None, costs))
    if ticket.reward is not None:
        return _complete(transaction, ticket, ticket.reward, costs)
    transaction.add("settled", _cost_body(transaction, ticket, costs), ticket=number)
    return receipt(transaction.find(number))


def reward(transaction: Transaction, number: int, reward: float) -> Receipt:
    """Take the reward of a pull; its cost may be known already, or come later."""
    ticket = _pulled_ticket(transaction, number)
    if ticket.reward == reward:
        return receipt(ticket, duplicate=True)
    if ticket.reward is not None:
        raise _conflict(transaction, ticket, {"reward": reward}, _report_text(reward, None))
    if ticket.state == SETTLED:
        return _complete(transaction, ticket, reward, ticket.costs or [])
    transaction.add("rewarded", {"reward": reward}, ticket=number)
    return receipt(transaction.find(number))


def fail(
    transaction: Transaction, number: int, costs: Units | None, reason: str, rest: int | None = None
) -> Receipt:
    """Take that a call did not work; nothing is learnt.

    costs   None if they are not known: the ticket stays open, with its hold
    rest    ms for which the arm cools down at least
    """
    ticket = _pulled_ticket(transaction, number)
    costs = None if costs is None else list(costs)
    if ticket.failed and costs in (None, ticket.costs):
        return receipt(ticket, duplicate=True)
    if ticket.state not in OPEN:
        what = "failed, " + (_report_text(None, costs) or "cost unknown")
        raise _conflict(transaction, ticket, {"fail": costs}, what)
    known = {} if costs is None else _cost_body(transaction, ticket, costs)
    body = {**known, "reason": reason} | ({} if rest is None else {"rest": rest})
    transaction.add("broken" if costs is None else "failed", body, ticket=number)
    return receipt(transaction.find(number))


def void(transaction: Transaction, number: int) -> Receipt:
    """Release a hold."""
    ticket = _pulled_ticket(transaction, number, "void")
    if ticket.state in REPORTED:
        raise _conflict(transaction, ticket, {"void": True}, "void")
    if ticket.state == VOID:
        return receipt(ticket, duplicate=True)
    transaction.add("voided", {}, ticket=number)
    return receipt(transaction.find(number))


def expire(transaction: Transaction, due: Iterable[TicketRecord]) -> int:
    """Presume spent what has outlived its deadline, and count rewards that have not come in time as
    the terms say; return the number of these tickets.
    """
    missing, count = transaction.campaign.terms.missing_reward, 0
    for ticket in due:
        if ticket.deadline is None or ticket.deadline > transaction.now:
            continue
        count += 1
        if ticket.state == HELD:
            transaction.add("expired", {}, ticket=ticket.id)
        elif missing is not None:  # which it is not with `reward_within`
            _complete(transaction, ticket, missing, ticket.costs or [], missing=True)
    return count


def _pulled_ticket(transaction: Transaction, number: int, verb: str = "tell") -> TicketRecord:
    """Return a ticket. Raise `TicketError` if its round passed without a pull."""
    ticket = transaction.find(number)
    if ticket.state == SKIPPED:
        raise TicketError(f"ticket {number} skipped its round: there is nothing to {verb}")
    return ticket


def _complete(
    transaction: Transaction, ticket: TicketRecord, reward: float, costs: Units, **more: bool
) -> Receipt:
    """Bring reward and cost together, in the only entry that the policy learns from."""
    body: dict[str, Any] = {"t": ticket.t, "arm": ticket.arm, "p": ticket.p, "reward": reward}
    if "context" in ticket.asked:
        body["context"] = ticket.asked["context"]
    if ticket.state == SETTLED:
        body |= {"costs": list(costs), "from": ticket.source}
    else:
        body |= _cost_body(transaction, ticket, costs)
    transaction.add("told", {**body, **more}, ticket=ticket.id)
    return receipt(transaction.find(ticket.id))


def _cost_body(transaction: Transaction, ticket: TicketRecord, costs: Units) -> dict[str, Any]:
    """Return the cost's fields in an entry. Raise `InvalidInput` if it is too large to count."""
    holds = ticket.held if ticket.state in OPEN else [0] * len(ticket.held)
    is_over = any(map(gt, costs, holds))
    for level in transaction.level.chain() if is_over else ():
        what = "with it what is spent would exceed what can be counted,"
        check_counted("cost", what, level.balances, costs, 1)
    body: dict[str, Any] = {"costs": list(costs), "from": ticket.state}
    return {**body, "over": True} if is_over else body


def _conflict(
    transaction: Transaction, ticket: TicketRecord, report: dict[str, Any], what: str
) -> Conflict:
    """Keep what was said too late; return the error that says that the first report stands."""
    transaction.add("conflict", {"report": report}, ticket=ticket.id)
    only_reward = ticket.costs is None and ticket.reward is not None
    state = "rewarded" if only_reward else ticket.state
    first = _report_text(
        ticket.reward if ticket.state == TOLD or only_reward else None, ticket.costs
    )
    return Conflict(
        f"ticket {ticket.id} was {state} before with another report: {first or ticket.state}; "
        f"the first report stands, this one is only recorded: {what}"
    )


def _report_text(reward: float | None, costs: Units | None) -> str:
    """Write a report for people."""
    parts = [] if reward is None else [f"reward {reward:g}"]
    return ", ".join(parts + ([f"cost {', '.join(map(amounts.text, costs))}"] if costs else []))


def count_expired(transaction: Transaction) -> int:
    """Return how many tickets of this transaction have passed a deadline."""
    entries = [added.entry for added in transaction.added]
    return sum(entry.kind == "expired" or bool(entry.body.get("missing")) for entry in entries)


def read_reward(terms: Terms, reward: Any) -> float:
    """Return a reward. Raise `InvalidInput` if it is no number, or outside [0, 1] while the terms
    declare no other range.
    """
    if isinstance(reward, (Sequence, Mapping)) or validation.is_truth(reward) or np.ndim(reward):
        raise invalid("reward", reward, "must be a number")
    (value,) = validation.rewards(reward)
    if terms.reward_range is None and not 0 <= value <= 1:
        raise invalid("reward", value, "must lie between 0 and 1")
    return value


def read_costs(terms: Terms, cost: Any, *, zero: bool = False) -> list[int]:
    """Return the units of each resource, from one amount, or a list or dict of them.

    zero   whether a single 0 stands for all resources

    Raise `InvalidInput` if an amount is not allowed. A cost has no upper limit here: a true report
    is never refused.
    """
    return list(terms.amounts("cost", cost, zero=zero, low=0))


def read_note(field: str, note: Any) -> str:
    """Return a text for people in one line, cut."""
    if not isinstance(note, str):
        raise invalid(field, note, "must be text")
    return legible(note, _NOTE)
