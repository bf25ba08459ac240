"""The seconds for which a provider wants to rest, in all forms of its headers."""

from email.utils import formatdate
from types import SimpleNamespace

import pytest

from purse.integrations.transport.verdicts import of_response


@pytest.mark.parametrize(
    ("headers", "rest"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "7", "retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "0"}, None),
        ({"retry-after": "1e9"}, 3600),
        ({"retry-after": "soon"}, None),
        ({"retry-after": formatdate(0, usegmt=True)}, None),
        ({"retry-after": formatdate(4e9, usegmt=True)}, 3600),
    ],
)
def test_how_long_the_arm_rests(headers: dict[str, str], rest: float | None) -> None:
    response = SimpleNamespace(status_code=429, headers=headers)
    assert of_response(response) == ("fail", 0, "status 429", rest)
