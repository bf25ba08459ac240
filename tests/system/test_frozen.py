"""The API, the commands and the public names change on purpose only; `tests/test_public.py` has the
names.
"""

from __future__ import annotations

import pytest

from tests.support.frozen import FILES, FOLDER


@pytest.mark.parametrize("name", FILES)
def test_it_is_as_it_was_published(name: str) -> None:
    kept = (FOLDER / name).read_text(encoding="utf-8")
    assert FILES[name]() == kept, "if this is meant: python -m tests.support.frozen"
