"""The one state of a campaign and of an account: each way from one to another, and why."""

import json
from pathlib import Path
from typing import Any

import pytest

from purse import Account, Campaign
from purse.campaign.ledger.ask_inputs import Mask
from purse.campaign.ledger.state import state_of
from purse.campaign.rules import asks
from purse.errors import AskRefused, BudgetExhausted, CampaignEnded, CampaignPaused, HorizonReached
from purse.service.live_view import _LiveView
from purse.types import SKIP, STOP
from tests.support.campaigns import made, refusal
from tests.support.cli import main
from tests.support.game import Game
from tests.support.service import service
from tests.support.storages import MemoryHarness, SqliteHarness, StorageHarness

ONE: dict[str, Any] = {"arms": {"red": 1}, "resources": ["USD"]}
QUESTION: dict[str, Any] = {
    "arms": {"good": "0.1", "bad": "0.1"},
    "budget": 50,
    "policy": "best-arm",
}
HOUR = 3_600_000  # ms


@pytest.fixture(params=[MemoryHarness, SqliteHarness])
def harness(request: pytest.FixtureRequest, tmp_path: Path) -> StorageHarness:
    if request.param is MemoryHarness:
        return MemoryHarness()
    return SqliteHarness(tmp_path / "purse.db")


def state(of: Campaign | Account) -> tuple[str, str]:
    """The state and why, which the first line has, too."""
    status = of.status()
    shown = status.status + (f" ({status.why})" if status.why else "")
    assert f": {shown}" in str(status).partition("\n")[0]
    return status.status, status.why


def test_money_runs_out_and_comes_again(harness: StorageHarness) -> None:
    campaign = made(harness, **ONE, budget="2.5", every="6h")
    first = campaign.ask()
    assert state(campaign) == ("running", "")
    second = campaign.ask()
    assert state(campaign) == ("running", "")  # what is held may come back
    campaign.tell(first, 1, "0.75")
    campaign.tell(second, 1, "0.75")
    campaign.tell(campaign.ask(), 1, "0.75")
    why = "0.25 USD left, and the cheapest arm may cost 1"
    assert state(campaign) == ("exhausted", why)
    assert "may cost 1 USD and 0.25 is left" in refusal(BudgetExhausted, campaign.ask)
    campaign.pause()
    assert state(campaign) == ("paused", "paused by an operator")
    campaign.resume()
    campaign.top_up(1)
    assert state(campaign) == ("running", "")
    campaign.tell(campaign.ask(), 1, 1)
    assert state(campaign)[0] == "exhausted"
    harness.clock += 6 * HOUR
    assert state(campaign) == ("running", "")
    campaign.end()
    assert state(campaign) == ("ended", "ended by an operator")
    assert campaign.audit(full=True).ok


def test_rounds_end_for_good_or_until_the_next_period() -> None:
    harness = MemoryHarness()
    once = made(harness, **ONE, horizon=2)
    again = harness.create("again", **{"budget": 10, **ONE}, horizon=2, every="6h")
    for campaign, end in (
        (once, ("ended", "all 2 rounds are played")),
        (again, ("exhausted", "all 2 rounds of this period are played")),
    ):
        campaign.ask()
        assert state(campaign) == ("running", "")
        assert "1 more requests" in str(campaign.status())
        campaign.ask()
        assert state(campaign) == end
        assert refusal(HorizonReached, campaign.ask) == end[1]
    harness.clock += 6 * HOUR
    assert (state(once)[0], state(again)[0]) == ("ended", "running")
    # rounds first: no money would bring another one
    poor = harness.create("poor", **{**ONE, "budget": 2}, horizon=2)
    poor.ask_many(2)
    poor.tell_many([(1, 1, 1), (2, 1, 1)])
    assert state(poor)[0] == "ended"
    refusal(HorizonReached, poor.ask)


@pytest.mark.parametrize(
    ("until", "why"),
    [
        ("2027-01-16", "its last day was 2027-01-16"),
        ("2027-01-16T18:00", "it was to last until 2027-01-16 18:00:00 Europe/Berlin"),
    ],
)
def test_a_date_ends_it(until: str, why: str) -> None:
    harness = MemoryHarness()
    campaign = made(harness, **ONE, until=until, time_zone="Europe/Berlin")
    assert state(campaign) == ("running", "")
    harness.clock += 200 * HOUR
    assert state(campaign) == ("ended", why)
    assert refusal(CampaignEnded, campaign.ask) == f"campaign 'test' has ended: {why}"


def test_an_account_passes_its_state_on_and_is_exhausted_with_all_below(
    harness: StorageHarness,
) -> None:
    storage = harness.storage()
    firm = Account.create("firm", budget=3, resources=["USD"], storage=storage)
    team = Account.create("team", budget="2.5", account="firm", storage=storage)
    campaign = made(harness, **ONE, account="team")
    assert {state(each) for each in (firm, team, campaign)} == {("running", "")}
    firm.pause()
    assert state(campaign) == state(team) == ("paused", "account 'firm' is paused")
    assert refusal(CampaignPaused, campaign.ask) == "account 'firm' is paused; resume it first"
    firm.resume()
    for _ in range(2):
        campaign.tell(campaign.ask(), 1, "0.9")
    assert state(team) == ("exhausted", "0.7 USD left, and the cheapest arm below it may cost 1")
    why = "account 'team' has 0.7 USD left, and the cheapest arm may cost 1"
    assert state(campaign) == ("exhausted", why)
    below = firm.status().children[0]
    assert (below.status, below.children[0].why) == ("exhausted", why)
    assert state(firm) == ("running", "")  # it has 1.2 for others
    campaign.end()
    assert state(team) == ("running", "")  # for others, too
    team.end()
    assert team.status().children[0].why == "ended by an operator"


def play(campaign: Campaign) -> str:
    """Ask until the policy ends the game; return how it said so."""
    try:
        while True:
            ticket = campaign.ask()
            campaign.tell(ticket, float(ticket.arm == "good"), ticket.held)
    except AskRefused as refused:
        return str(refused)


def test_a_policy_that_has_ended_the_game_has_done_so_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    storage = f"sqlite:///{tmp_path / 'purse.db'}"
    campaign = Campaign.create("quality", **QUESTION, storage=storage)
    said = play(campaign)
    rounds, entries = campaign.status().rounds, campaign.status().entries
    end = ("ended", f"best-arm has ended the game after {rounds} rounds")
    assert (state(campaign), said) == (end, end[1])

    def command(*words: str) -> tuple[int, str]:
        code = main(monkeypatch, "campaign", *words, "--storage", storage)
        shown = capsys.readouterr()
        return code, shown.err if code else shown.out

    assert command("ask", "quality") == (3, f"purse: {end[1]}\n")
    code, text = command("status", "quality")
    assert text.startswith(f"quality: ended ({end[1]}), best-arm, round {rounds}\n"), code
    assert command("list")[1].split("\t")[:2] == ["quality", "ended"]
    client = service(storage=campaign.storage)
    metrics = client.get("/metrics?show=campaigns").text
    assert 'purse_state{campaign="quality",state="ended"} 1.0' in metrics
    assert 'purse_state{campaign="quality",state="running"} 0.0' in metrics
    facts = client.get("/campaigns/quality").json()
    assert (facts["status"], facts["why"]) == end
    picture = client.get("/campaigns/quality/picture").json()
    assert picture["status"]["why"] == end[1]
    assert picture["history"]["answer"].startswith("good is best by reward, 9")
    assert picture["history"]["certificate"] is None  # it does not try to gain
    assert [purse["projection"] for purse in picture["history"]["purses"]] == [None]
    assert campaign.status().entries == entries  # nothing was written about it
    assert campaign.audit(full=True).ok


def test_it_stays_ended_until_an_ask_is_answered_or_the_arms_change() -> None:
    """Neither a late report that gives money back nor a new period begins the game again."""
    harness = MemoryHarness()
    campaign = harness.create("quality", **QUESTION, every="6h")
    late = campaign.ask(arms=["good"])
    play(campaign)
    assert state(campaign)[0] == "ended"
    campaign.tell(late, 1, "0.05")
    harness.clock += 6 * HOUR
    campaign.top_up(1)
    assert state(campaign)[0] == "ended"
    refusal(AskRefused, campaign.ask)
    assert state(campaign)[0] == "ended"
    campaign.set_arm("bad", cost_max="0.05")
    assert state(campaign) == ("running", "")
    assert campaign.audit(full=True).ok


@pytest.mark.parametrize(
    ("choice", "mask", "then", "later"),
    [
        (STOP, None, "ended", "ended"),
        (STOP, Mask((0, 1)), "ended", "ended"),
        (STOP, Mask((1,)), "ended", "running"),  # perhaps for want of the other arm
        (SKIP, None, "ended", "running"),  # it may play with more money
        (SKIP, Mask((0,)), "running", "running"),  # another ask may be answered
    ],
)
def test_what_ends_the_game_for_good(choice: int, mask: Mask | None, then: str, later: str) -> None:
    """Only the policy's own word that it is over, among all arms."""
    game = Game(script=(choice,))
    message = refusal(AskRefused, game.do, asks.ask, 1, "first", mask)
    assert message == "uniform has ended the game after 0 rounds"
    assert state_of(game.campaign, game.now) == (then, message if then == "ended" else "")
    game.top_up(game.campaign, 1, "more")
    assert state_of(game.campaign, game.now)[0] == later
    game.policy.arms = (0,)
    game.do(asks.ask, 1, "second")
    assert state_of(game.campaign, game.now) == ("running", "")


def test_the_answer_of_a_page() -> None:
    harness = MemoryHarness()
    campaign = made(harness, **ONE, budget=100, time_zone="Europe/Berlin", every="day")
    view = _LiveView(campaign)

    def said() -> dict[str, Any]:
        view._latest.clear()
        history: dict[str, Any] = json.loads(view.version().body)["history"]
        return history

    assert (said()["answer"], said()["worth"]) == ("", None)
    for _ in range(10):
        harness.clock += 60_000
        campaign.tell(campaign.ask(), 0.5, 1)
    assert said()["answer"].startswith("at this speed USD lasts until 2027-01-15 ")
    assert said()["answer"].endswith(" Europe/Berlin")
    assert said()["worth"] == 0.5
    campaign.fail(campaign.ask(), 0)
    assert said()["worth"] == pytest.approx(5 / 11)
    assert said()["certificate"]["share"] > 0
    harness.clock += 2 * HOUR
    campaign.tell(campaign.ask(), 1, 1)
    assert said()["answer"] == "at this speed USD lasts longer than this period"
