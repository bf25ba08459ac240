"""Deliberate faults in the rules of real traffic: masks, rule `fit`, cool-downs, late rewards,
exploration, and arms that come and go. Each function breaks one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from purse.campaign.cooldown import CoolDown, CoolDowns
from purse.campaign.draft import Draft
from purse.campaign.ledger import Ledger
from purse.campaign.rules import Transaction

from purse.campaign import ask_rules, cooldown, group_commit, learner
from purse.campaign.arms import Arms
from purse.campaign.learner import Learner

Patch = pytest.MonkeyPatch


def ignore_masks(patch: Patch) -> None:
    """Any arm may be chosen, whatever the ask allows."""
    allowed = Transaction.allowed
    patch.setattr(Transaction, "allowed", lambda book, draft, _: allowed(book, draft, None))


def hold_the_maximum_of_the_arm(patch: Patch) -> None:
    """What a call may cost at most does not matter."""
    init = Draft.__init__

    def deaf(draft: Draft, book: Ledger, _mask: Any, *rest: Any) -> None:
        init(draft, book, None, *rest)

    patch.setattr(Draft, "__init__", deaf)


def allow_any_maximum(patch: Patch) -> None:
    """A call may cost more than its arm ever does."""
    patch.setattr(ask_rules, "check_most", lambda *_: None)


def choose_what_does_not_fit(patch: Patch) -> None:
    """Rule `fit` leaves no arm out."""
    patch.setattr(Transaction, "fitting", lambda _book, _draft, places: places)


def hand_out_the_dead(patch: Patch) -> None:
    """A repeated ask returns tickets for which nothing is held."""
    patch.setattr(Transaction, "refuse_dead", lambda *_: None)


def cool_down_as_long_as_at_first(patch: Patch) -> None:
    """The second cool-down in a row is not longer than the first."""
    failed = cooldown.failed

    def short(cooling: CoolDowns, *arguments: Any) -> None:
        *_, first = arguments
        failed(cooling, *arguments)
        for arm, each in cooling.items():
            cooling[arm] = each._replace(length=min(first, each.length))

    patch.setattr(cooldown, "failed", short)


def cool_down_for_ever(patch: Patch) -> None:
    """A cool-down ends only with a success, which cannot come."""
    patch.setattr(CoolDown, "wait", lambda each, _now: each.length)


def cool_down_for_calls_in_flight(patch: Patch) -> None:
    """Each failure begins a cool-down, whenever its call was asked for."""
    failed = cooldown.failed

    def nervous(cooling: CoolDowns, arms: Iterable[int], ticket: int, *more: Any) -> None:
        for arm, each in cooling.items():
            cooling[arm] = each._replace(last_ticket=0)
        failed(cooling, arms, ticket, *more)

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

    def twice(mind: Learner, told: Any, seq: int, digest: str) -> None:
        again = [each for each in told for _ in range(1 + bool(each[1].get("missing")))]
        learn(mind, again, seq, digest)

    patch.setattr(Learner, "learn", twice)


def miss_another_value(patch: Patch) -> None:
    """A reward that did not come counts as 1, whatever the terms say."""
    report = Transaction.report

    def generous(book: Transaction, record: Any, rewards: Any, costs: Any, **more: bool) -> Any:
        known = [1.0] * len(rewards) if more.get("missing") else rewards
        return report(book, record, known, costs, **more)

    patch.setattr(Transaction, "report", generous)


def wait_for_rewards_for_ever(patch: Patch) -> None:
    """A settled ticket waits however long it takes."""
    expire = Transaction.expire
    patch.setattr(
        Transaction,
        "expire",
        lambda book, due: expire(book, [each for each in due if each.state == "held"]),
    )


def learn_missing_rewards_after_the_ask(patch: Patch) -> None:
    """An ask does not know the rewards that its own transaction has given up."""
    patch.setattr(group_commit, "TOLD", "nothing")


def clip_nothing(patch: Patch) -> None:
    """The policy sees rewards outside the range as they are."""
    patch.setattr(learner, "scaled", lambda reward, low, high: (reward - low) / (high - low))


def forget_the_chance_of_exploration(patch: Patch) -> None:
    """A ticket carries the policy's probability alone."""
    next_round = Transaction.next_round

    def proud(book: Transaction, draft: Draft, allowed: Any, chooser: Any, *more: Any) -> Any:
        t, arms, _ = next_round(book, draft, allowed, chooser, *more)
        chances = chooser.probabilities(t, draft.left, draft.pending, draft.owed, allowed, *more)
        return t, arms, [chances[arm] for arm in arms]

    patch.setattr(Transaction, "next_round", proud)


def choose_the_retired(patch: Patch) -> None:
    """A retired arm is there like any other."""
    init = Arms.__init__

    def young(arms: Arms, *arguments: Any) -> None:
        init(arms, *arguments)
        arms.there = list(range(len(arms.names)))

    patch.setattr(Arms, "__init__", young)


def forget_the_first_pull_of_a_new_arm(patch: Patch) -> None:
    """An arm that comes later owes nothing."""
    added = Ledger.arm_added

    def forgetful(book: Ledger, entry: Any) -> None:
        owed = book.head.owed
        added(book, entry)
        book.head.owed = owed

    patch.setattr(Ledger, "arm_added", forgetful)


def listen_for_ever(patch: Patch) -> None:
    """An arm that never brings a reward is chosen as often as the policy wants."""
    patch.setattr(Transaction, "silent", lambda *_: set())
