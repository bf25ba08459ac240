"""Which arm is best, from the journal in a storage."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from purse.base import amounts, validation
from purse.base.recommendation import CONFIDENCE, REWARD, Recommendation
from purse.base.text import count
from purse.campaign.arm_stats import ArmSums
from purse.campaign.arms import Arms
from purse.campaign.followed_history import FollowedHistory, ReadCampaign
from purse.campaign.fork_safety import reset_after_fork
from purse.campaign.group_commit import check_same
from purse.campaign.local.records import LocalRecords
from purse.campaign.records import CampaignRecord
from purse.campaign.terms import Terms
from purse.campaign.verbs.recommendations import RecommendVerb
from purse.engine.job import make_policy, sees_contexts
from purse.errors import InvalidInput


class LocalRecommendations(LocalRecords, RecommendVerb):
    """Which arm of a campaign is best."""

    def recommend(
        self,
        by: str = REWARD,
        *,
        cap: Any = None,
        confidence: float = CONFIDENCE,
        within: float = 0.0,
        resource: str | None = None,
    ) -> Recommendation:
        from purse.theory.identification import recommend

        place, terms = self._place(resource), self.terms
        if terms.features and sees_contexts(make_policy(terms.policy, terms.problem)[0]):
            raise InvalidInput(
                f"campaign {self.name!r}: {terms.policy} chooses arms by the context, so that "
                "their means are of different requests and cannot be compared; recommend needs a "
                "policy that sees no contexts, such as best-arm or uniform"
            )
        sums = self._history.look()
        head = self.storage.overview(self.name).head
        check_same(terms, head)
        arms = Arms(terms, head.arms)
        # an arm that was added a moment ago is not in the history yet
        there = [arm for arm in arms.there if arms.names[arm] in sums]
        told = [sums[arms.names[arm]] for arm in there]
        is_lower = head.counts["below_minimum"] > 0
        ranges = [
            cost_range(terms, arm, place, each, is_lower=is_lower)
            for arm, each in zip(there, told, strict=True)
        ]
        return recommend(
            [arms.names[arm] for arm in there],
            [each.told for each in told],
            [each.reward for each in told],
            [each.costs[place] / amounts.UNIT for each in told],
            by=by,
            cap=None if cap is None else amounts.to_units("cap", cap) / amounts.UNIT,
            confidence=confidence,
            within=within,
            reward_range=terms.reward_range or (0.0, 1.0),
            cost_min=[least / amounts.UNIT for least, _ in ranges],
            cost_max=[most / amounts.UNIT for _, most in ranges],
            n_arms=terms.n_arms,
            resource=terms.resources[place],
            notes=tuple(notes(told, head, arms)),
        )

    def _place(self, resource: str | None) -> int:
        """Return the place of a resource among the resources."""
        resources = self.terms.resources
        if resource is None:
            return 0
        return resources.index(validation.choice("resource", resource, resources))

    @cached_property
    def _history(self) -> SharedHistory:
        return SharedHistory(self)


class SharedHistory:
    """A campaign's history that is kept from one question to the next, for all threads."""

    def __init__(self, campaign: ReadCampaign) -> None:
        self.campaign = campaign
        self.renew()
        reset_after_fork(self)

    def renew(self) -> None:
        """Begin anew in a child process, where another thread's reading may have been cut off."""
        self._lock = threading.Lock()
        self._followed: FollowedHistory | None = None

    def look(self) -> dict[str, ArmSums]:
        """Return what the reports of each arm come to, up to the last entry of the journal."""
        with self._lock:
            if self._followed is None:
                self._followed = FollowedHistory(self.campaign)
            return self._followed.follow().arm_sums()


def cost_range(
    terms: Terms, arm: int, place: int, sums: ArmSums, *, is_lower: bool
) -> tuple[int, int]:
    """The least and the most that a pull of an arm may cost, in units: twice the same where the
    cost is known, and no report said otherwise.

    It is the widest range that `set_arm` may have set: reports of before count, too. Where some
    reports were below the declared minimum (`is_lower`), it begins at 0.
    """
    least, most = terms.floor[arm][place], terms.ceiling[arm][place]
    is_known = least == most and sums.costs[place] == most * sums.told
    return 0 if is_lower and not is_known else least, most


def notes(told: list[ArmSums], head: CampaignRecord, arms: Arms) -> Iterator[str]:
    """What the answer leaves out, or what makes its bounds doubtful."""
    counts = head.counts
    failed, waiting = sum(each.failed for each in told), sum(each.settled for each in told)
    if failed:
        yield f"{count(failed, 'call')} failed: the answer is about calls that worked"
    if waiting:
        yield f"not counted yet: {count(waiting, 'pull')} with a known cost and no reward so far"
    if counts["presumed"]:
        yield f"not counted: {count(counts['presumed'], 'ticket')} without a report"
    if counts["overruns"]:
        yield (
            f"{count(counts['overruns'], 'report')} cost more than was held: above an arm's "
            "cost_max the bounds on costs do not hold"
        )
    if counts["below_minimum"]:
        yield (
            f"{count(counts['below_minimum'], 'report')} cost less than cost_min: the bounds take "
            "it that costs begin at 0"
        )
    if counts["outside_range"]:
        yield (
            f"{count(counts['outside_range'], 'reward')} outside reward_range: the bounds on "
            "rewards do not hold"
        )
    retired = [name for name, gone in zip(arms.names, arms.is_retired, strict=True) if gone]
    if retired:
        yield f"not among them, because retired: {', '.join(retired)}"
