"""What is asked and answered about the best arm."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, PlainValidator, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from purse.base import recommendation
from purse.base.recommendation import CONFIDENCE, REWARD, Criterion
from purse.service.schemas import examples
from purse.service.schemas.fields import MOST_NAME, TEXT, check_amount
from purse.service.schemas.from_results import Described
from purse.service.schemas.known_fields import KnownFields


class RecommendationQuery(KnownFields):
    """What the best arm is to have the most of, and how sure that has to be."""

    by: Annotated[
        Criterion, Field(description="The mean reward, or the mean reward over the mean cost.")
    ] = REWARD
    cap: Annotated[
        str | None,
        PlainValidator(check_amount),
        WithJsonSchema({"type": "string", "pattern": rf"^{TEXT.pattern}$"}),
        Field(
            description="The most that a pull of the best arm may cost, on average: above 0, as "
            "decimal text. Without it an arm may cost anything.",
        ),
    ] = None
    confidence: Annotated[
        float, Field(gt=0, lt=1, description="How sure the answer has to be to be `certain`.")
    ] = CONFIDENCE
    within: Annotated[
        float,
        Field(
            ge=0,
            allow_inf_nan=False,
            description="By how much the best arm may be missed, in rewards or rewards per cost.",
        ),
    ] = 0.0
    resource: Annotated[
        str | SkipJsonSchema[None],
        Field(
            min_length=1,
            max_length=MOST_NAME,
            description="What costs are counted in. Without it the first resource.",
        ),
    ] = None


MeanBounds = Annotated[
    recommendation.MeanBounds, Described("MeanBounds", recommendation.MeanBounds)
]
ArmVerdict = Annotated[
    recommendation.ArmVerdict,
    Described(
        "ArmVerdict",
        recommendation.ArmVerdict,
        reward=MeanBounds,
        cost=Annotated[
            MeanBounds, "Of a pull. Without bounds where the question is not about costs."
        ],
        ratio=Annotated[MeanBounds, "Mean reward over mean cost, bounded as the cost is."],
    ),
]
Recommendation = Annotated[
    recommendation.Recommendation,
    Described(
        "Recommendation",
        recommendation.Recommendation,
        examples.RECOMMENDATION,
        arms=tuple[ArmVerdict, ...],
    ),
]
