"""Result types as response models. `purse.campaign` says what a ticket is; this says it in the
words of an API.
"""

from __future__ import annotations

from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, Field, GetCoreSchemaHandler, create_model
from pydantic_core import CoreSchema

from purse.campaign import results

AmountText = Annotated[str, Field(pattern=r"^-?[0-9]+(\.[0-9]{1,9})?$")]
IN_PYDANTIC: dict[Any, Any] = {
    results.Amount: AmountText,
    results.Amounts: tuple[AmountText, ...],
}


class Described:
    """Describes the result type that it annotates: a model with its fields, their types and their
    texts. `more` are fields that JSON has besides, and models in place of other result types.
    """

    def __init__(
        self, name: str, kind: type, example: dict[str, Any] | None = None, **more: Any
    ) -> None:
        config = ConfigDict(extra="forbid")
        if example is not None:
            config["json_schema_extra"] = {"examples": [example]}
        hints = {**get_type_hints(kind, include_extras=True), **more}
        fields: dict[str, Any] = {field: described(hint) for field, hint in hints.items()}
        self.model = create_model(
            name, __config__=config, __doc__=kind.__doc__, __module__=__name__, **fields
        )

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler(self.model)


def described(hint: Any) -> tuple[Any, Any]:
    """The type of a field in pydantic's words and, where the field has one, its text."""
    text = None
    if hint not in IN_PYDANTIC and get_origin(hint) is Annotated:
        hint, *more = get_args(hint)
        texts = [each for each in more if isinstance(each, str)]
        text = texts[0] if texts else None
        for model in more:
            if isinstance(model, Described):
                hint = Annotated[hint, model]
    return IN_PYDANTIC.get(hint, hint), Field(description=text)
