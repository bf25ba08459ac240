"""Deliberate faults in the rules of real traffic: masks, arms that do not fit, cool-downs, late
rewards, exploration, and arms that come and go. Each function breaks one of them.
"""

from typing import Any

from purse.campaign.ledger import cooldown, masks
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.cooldown import CoolDown
from purse.campaign.ledger.records import Head
from purse.campaign.rules import allowed_arms, asks, reports
from purse.campaign.rules.transaction import Transaction
from purse.campaign.run import committer, learner
from purse.campaign.run.learner import Learner
from purse.campaign.terms.arms import Arms, PolicyView
from tests.support.mutations import Patch, instead_of


@instead_of(asks, "allowed_arms")
def ignore_masks(allow: Any, transaction: Transaction, _: Any, left: Any) -> Any:
    """Any arm may be chosen, whatever the ask allows."""
    return allow(transaction, None, left)


@instead_of(asks, "needs")
def hold_the_maximum_of_the_arm(needs: Any, level: CampaignLevel, _: Any) -> Any:
    """What a call may cost at most does not matter."""
    return needs(level, None)


def allow_any_maximum(patch: Patch) -> None:
    """A call may cost more than its arm ever does."""
    patch.setattr(asks, "check_most", lambda *_: None)


def choose_what_does_not_fit(patch: Patch) -> None:
    """No arm is left out because it does not fit."""
    patch.setattr(allowed_arms, "fits", lambda *_: True)


def go_on_for_ever(patch: Patch) -> None:
    """No time is ever over."""
    patch.setattr(CampaignLevel, "is_over", lambda *_: False)


def hand_out_the_dead(patch: Patch) -> None:
    """A repeated ask returns tickets for which nothing is held."""
    for state in ("VOID", "FAILED"):
        patch.setattr(asks, state, "nothing")


@instead_of(cooldown, "failed")
def cool_down_as_long_as_at_first(failed: Any, head: Head, *more: int) -> None:
    """The second cool-down in a row is not longer than the first."""
    failed(head, *more)
    *_, first, _ = more
    for row in head.cooling:
        row[2] = min(first, row[2])


def cool_down_for_ever(patch: Patch) -> None:
    """A cool-down ends only with a success, which cannot come."""
    patch.setattr(CoolDown, "wait", lambda each, _now: each.length)


@instead_of(cooldown, "failed")
def cool_down_for_calls_in_flight(failed: Any, head: Head, *more: int) -> None:
    """Each failure begins a cool-down, whenever its call was asked for."""
    for row in head.cooling:
        row[3] = 0
    failed(head, *more)


def probe_at_will(patch: Patch) -> None:
    """Any number of tickets try an arm that has not recovered."""
    patch.setattr(cooldown, "issued", lambda *_: None)


def never_recover(patch: Patch) -> None:
    """A call that works does not end a cool-down."""
    patch.setattr(cooldown, "succeeded", lambda *_: None)


def wait_for_a_lost_probe(patch: Patch) -> None:
    """A probe that is voided or expires still blocks the next."""
    patch.setattr(cooldown, "ended", lambda *_: None)


@instead_of(Learner, "learn")
def learn_missing_rewards_twice(learn: Any, policy: Learner, told: Any, *more: Any) -> None:
    """The policy sees a reward that did not come two times."""
    again = [each for each in told for _ in range(1 + bool(each[1].get("missing")))]
    learn(policy, again, *more)


@instead_of(reports, "_complete")
def miss_another_value(
    complete: Any, transaction: Transaction, ticket: Any, given: float, *more: Any, **named: Any
) -> Any:
    """A reward that did not come counts as 1, whatever the terms say."""
    return complete(transaction, ticket, 1.0 if "missing" in named else given, *more, **named)


@instead_of(reports, "expire")
def wait_for_rewards_for_ever(expire: Any, transaction: Transaction, due: Any) -> Any:
    """A settled ticket waits however long it takes."""
    return expire(transaction, [ticket for ticket in due if ticket.state == "held"])


def learn_missing_rewards_after_the_ask(patch: Patch) -> None:
    """An ask does not know the rewards that its own transaction has given up."""
    patch.setattr(committer, "_learn_added", lambda *_: None)


def clip_nothing(patch: Patch) -> None:
    """The policy sees rewards outside the range as they are."""
    patch.setattr(learner, "_scaled", lambda reward, low, high: (reward - low) / (high - low))


@instead_of(asks, "_next_round")
def forget_the_chance_of_exploration(
    next_round: Any, transaction: Transaction, seen: PolicyView, explored: Any
) -> tuple[int, float]:
    """A ticket carries the policy's probability alone."""
    arm, _ = next_round(transaction, seen, explored)
    return arm, transaction.policy.probabilities(seen)[arm]


def count_no_masks(patch: Patch) -> None:
    """A mask is not counted."""
    patch.setattr(CampaignLevel, "count_mask", lambda *_: None)


@instead_of(CampaignLevel, "count_mask")
def count_masks_twice(count_mask: Any, *given: Any) -> None:
    """A mask is counted two times."""
    count_mask(*given)
    count_mask(*given)


@instead_of(Arms, "__init__")
def choose_the_retired(init: Any, arms: Arms, *more: Any) -> None:
    """A retired arm is there like any other."""
    init(arms, *more)
    arms.there = list(range(len(arms.names)))


@instead_of(CampaignLevel, "change_arm")
def forget_the_first_pull_of_a_new_arm(change: Any, level: CampaignLevel, entry: Any) -> None:
    """An arm that comes later owes nothing."""
    owed = level.head.owed
    change(level, entry)
    level.head.owed = owed


def listen_for_ever(patch: Patch) -> None:
    """An arm that never brings a reward is chosen as often as the policy wants."""
    patch.setattr(masks, "silent", lambda *_: set())
