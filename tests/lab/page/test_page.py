"""The pages in a browser, each drawn once for all tests: a test leaves a page as it was."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from purse.lab.study.results import Study
from tests.lab.page.made_up import ARMS, made_up

DRAWN = "document.documentElement.dataset.drawn"
View = Callable[..., tuple[Any, list[str]]]
# four figures with a panel per world, and one with a panel per world and policy
PANELS = 4 * 2 + 2 * 4
LONG = "bernoulli:rewards=[.42,.5,.4,.3,.6],costs=[.3,.5,.6,.4,.9],cost_min=0.1,cost_max=1.0"


@pytest.fixture(scope="module")
def drawn(pages: dict[str, Path], opened: Any, home: Path) -> Iterator[View]:
    """The page of a kind in a window of this width."""
    views: dict[tuple[str, int], tuple[Any, list[str]]] = {}
    long = made_up(worlds=(LONG,))
    every = {**pages, "long": long.report(home / "long.html")}
    with ExitStack() as stack:

        def view(kind: str = "study", width: int = 1280) -> tuple[Any, list[str]]:
            if (kind, width) not in views:
                views[kind, width] = stack.enter_context(opened(every[kind], width=width))
                views[kind, width][0].wait_for_function(DRAWN)
            return views[kind, width]

        yield view


@pytest.mark.parametrize(
    ("kind", "width"), [("study", 1280), ("table", 1280), ("log", 390), ("long", 390)]
)
def test_a_page_draws_itself_without_complaint_or_network_and_fits(
    drawn: View, kind: str, width: int
) -> None:
    view, complaints = drawn(kind, width)
    assert complaints == []
    n_panels = view.locator(".panel").count()
    assert kind != "study" or n_panels == PANELS
    assert view.evaluate(DRAWN) == str(n_panels)
    assert view.locator(".panel svg.marks").count() == n_panels
    assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    widths, rights = view.evaluate(BOXES)
    assert min(widths) > 120
    assert max(rights) <= width
    assert view.evaluate(
        "[...document.querySelectorAll('.panel')].every(each => "
        "each.querySelector('.role-mark path, .role-mark line'))"
    )
    assert view.evaluate(OVERLAPS) == []
    for dark in (True, False):
        view.emulate_media(color_scheme="dark" if dark else "light")
        ink, paper, label, series = colours(view)
        brighter = [brightness(colour) > brightness(paper) for colour in (ink, label)]
        assert brighter == [dark, dark]
        assert kind != "study" or series == f"rgb{(74, 159, 227) if dark else (0, 114, 178)}"


BOXES = """(() => {
    const boxes = [...document.querySelectorAll('.panel svg')].map(e => e.getBoundingClientRect());
    return [boxes.map(box => box.width), boxes.map(box => box.right)];
})()"""
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


def test_a_policy_picked_in_the_legend_is_picked_out_everywhere(drawn: View) -> None:
    view, complaints = drawn()
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
    view, others = drawn("log", 390)
    view.get_by_role("button", name="fixed:arm=0", exact=True).click()
    faint = view.evaluate(
        "[...document.querySelectorAll('.panel .mark-symbol path')].map(each => "
        "[each.__data__.datum.policy, each.getAttribute('opacity')])"
    )
    assert {policy for policy, opacity in faint if opacity == "1"} == {"fixed:arm=0"}
    assert {opacity for policy, opacity in faint if policy != "fixed:arm=0"} == {"0.15"}
    view, more = drawn("table")
    view.get_by_role("button", name="uniform", exact=True).click()
    # references stay; the other policy with each of two budgets does not
    assert view.locator("#gain tr.faint").count() == 2
    assert view.locator("#gain tr.reference").count() == 2 * (len(ARMS) + 3)
    assert complaints == others == more == []


OPACITIES = """[...document.querySelectorAll(
    '#regret .panel .mark-line.role-mark path:not([stroke-dasharray])'
)].map(each => each.getAttribute('opacity') ?? '1')"""


def test_pointing_shows_the_numbers_of_the_table(study: Study, drawn: View) -> None:
    row = study.table().filter(world="stochastic", policy="uniform", budget=1e5).row(0, named=True)
    view, _ = drawn()
    view.mouse.move(*view.evaluate(POINT))
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


def test_a_figure_can_be_downloaded(drawn: View, tmp_path: Path) -> None:
    view, complaints = drawn()
    begins = {"svg": b"<svg", "png": b"\x89PNG", "csv": b"world,policy,budget"}
    for kind, start in begins.items():
        with view.expect_download() as waiting:
            view.locator("#figure-regret .downloads").get_by_text(kind.upper()).click()
        assert waiting.value.suggested_filename == f"regret.{kind}"
        waiting.value.save_as(tmp_path / kind)
        assert (tmp_path / kind).read_bytes().startswith(start)
    assert complaints == []


def test_printed_it_is_black_on_white_without_what_needs_a_hand(drawn: View) -> None:
    view, _ = drawn()
    view.emulate_media(media="print", color_scheme="dark")
    ink, paper, label, series = colours(view)
    assert brightness(ink) < 100 < 700 < brightness(paper)
    assert brightness(label) < 350
    assert series == "rgb(0, 114, 178)"
    assert not view.locator(".downloads").first.is_visible()
    assert view.evaluate("getComputedStyle(document.querySelector('.legend')).position") == "static"
    view.emulate_media(media="screen", color_scheme="light")


def colours(view: Any) -> list[str]:
    """Of the text, the page, the labels of an axis and the first policy's line."""
    return view.evaluate("""(() => {
        const style = (selector) => getComputedStyle(document.querySelector(selector));
        const line = style('.panel [stroke="#0072B2"]').stroke;
        const label = style('.panel .role-axis-label text').fill;
        return [style('body').color, style('body').backgroundColor, label, line];
    })()""")


def brightness(colour: str) -> float:
    return sum(map(float, colour.removeprefix("rgb(").removesuffix(")").split(",")))
