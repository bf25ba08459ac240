"""The places in which levels are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.levels.places import MemoryPlace, Place, PostgresPlace, SqlitePlace


@pytest.fixture
def make_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], Place]]:
    """Builds a place of a kind, and closes it in the end."""
    made: list[Place] = []

    def build(kind: str) -> Place:
        if kind == "memory":
            made.append(MemoryPlace())
        elif kind == "sqlite":
            made.append(SqlitePlace(tmp_path / f"purse-{len(made)}.db"))
        else:
            made.append(PostgresPlace(request.getfixturevalue("postgres_address")))
        return made[-1]

    yield build
    for place in made:
        place.close()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest, make_place: Callable[[str], Place]) -> Place:
    """A place of each kind."""
    return make_place(request.param)


@pytest.fixture(params=["sqlite", "postgres"])
def shared(request: pytest.FixtureRequest, make_place: Callable[[str], Place]) -> Place:
    """A place of each kind that several processes can share."""
    return make_place(request.param)
