"""The dashboard: its files, and its page in a browser.

The tests share one server, one clock and one page, which shows them a new campaign each.
"""

import re
from contextlib import suppress
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from purse import Account, Campaign
from purse.campaign.storage.connect import in_memory
from purse.errors import AskRefused
from purse.service import dashboard
from tests.service.conftest import BEGUN, Stage, View, fill, fits, make, rows, shown
from tests.support.service import HERE, TestClient, problem, token_file

DAY = 86_400_000  # ms
MINUTE = 60_000  # ms
FOCUSED = (
    "document.activeElement.id || document.activeElement.className || "
    "document.activeElement.tagName"
)
SPENT = "getComputedStyle(document.querySelector('.chart .spent')).fill"


def test_files_come_with_their_type_and_a_strict_policy_and_there_are_no_others(
    untouched: TestClient,
) -> None:
    """That a page loads nothing from elsewhere, and no file that is not there, a browser checks."""
    for path in ("/", *(f"/dashboard/{name}" for name in dashboard._load())):
        answer = untouched.get(path)
        kind = dashboard._KINDS["html" if path == "/" else path.rpartition(".")[2]]
        assert answer.headers["Content-Type"].partition(";")[0] == kind
        policy = answer.headers["Content-Security-Policy"]
        assert (policy.startswith("default-src 'none'"), "unsafe" in policy) == (True, False)
        again = untouched.get(path, headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
    for other in ("nothing.js", "..%2Ffeed.py", "%2e%2e/views.py", "__init__.py"):
        problem(untouched.get(f"{HERE}/dashboard/{other}"), 404, "no-such-path")


def test_an_empty_server_has_a_form_then_a_list_with_alarms_first_and_a_tree(stage: Stage) -> None:
    page, storage = stage.page, stage.storage
    page.wait_for_selector("#list:has-text('No campaign yet')")
    assert stage.text("#connection") == "Live"
    assert page.locator("#accounts").is_hidden()
    assert page.locator("h1").first.inner_text() == "Campaigns"
    assert "purse campaign new prompts --arm small=0.01" in stage.text("#list pre")
    assert "Unlock actions and press New campaign" in stage.text("#list")
    Account.create("company", budget="20", resources=["USD"], storage=storage)
    Account.create("team-a", budget="2", account="company", resources=["USD"], storage=storage)
    page.locator("#unlock").click()
    page.wait_for_selector("#list:has-text('Press New campaign'):not(:has-text('Unlock'))")
    page.locator("#create").click()
    fields = {"Name": "b-quiet", "Budget": "5", "The least": "0.001", "Account": "team-a"}
    fill(page, {**fields, "Arms": "small 0.01\nlarge"})
    page.locator("#dialog-yes").click()
    page.wait_for_selector("#dialog-error:has-text('must be a name and an amount')")
    fill(page, {"Arms": "small 0.01\nvendor/large: 0.05"})
    page.locator("#dialog-yes").click()
    page.wait_for_selector("#facts:has-text('account team-a')")
    assert Campaign.open("b-quiet", storage=storage).terms.arms == ("small", "vendor/large")
    assert 'Campaign.open("b-quiet", storage="http://' in stage.text("#first-code")
    assert page.locator(".chart:visible").count() == 0, "nothing was asked for yet"
    page.get_by_role("link", name="All campaigns").click()
    make(storage, "a-ended").end()
    stage.now += MINUTE
    busy = make(storage, "c-busy")
    for _ in range(4):
        busy.tell(busy.ask(), 0.5, "0.004")
    over = make(storage, "d-over", account="team-a")
    over.tell(over.ask(arms=["small"]), 1, "0.02")  # above what was held
    spent = make(storage, "e-spent", budget="0.06")
    spent.tell(spent.ask(arms=["large"]), 1, "0.05")
    spent.tell(spent.ask(), 1, "0.01")
    page.wait_for_selector("#list tbody tr:nth-child(5)")
    page.wait_for_selector("#list:not(:has-text('…'))")  # histories are read one by one
    listed = rows(page, "#list")
    assert {row.split()[0] for row in listed[:2]} == {"d-over", "e-spent"}
    assert [row.split()[0] for row in listed[2:]] == ["c-busy", "b-quiet", "a-ended"]
    assert "c-busy running uniform 4.98 left of 5.00 USD" in listed[2]
    assert " 2 125 none" in listed[2]
    assert "Overrun" in "".join(listed[:2])
    assert "e-spent exhausted" in "".join(listed[:2])
    assert "a-ended ended" in listed[4]
    assert page.locator("h1").first.inner_text() == "Accounts and campaigns"
    assert rows(page, "#tree") == [
        "company running 19.98 left of 20.00 USD 0.02 0.00 0.00 0.01 Overrun",
        "team-a running 2 campaigns 1.98 left of 2.00 USD 0.02 0.00 0.00 0.01",
    ]
    assert "b-quiet running replan · team-a 5 left of 5 USD only 1.98 USD in team-a" in listed[3]
    fits(page, 390, 820, 1280)
    for number in range(8):
        make(storage, f"more-{number}")
    page.locator("#search").fill("team-a")  # there are enough to search among
    page.wait_for_selector("#list caption:has-text('2 campaigns')")
    page.get_by_role("link", name="b-quiet").click()
    page.wait_for_selector("#name:text-is('b-quiet')")
    page.reload()
    page.wait_for_selector("#name:text-is('b-quiet')")
    assert page.url.endswith("#/b-quiet")


def test_the_page_draws_itself_fits_says_what_it_is_and_takes_keys(stage: Stage) -> None:
    """A campaign of a few hours, in which some calls cost too much and some were never reported."""
    page = stage.page
    long = stage.campaign(
        arms={"small": "0.01", "large": "0.05", "huge": "0.09"}, expires_after=900
    )
    for number in range(120):
        stage.now += MINUTE
        ticket = long.ask()
        if number % 30 != 7:
            long.tell(ticket, (number % 4) / 4, "0.12" if number == 50 else "0.005")
    stage.shown(long)
    # on a phone, a tablet and a desktop
    for width, dark in product((390, 820, 1280), (True, False)):
        page.emulate_media(color_scheme="dark" if dark else "light")
        fits(page, width)
        assert stage.text("#connection") == "Live"
        assert page.locator("#campaign section:visible").count() == 6
        assert page.evaluate(SPENT) == ("rgb(74, 159, 227)" if dark else "rgb(0, 114, 178)")
    for chart in page.locator(".chart > svg").all():
        assert chart.get_attribute("role") == "img"
        assert len(chart.locator("title").text_content()) > 10
        assert len(chart.locator("desc").text_content()) > 20
    for missing in ("table:not(:has(caption))", "th:not([scope])"):
        assert page.locator(missing).count() == 0
    assert page.locator(".chart .ahead").count() == 1
    page.emulate_media(reduced_motion="reduce")
    moving = "getComputedStyle(document.getElementById('connection'), '::before').animationName"
    assert page.evaluate(moving) == "none"
    page.reload()
    stage.shown(long)
    reached = []
    for _ in range(5):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(FOCUSED))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert reached == ["skip", "brand", "back", "unlock", "link"]
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
    assert page.url.endswith(f"#/{long.name}")


def test_numbers_move_while_a_campaign_runs_and_an_alarm_is_said_in_words(stage: Stage) -> None:
    page, campaign = stage.page, stage.campaign()
    assert stage.stats("left", "spent", "runs out") == ["5", "0", "–"]
    assert stage.text("#alarms") == ""
    tickets = campaign.ask_many(2)
    stage.now += 5_000
    campaign.tell(tickets[0], 1, "0.004")
    stage.shown(campaign)
    held = float(tickets[1].held[0])
    assert stage.stats("spent", "held", "left") == ["0.004", f"{held:.2f}", f"{5 - held:.2f}"]
    exact = page.locator("[data-stat=left] dd").first.get_attribute("title")
    assert exact == f"exactly {4.996 - held:.3f} USD"
    assert stage.stats("gain", "reward per usd") == ["1.00", "250"]
    assert stage.stats("runs out")[0].startswith("in ")
    assert page.locator("#tickets tbody tr").count() == 1
    assert "250" in page.locator("#arms tbody tr", has_text=str(tickets[0].arm)).inner_text()
    campaign.tell(tickets[1], 1, "0.75")
    stage.shown(campaign)
    (alarm, dearer), (purse,) = campaign.status().alarms, campaign.status().purses
    place = page.locator("#alarms[role=alert][aria-live=polite]")
    assert f"Overrun: {alarm.text}" in place.inner_text()
    assert f"Dearer than declared: {dearer.text}" in place.inner_text()
    assert place.locator("[data-kind=overrun] svg").count() == 1
    assert stage.stats("overrun", "held") == [f"{float(purse.overrun):.2f}", "0.00"]
    place.get_by_role("button", name="See ticket 2").click()
    page.wait_for_selector("#tickets caption:text-is('Tickets of the alarm Overrun')")
    assert page.locator("#tickets tbody td").nth(1).inner_text() == "told"


def test_an_arm_that_fails_is_shown_until_it_has_recovered(stage: Stage) -> None:
    page, campaign = stage.page, stage.campaign(cooldown=40)
    assert stage.text("#cooling") == ""
    assert page.locator("#arms th", has_text="Failed").count() == 0
    campaign.fail(campaign.ask(arms=["large"]), 0, reason="503")
    stage.shown(campaign)
    place, row = page.locator("#cooling tbody tr"), page.locator("#arms tbody tr").nth(1)
    text = place.inner_text()
    assert re.search(r"large\s+cools down, (3\d|40) s left\s+\d\d:\d\d:00\s+40 s", text), text
    assert stage.text("[data-kind=cooling-down]").startswith("Cooling down: ")
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
    for ticket in [*campaign.ask_many(19, arms=["large"]), campaign.ask(arms=["large"])]:
        campaign.settle(ticket, "0.001")
    campaign.fail(campaign.ask(arms=["small"]), 0)
    campaign.tell(campaign.ask(arms=["small"]), 3, "0.001")
    campaign.ask_many(19, arms=["large"])
    stage.shown(campaign)
    page.locator("#counts [data-state=held]").hover()
    page.mouse.down()
    campaign.ask()  # what is left does not cover the large one
    campaign.add_arm("new", cost_max="0.02")
    campaign.retire_arm("large")
    stage.shown(campaign)
    assert stage.text("#counts [data-state=held]") == "held 19", "a button that is held down stays"
    page.mouse.up()
    page.wait_for_selector("#counts [data-state=held][aria-pressed=true]:text-is('held 20')")
    assert page.locator("#counts .chip").all_inner_texts() == [
        "open 20", "held 20", "settled 20", "told 1", "failed 1",
    ]  # fmt: skip
    page.locator("#counts [data-state=settled]").click()
    page.wait_for_selector("#tickets caption:has-text('The oldest 12 of 20 settled')")
    assert "the cost is known, the reward is not" in stage.text("#counts")
    page.locator("#counts [data-state=open]").click()
    page.wait_for_selector("#tickets tbody tr:nth-child(12)")
    large = page.locator("#arms tbody tr", has_text="large")
    assert large.locator(".badge").inner_text() == "retired"
    assert large.locator("td").nth(2).inner_text() == "20", "they wait for a reward"
    assert page.locator("#arms tbody tr").count() == 3
    assert "Outside the range: 1 report" in stage.text("#alarms")
    assert "No rewards: 39 tickets of 'large'" in stage.text("#alarms")
    for width in (1280, 1100, 960, 820, 390):
        fits(page, width)
        assert page.locator("#arms").evaluate("each => each.scrollWidth - each.clientWidth") <= 0


def test_many_arms_are_folded_and_charts_of_an_idle_campaign_end_at_its_last_entry(
    stage: Stage,
) -> None:
    page, campaign = stage.page, stage.campaign(arms={f"m{n}": "0.01" for n in range(10)})
    for number in range(30):
        arm = f"m{number}" if number < 10 else "m7"
        campaign.tell(campaign.ask(arms=[arm]), float(arm == "m7"), "0.01")
    stage.now += MINUTE
    campaign.tell(campaign.ask(arms=["m7"]), 1, "0.01")
    stage.now += DAY
    page.reload()
    stage.shown(campaign)
    assert [row.split()[0] for row in rows(page, "#arms")] == ["m7"]
    page.get_by_role("button", name="Show 9 more").click()
    assert len(rows(page, "#arms")) == 10
    assert re.fullmatch(r"idle since 2\d Sept, \d\d:14", stage.text("#idle"))
    page.locator("#pulls .chart > svg").focus()
    page.keyboard.press("ArrowLeft")  # to the last interval
    assert re.search(r"to 2\d Sept, \d\d:14:20\s+m7\s+1 ", page.locator("#pulls .tip").inner_text())
    assert stage.stats("gain", "always") == ["22.0", "≈ 31.0"]
    assert "this campaign gained 29% less" in stage.text("[data-stat=always]")
    earned = stage.text("dl:first-of-type > :last-child[data-stat=earned]")
    assert earned.split()[:4] == ["Earned", "not", "certain", "yet:"]
    assert "7.10 times as much" in stage.text("[data-stat='all arms equally often']")


def test_labels_have_a_panel_once_there_are_some_and_the_period_is_shown_as_it_is_now(
    stage: Stage,
) -> None:
    terms = {"every": "day", "time_zone": "Europe/Berlin", "carry": "all", "horizon": 99}
    terms["until"] = "2099-12-31"
    page, campaign = stage.page, stage.campaign(**terms)
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
    assert stage.text("#period").startswith("Period 1 (every day, Europe/Berlin, until ")
    assert "0.02 of 5 USD spent." in stage.text("#period")
    assert "round 12 of 99 in this period" in stage.text("#facts")
    assert "until 1 Jan 2100, 00:00" in stage.text("#facts")
    stage.now += 3 * DAY
    stage.page.locator("#period", has_text="Period 4").wait_for()
    assert "0 of 5 USD spent and 14.79 carried over." in stage.text("#period")
    assert stage.stats("left", "spent", "held", "presumed") == ["19.79", "0.00", "0.19", "0.00"]
    assert stage.text("[data-stat=left] dd").endswith("of 19.79 USD in this period")
    assert "round 0 of 99 in this period" in stage.text("#facts")


def test_the_first_page_shows_what_is_left_of_each_period(view: View) -> None:
    storage = in_memory()
    daily: dict[str, Any] = {"every": "day", "storage": storage}
    storage.now = lambda: BEGUN - 24 * DAY
    Account.create("company", budget=5, resources=["USD"], **daily)
    Account.create("team", budget=4, account="company", **daily)
    campaign = make(storage, "renewed", account="team", every="day")
    with view(storage) as (page, at):
        for now in (BEGUN - 24 * DAY, BEGUN):
            storage.now = partial(int, now)
            campaign.tell(campaign.ask(arms=["large"]), 1, "0.05")
        page.goto(at.url)
        page.wait_for_selector("#list tbody tr:has-text('renewed')")
        company, team = rows(page, "#tree")
        words = "company running 4.95 left of 5.00 USD in this period 0.10 0.00 0.00"
        assert company.startswith(words)
        assert team.startswith("team running 1 campaign 3.95 left of 4.00 USD in this period 0.10")
        assert "4.95 left of 5.00 USD in this period" in rows(page, "#list")[0]
        assert "Spent in all, USD" in page.locator("#tree thead").inner_text()
        bar = page.locator("#tree .gauge rect.spent").first
        assert 9 < float(bar.get_attribute("width")) < 11  # of 1000
        fits(page, 390, 1280)


def test_a_campaign_that_looks_for_the_best_arm_is_not_blamed_for_its_gain(stage: Stage) -> None:
    page, campaign = stage.page, stage.campaign(policy="best-arm:by=ratio", budget="50")
    with suppress(AskRefused):  # it has found it
        for _ in range(400):
            ticket = campaign.ask()
            campaign.tell(ticket, int(ticket.arm == "small"), "0.01")
    stage.shown(campaign)
    assert re.match(r"small is best by reward per USD, 9\d", stage.text("#answer"))
    assert page.locator("[data-stat=gain]").count() == 1
    for name in ("earned", "always", "all arms equally often"):
        assert page.locator(f"[data-stat='{name}']").count() == 0
    assert "Always" not in stage.text("#value")
    assert "(estimate)" not in stage.text("#value")
    fits(page, 390, 1280)


def test_actions_are_unlocked_confirmed_and_done_once(stage: Stage, tmp_path: Path) -> None:
    page, campaign = stage.page, stage.campaign(expires_after=10)
    page.set_viewport_size({"width": 390, "height": 900})
    campaign.ask_many(3)
    stage.shown(campaign)
    assert stage.text("#mode").startswith("Reads only")
    assert not page.locator("#actions").is_visible()
    assert page.get_by_role("button", name="Void").count() == 0
    page.locator("#unlock").click()
    assert stage.text("#mode") == "Actions are unlocked in this tab."
    page.get_by_role("button", name="Pause").click()
    page.locator("#dialog-no").click()
    assert campaign.status().status == "running"
    stage.act("Pause", "Paused.")
    page.wait_for_selector("#status:text-is('paused')")
    why = f"paused by an operator. To go on: purse campaign resume {campaign.name}"
    assert stage.text("#why") == why
    stage.act("Resume", "Running again.")
    page.wait_for_selector("#status:text-is('running')")
    stage.act("Top up", "The budget is topped up.", Amount_in_USD="2.5")
    assert campaign.status().purses[0].budget == "7.5"
    stage.act("Void ticket 1", "Ticket 1 is void.")
    stage.act("Tell ticket 2", "Ticket 2 is told.", Reward="0.5", Cost_in_USD="0.2")
    page.wait_for_selector("#tickets tbody tr:only-child")
    campaign.settle(3, "0.001")
    page.wait_for_selector("#tickets:has-text('No ticket is open.')")
    page.locator("#counts [data-state=settled]").click()
    stage.act("Reward ticket 3", "Ticket 3 is told.", Reward="1")
    campaign.ask()
    stage.now += 11_000
    stage.shown(campaign)
    stage.act("Expire overdue tickets", "The overdue tickets have expired.")
    page.wait_for_selector("#counts [data-state=presumed]")
    counts = campaign.status().counts
    assert [counts[state] for state in ("void", "told", "presumed")] == [1, 2, 1]
    page.locator("#foresee").click()
    page.wait_for_selector("#foreseen:has-text('Next round, seen at')")
    assert page.locator("#arms tbody td:nth-child(6)").all_inner_texts() == ["50.0%", "50.0%"]
    page.get_by_role("button", name="End").click()
    assert page.locator("#dialog-yes").is_disabled(), "the name is wanted"
    fill(page, {f"Type {campaign.name} to confirm": campaign.name})
    page.keyboard.press("Enter")
    page.wait_for_selector("#status:text-is('ended')")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download the journal").click()
    saved.value.save_as(tmp_path / "journal.jsonl")
    copy = Campaign.restore(tmp_path / "journal.jsonl", storage=in_memory())
    assert copy.status().digest == campaign.status().digest
    page.locator("#lock").click()
    assert not page.locator("#actions").is_visible()


def test_a_token_is_asked_for_a_reader_only_reads_and_a_lost_connection_is_found_again(
    view: View, tmp_path: Path
) -> None:
    storage = in_memory()
    campaign = make(storage, "prompts")
    path, tokens = token_file(tmp_path)
    with view(storage, "prompts", fails=True, tokens=path) as (page, at):
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
        page.context.set_offline(True)
        at.views.close()
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
