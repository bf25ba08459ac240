from __future__ import annotations

from pathlib import Path

import pytest

from purse import Campaign
from purse.campaign.storage.connect import in_memory
from tests.support.dashboard import FITS, FOCUSED, View, make, shown, yes
from tests.support.server import served
from tests.support.service import token_file

pytestmark = pytest.mark.usefixtures("fast_views")


def test_actions_are_unlocked_confirmed_and_done_once(view: View, tmp_path: Path) -> None:
    storage = in_memory()
    campaign = make(storage, "prompts")
    first, second, third = campaign.ask_many(3)
    with served(storage=storage) as at, view(at, "prompts", width=390) as (page, complaints):
        shown(page, campaign)
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
        assert "purse campaign resume prompts" in page.locator("#how").inner_text()
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
        page.get_by_label("Type prompts to confirm").fill("prompts")
        yes(page)
        page.wait_for_selector("#standing:text-is('ended')")
        with page.expect_download() as saved:
            page.get_by_role("button", name="Download the journal").click()
        saved.value.save_as(tmp_path / "journal.jsonl")
        copy = Campaign.restore(tmp_path / "journal.jsonl", storage=in_memory())
        assert copy.status().digest == campaign.status().digest
        page.locator("#lock").click()
        assert not page.locator("#actions").is_visible()
        assert complaints() == []


def test_overdue_tickets_expire_and_the_policy_is_asked_for_its_probabilities(view: View) -> None:
    storage, now = in_memory(), 1_790_000_000_000
    storage.now = lambda: now
    campaign = make(storage, "prompts", expires_after=10)
    campaign.ask()
    now += 11_000
    with served(storage=storage) as at, view(at, "prompts") as (page, complaints):
        shown(page, campaign)
        page.locator("#unlock").click()
        page.get_by_role("button", name="Expire overdue tickets").click()
        yes(page)
        page.wait_for_selector("#counts [data-state=presumed]")
        assert campaign.status().counts["presumed"] == 1
        page.locator("#foresee").click()
        page.wait_for_selector("#foreseen:has-text('Next round, seen at')")
        assert page.locator("#arms tbody td:nth-child(6)").all_inner_texts() == ["50.0%", "50.0%"]
        assert complaints() == []


def test_a_token_is_asked_for_and_a_reader_only_reads(view: View, tmp_path: Path) -> None:
    storage = in_memory()
    campaign = make(storage, "prompts")
    path, tokens = token_file(tmp_path)
    with served(storage=storage, tokens=path) as at, view(at, "prompts") as (page, _):
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
        assert not page.locator("#foresee").is_visible()
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


def test_a_button_that_is_held_down_keeps_its_click(view: View) -> None:
    storage = in_memory()
    campaign = make(storage, "prompts")
    campaign.ask()
    with served(storage=storage) as at, view(at, "prompts") as (page, complaints):
        shown(page, campaign)
        page.locator("#counts [data-state=held]").hover()
        page.mouse.down()
        campaign.ask()
        shown(page, campaign)
        assert page.locator("#counts [data-state=held]").inner_text() == "held 1"
        page.mouse.up()
        page.wait_for_selector("#counts [data-state=held][aria-pressed=true]:text-is('held 2')")
        assert complaints() == []
