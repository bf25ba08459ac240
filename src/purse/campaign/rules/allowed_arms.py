"""Arms that an ask may choose: those that it names, that fit, that do not cool down, and that have
not been silent for too long.
"""

from collections.abc import Callable, Sequence

from purse.base import amounts
from purse.campaign.api.results import write_time
from purse.campaign.ledger import cooldown, masks
from purse.campaign.ledger.ask_inputs import Mask
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.level import fits
from purse.campaign.ledger.limits import LabelBudget
from purse.campaign.ledger.records import Units
from purse.campaign.rules.transaction import Transaction
from purse.errors import ArmsCoolingDown, BudgetExhausted, BudgetHeld, LabelExhausted, LabelHeld

Need = Callable[[int], Units]  # the most that an arm may cost in an ask


def needs(level: CampaignLevel, mask: Mask | None) -> Need:
    """Return a function that returns the most that an arm may cost in this ask, in units."""
    maxima, cost_max = dict(mask.maxima) if mask else {}, level.arms.cost_max
    return lambda arm: maxima.get(arm) or cost_max[arm]


def allowed_arms(
    transaction: Transaction, mask: Mask | None, labels: Sequence[LabelBudget] = ()
) -> list[int] | None:
    """Return the arms that may be chosen now; None if all may. Raise `AskRefused` if none may.

    labels   those of the ask that have a limit
    """
    level = transaction.campaign
    arms, need, left = level.arms, needs(level, mask), level.left(labels)
    cooling = any(row[2] for row in level.head.cooling)
    if (
        mask is None
        and not cooling
        and arms.all_there
        and arms.n_places == level.n_known
        and fits(arms.maxima, left)
        and not masks.silent(level.head, arms.there)
    ):
        return None
    known = level.n_known
    places = level.playable if mask is None else [arm for arm in mask.allowed if arm < known]
    if not places:
        raise ArmsCoolingDown("the policy is learning about these arms: ask again in 1 s", 1.0)
    fitting = [arm for arm in places if fits(need(arm), left)]
    if not fitting:
        available = level.available(labels)
        waits = [arm for arm in places if fits(need(arm), available)]
        cheapest = min(waits or places, key=lambda arm: need(arm)[0])
        raise shortage(transaction, cheapest, need(cheapest), labels)
    places = masks.ready(level.head, fitting, transaction.now)
    if not places:
        raise _all_cool_down(transaction, fitting)
    return None if len(places) == level.n_known else places


def _all_cool_down(transaction: Transaction, places: list[int]) -> ArmsCoolingDown:
    """Say that arms cool down, and when the first may be chosen again."""
    level = transaction.campaign
    wait = min(cooldown.wait(level.head, arm, transaction.now) for arm in places) / 1000
    names = " and ".join(repr(level.arms.names[arm]) for arm in places)
    return ArmsCoolingDown(
        f"calls of {names} failed, and the arm cools down: ask again in {wait:g} s", wait
    )


def shortage(
    transaction: Transaction, arm: int, held: Units, labels: Sequence[LabelBudget] = ()
) -> BudgetExhausted:
    """Say which level or label cannot hold so much: never, or while it is held for others."""
    own = transaction.level
    lacks = [
        (need > balance.left + balance.held, holder, resource, balance)
        for holder in own.holders(labels)
        for resource, (need, balance) in enumerate(zip(held, holder.balances, strict=True))
        if need > max(0, balance.left)
    ]
    is_gone, holder, resource, balance = max(lacks, key=lambda lack: lack[0])
    left, name = amounts.text(balance.left), own.terms.resources[resource]
    text = (
        f"{transaction.campaign.arms.names[arm]!r} may cost {amounts.text(held[resource])} {name} "
    )
    text += f"and {left} is left" if holder is own else f"and {holder.title} has {left} left"
    level = own if isinstance(holder, LabelBudget) else holder  # whose period it is
    if not is_gone:
        text += f"; {amounts.text(balance.held)} is held for open tickets; tell or void them"
    elif balance.presumed:
        text += (
            f"; {amounts.text(balance.presumed)} is presumed spent, for tickets without a report"
        )
    if is_gone and (period := level.period):
        begins = write_time(period.ends / 1000, level.terms.time_zone)
        text += f"; the next period begins {begins}"
    if isinstance(holder, LabelBudget):  # no alert is about it
        rest = [amounts.text(part.left) for part in holder.balances]
        return (LabelExhausted if is_gone else LabelHeld)(text, holder.key, holder.value, rest)
    if not is_gone:
        return BudgetHeld(text)
    error = BudgetExhausted(text)
    error.need = list(held)
    return error
