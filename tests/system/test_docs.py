from __future__ import annotations

import html
import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import purse
from tests.support.paths import ROOT
from tests.support.soak import SOAK

# half of the time goes into what the theme and Sphinx make for every page by themselves: the tree
# in the sidebar, and the words to search for
QUICK = """
import gc, sys
import furo
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.cmd.build import main

gc.disable()
furo._compute_navigation_tree = lambda context: ""
StandaloneHTMLBuilder.search = False
sys.exit(main(sys.argv[1:]))
"""
SPHINX = ["-m", "sphinx"] if SOAK else ["-c", QUICK]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation site, built from a copy with warnings as errors."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("deploy", "docs", "examples"):
        shutil.copytree(
            ROOT / name,
            folder / name,
            ignore=shutil.ignore_patterns(
                "_build", "policies", "worlds", "reference", "__pycache__", "node_modules"
            ),
        )
    shutil.copy(ROOT / "CHANGELOG.md", folder)
    done = subprocess.run(
        [sys.executable, *SPHINX, "-W", "--keep-going", "-q", "-b", "html", "docs", "site"],
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
    api = "".join(path.read_text() for path in (site / "reference").glob("*.html"))
    names = [name for name in vars(purse)["__all__"] if not name.startswith("_")]
    names += [f"lab.{name}" for name in vars(purse.lab)["__all__"]]
    names += [f"lab.theory.{name}" for name in purse.lab.theory.__all__]
    modules = [name for name in names if inspect.ismodule(attrgetter(name)(purse))]
    expected = [f'id="purse.{name}"' for name in names if name not in modules]
    expected += [f'id="purse.{name}.' for name in modules]
    # what they return, with its fields, and what stands beside the package
    returned = (
        *("lab.Run.gain", "lab.Run.by_budget", "lab.World.costs", "Status.purses"),
        *("Receipt.refunded", "errors.BudgetHeld"),
        *("Recommendation.confidence", "ArmVerdict.verdict", "RecommendationStudy.results"),
    )
    expected += [f'id="purse.{name}"' for name in (*returned, "CampaignTicket", "gym.KnapsackEnv")]
    assert [each for each in expected if each not in api] == []
    assert "bounds.scaled" not in api


def squeeze(text: str) -> str:
    """The text without spaces and marks of code."""
    return re.sub(r"[\s`]", "", text)


def test_the_pages_of_policies_show_every_sign_of_their_files(site: Path) -> None:
    lost = []
    for name in purse.policies.names():
        file = site / "policies" / f"{name.replace('+', 'p').replace('.', '-')}.html"
        shown = squeeze(html.unescape(re.sub(r"</?[a-z][^>]*>", "", file.read_text())))
        for part in (inspect.getdoc(purse.policies.load(name)) or "").split("\n\n"):
            plain = re.sub(r"(?<![\w*])\*(\w[^*]*\w)\*(?![\w*])", r"\1", part)
            if not part.startswith("|") and squeeze(plain) not in shown:
                lost.append(f"{name}: {part}")
    assert lost == []


def test_every_link_and_anchor_leads_somewhere(site: Path) -> None:
    pages = {path: path.read_text() for path in site.rglob("*.html")}
    anchors = {path: set(re.findall(r'\bid="([^"]+)"', text)) for path, text in pages.items()}
    broken = []
    for path, text in pages.items():
        for link in set(re.findall(r'\b(?:href|src)="([^"]+)"', text)):
            if re.match(r"[a-z]+:|//", link):
                continue
            file, _, anchor = unquote(html.unescape(link)).partition("#")
            target = (path.parent / file.partition("?")[0]).resolve() if file else path
            known = target.is_file() and (not anchor or anchor in anchors.get(target, ()))
            if not known and target.name not in ("search.html", "genindex.html"):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []


@pytest.fixture(scope="module")
def window(site: Path, opened: Any) -> Iterator[tuple[Any, list[str]]]:
    """A window for all pages in turn, and what the page in it complains about."""
    with opened(site / "index.html") as window:
        yield window


@pytest.mark.parametrize(
    "page",
    [
        "index",
        "quickstart",
        "cap-llm-spending",
        "your-csv",
        "compare-in-five-minutes",
        "campaigns",
        "traffic",
        "outage",
        "litellm",
        "operations",
        "deploy",
        "http",
        "studies",
        "replay",
        "llm-routing",
        "notebooks",
        "concepts",
        "theory/paper",
        "theory/what-is-true",
        "adding-a-policy",
        "adding-a-world",
        "reference/commands",
        "reference/spend",
        "reference/simulate",
        "leaderboard/which-policy",
        "policies/replan",
        "reference/glossary",
    ],
)
def test_pages_open_without_complaint_on_a_desk_and_on_a_phone(
    site: Path, window: tuple[Any, list[str]], page: str
) -> None:
    view, complaints = window
    complaints.clear()
    view.goto((site / f"{page}.html").as_uri())
    assert view.evaluate(
        "[...document.querySelectorAll('img')].every(each => each.complete && "
        "each.naturalWidth > 0)"
    )
    for width in (1280, 390):
        view.set_viewport_size({"width": width, "height": 900})
        assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert complaints == []


def test_every_failure_names_a_test_that_there_is() -> None:
    table = (ROOT / "docs" / "operations.md").read_text().split("## Failures\n")[1]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 40
    named = [row[-1].strip(" |`") for row in rows]
    assert named.count("") == 1  # NFS
    for test in filter(None, named):
        path, _, name = test.partition("::")
        source = (ROOT / "tests" / path).read_text()
        assert f"def {name}(" in source or not name, test
