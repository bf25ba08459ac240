"""The toy policy and the toy world of CONTRIBUTING.md work as written, and their tests pass."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

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
    test.write_text(dedent(text).replace(f'"{file.stem}', f'"{file}'))
    words = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", str(test)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
