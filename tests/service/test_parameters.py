from __future__ import annotations

from typing import Annotated, Any

import pytest
from fastapi import Body, Header, Path, Query
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException

from purse.service.parameters import Parameters


class Wish(BaseModel):
    model_config = ConfigDict(strict=True)
    n: int = 1


class Choice(BaseModel):
    state: list[str] = []
    limit: int = 10


def asked(
    id: Annotated[int, Path(ge=1)],
    choice: Annotated[Choice, Query()],
    body: Annotated[Wish, Body()] = Wish(n=7),  # noqa: B008 - it never changes
    key: Annotated[str | None, Header(alias="Idempotency-Key", pattern="^[a-z]+$")] = None,
) -> None:
    pass


def read(
    body: bytes = b"",
    query: bytes = b"",
    id: str = "5",
    headers: tuple[tuple[bytes, bytes], ...] = (),
) -> dict[str, Any]:
    scope = {"path_params": {"id": id}, "query_string": query, "headers": headers}
    return Parameters(asked).read(scope, body)


def refused(*given: Any, **named: Any) -> list[tuple[Any, ...]]:
    with pytest.raises(RequestValidationError) as refusal:
        read(*given, **named)
    return [entry["loc"] for entry in refusal.value.errors()]


def test_each_part_of_a_request_becomes_the_argument_that_is_declared_so() -> None:
    assert read() == {"id": 5, "choice": Choice(), "body": Wish(n=7), "key": None}
    found = read(b'{"n": 2}', b"state=a&limit=1&state=b&limit=3")
    assert found["choice"] == Choice(state=["a", "b"], limit=3)
    assert found["body"] == Wish(n=2)


def test_a_body_of_null_is_none_and_of_a_header_that_comes_twice_the_first_counts() -> None:
    assert read(b"null")["body"] == Wish(n=7)
    twice = ((b"idempotency-key", b"first"), (b"idempotency-key", b"second"))
    assert read(headers=twice)["key"] == "first"


def test_what_is_not_allowed_is_named_with_its_place_and_all_at_once() -> None:
    wrong = refused(b'{"n": "2"}', b"limit=x", "0", ((b"idempotency-key", b"A"),))
    assert wrong == [
        ("path", "id"),
        ("query", "limit"),
        ("header", "Idempotency-Key"),
        ("body", "n"),
    ]
    assert refused(b"[") == [("body", 1)]


@pytest.mark.parametrize("body", [b"\xff", b"[" * 100_000, b"9" * 10_000])
def test_a_body_that_no_parser_takes_is_a_bad_request(body: bytes) -> None:
    with pytest.raises(HTTPException) as refusal:
        read(body)
    assert refusal.value.status_code == 400
