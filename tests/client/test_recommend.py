"""Which arm is best, on a server."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from purse import InvalidInput
from purse.base.recommendation import ArmVerdict, MeanBounds, Recommendation
from tests.support.wire import Far


@pytest.fixture(scope="module")
def far() -> Far:
    made = Far()
    for arm, reward in (("small", 1), ("large", 0)) * 8:
        made.campaign.tell(made.campaign.ask(arms=[arm]), reward, "0.001")
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
def test_the_answer_is_that_of_the_campaign(far: Far, question: dict[str, Any]) -> None:
    found = far.campaign.recommend(**question)
    assert found == far.here.recommend(**question)
    assert isinstance(found, Recommendation)
    assert isinstance(found.arms, tuple)
    assert isinstance(found.arms[0], ArmVerdict)
    assert isinstance(found.arms[0].reward, MeanBounds)
    assert str(found)


def test_errors_are_those_of_a_campaign(far: Far) -> None:
    with pytest.raises(InvalidInput, match="confidence"):
        far.campaign.recommend(confidence=95)
    with pytest.raises(InvalidInput, match="cap"):
        far.campaign.recommend(cap=-1)
    with pytest.raises(InvalidInput, match="by"):
        far.campaign.recommend("cost")
