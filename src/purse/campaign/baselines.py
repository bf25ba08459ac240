"""What the money of a campaign has bought, beside what it might have bought otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from purse.base import amounts
from purse.campaign.arm_stats import ArmStats


def value(
    names: Sequence[str], arms: Sequence[ArmStats], paid: Sequence[int], *, is_limited: bool
) -> dict[str, Any]:
    """The gain, which is the sum of all rewards, and what it is compared with.

    paid         (d,) what all calls cost, in units, failed ones and overruns included
    is_limited   whether rounds are limited, too: then others get no more pulls than were reported

    `best` is the arm that alone would have gained most for the same money, and has two reports;
    `uniform` is all arms equally often, once each has a report. Both are estimates: they take the
    mean reward and cost of each arm's own reports, as if those had not depended on when the arm was
    chosen. Which arm is best is known only in hindsight.
    """
    gain, pulled = sum(arm.reward for arm in arms), [arm for arm in arms if arm.pulls]
    most = sum(arm.told for arm in arms) if is_limited else None
    alone = [
        (bought, name, arm)
        for name, arm in zip(names, arms, strict=False)
        if arm.told > 1 and (bought := gain_of([arm], paid, most)) is not None
    ]
    best = max(alone, key=lambda found: found[0], default=None)
    first = paid[0] / amounts.UNIT
    return {
        "gain": gain,
        "paid": [amounts.text(units) for units in paid],
        "per_unit": gain / first if first else None,
        "best": best and best_of(*best, first if len(paid) == 1 and not is_limited else None),
        "uniform": gain_of(pulled, paid, most) if all(arm.told for arm in pulled) else None,
    }


def best_of(bought: float, name: str, arm: ArmStats, paid: float | None) -> dict[str, Any]:
    """The best arm as JSON has it, with a 95% interval where money of one resource is all
    that limits it.
    """
    interval = None if paid is None else arm.efficiency()[1]
    return {
        "arm": name,
        "gain": bought,
        "interval": interval and [end * (paid or 0.0) for end in interval],
        "told": arm.told,
    }


def gain_of(arms: Sequence[ArmStats], paid: Sequence[int], most: int | None) -> float | None:
    """What arms that are pulled equally often would gain until one resource is spent, in at most
    `most` pulls; None where they cost nothing.
    """
    rounds = [
        units / cost
        for place, units in enumerate(paid)
        if (cost := sum(arm.costs[place] / arm.told for arm in arms)) > 0
    ]
    if rounds and most is not None:
        rounds.append(most / len(arms))
    return min(rounds) * sum(arm.reward / arm.told for arm in arms) if rounds else None
