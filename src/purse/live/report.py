"""The inputs of a live policy: its choices in the workspace, and the reports of its user."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from purse.base import amounts, validation
from purse.engine.rounds import MASKED, UNSET
from purse.engine.workspace import Workspace
from purse.errors import InvalidInput, invalid
from purse.types import SKIP, Ints, Problem, Ticket

_ONE = (float, int, str, Decimal, np.number)  # what stands for one number


class Round(NamedTuple):
    """A round with an open ticket, or one that has to be asked for again."""

    t: int
    arms: tuple[int, ...]
    probabilities: tuple[float, ...]
    excluded: tuple[int, ...] = ()  # rule `retry`: arms that cannot replace one that is not paid
    attempt: int = 0  # rule `retry`: how many arms were replaced in this round
    initial: bool = False

    @classmethod
    def read(cls, values: Sequence[Any]) -> "Round":
        """Return a round from the lists of a JSON file."""
        t, arms, probabilities, excluded, attempt, initial = values
        return cls(t, tuple(arms), tuple(probabilities), tuple(excluded), attempt, initial)


def read_choice(space: Workspace) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the arms in the workspace and their probabilities, without skipped plays."""
    arms, probs = tuple(space.arms.tolist()), tuple(space.probs.tolist())
    if arms[-1] == SKIP and arms[0] >= 0:  # plays that are skipped come last
        arms = tuple(arm for arm in arms if arm >= 0)
    return arms, probs[: len(arms)]


def wrong_choice(arms: Sequence[int], n_arms: int, t: int) -> str:
    """Say why the arms that a policy chose cannot be played."""
    if arms[0] == UNSET:
        return f"chose no arm in round {t}"
    if arms[0] <= MASKED:
        return f"chose arm {MASKED - arms[0]}, which is not allowed, in round {t}"
    unknown = [arm for arm in arms if not 0 <= arm < n_arms]
    what = f"arm {unknown[0]}" if unknown else f"arms {list(arms)}, with gaps,"
    return f"chose {what} in round {t}, and there are arms 0 to {n_arms - 1}"


def read_report(ticket: Ticket, reward: Any, cost: Any) -> tuple[Sequence[float], Sequence[int]]:
    """Return the reward of each play, and the units of each resource that each play cost.

    The step that learns from them holds them to their bounds.
    """
    plays, resources = len(ticket.arms), len(ticket.held_units)
    if plays == resources == 1 and isinstance(reward, _ONE) and isinstance(cost, _ONE):
        return (reward if type(reward) is float else validation.rewards(reward)[0],), (
            amounts.to_units("cost", cost),
        )
    rewards, costs = validation.rewards(reward), amounts.unit_array("cost", cost)
    if len(rewards) != plays or not _fits(costs, plays, resources):
        raise InvalidInput(
            f"a report needs {plays} rewards and costs of shape ({plays}, "
            f"{resources}), not {len(rewards)} and {costs.shape}"
        )
    return rewards, costs.ravel().tolist()


def _fits(costs: Ints, plays: int, resources: int) -> bool:
    return costs.size == plays * resources and (
        costs.shape == (plays, resources)
        or (1 in (plays, resources) and costs.shape in ((plays * resources,), ()))
    )


def out_of_bounds(
    problem: Problem, ticket: Ticket, rewards: Sequence[float], cost: Any, entry: int
) -> InvalidInput:
    """Return the error for one entry of a report.

    Entries are counted as `engine.ask_tell.tell` does: the rewards, then the costs of each play.
    """
    plays = problem.plays
    if entry < plays:
        return invalid("reward", rewards[entry], "must lie between 0 and 1")
    play, resource = divmod(entry - plays, problem.n_resources)
    arm = ticket.arms[play]
    low, high = problem.cost_min[arm, resource], problem.cost_max[arm, resource]
    bounds = f"{amounts.text(low)} and {amounts.text(high)}"
    return invalid("cost", cost, f"must lie between {bounds} for arm {arm}")
