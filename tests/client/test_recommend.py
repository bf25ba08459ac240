"""Which arm is best, through the client."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from purse import Campaign, InvalidInput, NoSuchCampaign
from purse.base.recommendation import ArmVerdict, MeanBounds, Recommendation
from tests.client.test_client import TERMS, Place


@pytest.fixture(scope="module")
def place() -> Place:
    made = Place()
    made.client.create("prompts", **TERMS)
    for arm, reward in (("small", 1), ("large", 0)) * 8:
        ticket = made.client.ask("prompts", arms=[arm])
        made.client.tell("prompts", ticket, reward, "0.001")
    return made


@pytest.mark.parametrize(
    "question",
    [
        {},
        {"by": "ratio", "within": 0.5},
        {"cap": 0.0099999999},
        {"cap": 1e-5, "confidence": 0.5},
        {"cap": Decimal("0.02"), "resource": "USD"},
        {"cap": 1},
        {"cap": "0.05"},
    ],
)
def test_the_answer_is_that_of_the_campaign(place: Place, question: dict[str, Any]) -> None:
    found = place.client.recommend("prompts", **question)
    assert found == Campaign.open("prompts", storage=place.storage).recommend(**question)
    assert isinstance(found, Recommendation)
    assert isinstance(found.arms, tuple)
    assert isinstance(found.arms[0], ArmVerdict)
    assert isinstance(found.arms[0].reward, MeanBounds)
    assert str(found)


def test_errors_are_those_of_a_campaign(place: Place) -> None:
    with pytest.raises(InvalidInput, match="confidence"):
        place.client.recommend("prompts", confidence=95)
    with pytest.raises(InvalidInput, match="cap"):
        place.client.recommend("prompts", cap=-1)
    with pytest.raises(InvalidInput, match="by"):
        place.client.recommend("prompts", "cost")
    with pytest.raises(NoSuchCampaign, match="ads"):
        place.client.recommend("ads")
