"""Readers of terms: times, rewards, policies, exploration and room for arms, checked."""

import math
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np

from purse import policies
from purse.base import amounts, spec, validation
from purse.campaign.api import defaults
from purse.campaign.api.defaults import TRAFFIC
from purse.engine.job import find_policy, plans_by_forecast
from purse.errors import invalid, unknown
from purse.features import Features
from purse.kernels.prior import pin_prior
from purse.types import FORECAST

_MOST_SECONDS = 10 * 365 * 86_400
_MOST_EXPLORED = 0.5
_MOST_ARMS = 10_000  # places
MOST_GIVEN = 1_000  # arms, or amounts of arms, that are given at once
_MOST_RESOURCES = 100

MOST_KEYS = 8  # of labels, of a campaign
_LONGEST_KEY = 50  # characters

Table = tuple[tuple[int, ...], ...]
Limits = tuple[tuple[str, tuple[int, ...]], ...]  # a key of labels and (d,) units, for each


def milliseconds(field: str, seconds: float | None) -> int | None:
    """Return a time of at least a millisecond, or None if it is not given."""
    if seconds is None:
        return None
    return max(1, round(validation.number(field, seconds, above=0, high=_MOST_SECONDS) * 1000))


def read_horizon(values: Mapping[str, Any]) -> Any:
    """Return the horizon of a campaign, which is not checked if it is a number.

    Raise `InvalidInput` if a forecast has no end.
    """
    horizon, has_end = (values["horizon"], bool(values["every"]) or values["until"] is not None)
    if isinstance(horizon, str) and horizon == defaults.HORIZON:
        policy = values["policy"]
        fits = has_end and isinstance(policy, str) and plans_by_forecast(find_policy(policy)[0])
        return TRAFFIC if fits else None
    if isinstance(horizon, str) and horizon == TRAFFIC and not has_end:
        raise invalid("horizon", horizon, "needs an end: every='month' or until='2027-12-31'")
    return horizon


def as_told(horizon: Any) -> Any:
    """Return a horizon as a `Problem` has it."""
    return FORECAST if isinstance(horizon, str) and horizon == TRAFFIC else horizon


def read_range(reward_range: Any) -> tuple[float, float] | None:
    """Return the least and the largest reward; None for rewards in [0, 1], which are checked."""
    if reward_range is None:
        return None
    bounds = validation.numbers("reward_range", reward_range)
    if len(bounds) != 2 or not 0 < bounds[1] - bounds[0] < math.inf:
        raise invalid("reward_range", reward_range, "must be two numbers, the lower one first")
    return float(bounds[0]), float(bounds[1])


def read_missing(
    missing: Any, within: float | None, bounds: tuple[float, float] | None
) -> float | None:
    """Return the reward that stands in for a late one; None if a reward may come at any time.

    within   seconds to wait for it
    """
    if missing is None:
        if within is not None:
            raise invalid(
                "reward_within", within, "needs missing_reward, what a reward counts as after it"
            )
        return None
    low, high = bounds or (0.0, 1.0)
    value = validation.number("missing_reward", missing, low=low, high=high)
    if within is None:
        raise invalid("missing_reward", missing, "needs reward_within, the seconds to wait")
    return float(value)


def read_explore(explore: Any) -> float:
    """Return the share of the money that is explored with; 0 for none."""
    if explore is None:
        return 0.0
    return float(validation.number("explore", explore, above=0, high=_MOST_EXPLORED))


def read_capacity(capacity: int | None, arms: Sequence[str]) -> int:
    """Return the number of places for arms; 0 if there are as many as arms are named."""
    if capacity is None or capacity == len(arms):
        return 0
    return validation.integer("capacity", capacity, low=len(arms), high=_MOST_ARMS)


def read_bound(
    field: str, value: Any, declared: Table, arms: Sequence[str], resources: Sequence[str]
) -> Table | None:
    """Return the bound of each arm in units, (K, d), from one amount or one per arm, or None."""
    if value is None:
        return None
    units = amounts.unit_array(field, in_order(field, value, arms, resources))
    shape = (len(arms), len(resources))
    if units.ndim == 1 and len(arms) == units.size:
        units = units.reshape(-1, 1)
    try:
        table = np.broadcast_to(units, shape).tolist()
    except ValueError:
        raise invalid(field, value, f"must be one amount, or one per arm, shape {shape}") from None
    bound = tuple(tuple(row) for row in table)
    return None if bound == declared else bound


def read_limits(limits: Any, amounts_of: Callable[..., tuple[int, ...]]) -> Limits:
    """Return the limit of each key of labels, in the order of keys.

    amounts_of   reads the amounts of a field, as `BudgetTerms.amounts` does
    """
    if limits is None:
        return ()
    if not isinstance(limits, Mapping) or not 1 <= len(limits) <= MOST_KEYS:
        allowed = f"must be 1 to {MOST_KEYS} keys of labels with amounts, such as {{'user': '2'}}"
        raise invalid("limits", limits, allowed)
    for key in limits:
        checked_key("limits", key)
    return tuple(
        (key, amounts_of(f"limits[{key!r}]", limits[key], low=0)) for key in sorted(limits)
    )


def checked_key(field: str, key: Any) -> str:
    """Return a key of labels. Raise `InvalidInput` if it is not one."""
    if not is_text(key, _LONGEST_KEY) or "=" in key:
        allowed = f"a key must be text of 1 to {_LONGEST_KEY} printable characters"
        raise invalid(field, key, f"{allowed}, without an equals sign")
    return str(key)


def is_text(value: Any, longest: int) -> bool:
    """Return whether a value is short text that can be printed."""
    return isinstance(value, str) and 1 <= len(value) <= longest and value.isprintable()


def names(field: str, values: Any, limit: int = MOST_GIVEN) -> tuple[str, ...]:
    """Return different names, at least one and no more than `limit`."""
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise invalid(field, values, "must be a list of names")
    check_number(field, values, limit)
    for value in values:
        if (
            not isinstance(value, str)
            or not 1 <= len(value) <= 200
            or not value.isprintable()
            or value != value.strip()
        ):
            raise invalid(field, value, "must be a printable name of at most 200 characters")
    if len(set(values)) < len(values):
        raise invalid(field, list(values), "must be different names")
    return tuple(values)


def read_resources(resources: Any) -> tuple[str, ...]:
    """Return the names of what is spent; None stands for one without a name of its own."""
    resource_names = defaults.RESOURCES if resources is None else resources
    return names("resources", resource_names, _MOST_RESOURCES)


def check_number(field: str, values: Any, limit: int = MOST_GIVEN) -> None:
    """Refuse very many values at once: to read 100,000 takes a second."""
    if len(values) > limit:
        raise invalid(field, f"{len(values):,} entries", f"must have at most {limit:,}")


def by_name(field: str, value: Any, names: Sequence[str], kind: str) -> Any:
    """Return a dict of names as a list in order; anything else as it is."""
    if isinstance(value, (list, tuple, Mapping)):
        check_number(field, value)
    if not isinstance(value, Mapping):
        return value
    for name in value:
        if name not in names:
            raise unknown(f"{kind} in {field}", str(name), names)
    if missing := [name for name in names if name not in value]:
        raise invalid(field, dict(value), f"must have an entry for the {kind} {missing[0]!r} too")
    return [value[name] for name in names]


def in_order(field: str, value: Any, arms: Sequence[str], resources: Sequence[str]) -> Any:
    """Return values per arm, and per resource within an arm, as lists in order."""
    rows = by_name(field, value, arms, "arm")
    return (
        [by_name(field, row, resources, "resource") for row in rows]
        if isinstance(rows, (list, tuple))
        else rows
    )


def read_policy(policy: Any, features: Features, arms: Sequence[str], *, skips: bool) -> str:
    """Return a policy by its name, or by the whole path of its file.

    skips   whether it may let rounds pass; if not, and it has the option `skip`, that is 0
    """
    if not isinstance(policy, str):
        raise invalid(
            "policy",
            policy,
            "must be a name such as 'exp3++.bwk:beta=1', or the path of a file: it "
            "has to be found again later",
        )
    text = pin_prior(spec.absolute(policy), features, arms)
    name, options = spec.parse(text)
    if skips or "skip" not in signature(policies.load(name).params).parameters:
        return text
    if options.get("skip"):
        raise invalid("policy", policy, "must not have the option skip unless skip is True")
    return text if "skip" in options else f"{text}{',' if options else ':'}skip=0"


def read_skip(skip: Any, horizon: Any) -> bool:
    """Return whether rounds may pass; True without a horizon, as then none does anyhow."""
    if not isinstance(skip, bool):
        raise invalid("skip", skip, "must be True or False")
    if skip and horizon is None:
        raise invalid("skip", skip, "needs a horizon: without one no round may pass")
    return skip or horizon is None
