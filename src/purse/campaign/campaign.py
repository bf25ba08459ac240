"""`purse.Campaign`: asks, reports and voids under a budget that cannot be overspent.

This holds for any number of threads, processes and machines, and when any of them dies.

The class says what a campaign can do, wherever it is kept, and finds the class that does it by the
address of the storage. It imports nothing heavy, for the client's sake.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, Self, TypeAlias

from purse.base.default_policy import DEFAULT
from purse.campaign import defaults
from purse.campaign.addresses import class_of
from purse.campaign.spending import SpendingVerb
from purse.campaign.verbs.records import RecommendVerb, RecordVerbs
from purse.campaign.verbs.reports import AskVerbs, OperatorVerbs, ReportVerbs

if TYPE_CHECKING:
    from pathlib import Path

# an address; or a storage, or a connection to a server, that exists already
Place: TypeAlias = str | Any


class Campaign(
    AskVerbs,
    ReportVerbs,
    OperatorVerbs,
    RecordVerbs,
    RecommendVerb,
    SpendingVerb,
):
    """A campaign: a budget, its tickets and the policy that chooses the arms, kept in a storage.

    `create` makes a new campaign and `open` opens an existing one. Any number of threads and
    processes may then ask and tell. The verbs are the same for a file, a database and a server.
    """

    @classmethod
    def create(
        cls,
        name: str,
        *,
        arms: Mapping[str, Any],
        budget: Any,
        cost_min: Any = None,
        resources: Sequence[str] = defaults.RESOURCES,
        horizon: int | None = None,
        policy: str = DEFAULT,
        seed: int = 0,
        expires_after: float | None = defaults.EXPIRES_AFTER,
        cooldown: float | None = defaults.COOLDOWN,
        reward_within: float | None = None,
        missing_reward: float | None = None,
        reward_range: Sequence[float] | None = None,
        explore: float | None = None,
        capacity: int | None = None,
        cost_ceiling: Any = None,
        features: Any = None,
        account: str | None = None,
        every: str | None = None,
        time_zone: str = defaults.TIME_ZONE,
        carry: str = defaults.CARRY,
        alerts: Sequence[str] = (),
        storage: Place = defaults.STORAGE,
        token: str | None = None,
        exist_ok: bool = False,
    ) -> Self:
        """Create a campaign in its storage and return it.

        arms           {name: the most that a pull may cost}; for several resources {name: [most,
                       most]} or {name: {resource: most}}
        budget         decimal text or a number; for several resources a list, or {resource: amount}
        cost_min       the least that a pull costs: one amount, one for each arm, or one for each
                       arm and resource, shape (K, d); None: a thousandth of the most. Where both
                       are equal for all arms, costs are known, as some policies need it
        resources      the names of what is spent, such as "USD" and "tokens"
        horizon        the number of rounds; None: no limit
        policy         a name with options, such as "exp3++.bwk:beta=1", or the path of a policy
                       file
        seed           the same seed and the same reports give the same choices
        expires_after  seconds after which a ticket without a report counts as spent at its maximum;
                       None: never
        cooldown       seconds for which an arm is not chosen after a call of it failed; twice as
                       long after the next failure, up to 300; None: failures have no
                       consequence
        reward_within  seconds after its cost in which the reward of a ticket has to come; None: it
                       may come at any time
        missing_reward   what a reward counts as that does not come in time; to be given with
                       `reward_within`
        reward_range   the least and the largest reward, such as (0, 20) for revenue; None: rewards
                       lie between 0 and 1
        explore        a share of the money for arms drawn at random, such as 0.05, so that the
                       journal can be evaluated
        capacity       places for arms, for `add_arm`; None: as many as are named
        cost_ceiling   how high `add_arm` and `set_arm` may move the most that an arm costs, given
                       as `cost_min`; None: no higher than `arms` says. `cost_min` is the floor
        features       what a context holds: a number of features, a list of names, or a mapping
                       from names to a range (low, high), to (low, high, "optional") or to
                       classes; None: no contexts. Ranges are mapped to [-1, 1]
        account        the account above the campaign, from which its money comes, too; None: none
        every          "day", "week", "month", or hours such as "6h": so often the budget is renewed
                       and `horizon` begins again; None: never. Days begin at midnight, weeks on
                       Monday, months on the first
        time_zone      of days, weeks and months, such as "Europe/Berlin"
        carry          what is kept at the end of a period of the money that is left: "none" or
                       "all"
        alerts         rules of the events that webhooks are told of: "80%" of a budget, from "1%"
                       to "100%", "overrun", "cooling-down" and "expired"
        storage        an address such as sqlite:///purse.db, postgresql://user@host/database or
                       https://host
        token          for a server; None: the environment variable PURSE_TOKEN
        exist_ok       return the campaign of this name where the storage has one that was created
                       with the same values

        Raise `CampaignExists` when the storage has a campaign of this name, or with `exist_ok` one
        that was created with other values.
        Raise `InvalidInput` when a value is not allowed.
        """
        terms = {
            "arms": arms,
            "budget": budget,
            "cost_min": cost_min,
            "resources": resources,
            "horizon": horizon,
            "policy": policy,
            "seed": seed,
            "expires_after": expires_after,
            "cooldown": cooldown,
            "reward_within": reward_within,
            "missing_reward": missing_reward,
            "reward_range": reward_range,
            "explore": explore,
            "capacity": capacity,
            "cost_ceiling": cost_ceiling,
            "features": features,
            "account": account,
            "every": every,
            "time_zone": time_zone,
            "carry": carry,
            "alerts": alerts,
        }
        return cls._at(storage)._create(name, terms, storage, token, exist_ok)

    @classmethod
    def open(
        cls, name: str, *, storage: Place = defaults.STORAGE, token: str | None = None
    ) -> Self:
        """Return an existing campaign as its storage holds it.

        storage, token   as for `create`

        Raise `NotFound` when the storage has no campaign of this name.
        """
        return cls._at(storage)._open(name, storage, token)

    @classmethod
    def names(cls, *, storage: Place = defaults.STORAGE, token: str | None = None) -> list[str]:
        """Return the names of all campaigns of a storage.

        storage, token   as for `create`
        """
        return cls._at(storage)._names(storage, token)

    @classmethod
    def restore(
        cls,
        file: str | Path | IO[str],
        *,
        storage: Place = defaults.STORAGE,
        name: str | None = None,
        account: str | None = None,
    ) -> Self:
        """Create a campaign from an exported journal and return it.

        file       a path or an open text file, as `export` wrote it
        name       the name of the new campaign; None: the name in the journal
        account    the account above the new campaign; None: none, whatever the old one had. What
                   the campaign has spent and held has to fit into it

        The new campaign has an id of its own; its terms name the old one as `restored_from`.

        Raise `PurseError` when the storage is a server: it is done with the database's own address.
        Raise `InvalidInput` when a file cannot be read or is not a journal, or when entries are
        missing.
        Raise `CampaignExists` when the storage has a campaign of this name.
        Raise `BudgetExhausted` when the account has too little left.
        """
        return cls._at(storage)._restore(file, storage, name, account)

    @classmethod
    def _at(cls, storage: Place) -> type[Self]:
        """Return the class of campaigns at an address; a class that is not abstract is its own."""
        return class_of(storage) if cls is Campaign else cls

    @staticmethod
    @abstractmethod
    def _connected(storage: Any, token: str | None) -> Any: ...

    @classmethod
    @abstractmethod
    def _create(
        cls, name: str, terms: dict[str, Any], storage: Any, token: str | None, exist_ok: bool
    ) -> Self: ...

    @classmethod
    @abstractmethod
    def _open(cls, name: str, storage: Any, token: str | None) -> Self: ...

    @classmethod
    @abstractmethod
    def _names(cls, storage: Any, token: str | None) -> list[str]: ...

    @classmethod
    @abstractmethod
    def _restore(
        cls,
        file: str | Path | IO[str],
        storage: Any,
        name: str | None,
        account: str | None,
    ) -> Self: ...
