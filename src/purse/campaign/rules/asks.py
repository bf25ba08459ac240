"""The rules of asks: an arm is chosen, and the most that it may cost is held."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from purse.campaign.api.defaults import ALLOW, REFUSE, SESSION_WITHIN
from purse.campaign.api.states import ENDED, FAILED, RUNNING, VOID
from purse.campaign.ledger.ask_inputs import Context, Mask, check_keys, check_most
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.level import fits
from purse.campaign.ledger.limits import LabelBudget
from purse.campaign.ledger.masks import ready
from purse.campaign.ledger.records import Units
from purse.campaign.ledger.state import horizon_reason, last_day, note_over, policy_has_ended
from purse.campaign.ledger.ticket import SKIP, TicketRecord
from purse.campaign.rules.allowed_arms import Need, allowed_arms, needs, shortage
from purse.campaign.rules.transaction import Transaction
from purse.campaign.terms.arms import PolicyView
from purse.compiler.kernel import kernel
from purse.errors import (
    AskRefused,
    BudgetExhausted,
    CampaignEnded,
    CampaignPaused,
    Conflict,
    HorizonReached,
    InvalidInput,
    PurseError,
)
from purse.kernels.random import EXPLORE, at, stream, uniform
from purse.live.report import wrong_choice

_STOP = -2  # the choice of a policy that ends the game
_MOST_FORECAST = 10**12  # rounds


def ask(
    transaction: Transaction,
    n: int,
    request: str,
    mask: Mask | None = None,
    contexts: Sequence[Context] | None = None,
    labels: Mapping[str, str] | None = None,
    session: str | None = None,
) -> list[TicketRecord]:
    """Return up to n tickets, at least one; the same again for a request that was answered before
    (P4). Raise `AskRefused` if no ticket can be issued.
    """
    same = request_body(transaction, n, mask, labels, session)
    nothing = dict.fromkeys(("n", "mask", "labels", "session"))
    entry = transaction.repeated(request, "asked", nothing | same)
    if entry is not None:
        return _handed_out(transaction, request, entry.ticket or 0, n, contexts)
    issued: list[TicketRecord] = []
    for index in range(n):
        try:
            context = None if contexts is None else contexts[index]
            body = choice(transaction, mask, context, labels, session) | same
        except AskRefused as error:
            if issued:
                break
            if isinstance(error, BudgetExhausted) and error.need is not None:
                transaction.note_refusal(error.need)
            raise
        number = transaction.level.head.counts.get("tickets", 0) + 1
        if issued:
            body["of"] = request
        transaction.add("asked", body, request=None if issued else request, ticket=number)
        issued.append(transaction.find(number))
    return issued


def request_body(
    transaction: Transaction,
    n: int,
    mask: Mask | None,
    labels: Mapping[str, str] | None,
    session: str | None = None,
) -> dict[str, Any]:
    """Return the request's fields in an `asked` entry: number of tickets, mask, labels, session."""
    body: dict[str, Any] = {"n": n} if n > 1 else {}
    if mask is not None:
        body["mask"] = mask.as_body(transaction.campaign.arms.n_places)
    if labels is not None:
        body["labels"] = labels
    if session is not None:
        body["session"] = session
    return body


def _handed_out(
    transaction: Transaction, request: str, first: int, n: int, contexts: Sequence[Context] | None
) -> list[TicketRecord]:
    """Return the tickets that answered a request before.

    Raise `Conflict` if all are void or failed, because nothing is held for another call, or if a
    ticket had another context. Contexts for which no ticket was issued are not kept.
    """
    by_number = transaction.campaign.tickets
    tickets = [
        by_number[number]
        for number in range(first, first + n)
        if number in by_number and by_number[number].request == request
    ]
    for ticket in tickets:  # some may be sealed
        if contexts and ticket.asked.get("context") != contexts[ticket.id - first].numbers:
            raise Conflict(f"request_id={request!r} was used before with another context")
    if all(ticket.failed or ticket.state == VOID for ticket in tickets):
        end = FAILED if tickets[0].failed else VOID
        raise Conflict(
            f"request_id={request!r} was answered with ticket {first}, which is {end} by now: "
            "nothing is held for another call; ask with another request_id"
        )
    return tickets


def choice(
    transaction: Transaction,
    mask: Mask | None,
    context: Context | None,
    labels: Mapping[str, str] | None,
    session: str | None = None,
) -> dict[str, Any]:
    """Return the body of the next ticket's entry. Raise `AskRefused` if no arm can be pulled."""
    level, terms, head = transaction.campaign, transaction.campaign.terms, transaction.level.head
    check_keys(labels or (), head.labels)
    _refuse_stopped(transaction)
    _refuse_played(transaction)
    _refuse_unlabelled(level, labels)
    limited = level.budgets_of(labels)
    need, view, explored = _look(transaction, mask, context, limited)
    t, left = view.t, view.left
    kept = _kept_arm(transaction, session, view)
    arm, p = transaction.chosen or kept or _next_round(transaction, view, explored)
    if arm == _STOP or (arm == SKIP and not terms.may_skip):
        is_special = mask is not None or context is not None or bool(limited)
        _refuse_over(transaction, view, arm, is_special=is_special)
    held = [0] * len(left) if arm == SKIP else list(need(arm))
    if not fits(held, level.left(limited) if limited else left):
        raise shortage(transaction, arm, held, limited)
    body: dict[str, Any] = {"t": t, "arm": arm, "p": p, "held": held}
    if kept is not None:
        body["kept"] = True
    if terms.expires_after is not None and arm != SKIP:
        body["deadline"] = transaction.now + terms.expires_after
    if arm in head.owed:
        body["initial"] = True
    if view.rounds_left is not None:
        body["rounds_left"] = view.rounds_left
    if left != [max(0, balance.left) for balance in level.balances]:  # a level above has less
        body["left"] = left
    if periods := level.periods():
        body["periods"] = periods
    return body if context is None else body | context.as_body()


def _kept_arm(
    transaction: Transaction, session: str | None, view: PolicyView
) -> tuple[int, float] | None:
    """Return the arm that a session keeps, with the probability of its draw; None if one is to be
    drawn: the session is new, has paused for long, or its arm may not be chosen now.
    """
    if session is None or (last := transaction.campaign.sessions.get(session)) is None:
        return None
    at, arm, p = last
    allowed = transaction.campaign.playable if view.allowed is None else view.allowed
    is_late = transaction.now - at > SESSION_WITHIN
    return None if is_late or arm not in allowed else (arm, p)


def foresee(transaction: Transaction, mask: Mask | None, context: Context | None) -> list[float]:
    """(K,) Return the probability of each arm in the next round."""
    _, view, explored = _look(transaction, mask, context)
    policy_share, chances = 1 - sum(explored.values()), _policy_chances(transaction, view)
    return [explored.get(arm, 0.0) + policy_share * chance for arm, chance in enumerate(chances)]


def _look(
    transaction: Transaction,
    mask: Mask | None,
    context: Context | None,
    limited: Sequence[LabelBudget] = (),
) -> tuple[Need, PolicyView, dict[int, float]]:
    """Return each arm's maximum cost in the next round, the policy's view before it, and the
    chance of each arm to be drawn by exploration. Raise `AskRefused` if no arm may be chosen.
    """
    level, head = transaction.campaign, transaction.level.head
    _check_mask(transaction, mask)
    # what a label has left decides which arms fit; the policy plans with the campaign's money
    left, need, allowed = level.left(), needs(level, mask), allowed_arms(transaction, mask, limited)
    if transaction.chosen is None and (period := level.period) is not None:
        transaction.policy.begin_period(period.rounds)
    numbers, known = None if context is None else context.numbers, level.n_known
    to_come, owed = _rounds_left(transaction), [arm for arm in head.owed if arm < known]
    view = PolicyView(
        head.rounds + 1, left, head.open[:known], owed, allowed, numbers, head.masks, to_come
    )
    return need, view, explored_arms(transaction, need, allowed) if level.terms.explore else {}


def _rounds_left(transaction: Transaction) -> int | None:
    """Return about how many rounds are left, with the next; None if the horizon is no forecast."""
    level, now = transaction.campaign, transaction.now
    if not level.head.traffic:
        return None
    with_this = level.traffic.after_ask(now, level.window)
    return 1 + min(_MOST_FORECAST, round(with_this.to_come(now, level.window)))


def _refuse_unlabelled(level: CampaignLevel, labels: Mapping[str, str] | None) -> None:
    """Raise `InvalidInput` if a label is missing that has a limit, unless the terms allow it."""
    missing = [key for key in level.head.limits if key not in (labels or ())]
    if missing and level.terms.unlabelled == REFUSE:
        raise InvalidInput(
            f"labels: must have {missing[0]!r}, whose values have a limit, unless the campaign was "
            f'created with unlabelled="{ALLOW}"'
        )


def _refuse_stopped(transaction: Transaction) -> None:
    """Raise `CampaignPaused` or `CampaignEnded` if a level is so, or if the time is over."""
    if transaction.campaign.is_over(transaction.now):
        why = last_day(transaction.campaign.terms)
        raise CampaignEnded(f"{transaction.level.title} has ended: {why}")
    for level in transaction.level.chain():  # the nearest first
        if level.head.status == ENDED:
            raise CampaignEnded(f"{level.title} has ended")
        if level.head.status != RUNNING:
            raise CampaignPaused(f"{level.title} is paused; resume it first")


def _refuse_played(transaction: Transaction) -> None:
    """Raise `HorizonReached` if all rounds of the horizon were asked for."""
    if reached := horizon_reason(transaction.campaign):
        raise HorizonReached(reached[1])


def _refuse_over(
    transaction: Transaction, view: PolicyView, arm: int, *, is_special: bool
) -> NoReturn:
    """Raise `AskRefused` because the policy has ended the game, and note it.

    is_special   whether the ask has a mask or a context: then only `STOP` is about others, too

    Nor is it noted if money alone does not decide which arms are allowed: others will be soon.
    """
    level, there = transaction.campaign, transaction.campaign.playable
    chose_freely = view.allowed is None or len(view.allowed) == len(there)
    waits = len(ready(level.head, there, transaction.now)) < len(there)
    if arm == _STOP or not (is_special or waits):
        note_over(level, for_good=arm == _STOP and chose_freely)
    raise AskRefused(policy_has_ended(level.terms, level.head.rounds))


def _check_mask(transaction: Transaction, mask: Mask | None) -> None:
    """Raise `InvalidInput` if a mask allows a retired arm, or more than an arm may cost."""
    arms = transaction.campaign.arms
    if mask is not None:
        for arm in mask.allowed:
            if arms.is_retired[arm]:
                raise InvalidInput(f"arms: arm {arms.names[arm]!r} is retired")
        check_most(mask, arms.names, arms.cost_max)


def _next_round(
    transaction: Transaction, view: PolicyView, explored: Mapping[int, float]
) -> tuple[int, float]:
    """Return arm and probability of the next ticket: explored, or chosen by the policy."""
    policy_share, t = 1 - sum(explored.values()), view.t
    drawn = _draw(explored, transaction.campaign.terms.seed, t) if explored else None
    if drawn is not None:
        return drawn, explored[drawn] + policy_share * _policy_chances(transaction, view)[drawn]
    arm, chance = _policy_choice(transaction, view)
    _check_choice(transaction, t, arm, chance)
    return arm, explored[arm] + policy_share * chance if explored and arm >= 0 else chance


def _policy_choice(transaction: Transaction, view: PolicyView) -> tuple[int, float]:
    """Return the arm that the policy chooses, and its probability. If no round may pass, the
    cheapest arm is pulled in those that the policy lets pass.
    """
    arm, chance = transaction.policy.choose(view)
    if transaction.campaign.terms.skip or arm == _STOP:
        return arm, chance
    cheapest = _cheapest_arm(transaction, view)
    if arm == SKIP or (arm == cheapest and chance < 1):
        return cheapest, _policy_chances(transaction, view)[cheapest]
    return arm, chance


def _policy_chances(transaction: Transaction, view: PolicyView) -> list[float]:
    """(K,) Return the probability of each arm if the policy chooses, see `_policy_choice`."""
    chances = transaction.policy.probabilities(view)
    if not transaction.campaign.terms.skip:
        chances[_cheapest_arm(transaction, view)] += max(0.0, 1 - sum(chances))
    return chances


def _cheapest_arm(transaction: Transaction, view: PolicyView) -> int:
    """Return the allowed arm that may cost the least, as a part of what the dearest may."""
    arms = transaction.campaign.arms

    def share(arm: int) -> float:
        pairs = zip(arms.cost_max[arm], arms.maxima, strict=True)
        return max((units / maximum for units, maximum in pairs if maximum), default=0.0)

    return min(arms.there if view.allowed is None else view.allowed, key=share)


def explored_arms(
    transaction: Transaction, need: Need, allowed: list[int] | None
) -> dict[int, float]:
    """Return the chance of each arm to be drawn by exploration: a share of the money."""
    level = transaction.campaign
    balances, period = level.balances, level.period
    budget: Units = period.budget(balances) if period else [part.budget for part in balances]
    places = level.arms.there if allowed is None else allowed
    shares = {  # the largest share of the budget, over all resources
        arm: max(
            (units / whole for units, whole in zip(need(arm), budget, strict=True) if whole > 0),
            default=0.0,
        )
        for arm in places
    }
    return _chances(level.terms.explore, shares)


def _check_choice(transaction: Transaction, t: int, arm: int, p: float) -> None:
    """Raise `PurseError` if the policy chose nonsense."""
    terms = transaction.campaign.terms
    n_arms = len(transaction.campaign.arms.names)
    if arm not in (SKIP, _STOP) and not 0 <= arm < n_arms:
        raise PurseError(f"{terms.policy} {wrong_choice((arm,), n_arms, t)}")
    if arm not in (SKIP, _STOP) and not 0 < p <= 1 + 1e-9:
        raise PurseError(f"{terms.policy} chose with probabilities {[p]} in round {t}")


def _chances(share: float, costs: Mapping[int, float]) -> dict[int, float]:
    """Return the chance of each arm for a share of the money, from the most that each may cost.

    >>> _chances(0.1, {0: 1.0, 2: 4.0})
    {0: 0.05, 2: 0.0125}
    """
    part, cheapest = share / len(costs), min(costs.values())
    return {
        arm: part if cost <= cheapest else part * cheapest / cost for arm, cost in costs.items()
    }


@kernel
def _chance_of_round(seed: int, t: int) -> float:
    """Return the random number of round t."""
    return uniform(at(stream(seed, 0, EXPLORE), t), 0)


def _draw(explored: Mapping[int, float], seed: int, t: int) -> int | None:
    """Return the arm that exploration draws in round t, or None if the policy chooses."""
    chance = float(_chance_of_round(seed, t))
    for arm, part in explored.items():
        if chance < part:
            return arm
        chance -= part
    return None
