"""The dashboard: its files, and its page in a browser.

Most tests share one server, one clock and one page, which shows them a new campaign each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count, product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from purse import Account, Campaign
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage
from purse.service import dashboard, live_view
from tests.support.server import LONG, Served, served
from tests.support.service import HERE, TestClient, problem, token_file

FILES = sorted(dashboard.load())
KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
BEGUN = 1_790_000_000_000  # ms
DAY = 86_400_000  # ms
FITS = "document.documentElement.scrollWidth <= window.innerWidth"
CHARTS_FIT = """[...document.querySelectorAll('svg')].every(
    each => each.getBoundingClientRect().right <= window.innerWidth
)"""
FOCUSED = (
    "document.activeElement.id || document.activeElement.className || "
    "document.activeElement.tagName"
)
COLOURS = """() => {
    const { color, backgroundColor } = getComputedStyle(document.body);
    return [color, backgroundColor, getComputedStyle(document.querySelector('.chart .spent')).fill];
}"""
View = Callable[..., AbstractContextManager[Any]]


@pytest.mark.parametrize("name", FILES)
def test_files_come_with_their_type_and_a_strict_policy(untouched: TestClient, name: str) -> None:
    answer = untouched.get(f"/dashboard/{name}")
    assert answer.headers["Content-Type"].partition(";")[0] == KINDS[name.rpartition(".")[2]]
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    again = untouched.get(f"/dashboard/{name}", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert not re.search(r"https?://(?!www\.w3\.org/)", answer.text), "nothing comes from elsewhere"


def test_the_page_is_public_and_names_only_files_that_exist(untouched: TestClient) -> None:
    page = untouched.get("/")
    assert page.headers["Content-Type"].startswith("text/html")
    assert "Content-Security-Policy" in page.headers
    assert not re.search(r"\sstyle=|<style|\son\w+=|<script(?![^>]*\ssrc=)", page.text), (
        "the policy would refuse what is written in the page itself"
    )
    named = set(re.findall(r'(?:src|href)="dashboard/([^"]+)"', page.text))
    for name in FILES:
        if name.endswith(".js"):
            named |= set(re.findall(r'from "\./([^"]+)"', untouched.get(f"/dashboard/{name}").text))
    assert named == {name for name in FILES if name != dashboard.INDEX}
    for other in ("nothing.js", "..%2Ffeed.py", "%2e%2e/views.py", "__init__.py"):
        problem(untouched.get(f"{HERE}/dashboard/{other}"), 404, "no-such-path")
    paths = untouched.get("/openapi.json").json()["paths"]
    own = ("picture", "events", "dashboard")
    assert not [path for path in paths if path == "/" or any(word in path for word in own)]


class Address(NamedTuple):
    """An address on the web, for what opens files."""

    url: str

    def as_uri(self) -> str:
        return self.url


@pytest.fixture(scope="module")
def view(opened: Any) -> Iterator[View]:
    """Serves a storage and opens its page, with news within a moment instead of a second: `with
    view(storage) as (page, at)`. Unless something `fails` on purpose, the page may have complained
    about nothing; requests to the server itself are no complaint.
    """

    @contextmanager
    def of(
        storage: Storage, name: str = "", fails: bool = False, **settings: Any
    ) -> Iterator[tuple[Any, Served]]:
        with (
            served(storage=storage, **settings) as at,
            opened(Address(f"{at.url}/#/{name}" if name else at.url)) as (page, complaints),
        ):
            page.set_default_timeout(LONG * 1000)
            yield page, at
            own = f"network: {at.url}/"
            assert fails or not [each for each in complaints if not each.startswith(own)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_view, "BEAT", 0.05)
        patch.setattr(live_view, "FRESH", 0.05)
        patch.setattr(live_view, "LONGEST", 10**6)  # beats: no stream ends within a test
        yield of


def make(storage: Storage, name: str, **terms: Any) -> Campaign:
    given: Any = {
        "arms": {"small": "0.01", "large": "0.05"},
        "budget": "5",
        "cost_min": "0.001",
        "resources": ("USD",),
        "policy": "uniform",
        **terms,
    }
    return Campaign.create(name, **given, storage=storage)


class Stage:
    """A server whose clock the tests move, and its page."""

    def __init__(self, storage: Storage, page: Any, at: Served) -> None:
        self.storage, self.page, self.at = storage, page, at
        self.now, self.names = BEGUN, count()
        storage.now = lambda: self.now

    def campaign(self, **terms: Any) -> Campaign:
        """Create a campaign and show it."""
        campaign = make(self.storage, f"c{next(self.names)}", **terms)
        self.show(campaign)
        return campaign

    def show(self, campaign: Campaign) -> None:
        self.page.evaluate("name => { location.hash = `/${name}`; }", campaign.name)
        self.shown(campaign)

    def shown(self, campaign: Campaign) -> None:
        shown(self.page, campaign)

    def stat(self, name: str) -> str:
        place = self.page.locator(f"[data-stat='{name}'] dd").first
        return str(place.evaluate("each => each.firstChild.textContent"))


def shown(page: Any, campaign: Campaign) -> None:
    """Wait until the page shows the newest entry."""
    entries = campaign.status().entries
    page.wait_for_selector(
        f"html[data-entries='{entries}'] #name:text-is('{campaign.name}')", state="attached"
    )


def yes(page: Any) -> None:
    """Confirm what was asked for."""
    page.locator("#dialog-yes").click()
    page.wait_for_selector("#dialog:not([open])", state="attached")


def rows(page: Any, table: str) -> list[str]:
    return [" ".join(row.split()) for row in page.locator(f"{table} tbody tr").all_inner_texts()]


def fits(page: Any, *widths: int) -> None:
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(CHARTS_FIT)  # it draws them again
        assert page.evaluate(FITS)


@pytest.fixture(scope="module")
def shared(view: View) -> Iterator[Stage]:
    storage = in_memory()
    with view(storage) as (page, at):
        yield Stage(storage, page, at)


@pytest.fixture
def stage(shared: Stage) -> Iterator[Stage]:
    shared.now = BEGUN
    yield shared
    shared.page.set_viewport_size({"width": 1280, "height": 900})


@pytest.fixture(scope="module")
def long(shared: Stage) -> Campaign:
    """A campaign of a few hours, in which some calls cost too much and some were never reported."""
    arms = {"small": "0.01", "large": "0.05", "huge": "0.09"}
    shared.now = BEGUN
    campaign = make(shared.storage, "prompts", arms=arms, expires_after=900)
    for number in range(120):
        shared.now += 60_000
        ticket = campaign.ask()
        if number % 30 != 7:
            campaign.tell(ticket, (number % 4) / 4, "0.12" if number == 50 else "0.005")
    return campaign


def brightness(colour: str) -> int:
    return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))


def test_the_page_draws_itself_fits_and_says_what_it_is(stage: Stage, long: Campaign) -> None:
    page = stage.page
    stage.now = BEGUN + 120 * 60_000
    stage.show(long)
    # on a phone, a tablet and a desktop
    for width, dark in product((390, 820, 1280), (True, False)):
        page.emulate_media(color_scheme="dark" if dark else "light")
        fits(page, width)
        assert page.locator("#connection").inner_text() == "Live"
        assert page.locator("#campaign section:visible").count() == 6
        ink, paper, spent = page.evaluate(COLOURS)
        assert (brightness(ink) > brightness(paper)) == dark
        assert spent == ("rgb(74, 159, 227)" if dark else "rgb(0, 114, 178)")
    for chart in page.locator(".chart > svg").all():
        assert chart.get_attribute("role") == "img"
        assert len(chart.locator("title").text_content()) > 10
        assert len(chart.locator("desc").text_content()) > 20
    assert page.locator("table:not(:has(caption))").count() == 0
    assert page.locator("th:not([scope])").count() == 0
    assert page.locator(".chart .forecast").count() == 1
    page.emulate_media(reduced_motion="reduce")
    moving = "getComputedStyle(document.getElementById('connection'), '::before').animationName"
    assert page.evaluate(moving) == "none"
    page.emulate_media(reduced_motion="no-preference")


def test_the_keyboard_reaches_everything(stage: Stage, long: Campaign) -> None:
    page = stage.page
    stage.now = BEGUN + 120 * 60_000
    stage.show(long)
    page.reload()
    stage.shown(long)
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


def test_numbers_move_while_a_campaign_runs(stage: Stage) -> None:
    page, campaign = stage.page, stage.campaign()
    stats = [stage.stat(name) for name in ("left", "spent", "runs out")]
    assert stats == ["5", "0", "–"]
    assert page.locator("#tickets").inner_text() == "No ticket is open."
    tickets = campaign.ask_many(2)
    stage.now += 5_000
    campaign.tell(tickets[0], 1, "0.004")
    stage.shown(campaign)
    assert stage.stat("spent") == "0.004"
    held = float(tickets[1].held[0])
    assert (stage.stat("held"), stage.stat("left")) == (f"{held:.3f}", f"{5 - 0.004 - held:.3f}")
    assert (stage.stat("gain"), stage.stat("reward per usd")) == ("1.00", "250")
    assert stage.stat("runs out").startswith("in ")
    assert page.locator("#tickets tbody tr").count() == 1
    row = page.locator("#arms tbody tr", has_text=str(tickets[0].arm))
    assert "250" in row.inner_text()
    campaign.tell(tickets[1], 1, "0.004")
    stage.shown(campaign)
    assert (stage.stat("spent"), stage.stat("held")) == ("0.008", "0.000")


def test_an_alarm_shows_itself_in_words_when_it_arises(stage: Stage) -> None:
    page, campaign = stage.page, stage.campaign()
    place = page.locator("#alarms[role=alert][aria-live=polite]")
    assert place.inner_text() == ""
    campaign.tell(campaign.ask(), 1, "0.75")
    stage.shown(campaign)
    assert f"Overrun: {campaign.status().alarms[0].text}" in place.inner_text()
    assert place.locator("[data-kind=overrun] svg").count() == 1
    assert stage.stat("overrun").startswith("0.7")
    purse = campaign.status().purses[0]
    assert (
        f"Paid in all 0.75 USD = {float(purse.spent):.2f} within the budget + "
        f"{float(purse.overrun):.2f} above it." in page.locator("#budgets").inner_text()
    )
    place.get_by_role("button", name="See ticket 1").click()
    page.wait_for_selector("#tickets caption:text-is('Tickets of the alarm Overrun')")
    assert page.locator("#tickets tbody td").nth(1).inner_text() == "told"


def test_an_arm_that_fails_is_shown_until_it_has_recovered(stage: Stage) -> None:
    page, campaign = stage.page, stage.campaign(cooldown=40)
    assert page.locator("#cooling").inner_text() == ""
    assert page.locator("#arms th", has_text="Failed").count() == 0
    campaign.fail(campaign.ask(arms=["large"]), reason="503")
    stage.shown(campaign)
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
    stage.now += 40_000
    campaign.tell(campaign.ask(arms=["small"]), 1, "0.005")
    stage.shown(campaign)
    assert "the next ask may try it" in place.inner_text()
    probe = campaign.ask(arms=["large"])
    stage.shown(campaign)
    assert f"ticket {probe.id} tries it" in place.inner_text()
    campaign.tell(probe, 1, "0.005")
    stage.shown(campaign)
    assert page.locator("#cooling, #alarms").all_inner_texts() == ["", ""]
    assert page.locator("#arms .badge").count() == 0
    assert row.locator("td").nth(2).inner_text() == "1", "what failed stays counted"


def test_tickets_are_counted_by_state_and_what_is_rare_shows_when_it_happens(stage: Stage) -> None:
    terms = {"capacity": 3, "reward_range": (0, 2), "cooldown": None}
    page, campaign = stage.page, stage.campaign(budget="1", **terms)
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
    stage.shown(campaign)
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
        fits(page, width)
        wide = "each => each.scrollWidth - each.clientWidth"
        assert page.locator("#arms").evaluate(wide) <= 0


def test_labels_have_a_panel_once_there_are_some(stage: Stage) -> None:
    page, campaign = stage.page, stage.campaign()
    assert page.locator("#labelled").is_hidden()
    for number in range(12):
        labels = {"feature": "chat", "tenant": f"t{number}"}
        ticket = campaign.ask(arms=["small"], labels=labels)
        if number == 3:
            campaign.tell(ticket, 1, "0.02")  # above what was held
    page.wait_for_selector("#labels tbody tr:has-text('chat')")
    page.locator("[data-key='key-tenant']").click()
    page.get_by_role("button", name="Show 2 more").wait_for()  # the sums of all asks are here
    page.locator("#labels tbody tr").filter(has_text="100.0%").wait_for()
    assert len(rows(page, "#labels")) == 10
    assert rows(page, "#labels")[0] == "t3 1 0.02 100.0% 0.00"
    page.get_by_role("button", name="Show 2 more").click()
    assert page.locator("#labels tbody tr").count() == 12
    page.locator("[data-key='key-feature']").click()
    page.wait_for_selector(
        "#labels caption:text-is('1 value of feature, those that spent most first')"
    )
    fits(page, 390, 1280)


def test_the_page_shows_the_period_as_it_is_now(stage: Stage) -> None:
    page = stage.page
    terms = {"every": "day", "time_zone": "Europe/Berlin", "carry": "all"}
    campaign = stage.campaign(**terms, horizon=9)
    campaign.tell(campaign.ask(), 1, "0.01")
    stage.shown(campaign)
    line = page.locator("#period")
    assert line.inner_text().startswith("Period 1 (every day, Europe/Berlin, until ")
    assert "0.01 of 5 USD spent." in line.inner_text()
    assert "round 1 of 9 in this period" in page.locator("#facts").inner_text()
    stage.now += 3 * DAY
    page.locator("#period", has_text="Period 4").wait_for()
    assert "0 of 5 USD spent and 14.99 carried over." in line.inner_text()
    assert "round 0 of 9 in this period" in page.locator("#facts").inner_text()


def test_actions_are_unlocked_confirmed_and_done_once(stage: Stage, tmp_path: Path) -> None:
    page, campaign = stage.page, stage.campaign()
    page.set_viewport_size({"width": 390, "height": 900})
    first, second, third = campaign.ask_many(3)
    stage.shown(campaign)
    assert page.locator("#mode").inner_text().startswith("Reads only")
    assert not page.locator("#actions").is_visible()
    assert page.get_by_role("button", name="Void").count() == 0
    page.locator("#unlock").click()
    assert page.locator("#mode").inner_text() == "Actions are unlocked in this tab."
    page.get_by_role("button", name="Pause").click()
    page.locator("#dialog-no").click()
    assert campaign.status().status == "running"
    page.get_by_role("button", name="Pause").click()
    yes(page)
    page.wait_for_selector("#standing:text-is('paused')")
    assert page.locator("#done").inner_text() == "Paused."
    assert f"purse campaign resume {campaign.name}" in page.locator("#how").inner_text()
    page.get_by_role("button", name="Resume").click()
    yes(page)
    page.wait_for_selector("#standing:text-is('running')")
    page.get_by_role("button", name="Top up").click()
    page.get_by_label("Amount in USD").fill("2.5")
    assert page.evaluate(FITS)
    page.keyboard.press("Enter")
    page.wait_for_selector("#done:text-is('The budget is topped up.')")
    assert campaign.status().purses[0].budget == "7.5"
    page.get_by_role("button", name=f"Void ticket {first.id}").click()
    yes(page)
    page.wait_for_selector(f"#done:text-is('Ticket {first.id} is void.')")
    page.get_by_role("button", name=f"Tell ticket {second.id}").click()
    page.get_by_label("Reward", exact=True).fill("0.5")
    page.get_by_label("Cost in USD").fill("0.2")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#done:text-is('Ticket {second.id} is told.')")
    page.wait_for_selector("#tickets tbody tr:only-child")
    assert campaign.status().counts["void"] == campaign.status().counts["told"] == 1
    campaign.settle(third, "0.001")
    page.wait_for_selector("#tickets:has-text('No ticket is open.')")
    page.locator("#counts [data-state=settled]").click()
    page.get_by_role("button", name=f"Reward ticket {third.id}").click()
    page.get_by_label("Reward", exact=True).fill("1")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#done:text-is('Ticket {third.id} is told.')")
    page.get_by_role("button", name="End").click()
    assert page.locator("#dialog-yes").is_disabled(), "the name is wanted"
    page.get_by_label(f"Type {campaign.name} to confirm").fill(campaign.name)
    yes(page)
    page.wait_for_selector("#standing:text-is('ended')")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download the journal").click()
    saved.value.save_as(tmp_path / "journal.jsonl")
    copy = Campaign.restore(tmp_path / "journal.jsonl", storage=in_memory())
    assert copy.status().digest == campaign.status().digest
    page.locator("#lock").click()
    assert not page.locator("#actions").is_visible()


def test_overdue_tickets_expire_and_the_policy_is_asked_for_its_probabilities(
    stage: Stage,
) -> None:
    page, campaign = stage.page, stage.campaign(expires_after=10)
    campaign.ask()
    stage.now += 11_000
    stage.shown(campaign)
    page.locator("#unlock").click()
    page.get_by_role("button", name="Expire overdue tickets").click()
    yes(page)
    page.wait_for_selector("#counts [data-state=presumed]")
    assert campaign.status().counts["presumed"] == 1
    page.locator("#foresee").click()
    page.wait_for_selector("#foreseen:has-text('Next round, seen at')")
    assert page.locator("#arms tbody td:nth-child(6)").all_inner_texts() == ["50.0%", "50.0%"]
    page.locator("#lock").click()


def test_a_button_that_is_held_down_keeps_its_click(stage: Stage) -> None:
    page, campaign = stage.page, stage.campaign()
    campaign.ask()
    stage.shown(campaign)
    page.locator("#counts [data-state=held]").hover()
    page.mouse.down()
    campaign.ask()
    stage.shown(campaign)
    assert page.locator("#counts [data-state=held]").inner_text() == "held 1"
    page.mouse.up()
    page.wait_for_selector("#counts [data-state=held][aria-pressed=true]:text-is('held 2')")


def test_a_token_is_asked_for_and_a_reader_only_reads(view: View, tmp_path: Path) -> None:
    storage = in_memory()
    campaign = make(storage, "prompts")
    path, tokens = token_file(tmp_path)
    with view(storage, "prompts", fails=True, tokens=path) as (page, _):
        page.wait_for_selector("#token-form:visible")
        assert page.evaluate(FOCUSED) == "token"
        assert not page.locator("#campaign").is_visible()
        page.keyboard.type("purse_wrong")
        page.keyboard.press("Enter")
        page.wait_for_selector("#token-error:text-is('The server does not take this token.')")
        page.keyboard.type(tokens["read"])
        page.keyboard.press("Enter")
        shown(page, campaign)
        for control in ("#unlock", "#actions", "#foresee"):
            assert not page.locator(control).is_visible()
        kept = page.evaluate("[sessionStorage.length, localStorage.length, document.cookie]")
        assert kept == [1, 0, ""]
        page.locator("#forget").click()
        page.wait_for_selector("#token-form:visible")
        page.keyboard.type(tokens["admin"])
        page.keyboard.press("Enter")
        shown(page, campaign)
        assert page.locator("#actions").is_visible()


def test_the_tree_shows_what_is_left_on_each_level(view: View) -> None:
    storage = in_memory()
    Account.create("company", budget="20", resources=["USD"], storage=storage)
    Account.create("team-a", budget="2", account="company", resources=["USD"], storage=storage)
    campaign = make(storage, "router", account="team-a")
    with view(storage) as (page, _):
        page.wait_for_selector("#tree tbody tr:nth-child(3)")
        assert page.locator("h1").first.inner_text() == "Accounts and campaigns"
        campaign.tell(campaign.ask(arms=["small"]), 1, "0.02")  # above what was held
        page.wait_for_selector("#tree:has-text('Overrun')")  # 19.99 is left after the ask, too
        assert rows(page, "#tree") == [
            "company account 19.99 of 20.00 USD 0.01 USD 0.00 USD 0.00 USD 0.01 USD Overrun",
            "team-a account 1.99 of 2.00 USD 0.01 USD 0.00 USD 0.00 USD 0.01 USD",
            "router campaign 4.99 of 5.00 USD only 1.99 USD in team-a "
            "0.01 USD 0.00 USD 0.00 USD 0.01 USD",
        ]
        fits(page, 390, 820, 1280)
        page.locator("#unlock").click()
        page.locator("#create").click()
        page.get_by_label("Name", exact=True).fill("below")
        page.get_by_label("Budget", exact=True).fill("1")
        page.get_by_label("The least that a pull costs").fill("0.001")
        page.locator("#dialog textarea").fill("small 0.01")
        page.get_by_role("textbox", name="Account").fill("team-a")
        page.locator("#dialog-yes").click()
        page.wait_for_selector("#facts:has-text('account team-a')")
        children = Account.open("team-a", storage=storage).status().children
        assert sorted(child.name for child in children) == ["below", "router"]


def test_all_campaigns_are_listed_those_with_alarms_first(view: View) -> None:
    storage, now = in_memory(), BEGUN
    storage.now = lambda: now
    make(storage, "a-ended").end()
    quiet = make(storage, "b-quiet")
    now += 60_000
    busy = make(storage, "c-busy")
    for _ in range(4):
        busy.tell(busy.ask(), 0.5, "0.004")
    over = make(storage, "d-over")
    over.tell(over.ask(), 1, "0.75")
    spent = make(storage, "e-spent", budget="0.06")
    spent.tell(spent.ask(arms=["large"]), 1, "0.05")
    spent.tell(spent.ask(), 1, "0.01")
    with view(storage) as (page, _):
        page.wait_for_selector("#list tbody tr:nth-child(5)")
        assert page.locator("#connection").inner_text() == "Live"
        page.wait_for_selector("#list:not(:has-text('…'))")  # histories are read one by one
        listed = rows(page, "#list")
        assert {row.split()[0] for row in listed[:2]} == {"d-over", "e-spent"}
        assert [row.split()[0] for row in listed[2:]] == ["c-busy", "b-quiet", "a-ended"]
        assert "c-busy running uniform 4.984 of 5.000 USD" in listed[2]
        assert "2.00 125 per USD none" in listed[2]
        assert "Overrun" in "".join(listed[:2])
        assert "e-spent exhausted" in "".join(listed[:2])
        assert "a-ended ended" in listed[4]
        fits(page, 390, 820, 1280)
        page.get_by_role("link", name="b-quiet").click()
        shown(page, quiet)
        assert page.url.endswith("#/b-quiet")
        page.reload()
        shown(page, quiet)
        page.get_by_role("link", name="All campaigns").click()
        page.wait_for_selector("#overview:visible")


def test_a_server_without_campaigns_is_live_and_has_a_form(view: View) -> None:
    storage = in_memory()
    with view(storage) as (page, _):
        page.wait_for_selector("#list:has-text('No campaign yet')")
        assert page.locator("#connection").inner_text() == "Live"
        assert page.locator("#accounts").is_hidden()
        assert page.locator("h1").first.inner_text() == "Campaigns"
        assert "purse campaign new prompts --arm small=0.01" in page.locator("pre").inner_text()
        page.locator("#unlock").click()
        page.locator("#create").click()
        page.get_by_label("Name", exact=True).fill("made-here")
        page.get_by_label("Budget", exact=True).fill("12")
        page.get_by_label("The least that a pull costs").fill("0.001")
        page.locator("#dialog textarea").fill("small 0.01\nlarge")
        page.locator("#dialog-yes").click()
        page.wait_for_selector("#dialog-error:has-text('must be a name and an amount')")
        page.locator("#dialog textarea").fill("small 0.01\nvendor/large: 0.05")
        page.locator("#dialog-yes").click()
        page.wait_for_selector("#name:text-is('made-here')")
        terms = Campaign.open("made-here", storage=storage).terms
        assert (terms.arms, terms.resources) == (("small", "vendor/large"), ("USD",))


def test_a_lost_connection_is_said_and_found_again(view: View) -> None:
    storage = in_memory()
    campaign = make(storage, "prompts")
    with view(storage, "prompts", fails=True) as (page, at):
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
        page.evaluate("() => { location.hash = '/nosuch'; }")
        page.wait_for_selector("#notice:has-text('There is no campaign “nosuch”')")
