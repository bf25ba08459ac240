from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import pytest

from purse import Campaign
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage
from tests.support.dashboard import CHARTS_FIT, FITS, FOCUSED, View, make, shown, stat
from tests.support.server import Served, served

pytestmark = pytest.mark.usefixtures("fast_views")
COLOURS = """() => {
    const { color, backgroundColor } = getComputedStyle(document.body);
    return [color, backgroundColor, getComputedStyle(document.querySelector('.chart .spent')).fill];
}"""


class World(NamedTuple):
    at: Served
    storage: Storage


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """A server with a campaign of a few hours, in which some calls cost too much and some were
    never reported, and another one.
    """
    storage, now = in_memory(), 1_790_000_000_000
    storage.now = lambda: now
    campaign = make(
        storage,
        "prompts",
        arms={"small": "0.01", "large": "0.05", "huge": "0.09"},
        expires_after=900,
    )
    for number in range(120):
        now += 60_000
        ticket = campaign.ask()
        if number % 30 != 7:
            campaign.tell(ticket, (number % 4) / 4, "0.12" if number == 50 else "0.005")
    make(storage, "second")
    with served(storage=storage) as at:
        yield World(at, storage)


@pytest.fixture(scope="module")
def kept(world: World, view: View) -> Iterator[tuple[Any, Callable[[], list[str]]]]:
    """The page of a campaign, opened once for tests that only look: each leaves it as it was."""
    with view(world.at, "prompts") as (page, complaints):
        shown(page, Campaign.open("prompts", storage=world.storage))
        yield page, complaints


def test_the_page_draws_itself_without_complaint_and_fits(
    kept: tuple[Any, Callable[[], list[str]]],
) -> None:
    page, complaints = kept
    # on a phone, a tablet and a desktop
    for width, dark in product((390, 820, 1280), (True, False)):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.wait_for_function(CHARTS_FIT)  # it draws them again
        assert page.locator("#connection").inner_text() == "Live"
        assert page.locator("#campaign section:visible").count() == 6
        assert page.evaluate(FITS)
        ink, paper, spent = page.evaluate(COLOURS)
        assert (brightness(ink) > brightness(paper)) == dark
        assert spent == ("rgb(74, 159, 227)" if dark else "rgb(0, 114, 178)")
    assert complaints() == []


def brightness(colour: str) -> int:
    return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))


def test_numbers_move_while_a_campaign_runs(view: View) -> None:
    storage = in_memory()
    campaign = make(storage, "prompts")
    with served(storage=storage) as at, view(at, "prompts") as (page, complaints):
        shown(page, campaign)
        assert (stat(page, "left"), stat(page, "spent"), stat(page, "runs out")) == ("5", "0", "–")
        assert page.locator("#tickets").inner_text() == "No ticket is open."
        tickets = campaign.ask_many(2)
        campaign.tell(tickets[0], 1, "0.004")
        shown(page, campaign)
        assert stat(page, "spent") == "0.004"
        assert (stat(page, "held"), stat(page, "left")) == (
            f"{float(tickets[1].held[0]):.3f}",
            f"{5 - 0.004 - float(tickets[1].held[0]):.3f}",
        )
        assert (stat(page, "gain"), stat(page, "reward per usd")) == ("1.00", "250")
        assert stat(page, "runs out").startswith("in ")
        assert page.locator("#tickets tbody tr").count() == 1
        row = page.locator("#arms tbody tr", has_text=str(tickets[0].arm))
        assert "250" in row.inner_text()
        campaign.tell(tickets[1], 1, "0.004")
        shown(page, campaign)
        assert (stat(page, "spent"), stat(page, "held")) == ("0.008", "0.000")
        assert complaints() == []


def test_an_alarm_shows_itself_in_words_when_it_arises(view: View) -> None:
    storage = in_memory()
    campaign = make(storage, "prompts")
    with served(storage=storage) as at, view(at, "prompts") as (page, complaints):
        shown(page, campaign)
        place = page.locator("#alarms[role=alert][aria-live=polite]")
        assert place.inner_text() == ""
        campaign.tell(campaign.ask(), 1, "0.75")
        shown(page, campaign)
        assert f"Overrun: {campaign.status().alarms[0].text}" in place.inner_text()
        assert place.locator("[data-kind=overrun] svg").count() == 1
        assert stat(page, "overrun").startswith("0.7")
        purse = campaign.status().purses[0]
        assert (
            f"Paid in all 0.75 USD = {float(purse.spent):.2f} within the budget + "
            f"{float(purse.overrun):.2f} above it." in page.locator("#budgets").inner_text()
        )
        place.get_by_role("button", name="See ticket 1").click()
        page.wait_for_selector("#tickets caption:text-is('Tickets of the alarm Overrun')")
        assert page.locator("#tickets tbody td").nth(1).inner_text() == "told"
        assert complaints() == []


def test_an_arm_that_fails_is_shown_until_it_has_recovered(view: View) -> None:
    storage, now = in_memory(), 1_790_000_000_000
    storage.now = lambda: now
    campaign = make(storage, "prompts", cooldown=40)
    with served(storage=storage) as at, view(at, "prompts") as (page, complaints):
        shown(page, campaign)
        assert page.locator("#cooling").inner_text() == ""
        assert page.locator("#arms th", has_text="Failed").count() == 0
        campaign.fail(campaign.ask(arms=["large"]), reason="503")
        shown(page, campaign)
        place, row = page.locator("#cooling tbody tr"), page.locator("#arms tbody tr").nth(1)
        text = place.inner_text()
        assert re.search(r"large\s+cools down, (3\d|40) s left\s+\d\d:\d\d:00\s+40 s", text), text
        assert page.locator("[data-kind=cooling-down]").inner_text().startswith("Cooling down: ")
        assert row.locator(".badge").inner_text() == "fails"
        assert row.locator("td").nth(2).inner_text() == "1"
        left = place.locator("td").first.inner_text()
        page.wait_for_function(  # the page counts on by itself
            "left => document.querySelector('#cooling td').innerText !== left", arg=left
        )
        now += 40_000
        campaign.tell(campaign.ask(arms=["small"]), 1, "0.005")
        shown(page, campaign)
        assert "the next ask may try it" in place.inner_text()
        probe = campaign.ask(arms=["large"])
        shown(page, campaign)
        assert f"ticket {probe.id} tries it" in place.inner_text()
        campaign.tell(probe, 1, "0.005")
        shown(page, campaign)
        assert page.locator("#cooling, #alarms").all_inner_texts() == ["", ""]
        assert page.locator("#arms .badge").count() == 0
        assert row.locator("td").nth(2).inner_text() == "1", "what failed stays counted"
        assert complaints() == []


def test_tickets_are_counted_by_state_and_what_is_rare_shows_when_it_happens(view: View) -> None:
    storage, now = in_memory(), 1_790_000_000_000
    storage.now = lambda: now
    terms = {"capacity": 3, "reward_range": (0, 2), "cooldown": None}
    campaign = make(storage, "prompts", budget="1", **terms)
    with served(storage=storage) as at, view(at, "prompts") as (page, complaints):
        shown(page, campaign)
        assert page.locator("#counts .chip").count() == 0
        for ticket in campaign.ask_many(19, arms=["large"]):
            campaign.settle(ticket, "0.001")
        campaign.settle(campaign.ask(arms=["large"]), "0.001")
        campaign.fail(campaign.ask(arms=["small"]))
        campaign.tell(campaign.ask(arms=["small"]), 3, "0.001")
        campaign.ask_many(19, arms=["large"])
        campaign.ask()  # what is left does not cover the large one
        campaign.add_arm("new", cost_max="0.02")
        campaign.retire_arm("large")
        shown(page, campaign)
        assert page.locator("#counts .chip").all_inner_texts() == [
            "open 20", "held 20", "settled 20", "told 1", "failed 1",
        ]  # fmt: skip
        page.locator("#counts [data-state=settled]").click()
        page.wait_for_selector("#tickets caption:has-text('The oldest 12 of 20 settled')")
        assert "the cost is known, the reward is not" in page.locator("#counts").inner_text()
        page.locator("#counts [data-state=open]").click()
        page.wait_for_selector("#tickets tbody tr:nth-child(12)")
        large = page.locator("#arms tbody tr", has_text="large")
        assert large.locator(".badge").inner_text() == "retired"
        assert large.locator("td").nth(2).inner_text() == "20", "they wait for a reward"
        assert page.locator("#arms tbody tr").count() == 3
        alarms = page.locator("#alarms").inner_text()
        assert "Outside the range: 1 report" in alarms
        assert "No rewards: 39 tickets of 'large'" in alarms
        for width in (1280, 1100, 960, 820, 390):
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_function(CHARTS_FIT)
            assert page.evaluate(FITS)
            assert (
                page.locator("#arms").evaluate("each => each.scrollWidth - each.clientWidth") <= 0
            )
        assert complaints() == []


def test_the_keyboard_reaches_everything(world: World, view: View) -> None:
    with view(world.at, "prompts") as (page, _):
        shown(page, Campaign.open("prompts", storage=world.storage))
        reached = []
        for _ in range(5):
            page.keyboard.press("Tab")
            reached.append(page.evaluate(FOCUSED))
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        assert reached == ["skip", "brand", "back", "unlock", "export"]
        page.locator("#range input:checked").focus()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.tagName") == "svg"
        for _ in range(2):
            page.keyboard.press("ArrowLeft")
        assert re.search(r"\d\d:\d\d(:\d\d)?\s+spent", page.locator(".tip").first.inner_text())
        page.keyboard.press("Escape")
        assert not page.locator(".tip").first.is_visible()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
        page.keyboard.press("Enter")
        page.wait_for_selector("details[open] tbody tr:nth-child(6)")
        page.locator(".skip").focus()
        page.keyboard.press("Enter")
        assert page.evaluate(FOCUSED) == "main"
        assert page.url.endswith("#/prompts")


def test_charts_and_tables_say_what_they_are(kept: tuple[Any, Callable[[], list[str]]]) -> None:
    page, _ = kept
    for chart in page.locator(".chart > svg").all():
        assert chart.get_attribute("role") == "img"
        assert len(chart.locator("title").text_content()) > 10
        assert len(chart.locator("desc").text_content()) > 20
    assert page.locator("table:not(:has(caption))").count() == 0
    assert page.locator("th:not([scope])").count() == 0
    assert page.locator(".chart .forecast").count() == 1
    page.emulate_media(reduced_motion="reduce")
    assert (
        page.evaluate(
            "getComputedStyle(document.getElementById('connection'), '::before').animationName"
        )
        == "none"
    )
    page.emulate_media(reduced_motion="no-preference")


def test_a_lost_connection_is_said_and_found_again(view: View) -> None:
    storage = in_memory()
    campaign = make(storage, "prompts")
    with served(storage=storage) as at, view(at, "prompts") as (page, _):
        shown(page, campaign)
        page.context.set_offline(True)
        at.views.close()
        page.wait_for_selector(
            "#connection[data-state=reconnecting], #connection[data-state=stale]"
        )
        page.wait_for_selector("#connection[data-state=stale]")
        assert page.locator("#connection").inner_text().startswith("Stale since ")
        assert page.locator("#campaign").is_visible(), "what was known last stays"
        at.views.closed = False
        page.context.set_offline(False)
        campaign.tell(campaign.ask(), 1, "0.002")
        shown(page, campaign)
        assert page.locator("#connection").inner_text() == "Live"
