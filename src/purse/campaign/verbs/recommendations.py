"""The verb of those who want to know which arm is best."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from purse.base.recommendation import CONFIDENCE, REWARD, Recommendation


class RecommendVerb(ABC):
    """Which arm of a campaign is best."""

    @abstractmethod
    def recommend(
        self,
        by: str = REWARD,
        *,
        cap: Any = None,
        confidence: float = CONFIDENCE,
        within: float = 0.0,
        resource: str | None = None,
    ) -> Recommendation:
        """Return which arm is best, and how sure that is.

        by           "reward": the mean reward; "ratio": the mean reward over the mean cost
        cap          an amount, the most that a pull of the best arm may cost, on average; None:
                     anything
        confidence   that is wanted, above 0 and below 1
        within       by how much the best arm may be missed, in rewards or in rewards per cost
        resource     what costs are counted in; None: the first resource

        The confidence stays valid however often one asks, and whenever one stops. It takes for
        granted that the pulls of an arm are independent and that no arm drifts. Retired arms are
        not recommended.

        Like every method that only reads, it neither waits for a writer nor makes one wait.

        Raise `InvalidInput` when a value is not allowed, or when the policy chooses arms by the
        context: then the arms were tried on different requests, and their means cannot be compared.
        """
