"""LiteLLM takes seconds to import: only the worker that runs these tests does it."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.litellm_lab import Lab


@pytest.fixture(scope="session")
def one_lab() -> "Iterator[Lab]":
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # the table of the package, no download
    from tests.support.litellm_lab import Lab

    with Lab() as made:
        yield made


@pytest.fixture
def lab(one_lab: "Lab") -> "Iterator[Lab]":
    """The real LiteLLM, without a callback before and after each test."""
    yield one_lab
    one_lab.clear()
