"""The terms that a campaign was created with. Terms never change; top-ups are entries of the
journal.
"""

import inspect
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from purse.base import amounts
from purse.base.fork_safety import cached_property
from purse.base.json import compact
from purse.base.plain_validation import choice
from purse.base.spec import without
from purse.campaign.api import defaults
from purse.campaign.api.defaults import TRAFFIC
from purse.campaign.api.kinds import checked_name
from purse.campaign.api.results import write_time
from purse.campaign.api.states import read_alerts
from purse.campaign.terms.arms import Arms, Widened
from purse.campaign.terms.budget_terms import ID, RULES, BudgetTerms
from purse.campaign.terms.calendar import (
    EPOCH,
    MILLISECOND,
    ahead_of_utc,
    is_period_end,
    read_periods,
)
from purse.campaign.terms.readers import (
    Limits,
    Table,
    as_told,
    by_name,
    in_order,
    milliseconds,
    names,
    read_bound,
    read_capacity,
    read_explore,
    read_horizon,
    read_limits,
    read_missing,
    read_policy,
    read_range,
    read_resources,
    read_skip,
)
from purse.engine.job import find_policy, make_game, make_policy, plans_by_forecast, wants_masks
from purse.engine.rules import initial_rounds
from purse.errors import InvalidInput, invalid
from purse.features import Features
from purse.types import Problem

_COUNTS = ("pending", "masks")  # whether the policy wants counts that are folded for it
_DAY = 86_400_000  # ms
_TIMES = ("expires_after", "cooldown", "reward_within")  # terms in seconds, kept in milliseconds
_MOST_STATE = 1_000_000  # bytes of what a policy has learnt


@dataclass(frozen=True)
class Terms(BudgetTerms):
    """All that defines a campaign; amounts in units of 1e-9. `Terms.of` builds it."""

    KIND: ClassVar = "a campaign"
    OWN_FACTS: ClassVar = (
        "id", "initial_rounds", "pending", "masks", "policy_version", "restored_from", "first_end",
        "tz", "ahead", "rules",
    )  # fmt: skip
    name: str
    arms: tuple[str, ...]
    resources: tuple[str, ...]
    budget: tuple[int, ...]  # (d,) at the beginning
    cost_min: tuple[tuple[int, ...], ...]  # (K, d)
    cost_max: tuple[tuple[int, ...], ...]  # (K, d)
    horizon: int | str | None  # rounds, or `TRAFFIC`
    policy: str
    seed: int
    expires_after: int | None  # milliseconds
    initial_rounds: int  # in which each arm is pulled once, if the policy begins so
    id: str  # tells it from another campaign that had the same name before
    pending: bool = False  # whether the policy counts open tickets
    masks: bool = False  # whether it counts the masks of earlier asks
    restored_from: str = ""  # the id of the campaign that this one is a copy of
    cooldown: int | None = None  # milliseconds; None: an arm whose calls fail is asked for again
    reward_within: int | None = None  # milliseconds from the cost to the reward
    missing_reward: float | None = None  # what a reward counts as after that
    reward_range: tuple[float, float] | None = None  # None: [0, 1], and nothing else is taken
    explore: float = 0.0  # the share of the money for arms drawn at random
    capacity: int = 0  # places for arms; 0: as many as are named
    # (K, d) units: the most that a pull costs as the policy knows it, if that is above `cost_max`
    cost_ceiling: Table | None = None
    policy_version: int = 0  # of its rule, if the policy counts them
    skip: bool = True  # whether rounds may pass, if there is a horizon; False unless asked for
    features: dict[str, Any] | None = None  # of a context, as `Features.as_dict` has them
    map: str | None = None  # which adds numbers to a context that the policy sees
    account: str = ""  # the account above it
    every: str = ""  # how often the budget is renewed; "": never
    time_zone: str = defaults.TIME_ZONE  # of days, weeks and months
    carry: str = defaults.CARRY  # what is kept of the money left
    first_end: int = 0  # ms, of the first period
    tz: str = ""  # the version of the time-zone data that told it
    ahead: int = 0  # ms by which local time was ahead of UTC, for forecasts with periods
    until: int = 0  # ms, from which on asks are refused; 0: never
    alerts: tuple[str, ...] = ()  # rules of the events that it makes, at the beginning
    rules: int = 0
    limits: Limits = ()  # what each value of a key may take, in each period if there are any
    unlabelled: str = defaults.REFUSE  # what becomes of an ask that lacks a label with a limit

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Terms":
        """Return checked terms from the arguments of `Campaign.create`, in the user's unit."""
        values = {**values, "horizon": read_horizon(values)}
        name = checked_name("name", values["name"])
        stuff = read_resources(values["resources"])
        armed, problem = _read_problem(values, stuff)
        maxima = _table(problem.cost_max)
        bounds, places = (
            read_range(values["reward_range"]),
            read_capacity(values["capacity"], armed),
        )
        declared = Features.of(values["features"], n_arms=places or len(armed), map=values["map"])
        skip = read_skip(values["skip"], values["horizon"])
        times: dict[str, Any] = {field: milliseconds(field, values[field]) for field in _TIMES}
        terms = cls(
            name=name,
            arms=armed,
            resources=stuff,
            budget=tuple(problem.budget.tolist()),
            cost_min=_table(problem.cost_min),
            cost_max=maxima,
            horizon=TRAFFIC if problem.forecast else problem.horizon,
            policy=read_policy(values["policy"], declared, armed, skips=skip),
            seed=values["seed"],
            initial_rounds=0,
            id=values.get("id") or secrets.token_hex(8),
            missing_reward=read_missing(values["missing_reward"], values["reward_within"], bounds),
            reward_range=bounds,
            explore=read_explore(values["explore"]),
            capacity=places,
            skip=skip,
            cost_ceiling=read_bound("cost_ceiling", values["cost_ceiling"], maxima, armed, stuff),
            features=declared.as_dict() or None,
            map=declared.map,
            account=checked_name("account", values["account"]) if values["account"] else "",
            alerts=read_alerts(values["alerts"]),
            **times,
            **read_periods(values["every"], values["time_zone"], values["carry"], values["until"]),
        )
        limits = read_limits(values["limits"], terms.amounts)
        unlabelled = choice("unlabelled", values["unlabelled"], (defaults.REFUSE, defaults.ALLOW))
        return replace(terms.with_policy(), limits=limits, unlabelled=unlabelled)

    def with_policy(self) -> "Terms":
        """Return the terms with the policy's own facts. Raise `InvalidInput` if it cannot play."""
        self.check_bounds()
        module, _ = make_policy(self.policy, self.problem)  # refuses what it cannot play
        if self.explore and not hasattr(module, "probabilities"):
            raise invalid(
                "explore",
                self.explore,
                f"needs a policy that can state its probabilities, not {self.policy}",
            )
        return replace(
            self,
            seed=make_game(module, self.problem, self.seed).seed,
            initial_rounds=initial_rounds(module, self.n_arms, 1),
            pending=bool(getattr(module, "PENDING", False)),
            masks=wants_masks(module),
            policy_version=getattr(module, "VERSION", 0),
        )

    def begun_at(self, now: int) -> "Terms":
        """Return the terms of what begins at a time (ms), with what the time zone says of it."""
        is_local = self.every and self.horizon == TRAFFIC
        ahead = ahead_of_utc(self.time_zone, now) if is_local else 0
        return replace(super().begun_at(now), ahead=ahead)

    def check_state(self, widened: Widened = ()) -> None:
        """Refuse a policy whose state is too large to be stored every few thousand entries."""
        problem = self.problem_with(widened)
        module, params = make_policy(self.policy, problem)
        size = sum(array.nbytes for array in module.init(params, problem))
        if size > _MOST_STATE:
            raise invalid(
                "policy",
                self.policy,
                f"must have a state of at most {_MOST_STATE:,} bytes in a campaign, and has "
                f"{size:,} with {problem.n_arms:,} arms and {self.context.n_seen:,} features",
            )

    def in_charge(self, policy: Sequence[Any]) -> "Terms":
        """Return the terms with the policy in charge, see `CampaignLevel.policy`."""
        spelt, version = policy
        is_first = policy == [self.policy, self.policy_version]
        return self if is_first else replace(self, policy=spelt, policy_version=version)

    def present_policy(self) -> list[Any]:
        """Return the policy as this purse has it: as it is written, without options that are gone,
        and its version. Raise `InvalidInput` if a later version was in charge.
        """
        module, options = find_policy(self.policy)
        version = getattr(module, "VERSION", 0)
        if version == self.policy_version:
            return [self.policy, version]
        if version < self.policy_version:
            raise InvalidInput(f"{self._played(version)}: upgrade purse")
        gone = options.keys() - inspect.signature(module.params).parameters
        return [without(self.policy, gone), version]

    def is_other_version(self) -> bool:
        """Return whether another version of the policy was in charge."""
        module, _ = find_policy(self.policy)  # this version may not have the options
        return bool(getattr(module, "VERSION", 0) != self.policy_version)

    def check_version(self) -> None:
        """Refuse to go on if another version of the policy was in charge."""
        if self.is_other_version():
            _, now = self.present_policy()
            raise InvalidInput(
                f"{self._played(now)}, which takes over by `purse campaign hand-over {self.name}`; "
                "reports, audits and exports work as before"
            )

    def _played(self, version: int) -> str:
        return (
            f"campaign {self.name!r} was played by version {self.policy_version} of {self.policy}, "
            f"and this is version {version}"
        )

    @property
    def may_skip(self) -> bool:
        """Whether a round may pass without a pull."""
        return self.skip and self.horizon is not None

    def advice(self) -> str:
        """Say what it costs that nobody said when the game ends; "" if that is known, or does not
        matter to the policy.
        """
        is_known = self.horizon is not None or self.every or self.until
        if is_known or not plans_by_forecast(find_policy(self.policy)[0]):
            return ""
        lasts = [
            min(
                (units // most for units, most in zip(self.budget, row, strict=True) if most),
                default=0,
            )
            for row in self.cost_max
        ]
        return (
            "Neither a number of rounds nor an end is known, so the money buys what has the most "
            f"reward for its cost, in {max(lasts):,} rounds or more. If fewer come, say so by "
            "horizon, every or until: with money for half of 1,000 rounds replan earned 43% of the "
            "optimum, and 97% if told."
        )

    def check_until(self, now: int) -> None:
        """Refuse an end that does not lie ahead of a time, ms."""
        if self.until and self.until <= now:
            raise invalid("until", write_time(self.until / 1000), "must lie ahead")

    def check_bounds(self) -> None:
        """Refuse a ceiling below the most that an arm may cost."""
        for name, maxima, ceiling in zip(
            self.arms, self.cost_max, self.cost_ceiling or self.cost_max, strict=True
        ):
            if any(high < units for units, high in zip(maxima, ceiling, strict=True)):
                raise invalid(
                    "cost_ceiling",
                    texts([ceiling])[0],
                    f"must be at least the most of arm {name!r}",
                )

    @property
    def n_arms(self) -> int:
        """K, the places for arms."""
        return self.capacity or len(self.arms)

    @cached_property
    def floor(self) -> Table:
        """(K, d) The least that a pull of each arm costs, as the policy knows it; for places
        without an arm that of all arms.
        """
        return self.places(self.cost_min, min)

    @cached_property
    def ceiling(self) -> Table:
        """(K, d) The most that a pull of each arm costs, as the policy knows it; for places without
        an arm that of all arms.
        """
        return self.places(self.cost_ceiling or self.cost_max, max)

    @cached_property
    def first_arms(self) -> Arms:
        """The arms at the beginning."""
        return Arms(self)

    @cached_property
    def context(self) -> Features:
        """What a context holds."""
        return Features.of(self.features, n_arms=self.n_arms, map=self.map)

    def places(self, bounds: Table, extreme: Callable[[Iterable[int]], int]) -> Table:
        """(K, d) Bounds of all places, from those of the arms named in the terms."""
        bound = tuple(extreme(column) for column in zip(*bounds, strict=True))
        return (*bounds, *[bound] * (self.n_arms - len(bounds)))

    def bounds(self, widened: Widened = ()) -> tuple[Table, Table]:
        """(K, d) The least and the most that a pull of each arm costs, as the policy knows it, with
        what is known of some arms by now, see `Arms.widened`.
        """
        floor, ceiling = map(list, self.bounds_of(max((row[0] + 1 for row in widened), default=0)))
        for arm, low, high in widened:
            floor[arm], ceiling[arm] = tuple(low), tuple(high)
        return tuple(floor), tuple(ceiling)

    def bounds_of(self, n_arms: int) -> tuple[Table, Table]:
        """(K, d) `floor` and `ceiling`, for at least a number of arms."""
        more = max(0, n_arms - self.n_arms)
        lowest, highest = (
            tuple(extreme(column) for column in zip(*bounds, strict=True))
            for extreme, bounds in ((min, self.floor), (max, self.ceiling))
        )
        return (*self.floor, *[lowest] * more), (*self.ceiling, *[highest] * more)

    @cached_property
    def problem(self) -> Problem:
        """What the policy is told."""
        return self.problem_with()

    def problem_with(self, widened: Widened = ()) -> Problem:
        """Return the problem that the policy is told, with the costs of some arms as of now."""
        low, high = map(texts, self.bounds(widened))
        return Problem.of(
            n_arms=len(low),
            n_resources=len(self.resources),
            stop="hold",
            horizon=as_told(self.horizon),
            n_features=self.context.n_seen,
            budget=self.in_users_unit()["budget"],
            cost_min=low,
            cost_max=high,
            costs=high if low == high else None,
        )

    def check_arms(self, arms: Arms) -> None:
        """Raise `InvalidInput` if the policy cannot play with arms that came later, or that may
        cost something else by now.
        """
        if arms.widened:
            self.check_state(arms.widened)

    def in_users_unit(self) -> dict[str, Any]:
        """Return budget and bounds of costs as decimal text, which loses nothing."""
        return {
            "budget": [amounts.text(units) for units in self.budget],
            "cost_min": texts(self.cost_min),
            "cost_max": texts(self.cost_max),
        }

    def checked(self) -> "Terms":
        """Return the same terms, if they are what `of` would have made of them: for those that come
        from a file. A campaign that began before its policy wanted a count goes on without it.
        """
        wrong = InvalidInput("these are not the terms of a campaign as they were written")
        if type(self.policy_version) is not int or not 0 <= self.policy_version < 2**31:
            raise wrong
        times = {
            name: None if (value := getattr(self, name)) is None else value / 1000
            for name in _TIMES
        }
        facts = {**asdict(self), **self.in_users_unit(), **times}
        facts["capacity"] = self.capacity or None
        facts["explore"] = self.explore or None
        facts["skip"] = self.may_skip
        facts["until"] = EPOCH + self.until * MILLISECOND if self.until else None
        facts["arms"] = dict(zip(self.arms, facts.pop("cost_max"), strict=True))
        keys, limits = zip(*self.limits, strict=True) if self.limits else ((), ())
        facts["limits"] = dict(zip(keys, texts(limits), strict=True)) or None
        if self.cost_ceiling is not None:
            facts["cost_ceiling"] = texts(self.cost_ceiling)
        for name in self.OWN_FACTS:
            if name != "id":
                del facts[name]
        facts["policy"], version = self.present_policy()
        again = replace(
            Terms.of(facts),
            restored_from=self.restored_from,
            policy_version=self.policy_version,
            first_end=self.first_end,
            tz=self.tz,
            ahead=self.ahead,
            rules=self.rules,
        )
        if version != self.policy_version:  # it began otherwise
            own: dict[str, Any] = {
                name: getattr(self, name) for name in ("policy", "initial_rounds", *_COUNTS)
            }
            again = replace(again, **own)
        if self.skip is False:  # which older terms say without a horizon, too
            again = replace(again, skip=False)
        wants: dict[str, Any] = {
            name: getattr(again, name) and getattr(self, name) is True for name in _COUNTS
        }
        again = replace(again, **wants)
        if (
            not all(isinstance(text, str) for text in (self.id, self.restored_from))
            or not ID.fullmatch(self.id)
            or not ID.fullmatch(self.restored_from or self.id)
            or self.rules not in range(RULES + 1)
            or not is_period_end(self.every, self.first_end, self.tz)
            or type(self.ahead) is not int
            or abs(self.ahead) > (_DAY if self.every and self.horizon == TRAFFIC else 0)
            or compact(again.as_dict()) != compact(self.as_dict())
        ):
            raise wrong
        return self

    def copied(self, name: str | None, account: str | None = None) -> "Terms":
        """Return the terms of a copy, under a name and an account, with an id of its own.

        Two campaigns never have the same id, so that nothing meant for one reaches the other.
        """
        return replace(
            self,
            name=name or self.name,
            id=secrets.token_hex(8),
            restored_from=self.id,
            account=checked_name("account", account) if account else "",
        )


def _read_arms(arms: Any, resources: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the names of the arms, and the most that a pull of each may cost in units, (K, d).

    Raise `InvalidInput` if `arms` does not say them.
    """
    if not isinstance(arms, Mapping) or not arms:
        example = "1" if len(resources) == 1 else str(dict.fromkeys(resources, 1))
        raise invalid(
            "arms",
            arms,
            "must say the most that a pull of each arm may cost, such as "
            f"{{'small': {example}, 'large': {example}}}"
            + ("; of models, set prompt_tokens and answer_tokens" if arms else ""),
        )
    armed = names("arms", list(arms))
    rows = in_order("arms", arms, armed, resources)
    maxima = amounts.cost_array("arms", rows, len(armed), len(resources))
    if maxima.min() < 0:
        raise invalid("arms", amounts.text(maxima.min()), "must not be negative")
    return armed, maxima


def _read_problem(
    values: Mapping[str, Any], resources: Sequence[str]
) -> tuple[tuple[str, ...], Problem]:
    """Return the names of the arms, and what the first arms and the budget are."""
    armed, maxima = _read_arms(values["arms"], resources)
    minima = in_order("cost_min", values["cost_min"], armed, resources)
    problem = Problem.of(
        n_arms=len(armed),
        budget=by_name("budget", values["budget"], resources, "resource"),
        n_resources=len(resources),
        horizon=as_told(values["horizon"]),
        cost_min=_least_costs(maxima, free=values["horizon"] is not None)
        if minima is None
        else minima,
        cost_max=texts(maxima.tolist()),
    )
    return armed, problem


def _least_costs(maxima: NDArray[np.int64], *, free: bool = False) -> list[list[str]]:
    """Return the least that a pull costs if it is not given, from the most that it costs, in units.

    It is a thousandth, and at least one unit of what the arm uses at all. It is small, because
    what costs less than declared raises an alarm, and the default policy hardly depends on it.

    Raise `InvalidInput` when an arm costs nothing, unless that is `free` to it.

    >>> _least_costs(np.array([[10_000_000, 0], [50_000_000, 5]]))
    [['0.00001', '0'], ['0.00005', '0.000000001']]
    """
    if not free and (maxima.max(axis=1) == 0).any():
        raise invalid("arms", 0, "must cost something, at least 1e-9")
    return texts(np.where(maxima > 0, np.maximum(maxima // defaults.LEAST_SHARE, 1), 0).tolist())


def _table(units: Any) -> Table:
    """Return an array of units as tuples."""
    return tuple(tuple(row) for row in units.tolist())


def texts(rows: Iterable[Iterable[int]]) -> list[list[str]]:
    """Units as decimal text, which loses nothing."""
    return [[amounts.text(units) for units in row] for row in rows]
