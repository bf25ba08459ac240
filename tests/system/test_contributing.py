"""The toy policy and the toy world of CONTRIBUTING.md work as written, and their tests pass."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from purse.testing import check_policy
from tests.support.paths import ROOT
from tests.support.soak import SOAK

FILES = re.findall(
    r"^\d\. Write `([^`]+)`.*?^   ```python\n(.*?)^   ```",
    (ROOT / "CONTRIBUTING.md").read_text(),
    re.DOTALL | re.MULTILINE,
)


@pytest.mark.parametrize("kind", ["policies", "worlds"])
def test_a_newcomers_file_passes_its_test(kind: str, tmp_path: Path) -> None:
    (source, code), (check, text) = [file for file in FILES if f"/{kind}/" in file[0]]
    file, test = tmp_path / Path(source).name, tmp_path / Path(check).name
    file.write_text(dedent(code))
    text = dedent(text).replace(f'"{file.stem}', f'"{file}')
    test.write_text(text)
    functions = {
        name: value for name, value in runpy.run_path(str(test)).items() if "test_" in name
    }
    assert functions
    for function in functions.values():
        for arguments in cases(function):
            function(**arguments)
    if SOAK and kind == "policies":  # as the cards of all policies do
        check_policy(str(file))


def cases(test: Callable[..., None]) -> list[dict[str, Any]]:
    """The arguments of each run of a test, which has one parameter or none."""
    marks = getattr(test, "pytestmark", [])
    return [{mark.args[0]: value} for mark in marks for value in mark.args[1]] or [{}]
