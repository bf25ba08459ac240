"""The state of a campaign or an account and why, derived here alone; refusals say the same words.

running     an ask is answered, as far as is known
paused      by an operator, itself or an account above it
exhausted   the money, or that of an account above, covers no arm any more, even if all that is held
            came back; or all rounds of a period are played. A top-up or a new period may change it
ended       by an operator, itself or above; by its date; by its horizon; by its policy

Only an ask knows what the policy wants. One that it answers by ending the game notes so in the
head (`note_over`), which counts until another ask is answered.
"""

from collections.abc import Sequence
from pathlib import PurePath

from purse.base import amounts
from purse.base.text import count
from purse.campaign.api.results import write_time
from purse.campaign.api.states import ENDED, EXHAUSTED, RUNNING, CampaignState
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.level import Level, fits
from purse.campaign.ledger.records import Units
from purse.campaign.terms.calendar import local_day
from purse.campaign.terms.terms import Terms

StateReason = tuple[CampaignState, str]  # and why, in a sentence; "" while it runs


def state_of(level: Level, now: int, below: Sequence[Units] = ()) -> StateReason:
    """Return the state of a level, and why.

    level   as of now (ms): periods that are due have begun
    below   the most that each arm of the campaigns below an account may cost
    """
    if isinstance(level, CampaignLevel):
        return (
            stop_reason(level, now)
            or horizon_reason(level)
            or _money_reason(level, costs_of(level))
            or _policy_reason(level)
        )
    return stop_reason(level, now) or _money_reason(level, below) or (RUNNING, "")


def stop_reason(level: Level, now: int) -> StateReason | None:
    """Return that an operator or its date has stopped a level, or an operator one above."""
    if isinstance(level, CampaignLevel) and level.is_over(now):
        return ENDED, last_day(level.terms)
    for part in level.chain():  # the nearest first
        if part.head.status != RUNNING:
            word = "ended" if part.head.status == ENDED else "paused"
            verb = "has ended" if part.head.status == ENDED else "is paused"
            why = f"{word} by an operator" if part is level else f"{part.title} {verb}"
            return part.head.status, why
    return None


def horizon_reason(level: CampaignLevel) -> StateReason | None:
    """Return that a horizon is reached, of the campaign or of its period."""
    horizon, period = level.terms.horizon, level.period
    if not isinstance(horizon, int) or level.asked_in_period < horizon:
        return None
    if period is None:
        return ENDED, _all_played(horizon)
    return EXHAUSTED, _all_played(horizon, " of this period")


def _all_played(horizon: int, of: str = "") -> str:
    """Return that all rounds are played, in words."""
    return (
        f"the only round{of} is played" if horizon == 1 else f"all {horizon} rounds{of} are played"
    )


def _money_reason(level: Level, costs: Sequence[Units]) -> StateReason | None:
    """Return that the money of a level, or of one above, covers none of some costs, if there are
    any; otherwise, that nothing is left of a resource.
    """
    by_level = [[part.left + part.held for part in above.balances] for above in level.chain()]
    available = level.available()
    if any(fits(cost, available) for cost in costs):
        return None
    need = min(costs, key=lambda cost: cost[0]) if costs else [1] * len(available)
    lacks = [
        (above, resource)
        for above, own in zip(level.chain(), by_level, strict=True)
        for resource, units in enumerate(own)
        if max(0, units) < need[resource]
    ]
    if not lacks:
        return None
    above, resource = lacks[0]
    part, name = above.balances[resource], level.terms.resources[resource]
    rest_of_it = part.left + part.held
    words = f"{amounts.text(rest_of_it) if rest_of_it > 0 else 'no'} {name} left"
    if above is not level:
        words = f"{above.title} has {words}"
    if not costs:
        return EXHAUSTED, words
    arm = "the cheapest arm" + (" below it" if not isinstance(level, CampaignLevel) else "")
    return EXHAUSTED, f"{words}, and {arm} may cost {amounts.text(need[resource])}"


def _policy_reason(level: CampaignLevel) -> StateReason:
    """Return whether the policy has ended the game when it was asked last."""
    rounds, *left = level.head.over or [-1]
    if rounds == level.head.rounds and (not left or left == level.left()):
        return ENDED, policy_has_ended(level.terms, rounds)
    return RUNNING, ""


def note_over(level: CampaignLevel, *, for_good: bool) -> None:
    """Note in the head that the policy has ended the game.

    for_good   whatever money comes; otherwise until what is left changes
    """
    level.head.over = [level.head.rounds, *([] if for_good else level.left())]


def costs_of(level: CampaignLevel) -> list[Units]:
    """Return the most that each arm may cost which is there."""
    return [level.arms.cost_max[arm] for arm in level.arms.there]


def policy_has_ended(terms: Terms, rounds: int) -> str:
    """Return that a policy has ended the game, in words."""
    return f"{_policy_name(terms)} has ended the game after {count(rounds, 'round')}"


def _policy_name(terms: Terms) -> str:
    """Return the name of a policy without options, of a file without its folder."""
    return PurePath(terms.policy.partition(":")[0]).name


def last_day(terms: Terms) -> str:
    """Return when a campaign was to end, in words: a whole day, or a time."""
    day = local_day(terms.time_zone, terms.until - 1)
    if day != local_day(terms.time_zone, terms.until):
        return f"its last day was {day}"
    return f"it was to last until {write_time(terms.until / 1000, terms.time_zone)}"
