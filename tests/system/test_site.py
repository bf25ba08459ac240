"""The documentation site as `make docs` has built it; `make site` runs these tests."""

import html
import inspect
import json
import os
import re
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import purse

if "PURSE_SITE" not in os.environ:
    pytest.skip("the site is checked by `make site`", allow_module_level=True)
SITE = Path(os.environ["PURSE_SITE"]).resolve()
PAGES = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html"))


def policy_page(name: str) -> str:
    return (SITE / "policies" / f"{name.replace('+', 'p').replace('.', '-')}.html").read_text()


def test_the_site_has_a_page_for_every_policy_and_world() -> None:
    for name in purse.policies.names():
        assert f"<h1>{name}" in policy_page(name)
    for name in purse.worlds.names():
        world = purse.worlds.example(name).split(":")[0]
        assert world in (SITE / "worlds" / f"{name}.html").read_text()
    api = "".join(path.read_text() for path in (SITE / "reference").glob("*.html"))
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
    assert [anchor for anchor in expected if anchor not in api] == []
    assert "bounds.learning" not in api


@pytest.mark.parametrize(
    ("query", "page"),
    [
        (("month", "budget", "per", "user"), "limits"),
        (("openai",), "cap-llm-spending"),
        (("stream",), "cap-llm-spending"),
    ],
)
def test_a_search_finds_the_page(query: tuple[str, ...], page: str) -> None:
    """By its words, in their stems, as the index of the site has them."""
    (text,) = re.findall(r"Search\.setIndex\((.*)\)", (SITE / "searchindex.js").read_text(), re.S)
    index = json.loads(text)
    pages = []
    for word in query:
        places = [index[where].get(word, []) for where in ("terms", "titleterms")]
        numbers = {n for place in places for n in (place if isinstance(place, list) else [place])}
        pages.append({index["docnames"][number] for number in numbers})
    assert page in set.intersection(*pages)


def squeeze(text: str) -> str:
    """The text without spaces and marks of code."""
    return re.sub(r"[\s`]", "", text)


def test_the_pages_of_policies_show_every_sign_of_their_files() -> None:
    lost = []
    for name in purse.policies.names():
        shown = squeeze(html.unescape(re.sub(r"</?[a-z][^>]*>", "", policy_page(name))))
        for part in (inspect.getdoc(purse.policies.load(name)) or "").split("\n\n"):
            plain = re.sub(r"(?<![\w*])\*(\w[^*]*\w)\*(?![\w*])", r"\1", part)
            if not part.startswith("|") and squeeze(plain) not in shown:
                lost.append(f"{name}: {part}")
    assert lost == []


def test_mathematics_has_a_font_and_braces_are_as_high_as_a_line() -> None:
    assert 'url("math.woff2")' in (SITE / "_static" / "site.css").read_text()
    assert (SITE / "_static" / "math.woff2").stat().st_size < 400_000
    assert (SITE / "_static" / "math-licence.txt").is_file()
    page = (SITE / "theory" / "what-is-true.html").read_text()
    assert '<mo stretchy="false">{</mo>' in page
    assert "<mo>{</mo>" not in re.sub(r"<mrow>\s*<mo>{</mo>", "", page)  # of a `left`


def test_every_link_and_anchor_leads_somewhere() -> None:
    pages = {path: path.read_text() for path in SITE.rglob("*.html")}
    anchors = {path: set(re.findall(r'\bid="([^"]+)"', text)) for path, text in pages.items()}
    broken = []
    for path, text in pages.items():
        for link in set(re.findall(r'\b(?:href|src)="([^"]+)"', text)):
            if re.match(r"[a-z]+:|//", link):
                continue
            file, _, anchor = unquote(html.unescape(link)).partition("#")
            target = (path.parent / file.partition("?")[0]).resolve() if file else path
            if not target.is_file() or (anchor and anchor not in anchors.get(target, ())):
                broken.append(f"{path.relative_to(SITE)}: {link}")
    assert broken == []


@pytest.fixture(scope="module")
def window(opened: Any) -> Iterator[tuple[Any, list[str]]]:
    """A window for all pages in turn, and what the page in it complains about."""
    with opened(SITE / "index.html") as window:
        yield window


@pytest.mark.parametrize("page", PAGES)
def test_pages_open_without_complaint_on_a_desk_and_on_a_phone(
    window: tuple[Any, list[str]], page: str
) -> None:
    view, complaints = window
    complaints.clear()
    view.goto((SITE / page).as_uri())
    assert view.evaluate(
        "[...document.querySelectorAll('img')].every(each => each.complete && "
        "each.naturalWidth > 0)"
    )
    for width in (1280, 390):
        view.set_viewport_size({"width": width, "height": 900})
        assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert complaints == []
