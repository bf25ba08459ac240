from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import purse
from tests.support.paths import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation site, built from a copy with warnings as errors."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("docs", "examples"):
        shutil.copytree(
            ROOT / name,
            folder / name,
            ignore=shutil.ignore_patterns(
                "_build", "policies", "worlds", "reference", "__pycache__"
            ),
        )
    shutil.copy(ROOT / "CHANGELOG.md", folder)
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", "site"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    # a slow machine says how far the examples have come
    said = re.sub(r"^.*: \d+% after \d+ s\n", "", done.stderr, flags=re.MULTILINE)
    assert (done.returncode, said) == (0, "")
    return folder / "site"


def test_the_site_has_a_page_for_every_policy_and_world(
    site: Path,
) -> None:
    for name in purse.policies.names():
        assert (
            f"<h1>{name}"
            in (site / "policies" / f"{name.replace('+', 'p').replace('.', '-')}.html").read_text()
        )
    for name in purse.worlds.names():
        assert (
            purse.worlds.example(name).split(":")[0]
            in (site / "worlds" / f"{name}.html").read_text()
        )
    api = (site / "reference" / "api.html").read_text()
    names = [name for name in vars(purse)["__all__"] if not name.startswith("_")]
    assert [name for name in names if f'id="{name.lower().replace("_", "-")}"' not in api] == []


@pytest.mark.parametrize(
    "page",
    [
        "index",
        "quickstart",
        "campaigns",
        "operations",
        "http",
        "studies",
        "replay",
        "llm-routing",
        "notebooks",
        "concepts",
        "theory/paper",
        "adding-a-policy",
        "adding-a-world",
        "reference/commands",
    ],
)
def test_pages_open_without_complaint_on_a_desk_and_on_a_phone(
    site: Path, opened: Any, page: str
) -> None:
    with opened(site / f"{page}.html") as (view, complaints):
        assert view.evaluate(
            "[...document.querySelectorAll('img')].every(each => each.complete && "
            "each.naturalWidth > 0)"
        )
        for width in (1280, 390):
            view.set_viewport_size({"width": width, "height": 900})
            assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert complaints == []
