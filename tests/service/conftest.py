from __future__ import annotations

import pytest

from tests.support.service import TestClient, running


@pytest.fixture(scope="module")
def untouched() -> TestClient:
    """A service with the campaign `prompts`, for requests that change nothing: to make one takes a
    tenth of a second.
    """
    return running()
