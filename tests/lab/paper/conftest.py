from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from purse.lab import paper
from purse.lab.paper.claims import theorem4
from tests.support.soak import scale


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, paper.PaperReport]]:
    """A quick study of the whole paper, and where it lies."""
    folder = tmp_path_factory.mktemp("paper")
    with pytest.MonkeyPatch.context() as patch:
        # the longest games of the quick study take a quarter of its time
        patch.setattr(theorem4, "LONG", float(scale(10**5, 10**6)))
        yield folder, paper.study(folder, quick=True)
