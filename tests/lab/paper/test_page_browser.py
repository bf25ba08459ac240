from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

from purse.lab import paper


def test_the_page_opens_without_complaint_or_network_and_fits(
    study: tuple[Path, paper.PaperReport], opened: Any
) -> None:
    with opened(study[1].page) as (view, complaints):
        assert view.title() == "What the paper claims, what we measured, what is true"
        for width, scheme in product((1280, 390), ("light", "dark")):
            view.set_viewport_size({"width": width, "height": 900})
            view.emulate_media(color_scheme=scheme)
            assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            assert view.evaluate(
                "[...document.querySelectorAll('svg')].every(each => "
                "each.getBoundingClientRect().width > 200)"
            )
            ink, paper_ = view.evaluate(
                "[getComputedStyle(document.body).color, "
                "getComputedStyle(document.body).backgroundColor]"
            )
            assert (brightness(ink) > brightness(paper_)) == (scheme == "dark")
        assert complaints == []


def test_links_of_the_verdicts_lead_to_their_sections(
    study: tuple[Path, paper.PaperReport], opened: Any
) -> None:
    with opened(study[1].page) as (view, _):
        for title in study[1].findings:
            view.get_by_role("link", name=title, exact=True).first.click()
            assert (
                abs(view.get_by_role("heading", name=title, exact=True).bounding_box()["y"]) < 900
            )


def brightness(colour: str) -> float:
    return sum(map(float, colour.removeprefix("rgb(").removesuffix(")").split(",")))
