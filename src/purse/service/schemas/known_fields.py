"""What all queries and bodies have in common."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

MOST_UNKNOWN = 5  # fields that are listed one by one


class KnownFields(BaseModel):
    """What all queries and bodies have in common: fields that are not known are refused."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def few_unknown(cls, given: Any) -> Any:
        """Refuse very many fields at once: one error for each of 100,000 takes a second."""
        if isinstance(given, dict) and len(given) > len(cls.model_fields) + MOST_UNKNOWN:
            unknown = len(given) - sum(name in given for name in cls.model_fields)
            known = ", ".join(cls.model_fields)
            raise ValueError(f"must have no other fields than {known}; {unknown} are not known")
        return given


class RequestModel(KnownFields):
    """What all bodies have in common: nothing is guessed, text is no number."""

    model_config = ConfigDict(strict=True)
