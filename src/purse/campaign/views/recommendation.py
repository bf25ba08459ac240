"""The recommendation of an arm, from the journal in a storage."""

import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from purse.base import amounts, validation
from purse.base.fork_safety import reset_after_fork
from purse.base.text import count
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.storage.storage import Storage
from purse.campaign.terms.arms import Arms
from purse.campaign.terms.readers import Table
from purse.campaign.terms.terms import Terms
from purse.campaign.views.arm_stats import ArmSums
from purse.campaign.views.history import FollowedHistory, History
from purse.engine.job import find_policy, sees_contexts
from purse.errors import InvalidInput
from purse.identification.recommendation import Recommendation

T = TypeVar("T")


def recommendation_of(
    level: CampaignLevel, sums: dict[str, ArmSums], by: str, resource: str | None, **wishes: Any
) -> Recommendation:
    """Return which arm of a campaign is best, by the sums of each arm's reports."""
    from purse.identification.recommend import recommend

    terms, arms, counts = level.terms, level.arms, level.head.counts
    index = _resource_index(terms, resource)
    if terms.features and sees_contexts(find_policy(terms.policy)[0]):
        raise InvalidInput(
            f"campaign {terms.name!r}: {terms.policy} chooses arms by the context, so that "
            "their means are of different requests and cannot be compared; recommend needs a "
            "policy that sees no contexts, such as best-arm or uniform"
        )
    # an arm that was added a moment ago is not in the history yet
    there = [arm for arm in arms.there if arms.names[arm] in sums]
    arm_sums = [sums[arms.names[arm]] for arm in there]
    is_lower = counts.get("below_minimum", 0) > 0
    bounds = terms.bounds(arms.widened)
    ranges = [
        cost_range(bounds, arm, index, sums_of_arm, is_lower=is_lower)
        for arm, sums_of_arm in zip(there, arm_sums, strict=True)
    ]
    cap = wishes.pop("cap")
    return recommend(
        [arms.names[arm] for arm in there],
        [sums_of_arm.told for sums_of_arm in arm_sums],
        [sums_of_arm.reward for sums_of_arm in arm_sums],
        [sums_of_arm.costs[index] / amounts.UNIT for sums_of_arm in arm_sums],
        by=by,
        cap=None if cap is None else amounts.to_units("cap", cap) / amounts.UNIT,
        reward_range=terms.reward_range or (0.0, 1.0),
        cost_min=[low / amounts.UNIT for low, _ in ranges],
        cost_max=[high / amounts.UNIT for _, high in ranges],
        n_arms=len(bounds[0]),
        resource=terms.resources[index],
        notes=tuple(_notes(arm_sums, counts, arms)),
        **wishes,
    )


def _resource_index(terms: Terms, resource: str | None) -> int:
    """Return the number of a resource; None is the first."""
    if resource is None:
        return 0
    return terms.resources.index(validation.choice("resource", resource, terms.resources))


class SharedHistory:
    """A campaign's history that is kept from one question to the next, for all threads."""

    def __init__(self, terms: Terms, storage: Storage) -> None:
        self.terms, self.storage = terms, storage
        self.renew()
        reset_after_fork(self)

    def renew(self) -> None:
        """Begin again in a child process: another thread of the parent may have been reading."""
        self._lock = threading.Lock()
        self._followed: FollowedHistory | None = None

    def look(self, read: Callable[[History], T]) -> T:
        """Read the history up to the last entry of the journal."""
        with self._lock:
            if self._followed is None:
                self._followed = FollowedHistory(self.terms, self.storage)
            return read(self._followed.follow())


def cost_range(
    bounds: tuple[Table, Table], arm: int, resource: int, sums: ArmSums, *, is_lower: bool
) -> tuple[int, int]:
    """Return the least and the most that a pull of an arm may cost, in units: twice the same if
    the cost is known, and no report said otherwise.

    bounds   of all arms, as the policy knows them: they are wider than what `set_arm` has set,
             because reports of before count, too

    If some reports were below the declared minimum (`is_lower`), it begins at 0.
    """
    low, high = (bound[arm][resource] for bound in bounds)
    is_known = low == high and sums.costs[resource] == high * sums.told
    return 0 if is_lower and not is_known else low, high


def _notes(arm_sums: list[ArmSums], counts: dict[str, int], arms: Arms) -> Iterator[str]:
    """Yield the reports that the answer leaves out, and those that make its bounds doubtful."""
    failed, waiting = sum(sums.failed for sums in arm_sums), sum(sums.settled for sums in arm_sums)
    if failed:
        yield f"{count(failed, 'call')} failed: the answer is about calls that worked"
    if waiting:
        yield f"not counted yet: {count(waiting, 'pull')} with a known cost and no reward so far"
    for name, what, words in (
        ("presumed", "ticket", "not counted: {} without a report"),
        (
            "overruns",
            "report",
            "{} cost more than was held: the bounds take it that none costs more than the most so "
            "far",
        ),
        (
            "below_minimum",
            "report",
            "{} cost less than cost_min: the bounds assume a least cost of 0",
        ),
        ("outside_range", "reward", "{} outside reward_range: the bounds on rewards do not hold"),
    ):
        if counts.get(name):
            yield words.format(count(counts[name], what))
    retired = [name for name, gone in zip(arms.names, arms.is_retired, strict=True) if gone]
    if retired:
        yield f"not among them, because retired: {', '.join(retired)}"
