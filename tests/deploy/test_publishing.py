"""What a release is built from: workflows, the package's description, the changelog."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def test_the_checks_run_on_every_python_that_the_package_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [text.rpartition(":: ")[2] for text in project["classifiers"]]
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    matrix = workflow["jobs"]["checks"]["strategy"]["matrix"]["python"]
    assert matrix == [version for version in named if re.fullmatch(r"3\.\d+", version)]


def test_what_is_built_names_addresses_and_has_no_relative_link(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "README.md", ".ci/say_where"):
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, target)
    address = "https://host.invalid/owner/purse"
    subprocess.run([sys.executable, tmp_path / ".ci/say_where", address, "v1.2.3"], check=True)
    urls = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]["urls"]
    links = re.findall(r"\]\(([^)\s]+)", (tmp_path / "README.md").read_text())
    assert len(links) > 5
    assert not [link for link in links if not link.startswith(("https://", "http://", "#"))]
    for link in (*urls.values(), *links):
        kind, _, path = link.removeprefix(address).partition("/v1.2.3/")
        if kind in ("/blob", "/raw", "/tree"):
            assert (ROOT / path.partition("#")[0]).exists(), link


def test_a_version_of_the_changelog_fits_on_a_page() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text().splitlines()
    starts = [place for place, line in enumerate(lines) if line.startswith("## ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        assert end - start <= 60
    assert max(map(len, lines)) <= 140
