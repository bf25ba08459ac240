"""Exploration with known chances: what they are, that tickets carry them, and that they are met."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import Any

import pytest

from purse import Campaign
from tests.support.campaigns import made
from tests.support.soak import scale

BAND = 4.5  # standard errors


THREE: dict[str, Any] = {
    "arms": {"small": 1, "middle": 2, "large": 8},
    "cost_min": "0.5",
    "budget": 1000,
    "policy": "fixed:arm=0",
}


def chances(campaign: Campaign, arms: Any = None) -> list[float]:
    return list(campaign.probabilities(arms).values())


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        # a share of the money: the cheapest arm has 0.06 / 3, one that is twice as dear half of it
        (None, [0.02 + 0.9675, 0.01, 0.0025]),
        # without its own arm the policy takes any
        (["middle", "large"], [0, 0.03 + 0.9625 / 2, 0.0075 + 0.9625 / 2]),
        (["large"], [0, 0, 1]),
        # this call of the large arm may cost no more than one of the small arm
        ({"small": 1, "large": 1}, [0.03 + 0.94, 0, 0.03]),
        ({"small": "0.5", "large": 4}, [0.03 + 0.96625, 0, 0.00375]),
    ],
)
def test_the_next_round_has_the_chances_of_its_mask_and_of_its_maxima(
    arms: Any, expected: list[float]
) -> None:
    campaign = made(**THREE, explore=0.06)
    assert chances(campaign, arms) == pytest.approx(expected, abs=1e-12)
    assert sum(chances(campaign, arms)) == pytest.approx(1, abs=1e-12)


def test_with_several_resources_the_scarcest_counts() -> None:
    campaign = made(
        arms={"red": [2, "0.1"], "green": [1, "0.4"]},  # 2% of the euros; 4% of the hours
        resources=["euros", "hours"],
        budget=[100, 10],
        cost_min=["0.1", "0.1"],
        policy="fixed:arm=0",
        explore=0.1,
    )
    assert chances(campaign) == pytest.approx([0.05 + 0.925, 0.025], abs=1e-12)
    campaign.top_up({"euros": 0, "hours": 30})  # now 1% of the hours, as much as of the euros
    assert chances(campaign) == pytest.approx([0.025 + 0.925, 0.05], abs=1e-12)


@pytest.mark.parametrize("mask", [None, {"small": 1, "large": 4}])
def test_arms_are_drawn_as_often_as_their_chances_say(mask: Any) -> None:
    rounds = scale(2_000, 40_000)
    campaign = made(**{**THREE, "budget": 8 * rounds, "explore": 0.3, "seed": 11})
    expected = campaign.probabilities(mask)
    drawn: Counter[str | None] = Counter()
    for _ in range(rounds // 20):
        tickets = campaign.ask_many(20, arms=mask)
        drawn.update(ticket.arm for ticket in tickets)
        campaign.tell_many([(ticket, 1, "0.5") for ticket in tickets])
    for arm, chance in expected.items():
        error = sqrt(chance * (1 - chance) / rounds)
        assert abs(drawn[arm] / rounds - chance) <= BAND * error, arm


def test_another_seed_explores_in_other_rounds_and_the_same_seed_in_the_same() -> None:
    orders = []
    for seed in (1, 1, 2):
        campaign = made(**{**THREE, "explore": 0.5, "seed": seed})
        orders.append([ticket.arm for ticket in campaign.ask_many(50)])
    assert orders[0] == orders[1] != orders[2]
