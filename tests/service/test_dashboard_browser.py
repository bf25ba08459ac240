from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from purse import Campaign
from purse.campaign.storage.memory import Memory
from purse.service import live_view
from tests.support.server import LONG, Served, served
from tests.support.service import token_file

WAIT = LONG * 1000  # ms
FITS = "document.documentElement.scrollWidth <= window.innerWidth"
CHARTS_FIT = """[...document.querySelectorAll('svg')].every(
    each => each.getBoundingClientRect().right <= window.innerWidth
)"""
COLOURS = """() => {
    const { color, backgroundColor } = getComputedStyle(document.body);
    return [color, backgroundColor, getComputedStyle(document.querySelector('.chart .spent')).fill];
}"""
FOCUSED = (
    "document.activeElement.id || document.activeElement.className || "
    "document.activeElement.tagName"
)
View = Callable[..., AbstractContextManager[tuple[Any, Callable[[], list[str]]]]]


class Address(NamedTuple):
    """An address on the web, for what opens files."""

    url: str

    def as_uri(self) -> str:
        return self.url


@pytest.fixture(scope="module")
def view(opened: Any) -> View:
    """Opens the page of a server: `with view(served, "name") as (page, complaints)`; requests to
    the server itself are no complaint.
    """

    @contextmanager
    def of(at: Served, name: str = "", **how: Any) -> Iterator[tuple[Any, Callable[[], list[str]]]]:
        with opened(Address(f"{at.url}/#/{name}" if name else at.url), **how) as (page, complaints):
            page.set_default_timeout(WAIT)
            yield (
                page,
                lambda: [each for each in complaints if not each.startswith(f"network: {at.url}/")],
            )

    return of


@pytest.fixture(scope="module", autouse=True)
def _fast() -> Iterator[None]:
    """News within a moment instead of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_view, "BEAT", 0.05)
        patch.setattr(live_view, "FRESH", 0.05)
        yield


class World(NamedTuple):
    at: Served
    storage: Memory


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """A server with a campaign of a few hours, in which some calls cost too much and some were
    never reported, and another one.
    """
    storage, now = Memory(), 1_790_000_000_000
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


def make(storage: Any, name: str, **terms: Any) -> Campaign:
    given: Any = {
        "arms": {"small": "0.01", "large": "0.05"},
        "budget": "5",
        "cost_min": "0.001",
        "resources": ("USD",),
        "policy": "uniform",
        **terms,
    }
    return Campaign.create(name, **given, storage=storage)


def shown(page: Any, campaign: Campaign) -> None:
    """Wait until the page shows the newest entry."""
    page.wait_for_selector(f"html[data-entries='{campaign.status().entries}']")


def stat(page: Any, name: str) -> str:
    return str(
        page.locator(f"[data-stat='{name}'] dd").first.evaluate(
            "each => each.firstChild.textContent"
        )
    )


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
        assert page.locator("#campaign section:visible").count() == 5
        assert page.evaluate(FITS)
        ink, paper, spent = page.evaluate(COLOURS)
        assert (brightness(ink) > brightness(paper)) == dark
        assert spent == ("rgb(74, 159, 227)" if dark else "rgb(0, 114, 178)")
    assert complaints() == []


def brightness(colour: str) -> int:
    return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))


def test_numbers_move_while_a_campaign_runs(view: View) -> None:
    storage = Memory()
    campaign = make(storage, "prompts")
    with served(storage=storage) as at, view(at) as (page, complaints):
        shown(page, campaign)
        assert (stat(page, "left"), stat(page, "spent"), stat(page, "runs out")) == ("5", "0", "–")
        assert page.locator("#tickets").inner_text() == "No ticket is out."
        tickets = campaign.ask_many(2)
        campaign.tell(tickets[0], 1, "0.004")
        shown(page, campaign)
        assert stat(page, "spent") == "0.004"
        assert stat(page, "held") == tickets[1].held[0]
        assert stat(page, "runs out").startswith("in ")
        assert page.locator("#tickets tbody tr").count() == 1
        row = page.locator("#arms tbody tr", has_text=str(tickets[0].arm))
        assert "250" in row.inner_text()
        campaign.tell(tickets[1], 1, "0.004")
        shown(page, campaign)
        assert (stat(page, "spent"), stat(page, "held")) == ("0.008", "0")
        assert complaints() == []


def test_an_alarm_shows_itself_in_words_when_it_arises(view: View) -> None:
    storage = Memory()
    campaign = make(storage, "prompts")
    with served(storage=storage) as at, view(at) as (page, complaints):
        shown(page, campaign)
        place = page.locator("#alarms[role=alert][aria-live=polite]")
        assert place.inner_text() == ""
        campaign.tell(campaign.ask(), 1, "0.75")
        shown(page, campaign)
        assert f"Overrun: {campaign.status().alarms[0].text}" in place.inner_text()
        assert place.locator("[data-kind=overrun] svg").count() == 1
        assert stat(page, "overrun").startswith("0.7")
        assert complaints() == []


def test_an_arm_that_fails_is_shown_until_it_has_recovered(view: View) -> None:
    storage, now = Memory(), 1_790_000_000_000
    storage.now = lambda: now
    campaign = make(storage, "prompts", cooldown=40)
    with served(storage=storage) as at, view(at) as (page, complaints):
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
    storage, now = Memory(), 1_790_000_000_000
    storage.now = lambda: now
    terms = {"capacity": 3, "reward_within": 60, "reward_range": (0, 2), "cooldown": None}
    campaign = make(storage, "prompts", budget="1", **terms)
    with served(storage=storage) as at, view(at) as (page, complaints):
        shown(page, campaign)
        assert page.locator("#counts").inner_text() == ""
        for ticket in campaign.ask_many(19, arms=["large"]):
            campaign.settle(ticket, "0.001")
        now += 61_000
        campaign.expire()
        campaign.settle(campaign.ask(arms=["large"]), "0.001")
        campaign.fail(campaign.ask(arms=["small"]))
        campaign.tell(campaign.ask(arms=["small"]), 3, "0.001")
        campaign.ask_many(19, arms=["large"])
        campaign.ask()  # what is left does not cover the large one
        campaign.add_arm("new", cost_max="0.02")
        campaign.retire_arm("large")
        shown(page, campaign)
        found = dict(
            page.locator("#counts [data-state]").evaluate_all(
                "all => all.map(each => [each.dataset.state, each.querySelector('dd').innerText])"
            )
        )
        assert {name: " ".join(text.split()) for name, text in found.items()} == {
            "held": "20",
            "settled": "1 wait for their reward",
            "told": "1",
            "unrewarded": "19 no reward came in time",
            "failed": "1",
        }
        crowded = "Money held for open tickets excluded an arm in 1 ask."
        assert page.locator("#crowded").inner_text() == crowded
        large = page.locator("#arms tbody tr", has_text="large")
        assert large.locator(".badge").inner_text() == "retired"
        assert large.locator("td").nth(2).inner_text() == "1", "it waits for a reward"
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
        for _ in range(3):
            page.keyboard.press("Tab")
            reached.append(page.evaluate(FOCUSED))
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        assert reached == ["skip", "picker", "unlock"]
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


def test_another_campaign_is_picked_and_kept_in_the_address(world: World, view: View) -> None:
    with view(world.at) as (page, complaints):
        shown(page, Campaign.open("prompts", storage=world.storage))
        page.locator("#picker").select_option("second")
        shown(page, Campaign.open("second", storage=world.storage))
        assert page.locator("#name").inner_text() == "second"
        assert page.url.endswith("#/second")
        page.reload()
        page.wait_for_selector("#name:text-is('second')")
        assert page.locator("#picker").input_value() == "second"
        page.evaluate("() => { location.hash = '/prompts'; }")
        page.wait_for_selector("#name:text-is('prompts')")
        assert page.locator(".alarm").count() == 2
        assert complaints() == []


def test_actions_are_unlocked_confirmed_and_done_once(view: View) -> None:
    storage = Memory()
    campaign = make(storage, "prompts")
    ticket = campaign.ask()
    with served(storage=storage) as at, view(at, width=390) as (page, complaints):
        shown(page, campaign)
        assert not page.locator("#actions").is_visible()
        assert page.get_by_role("button", name="Void").count() == 0
        page.locator("#unlock").click()
        page.get_by_role("button", name="Pause").click()
        page.locator("#dialog-no").click()
        assert campaign.status().status == "running"
        page.get_by_role("button", name="Pause").click()
        page.locator("#dialog-yes").click()
        page.wait_for_selector("#standing:text-is('paused')")
        page.get_by_role("button", name="Resume").click()
        page.locator("#dialog-yes").click()
        page.wait_for_selector("#standing:text-is('running')")
        page.get_by_role("button", name="Top up").click()
        page.get_by_label("Amount in USD").fill("2.5")
        assert page.evaluate(FITS)
        page.keyboard.press("Enter")
        page.wait_for_selector("#done:text-is('The budget is topped up.')")
        assert campaign.status().purses[0].budget == "7.5"
        page.get_by_role("button", name=f"Void ticket {ticket.id}").click()
        page.locator("#dialog-yes").click()
        page.wait_for_selector("#tickets:has-text('No ticket is out.')")
        assert campaign.status().counts["void"] == 1
        page.get_by_role("button", name="Close").click()
        page.locator("#dialog-yes").click()
        page.wait_for_selector("#standing:text-is('closed')")
        assert complaints() == []


def test_a_token_is_asked_for_and_a_reader_only_reads(view: View, tmp_path: Path) -> None:
    storage = Memory()
    campaign = make(storage, "prompts")
    path, tokens = token_file(tmp_path)
    with served(storage=storage, tokens=path) as at, view(at) as (page, _):
        page.wait_for_selector("#token-form:visible")
        assert page.evaluate(FOCUSED) == "token"
        assert not page.locator("#campaign").is_visible()
        page.keyboard.type("purse_wrong")
        page.keyboard.press("Enter")
        page.wait_for_selector("#token-error:text-is('The server does not take this token.')")
        page.keyboard.type(tokens["read"])
        page.keyboard.press("Enter")
        shown(page, campaign)
        assert not page.locator("#unlock").is_visible()
        assert not page.locator("#actions").is_visible()
        assert page.evaluate("[sessionStorage.length, localStorage.length, document.cookie]") == [
            1,
            0,
            "",
        ]
        page.locator("#forget").click()
        page.wait_for_selector("#token-form:visible")
        page.keyboard.type(tokens["admin"])
        page.keyboard.press("Enter")
        shown(page, campaign)
        assert page.locator("#actions").is_visible()


def test_a_lost_connection_is_said_and_found_again(view: View) -> None:
    storage = Memory()
    campaign = make(storage, "prompts")
    with served(storage=storage) as at, view(at) as (page, _):
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


def test_a_server_without_campaigns_says_what_to_do(view: View) -> None:
    with served(storage=Memory()) as at, view(at) as (page, complaints):
        page.wait_for_selector("#notice:has-text('No campaign yet')")
        assert complaints() == []
