from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from purse.lab.offline.table_replay import replay_table
from purse.lab.report.prose.table_replay import findings
from tests.lab.report.made_up import ARMS

DRAWN = "document.documentElement.dataset.drawn"
View = Callable[..., tuple[Any, list[str]]]


@pytest.fixture(scope="module")
def kept(replay_pages: dict[str, Path], opened: Any) -> Iterator[View]:
    """The page of a kind in a window of this width, drawn once for all tests."""
    views: dict[tuple[str, int], tuple[Any, list[str]]] = {}
    with ExitStack() as stack:

        def view(kind: str, width: int = 1280) -> tuple[Any, list[str]]:
            if (kind, width) not in views:
                views[kind, width] = stack.enter_context(opened(replay_pages[kind], width=width))
                views[kind, width][0].wait_for_function(DRAWN)
            return views[kind, width]

        yield view


@pytest.mark.parametrize("width", [1280, 390], ids=["desktop", "phone"])
@pytest.mark.parametrize("kind", ["table", "log"])
def test_the_pages_draw_themselves_without_complaint_or_network_and_fit(
    kept: View, kind: str, width: int
) -> None:
    view, complaints = kept(kind, width)
    assert complaints == []
    assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert view.evaluate(
        "[...document.querySelectorAll('.panel svg')].every(each => "
        "each.getBoundingClientRect().right <= window.innerWidth)"
    )
    assert view.evaluate(
        "[...document.querySelectorAll('.panel')].every(each => "
        "each.querySelector('.role-mark path, .role-mark line'))"
    )
    for dark in (True, False):
        view.emulate_media(color_scheme="dark" if dark else "light")
        light = (
            view.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        )
        assert light != dark


def test_one_order_of_worthless_rounds_makes_a_page(opened: Any, tmp_path: Path) -> None:
    nothing = pl.DataFrame(
        {"reward_a": [0.0] * 9, "cost_a": [1.0] * 9, "reward_b": [0.0] * 9, "cost_b": [2.0] * 9}
    )
    found = replay_table(nothing, policies="uniform", budgets=5, n_paths=1)
    assert found.frame()["share"].null_count() == found.frame().height
    assert findings(found.study) == {
        "B = 5": "`uniform` gains 0. The best single arm, `a`, gains 0: as much."
    }
    with opened(found.study.report(tmp_path / "report.html")) as (view, complaints):
        view.wait_for_function(DRAWN)
        assert complaints == []


def test_a_policy_picked_in_the_legend_is_picked_out_of_the_estimates(kept: View) -> None:
    view, complaints = kept("log")
    view.get_by_role("button", name="fixed:arm=0", exact=True).click()
    faint = view.evaluate(
        "[...document.querySelectorAll('.panel .mark-symbol path')].map(each => "
        "[each.__data__.datum.policy, each.getAttribute('opacity')])"
    )
    assert {policy for policy, opacity in faint if opacity == "1"} == {"fixed:arm=0"}
    assert {opacity for policy, opacity in faint if policy != "fixed:arm=0"} == {"0.15"}
    assert complaints == []


def test_references_stay_where_a_policy_is_picked_out(kept: View) -> None:
    view, _ = kept("table")
    view.get_by_role("button", name="uniform", exact=True).click()
    # the other policy with each of two budgets
    assert view.locator("#gain tr.faint").count() == 2
    assert view.locator("#gain tr.reference").count() == 2 * (len(ARMS) + 3)
