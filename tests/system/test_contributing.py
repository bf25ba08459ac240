"""The toy policy and the toy world of CONTRIBUTING.md work as written, and their tests pass."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.support.soak import SOAK

ROOT = Path(__file__).parent.parent.parent
FILES = re.findall(
    r"^\d\. Write `([^`]+)`.*?^   ```python\n(.*?)^   ```",
    (ROOT / "CONTRIBUTING.md").read_text(),
    re.DOTALL | re.MULTILINE,
)


@pytest.mark.parametrize("kind", ["policies", "worlds"])
def test_a_newcomers_file_passes_its_test(kind: str, tmp_path: Path) -> None:
    (source, code), (check, text) = [each for each in FILES if f"/{kind}/" in each[0]]
    file, test = tmp_path / Path(source).name, tmp_path / Path(check).name
    file.write_text(dedent(code))
    text = dedent(text).replace(f'"{file.stem}', f'"{file}')
    if not SOAK:  # another loop would be compiled for masks, which other tests check in the engine
        text = text.replace(f'check_policy("{file}")', f'check_policy("{file}", quick=True)')
    test.write_text(text)
    # in this process: what it compiled need not be compiled again
    found = [each for name, each in runpy.run_path(str(test)).items() if name.startswith("test_")]
    assert found
    for each in found:
        for arguments in cases(each):
            each(**arguments)


def cases(test: Callable[..., None]) -> list[dict[str, Any]]:
    """The arguments of each run of a test, which has one parameter or none."""
    marks = getattr(test, "pytestmark", [])
    return [{mark.args[0]: value} for mark in marks for value in mark.args[1]] or [{}]
