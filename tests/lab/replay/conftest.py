from collections.abc import Iterator

import pytest

from purse.lab.data import question


@pytest.fixture(scope="module")
def few_replicates() -> Iterator[None]:
    """Ten replicates of a log instead of hundreds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(question, "_REPLICATES", 10)
        yield
