"""Deliberate faults in the rules of real traffic: masks, arms that do not fit, cool-downs, late
rewards, exploration, and arms that come and go. Each function breaks one of them.
"""

from typing import Any

import pytest

from purse.campaign.ledger import cooldown, masks
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.cooldown import CoolDown
from purse.campaign.ledger.records import Head
from purse.campaign.rules import allowed_arms, asks, reports
from purse.campaign.rules.transaction import Transaction
from purse.campaign.run import committer, learner
from purse.campaign.run.learner import Learner
from purse.campaign.terms.arms import Arms, PolicyView

Patch = pytest.MonkeyPatch


def ignore_masks(patch: Patch) -> None:
    """Any arm may be chosen, whatever the ask allows."""
    allow = allowed_arms.allowed_arms
    patch.setattr(asks, "allowed_arms", lambda transaction, _, left: allow(transaction, None, left))


def hold_the_maximum_of_the_arm(patch: Patch) -> None:
    """What a call may cost at most does not matter."""
    needs = allowed_arms.needs
    patch.setattr(asks, "needs", lambda level, _: needs(level, None))


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


def cool_down_as_long_as_at_first(patch: Patch) -> None:
    """The second cool-down in a row is not longer than the first."""
    failed = cooldown.failed

    def short(head: Head, arm: int, ticket: int, now: int, first: int, rest: int) -> None:
        failed(head, arm, ticket, now, first, rest)
        for row in head.cooling:
            row[2] = min(first, row[2])

    patch.setattr(cooldown, "failed", short)


def cool_down_for_ever(patch: Patch) -> None:
    """A cool-down ends only with a success, which cannot come."""
    patch.setattr(CoolDown, "wait", lambda each, _now: each.length)


def cool_down_for_calls_in_flight(patch: Patch) -> None:
    """Each failure begins a cool-down, whenever its call was asked for."""
    failed = cooldown.failed

    def nervous(head: Head, *arguments: int) -> None:
        for row in head.cooling:
            row[3] = 0
        failed(head, *arguments)

    patch.setattr(cooldown, "failed", nervous)


def probe_at_will(patch: Patch) -> None:
    """Any number of tickets try an arm that has not recovered."""
    patch.setattr(cooldown, "issued", lambda *_: None)


def never_recover(patch: Patch) -> None:
    """A call that works does not end a cool-down."""
    patch.setattr(cooldown, "succeeded", lambda *_: None)


def wait_for_a_lost_probe(patch: Patch) -> None:
    """A probe that is voided or expires still blocks the next."""
    patch.setattr(cooldown, "ended", lambda *_: None)


def learn_missing_rewards_twice(patch: Patch) -> None:
    """The policy sees a reward that did not come two times."""
    learn = Learner.learn

    def twice(policy: Learner, told: Any, seq: int, digest: str) -> None:
        again = [each for each in told for _ in range(1 + bool(each[1].get("missing")))]
        learn(policy, again, seq, digest)

    patch.setattr(Learner, "learn", twice)


def miss_another_value(patch: Patch) -> None:
    """A reward that did not come counts as 1, whatever the terms say."""
    complete = reports._complete

    def generous(
        transaction: Transaction, ticket: Any, given: float, *more: Any, **named: Any
    ) -> Any:
        return complete(transaction, ticket, 1.0 if "missing" in named else given, *more, **named)

    patch.setattr(reports, "_complete", generous)


def wait_for_rewards_for_ever(patch: Patch) -> None:
    """A settled ticket waits however long it takes."""
    expire = reports.expire
    patch.setattr(
        reports,
        "expire",
        lambda transaction, due: expire(
            transaction, [ticket for ticket in due if ticket.state == "held"]
        ),
    )


def learn_missing_rewards_after_the_ask(patch: Patch) -> None:
    """An ask does not know the rewards that its own transaction has given up."""
    patch.setattr(committer, "_learn_added", lambda *_: None)


def clip_nothing(patch: Patch) -> None:
    """The policy sees rewards outside the range as they are."""
    patch.setattr(learner, "_scaled", lambda reward, low, high: (reward - low) / (high - low))


def forget_the_chance_of_exploration(patch: Patch) -> None:
    """A ticket carries the policy's probability alone."""
    next_round = asks._next_round

    def proud(transaction: Transaction, seen: PolicyView, explored: Any) -> tuple[int, float]:
        arm, _ = next_round(transaction, seen, explored)
        return arm, transaction.policy.probabilities(seen)[arm]

    patch.setattr(asks, "_next_round", proud)


def count_no_masks(patch: Patch) -> None:
    """A mask is not counted."""
    patch.setattr(CampaignLevel, "count_mask", lambda *_: None)


def count_masks_twice(patch: Patch) -> None:
    """A mask is counted two times."""
    count_mask = CampaignLevel.count_mask

    def twice(level: CampaignLevel, entry: Any, t: int) -> None:
        count_mask(level, entry, t)
        count_mask(level, entry, t)

    patch.setattr(CampaignLevel, "count_mask", twice)


def choose_the_retired(patch: Patch) -> None:
    """A retired arm is there like any other."""
    init = Arms.__init__

    def young(arms: Arms, *arguments: Any) -> None:
        init(arms, *arguments)
        arms.there = list(range(len(arms.names)))

    patch.setattr(Arms, "__init__", young)


def forget_the_first_pull_of_a_new_arm(patch: Patch) -> None:
    """An arm that comes later owes nothing."""
    change_arm = CampaignLevel.change_arm

    def forgetful(level: CampaignLevel, entry: Any) -> None:
        owed = level.head.owed
        change_arm(level, entry)
        level.head.owed = owed

    patch.setattr(CampaignLevel, "change_arm", forgetful)


def listen_for_ever(patch: Patch) -> None:
    """An arm that never brings a reward is chosen as often as the policy wants."""
    patch.setattr(masks, "silent", lambda *_: set())
