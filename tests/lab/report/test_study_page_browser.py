from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.lab.report.made_up import save_page

DRAWN = "document.documentElement.dataset.drawn"
View = Callable[..., tuple[Any, list[str]]]
# four figures with a panel per world, and one with a panel per world and policy
PANELS = 4 * 2 + 2 * 4


@contextmanager
def drawn(opened: Any, page: Path, **how: Any) -> Iterator[tuple[Any, list[str]]]:
    with opened(page, **how) as (view, complaints):
        view.wait_for_function(DRAWN)
        yield view, complaints


@pytest.fixture(scope="module")
def kept(page: Path, opened: Any) -> Iterator[View]:
    """The page in a window of this width, drawn once for all tests: each leaves it as it was."""
    views: dict[int, tuple[Any, list[str]]] = {}
    with ExitStack() as stack:

        def view(width: int = 1280) -> tuple[Any, list[str]]:
            if width not in views:
                views[width] = stack.enter_context(drawn(opened, page, width=width))
            return views[width]

        yield view


@pytest.mark.parametrize("width", [1280, 390], ids=["desktop", "phone"])
def test_the_report_draws_itself_without_complaint_or_network_and_fits(
    kept: View, width: int
) -> None:
    view, complaints = kept(width)
    assert complaints == []
    assert view.evaluate(DRAWN) == str(PANELS)
    assert view.locator(".panel svg.marks").count() == PANELS
    assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert view.evaluate(
        "[...document.querySelectorAll('.panel svg')].every(each => "
        "each.getBoundingClientRect().right <= window.innerWidth)"
    )
    assert (
        view.evaluate(
            "Math.min(...[...document.querySelectorAll('.panel svg')].map(each => "
            "each.getBoundingClientRect().width))"
        )
        > 120
    )
    for dark in (True, False):
        view.emulate_media(color_scheme="dark" if dark else "light")
        ink, paper, label, series = colours(view)
        assert (
            (brightness(ink) > brightness(paper)) == (brightness(label) > brightness(paper)) == dark
        )
        assert series == ("rgb(74, 159, 227)" if dark else "rgb(0, 114, 178)")


@pytest.mark.parametrize("width", [1280, 390], ids=["desktop", "phone"])
def test_no_label_of_an_axis_overlaps_another(kept: View, width: int) -> None:
    assert kept(width)[0].evaluate(OVERLAPS) == []


OVERLAPS = """[...document.querySelectorAll('.panel')].flatMap(panel => {
    const visible = [...panel.querySelectorAll('.role-axis-label text')]
        .filter(each => each.getAttribute('opacity') !== '0');
    const labels = visible.map(each => ({
        text: panel.dataset.figure + ': ' + each.textContent, box: each.getBoundingClientRect()
    }));
    const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
        && a.top < b.bottom - 3 && b.top < a.bottom - 3;
    return labels.flatMap((one, place) => labels.slice(place + 1)
        .filter(two => meet(one.box, two.box)).map(two => [one.text, two.text]));
})"""


def test_long_names_do_not_make_the_page_wider(study: Any, opened: Any, tmp_path: Path) -> None:
    world = "bernoulli:rewards=[.42,.5,.4,.3,.6],costs=[.3,.5,.6,.4,.9],cost_min=0.1,cost_max=1.0"
    long = save_page(
        replace(study, worlds=(world,), policies=("learns",), budgets=(1e3, 1e4)),
        tmp_path / "report.html",
    )
    with drawn(opened, long, width=390) as (view, complaints):
        assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert complaints == []


def test_a_policy_picked_in_the_legend_is_picked_out_everywhere(kept: View) -> None:
    view, complaints = kept()
    before = view.evaluate(OPACITIES)
    assert set(before) == {"1"}
    button = view.get_by_role("button", name="learns <fast>", exact=True)
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    after = view.evaluate(OPACITIES)
    # one of four lines in each of two worlds
    assert (after.count("1"), after.count("0.15")) == (2, 6)
    assert view.locator("#regret tbody tr.faint").count() == 6
    assert view.locator("#shares figure.faint").count() == 6
    view.get_by_role("button", name="show all").click()
    assert view.evaluate(OPACITIES) == before
    assert view.locator(".faint").count() == 0
    assert complaints == []


OPACITIES = """[...document.querySelectorAll(
    '#regret .panel .mark-line.role-mark path:not([stroke-dasharray])'
)].map(each => each.getAttribute('opacity') ?? '1')"""


def test_pointing_shows_the_numbers_of_the_table(study: Any, kept: View) -> None:
    row = study.table().filter(world="stochastic", policy="uniform", budget=1e5).row(0, named=True)
    view, _ = kept()
    centre = view.evaluate(POINT)
    view.mouse.move(*centre)
    tip = view.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    shown = dict(line.split("\t") for line in tip.inner_text().splitlines())
    assert (shown["policy"], shown["B"], shown["runs"]) == ("uniform", "100,000", "20")
    assert shown["regret"] == f"{row['regret']:,.0f} ± {row['high'] - row['regret']:,.0f}"
    view.mouse.move(0, 0)


POINT = """(() => {
    const points = [...document.querySelector('#regret .panel')
        .querySelectorAll('.mark-symbol.role-mark path[opacity="0"]')];
    const last = points.filter(each => each.__data__.datum.policy === 'uniform'
        && each.__data__.datum.budget === 1e5)[0];
    last.scrollIntoView({block: 'center'});
    const box = last.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
})()"""


@pytest.mark.parametrize("kind", ["svg", "png", "csv"])
def test_a_figure_can_be_downloaded(kept: View, kind: str, tmp_path: Path) -> None:
    view, complaints = kept()
    with view.expect_download() as waiting:
        view.locator("#figure-regret .downloads").get_by_text(kind.upper()).click()
    assert waiting.value.suggested_filename == f"regret.{kind}"
    waiting.value.save_as(tmp_path / "file")
    content = (tmp_path / "file").read_bytes()
    assert content.startswith(
        {"svg": b"<svg", "png": b"\x89PNG", "csv": b"world,policy,budget"}[kind]
    )
    assert complaints == []


def test_printed_it_is_black_on_white_without_what_needs_a_hand(kept: View) -> None:
    view, _ = kept()
    view.emulate_media(media="print", color_scheme="dark")
    ink, paper, label, series = colours(view)
    assert brightness(ink) < 100 < 700 < brightness(paper)
    assert brightness(label) < 350
    assert series == "rgb(0, 114, 178)"
    assert not view.locator(".downloads").first.is_visible()
    assert view.evaluate("getComputedStyle(document.querySelector('.legend')).position") == "static"
    view.emulate_media(media="screen", color_scheme="light")


def test_without_scripts_the_figures_are_there_already(
    page: Path, opened: Any, tmp_path: Path
) -> None:
    quiet = tmp_path / "quiet.html"
    quiet.write_text(
        page.read_text(encoding="utf-8").replace(
            "vegaEmbed(place", "await new Promise(() => 0) && vegaEmbed(place"
        ),
        encoding="utf-8",
    )
    with opened(quiet) as (view, complaints):
        assert view.locator(".panel svg").count() == PANELS
        assert view.evaluate(
            "[...document.querySelectorAll('.panel svg')].every(each => "
            "each.getBoundingClientRect().width > 120)"
        )
        assert complaints == []


def test_a_name_with_a_tag_is_text(kept: View) -> None:
    view, _ = kept()
    assert view.locator("fast").count() == 0
    assert (
        json.loads(view.locator("#spec-regret").inner_text())["concat"][0]["title"] == "stochastic"
    )


def colours(view: Any) -> list[str]:
    """Of the text, the page, the labels of an axis and the first policy's line."""
    return view.evaluate("""(() => {
        const style = (selector) => getComputedStyle(document.querySelector(selector));
        const line = style('#regret .panel [stroke="#0072B2"]').stroke;
        const label = style('#regret .panel .role-axis-label text').fill;
        return [style('body').color, style('body').backgroundColor, label, line];
    })()""")


def brightness(colour: str) -> float:
    return sum(map(float, colour.removeprefix("rgb(").removesuffix(")").split(",")))
