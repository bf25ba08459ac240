"""The description of the API: what each operation may answer, with its problems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, TypeAdapter

from purse._version import __version__
from purse.base.problem_types import OF_ERRORS, ProblemType, facts
from purse.errors import (
    ArmsCoolingDown,
    InvalidInput,
    NotFound,
    PurseError,
    StorageUnavailable,
)
from purse.service import problems
from purse.service.problems import (
    FOREIGN,
    NO_TOKEN,
    NOT_JSON,
    TOO_LARGE,
    TOO_MANY,
    WRONG_ROLE,
)
from purse.service.schemas import responses

SUMMARY = "Bandits with knapsacks under a budget that cannot be overspent"
ABOUT = (
    "Ask for a ticket, pull its arm, tell what it brought and cost. A repeat of an ask with the "
    "same `request_id`, or of a report, has no second effect,\n"
    "so that whatever got no answer can be sent again. Amounts are decimal text. Every error is a "
    "problem (RFC 9457)."
)
REF = "#/components/schemas/"
MORE = {OF_ERRORS[ArmsCoolingDown]: {"seconds": 0.75}}  # what problems say besides, in examples
HEADERS = {
    401: {
        "WWW-Authenticate": {
            "description": "How to send a token.",
            "required": True,
            "schema": {"type": "string"},
        }
    },
    429: {
        "Retry-After": {
            "description": "Seconds to wait.",
            "required": True,
            "schema": {"type": "string", "pattern": "^[0-9]+$"},
        }
    },
    503: {
        "Retry-After": {
            "description": "Seconds to wait.",
            "required": True,
            "schema": {"type": "string", "pattern": "^[0-9]+$"},
        }
    },
}


def refusals(
    *errors: type[PurseError],
    body: bool = False,
    campaign: bool = True,
    token: bool = True,
    more: tuple[ProblemType, ...] = (),
) -> dict[int | str, dict[str, Any]]:
    """The problems that an operation may answer with: its own, and those that all such operations
    share.
    """
    own = [InvalidInput, StorageUnavailable, *((NotFound,) if campaign else ()), *errors]
    kinds = [*(OF_ERRORS[error] for error in own), FOREIGN, TOO_LARGE, TOO_MANY, *more]
    kinds += [NO_TOKEN, WRONG_ROLE] if token else []
    kinds += [NOT_JSON] if body else []
    return {
        status: described(status, [kind for kind in kinds if kind.status == status])
        for status in sorted({kind.status for kind in kinds})
    }


def described(status: int, kinds: list[ProblemType]) -> dict[str, Any]:
    """One status with the problems that come with it."""
    examples = {
        kind.slug: {"value": {**facts(kind, kind.title), **MORE.get(kind, {})}} for kind in kinds
    }
    content = {
        problems.MEDIA_TYPE: {
            "schema": {"$ref": REF + responses.Problem.__name__},
            "examples": examples,
        }
    }
    return {
        "description": "; ".join(dict.fromkeys(kind.title for kind in kinds)) + ".",
        "content": content,
        "headers": HEADERS.get(status, {}),
    }


def models(parent: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """All models of the service."""
    for model in parent.__subclasses__():
        if model.__module__.startswith("purse."):
            yield model
        yield from models(model)


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, made once."""
    if app.openapi_schema is None:
        made = get_openapi(
            title="purse",
            version=__version__,
            summary=SUMMARY,
            description=ABOUT,
            routes=app.routes,
        )
        for operations in made["paths"].values():
            for operation in operations.values():
                # what FastAPI would say; a bad request is a 400 here
                operation["responses"].pop("422", None)
        schemas = made["components"]["schemas"]
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        # by FastAPI, that is: their media types are not its own
        for name, unused in (("Problem", responses.Problem), ("Entry", responses.Entry)):
            schemas.setdefault(
                name, TypeAdapter[Any](unused).json_schema(ref_template=REF + "{model}")
            )
        for model in models(BaseModel):
            if model.__name__ in schemas and isinstance(
                more := model.model_config.get("json_schema_extra"), dict
            ):
                # once more: FastAPI leaves out what is null in an example
                schemas[model.__name__].update(more)
        app.openapi_schema = made
    return app.openapi_schema
