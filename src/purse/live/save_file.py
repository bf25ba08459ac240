"""The file of a saved policy: a zip of NumPy arrays and one JSON text, with a version, no pickle.

Everything that a file says is checked before anything compiled trusts it.
"""

import os
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from purse.base import validation
from purse.base.array_file import read_arrays, write_arrays
from purse.base.spec import absolute
from purse.engine.workspace import COUNTED_MASKS
from purse.errors import InvalidInput, shorten
from purse.features import Features
from purse.live.memory import PolicyMemory
from purse.live.report import Round
from purse.types import LONGEST, Problem, Ticket

_FORMAT = 5
_PLAIN = ("name", "seed", "stop", "t", "gain", "over", "_next_id")  # saved as they are


def save(path: str | os.PathLike[str], facts: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write facts and arrays to a file, whole or not at all."""
    write_arrays(path, {"format": _FORMAT, **facts}, arrays)


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the facts and the arrays that `save` wrote.

    Raise `InvalidInput` when the file cannot be read or has another format.
    """
    try:
        with Path(path).open("rb") as file:
            facts, arrays = read_arrays(file, str(path), "a saved policy")
    except OSError as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error.strerror}") from None
    if facts["format"] != _FORMAT:
        raise InvalidInput(
            f"{str(path)!r} has format {shorten(repr(facts['format']))}; this version of purse "
            f"reads format {_FORMAT}"
        )
    return facts, arrays


def layout(arrays: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Return the type and shape of each array, by name."""
    return {name: (array.dtype, array.shape) for name, array in arrays.items()}


def facts_of(policy: PolicyMemory) -> dict[str, Any]:
    """Return the facts that a policy saves besides its state."""
    problem = {
        field.name: getattr(policy.problem, field.name)
        for field in fields(policy.problem)
        if field.name not in ("per_arm", "forecast") or getattr(policy.problem, field.name)
    }
    return {
        "problem": {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in problem.items()
        },
        "tickets": list(policy._open.values()),
        "again": list(policy._again),
        **({"features": policy.features.as_dict()} if policy.features else {}),
        **({"map": policy.features.map} if policy.features.map else {}),
        **({"contexts": list(policy._contexts.items())} if policy._contexts else {}),
        "owed": policy._game.workspace.owed.tolist(),
        **({"masks": masks} if (masks := _counted_masks(policy)) else {}),
        "initial": sorted(policy._initial),
        **({"version": version} if (version := _version_of(policy)) else {}),
        "left": policy.left_units,
        **{name: getattr(policy, name) for name in _PLAIN},
        "name": absolute(policy.name),
    }


def _version_of(policy: PolicyMemory) -> int:
    """Return the version of a policy's rule; 0 if it counts none."""
    return int(getattr(policy._module, "VERSION", 0))


def _counted_masks(policy: PolicyMemory) -> list[tuple[list[int], int]]:
    """Return the arms of each mask that is counted, and the sum of the rounds that had it."""
    space = policy._game.workspace
    rows = zip(space.masks, space.seen.tolist(), strict=True)
    return [(np.flatnonzero(mask).tolist(), count) for mask, count in rows if count]


def restore(policy: PolicyMemory, facts: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Make a new object the policy that was saved.

    Raise `InvalidInput`, or another error of `DAMAGE`, when the file holds none.
    """
    arguments: dict[str, Any] = {
        name: np.array(value) if isinstance(value, list) else value
        for name, value in facts["problem"].items()
    }
    problem = Problem(**arguments)
    _check_problem(problem)
    _check_numbers(facts)
    features = Features.of(
        facts.get("features"), n_arms=problem.n_arms, per_arm=problem.per_arm, map=facts.get("map")
    )
    if features.n_seen != problem.n_features:
        raise InvalidInput("its features do not fit its problem")
    policy._begin(facts["name"], replace(problem, stop=facts["stop"]), facts["seed"], features)
    for name in _PLAIN:
        setattr(policy, name, facts[name])
    saved, now = facts.get("version", min(1, _version_of(policy))), _version_of(policy)
    if saved != now:
        raise InvalidInput(
            f"version {saved} of {policy.name} has learnt it, and this is version {now}, which "
            "cannot go on; load it with the purse that saved it, or begin a new policy"
        )
    if layout(policy.state._asdict()) != layout(arrays):
        raise InvalidInput(
            f"it holds a state of {policy.name} that this version of the policy does not have; "
            "load it with the purse that saved it, or begin a new policy"
        )
    for name, array in arrays.items():
        getattr(policy.state, name)[...] = array
    policy._open = {
        ticket[0]: (
            Ticket(*ticket[:2], *map(tuple, ticket[2:])),
            None if issued is None else Round.read(issued),
        )
        for ticket, issued in facts["tickets"]
    }
    for ticket in policy.tickets:
        _check_arms(problem, "ticket", ticket.arms, ticket.probabilities, ())
        if len(ticket.held_units) != problem.n_resources:
            raise InvalidInput("it holds a ticket that does not fit its problem")
    if policy._sees:
        policy._contexts = {
            number: _check_context(features, numbers)
            for number, numbers in facts.get("contexts", [])
        }
        if policy._contexts.keys() != policy._open.keys():
            raise InvalidInput("it holds a context without a ticket, or none for a ticket")
    policy._left_units[:] = facts["left"]
    _check_budget(policy)
    policy._again = deque(map(Round.read, facts["again"]))
    for again in policy._again:
        _check_arms(problem, "round", again.arms, again.probabilities, again.excluded)
    policy._initial = set(facts["initial"])
    policy._game.workspace.owed[:] = facts["owed"]
    masks = facts.get("masks", [])
    _check_masks(problem, masks, policy.t)
    for row, (arms, count) in enumerate(masks):
        policy._game.workspace.masks[row, arms] = True
        policy._game.workspace.seen[row] = count
    if policy._counts_pending:
        for ticket in policy.tickets:
            policy._count_pending(ticket.arms, 1)


def is_policy_file(policy: str) -> bool:
    """Return whether a policy is a file, which is code, and not one that purse ships.

    >>> is_policy_file("/srv/mine.py:beta=1"), is_policy_file("exp3++.bwk:beta=1")
    (True, False)
    """
    return policy.partition(":")[0].strip().endswith(".py")


def _check_problem(problem: Problem) -> None:
    """Refuse a problem whose arrays do not fit its numbers of arms, plays and resources.

    A problem that passes is about as large as the file that holds it.
    """
    arms = validation.integer("n_arms", problem.n_arms, low=1)
    if problem.forecast is not False and (problem.forecast, problem.horizon) != (True, LONGEST):
        raise InvalidInput("its forecast does not fit its horizon")
    validation.integer("plays", problem.plays, low=1, high=arms)
    table = (arms, problem.n_resources)
    shapes = {
        "budget": table[1:],
        "cost_min": table,
        "cost_max": table,
        "costs": table,
        "caps": table[:1],
        "reward_means": table[:1],
        "cost_means": table,
    }
    for name, shape in shapes.items():
        array = getattr(problem, name)
        if array is not None and (
            array.shape != shape or (array.dtype != np.int64 and not name.endswith("_means"))
        ):
            raise InvalidInput(f"its {name} does not fit {arms} arms")


def _check_numbers(facts: dict[str, Any]) -> None:
    """Refuse counts that no policy can have."""
    for name, low in (("t", 0), ("_next_id", 1)):
        validation.integer(name, facts[name], low=low)
    validation.number("gain", facts["gain"], low=0)
    if not isinstance(facts["over"], str):
        raise InvalidInput("its reason for the end of the game is not text")


def _check_budget(policy: PolicyMemory) -> None:
    """Refuse a budget of which more, or less than nothing, is spent, held or left."""
    holds = [ticket.held_units for ticket in policy.tickets]
    if min(min(units) for units in (policy.left_units, policy.spent_units, *holds)) < 0:
        budget, left, held = policy.problem.budget.tolist(), policy.left_units, policy.held_units
        raise InvalidInput(f"it says that {left} is left and {held} is held of {budget} units")


def _check_arms(problem: Problem, what: str, arms: Any, probabilities: Any, excluded: Any) -> None:
    """Refuse arms that the compiled steps, which trust arms and sizes, cannot take."""
    if (
        not 1 <= len(arms) <= problem.plays
        or len(probabilities) != len(arms)
        or not all(arm in range(problem.n_arms) for arm in (*arms, *excluded))
    ):
        raise InvalidInput(f"it holds a {what} that does not fit its problem")


def _check_masks(problem: Problem, masks: Any, t: int) -> None:
    """Refuse masks that cannot have been counted in t rounds."""
    counted = sum(validation.integer("masks", count, low=1) for _, count in masks)
    whole = t * (t + 1) // 2
    if len(masks) > COUNTED_MASKS or counted > whole:
        raise InvalidInput(
            f"it holds {len(masks)} masks that count {counted}, and {t} rounds count {whole}"
        )
    if not all(arms and all(arm in range(problem.n_arms) for arm in arms) for arms, _ in masks):
        raise InvalidInput("it holds a mask that does not fit its problem")


def _check_context(features: Features, numbers: Sequence[Any]) -> tuple[float, ...]:
    """Return the context of a ticket; refuse one that does not fit the features."""
    if len(numbers) != features.n_columns * (features.n_arms if features.per_arm else 1):
        raise InvalidInput("it holds a context that does not fit its problem")
    return tuple(validation.number("context", value) for value in numbers)
