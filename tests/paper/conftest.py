from __future__ import annotations

from pathlib import Path

import pytest

from purse import paper


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, paper.PaperReport]:
    """A quick study of the whole paper, and where it lies."""
    folder = tmp_path_factory.mktemp("paper")
    return folder, paper.study(folder, quick=True)
