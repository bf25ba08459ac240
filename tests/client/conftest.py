"""A real server in a thread of this process."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage
from tests.support.storages import START

if TYPE_CHECKING:
    from tests.support.service import Served


@pytest.fixture(scope="module")
def server() -> "Iterator[tuple[Storage, Served]]":
    """A server without tokens, and where it keeps campaigns."""
    from tests.support.service import served

    storage = in_memory()
    with served(storage=storage) as found:
        yield storage, found


@pytest.fixture
def storage(server: "tuple[Storage, Served]") -> Storage:
    """The storage of the server, which is empty; its clock stands still."""
    from tests.support.service import empty

    kept, _ = server
    empty(kept)
    kept.now = lambda: START
    return kept


@pytest.fixture
def at(server: "tuple[Storage, Served]", storage: Storage) -> "Served":
    """Where the server is."""
    return server[1]


@pytest.fixture(autouse=True)
def _no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment of the tests has."""
    monkeypatch.delenv("PURSE_TOKEN", raising=False)
