"""Budgets that are renewed: what each period has, and what comes back from ended ones."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from purse import Account, Campaign
from purse.base import amounts
from purse.campaign.api.results import in_period
from purse.campaign.ledger.period import Period
from purse.campaign.rules import asks, reports, transaction
from purse.campaign.rules.transaction import Transaction
from purse.campaign.run import replay_journal
from purse.campaign.storage.connect import in_memory
from purse.campaign.terms.budget_terms import AccountTerms
from purse.campaign.terms.calendar import Calendar
from purse.campaign.terms.terms import Terms
from purse.campaign.views.history import History
from purse.errors import BudgetExhausted, HorizonReached, InvalidInput
from tests.support import storages
from tests.support.campaigns import balance, campaign, exported, made, refusal
from tests.support.game import USD, Game
from tests.support.storages import START, MemoryHarness, StorageHarness

HOUR = 3_600_000  # ms
MIDNIGHT = START + 16 * HOUR
DAY = 24 * HOUR


def begun(harness: MemoryHarness, **changes: Any) -> Campaign:
    """A campaign of 10 every 6 hours, each call of which holds 1."""
    return made(harness, **{"every": "6h", "expires_after": None, **changes})


def period(campaign: Campaign) -> Any:
    found = campaign.status().period
    assert found is not None
    return found


def is_whole(campaign: Campaign) -> bool:
    found = campaign.audit(full=True)
    assert found.findings == ()
    assert found.notes == ()
    return found.ok


def test_a_refusal_says_when_the_next_period_begins() -> None:
    game = Game(every="day", script=(0,), arms={"red": 8})
    game.do(reports.tell, game.do(asks.ask, 1, "first")[0].id, 1.0, [8 * USD])
    with pytest.raises(BudgetExhausted, match="the next period begins 2027-01-16 00:00:00 UTC"):
        game.do(asks.ask, 1, "second")


def test_a_refusal_by_an_account_says_when_its_own_next_period_begins() -> None:
    harness = MemoryHarness()
    harness.account("team", budget=1, every="day", time_zone="Europe/Berlin")
    test = begun(harness, account="team")
    test.tell(test.ask(), 1, 1)
    said = refusal(BudgetExhausted, test.ask)
    assert "account 'team' has 0 left; the next period begins 2027-01-16 00:00:00 Eur" in said


def test_the_budget_stays_within_what_can_be_counted() -> None:
    most = amounts.LARGEST // amounts.UNIT
    harness = MemoryHarness()
    campaign = begun(harness, budget=most - 1, carry="all")
    harness.clock += 12 * HOUR
    campaign.ask()
    assert amounts.to_units("budget", campaign.status().purses[0].budget) == amounts.LARGEST
    assert is_whole(campaign)


def test_the_horizon_is_that_of_a_period_and_rounds_keep_their_numbers() -> None:
    harness = MemoryHarness()
    campaign = begun(harness, horizon=3)
    for number in (1, 2, 3):
        rounds = [campaign.ask().t for _ in range(3)]
        assert rounds == [3 * number - 2, 3 * number - 1, 3 * number]
        assert refusal(HorizonReached, campaign.ask) == "all 3 rounds of this period are played"
        assert period(campaign).rounds == 3
        harness.clock += 6 * HOUR
    assert "round 9, 0 of 3 in this period" in str(campaign.status())
    assert is_whole(campaign)


@pytest.mark.parametrize("carry", ["none", "all"])
def test_balances_of_a_period_add_up_to_its_own_budget(carry: str) -> None:
    harness = MemoryHarness()
    team: Any = harness.account("team", budget=20, every="6h", carry=carry)
    below: Any = harness.account("below", budget=15, every="6h", account="team")
    test = begun(harness, account="below", carry=carry, expires_after=7 * 3600)
    for _ in range(3):
        tickets = test.ask_many(4)
        test.tell(tickets[0], 1, "0.5")
        harness.clock += 6 * HOUR
        team.top_up("0.25")
        test.ask()
        statuses = team.status(), team.status().children[0], below.status(), test.status()
        for status in statuses:
            (now,) = in_period(status.purses, status.period)
            parts = (now.spent, now.held, now.presumed, now.left)
            assert sum(map(Decimal, parts)) == Decimal(now.budget)
            assert now.left == status.purses[0].left
            assert (now.held, now.presumed) == ("1", "0")
    assert (now.budget == "10") is (carry == "none")
    assert f"left {now.left} of {now.budget} units" in repr(test.status())
    (child,) = in_period(team.status().children[0].purses, team.status().children[0].period)
    assert f"account below: {child.left} of {child.budget} units left" in str(team.status())


def test_random_draws_never_come_again() -> None:
    """Those of a campaign with periods are those of one without."""
    once, harness = made(budget=100), MemoryHarness()
    campaign, arms = begun(harness), []
    for _ in range(4):
        arms += [ticket.arm for ticket in campaign.ask_many(10)]
        harness.clock += 6 * HOUR
    assert arms == [ticket.arm for ticket in once.ask_many(40)]


def test_what_is_stored_of_periods() -> None:
    campaign = begun(MemoryHarness(), carry="all", time_zone="Asia/Tokyo")
    assert Terms.from_dict(campaign.terms.as_dict()).checked() == campaign.terms
    assert Period(*campaign.storage.overview("test").head.period).number == 1
    plain = made()  # is written as it was before there were periods
    assert not {"every", "time_zone", "carry", "first_end", "tz"} & set(plain.terms.as_dict())
    assert "period" not in plain.storage.overview("test").head.to_json()


@pytest.mark.parametrize("carry", ["none", "all"])
def test_the_history_follows_a_budget_that_goes_up_and_down(carry: str) -> None:
    harness = MemoryHarness()
    campaign = begun(harness, carry=carry, cooldown=None)
    for number in range(4):
        tickets = campaign.ask_many(3)
        harness.clock += 6 * HOUR
        campaign.tell(tickets[0], 1, "0.5")
        campaign.void(tickets[1])
        campaign.fail(tickets[2], "0.25")
        history = History(campaign.terms)
        history.fold(campaign.journal())
        shown, purses = campaign.status().purses[0], history.as_dict()["purses"][0]
        for field in ("budget", "spent", "held", "presumed", "left"):
            assert purses[field][-1] == getattr(shown, field), (number, field)


def renewals(campaign: Any) -> list[Any]:
    return [entry for entry in campaign.journal() if entry.kind == "renewed"]


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_of_many_threads_one_makes_it(
    make_harness: Callable[[str], StorageHarness], kind: str
) -> None:
    harness = make_harness(kind)
    begun(harness, budget=100)
    harness.clock = START + 20 * HOUR
    barrier = threading.Barrier(4)
    opened = [Campaign.open("test", storage=harness.storage()) for _ in range(4)]

    def ask(campaign: Campaign) -> None:
        barrier.wait()
        campaign.ask()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(ask, opened))
    assert [entry.body["number"] for entry in renewals(opened[0])] == [2, 3, 4]
    assert opened[0].audit(full=True).ok


def test_a_copy_goes_on_from_the_same_period() -> None:
    harness = MemoryHarness()
    campaign = begun(harness, carry="all")
    ticket = campaign.ask()
    harness.clock += 7 * HOUR
    campaign.ask()
    storage = in_memory()
    storage.now = lambda: harness.clock
    copy = Campaign.restore(exported(campaign), storage=storage, name="copy")
    assert copy.status().period == period(campaign)
    assert copy.audit(full=True).digest == campaign.audit(full=True).digest
    harness.clock += 6 * HOUR
    for each in (copy, campaign):
        each.tell(ticket.id, 1, "0.25")
        assert each.audit().ok
    assert copy.status().purses == campaign.status().purses


@pytest.mark.parametrize(
    ("rule", "forged", "words"),
    [
        ("renew", lambda _: None, "was over"),
        ("end_after", lambda *_: {"next": START + 13 * HOUR}, "would be"),
    ],
)
def test_an_audit_finds_a_boundary_that_nobody_made_or_that_is_wrong(
    rule: str, forged: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = MemoryHarness()
    campaign = begun(harness)
    harness.clock += 7 * HOUR
    with monkeypatch.context() as patched:
        patched.setattr(Transaction, rule, forged)
        campaign.ask()
    assert any(words in finding for finding in campaign.audit(full=True).findings)


def test_other_time_zone_data_is_noted_and_only_the_order_is_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = MemoryHarness()
    campaign = begun(harness, every="day", time_zone="Europe/Berlin")
    campaign.pause()
    harness.clock += 3 * DAY
    campaign.resume()
    harness.clock += DAY
    campaign.ask()
    # a country has done away with summer time, say
    honest = Calendar.next_end
    monkeypatch.setattr(Calendar, "next_end", lambda *given: honest(*given) + HOUR)
    assert not campaign.audit(full=True).ok
    for module in (transaction, replay_journal):
        monkeypatch.setattr(module, "data_version", lambda _: "2099z")
    found = campaign.audit(full=True)
    assert (found.ok, len(found.notes)) == (True, 1)
    assert "2099z" in found.notes[0]


# plays the first arm but in the last round of a horizon
POLICY = """
from purse.kernels import kernel
from purse.policies.uniform import *

@kernel
def choose(params, state, scratch, now, play):
    play.arms[0] = 0 if now.rounds_left > 1 else 1
    play.probs[0] = 1.0

@kernel
def probabilities(params, state, scratch, now, out):
    out[:] = 0.0
    out[0 if now.rounds_left > 1 else 1] = 1.0
"""


def test_the_policy_sees_the_rounds_left_in_the_period(tmp_path: Path) -> None:
    path = tmp_path / "counting.py"
    path.write_text(POLICY)
    harness = MemoryHarness()
    campaign = begun(harness, horizon=3, policy=str(path))
    for _ in range(3):
        seen = []
        for _ in range(3):
            foreseen = campaign.probabilities()
            seen.append(campaign.ask().arm)
            assert foreseen[seen[-1] or ""] == 1.0
        assert seen == ["red", "red", "green"]
        harness.clock += 6 * HOUR
    campaign = harness.open("test")  # another process
    assert campaign.ask().arm == "red"
    assert is_whole(campaign)


def below_account(harness: StorageHarness, **changes: Any) -> tuple[Account, Campaign]:
    """An account of 10 every 6 hours, and a campaign below it that has 100."""
    storage = harness.storage()
    terms = {"budget": 10, "every": "6h", **changes}
    account = Account.create("team", **terms, storage=storage)
    return account, campaign(storage, "c", expires_after=None)


@pytest.mark.parametrize("same", [True, False])
def test_holds_of_a_restored_campaign_count_as_asked_for_when_it_joined(same: bool) -> None:
    harness = MemoryHarness()
    account, below = below_account(harness)
    ticket = below.ask()
    harness.clock += 13 * HOUR
    file = exported(below)
    storage = account.storage
    name = "team"
    if not same:
        account = Account.create("other", budget=10, every="6h", storage=storage)
        name = "other"
    copy = Campaign.restore(file, storage=storage, name="copy", account=name)
    before = period(account).number
    assert before == (3 if same else 1)
    left = float(balance(account)[3])
    copy.void(ticket.id)  # in the period in which it joined: it comes back
    assert float(balance(account)[3]) == left + 1
    assert copy.audit(full=True).ok
    assert account.audit().findings == ()


def test_and_are_dropped_once_that_period_has_ended() -> None:
    harness = MemoryHarness()
    _, below = below_account(harness)
    ticket = below.ask()
    account = Account.create("other", budget=10, every="6h", storage=below.storage)
    copy = Campaign.restore(exported(below), storage=below.storage, name="copy", account="other")
    harness.clock += 6 * HOUR
    copy.void(ticket.id)
    assert balance(account) == ("0", "0", "0", "10", "0")
    assert account.audit().findings == ()


def test_terms_of_accounts_are_checked_and_come_back() -> None:
    storage = MemoryHarness().storage()
    for field, changes in (("every", {"every": "year"}), ("carry", {"carry": "all"})):
        text = refusal(InvalidInput, Account.create, "x", budget=1, storage=storage, **changes)
        assert text.startswith(f"{field}=")
    made: Any = Account.create(
        "x", budget=1, every="month", time_zone="Asia/Tokyo", carry="all", storage=storage
    )
    assert AccountTerms.from_dict(made.terms.as_dict()) == made.terms
    plain: Any = Account.create("y", budget=1, storage=storage)
    assert set(plain.terms.as_dict()) == {
        "name", "resources", "budget", "id", "alerts", "rules",
    }  # fmt: skip
    head = json.loads(storage.level("y")[-1].text)
    assert set(head) == {"id", "status", "created", "changed", "digest", "turn", "alerts", "rules"}


def test_a_clock_that_is_wrong_by_decades_is_one_entry_with_the_same_money() -> None:
    for carry, every in product(["none", "all"], ["1h", "day", "month"]):
        seen: list[Any] = []
        for most, n_periods in ((10_000, 60), (4, 60), (10_000, 20_000)):
            harness, terms = storages.MemoryHarness(), {"every": every, "carry": carry}
            campaign = begun(harness, **terms, time_zone="Europe/Berlin", horizon=5)
            campaign.tell(campaign.ask(), 1, "0.5")
            campaign.ask()
            harness.clock += n_periods * {"1h": HOUR, "day": DAY, "month": 31 * DAY}[every]
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(transaction, "_MOST_PERIODS", most)
                campaign.ask()
                assert campaign.audit(full=True).findings == ()
            now, purses = period(campaign), campaign.status().purses
            assert now.begun_at * 1000 <= harness.clock < now.ends_at * 1000
            renewed = [entry for entry in campaign.journal() if entry.kind == "renewed"]
            assert (len(renewed) == 1) is (most == 4 or n_periods == 20_000)
            if n_periods == 60 and every != "month":  # whose number is only about right
                facts = now.number, now.ends_at, now.rounds
                seen.append((facts, purses, in_period(purses, now)))
        assert not seen or seen[0] == seen[1]
