"""Budgets that are renewed: what each period has, and what comes back from ended ones."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from purse import Account, Campaign
from purse.base import amounts
from purse.campaign import asks, replay_journal, reports, transaction
from purse.campaign.budget_terms import AccountTerms
from purse.campaign.history import History
from purse.campaign.ledger import Level
from purse.campaign.period import Calendar, Period
from purse.campaign.records import Balance
from purse.campaign.storage.connect import in_memory
from purse.campaign.terms import Terms
from purse.campaign.transaction import Transaction
from purse.errors import BudgetExhausted, BudgetHeld, CampaignPaused, HorizonReached, InvalidInput
from tests.support.accounts import balance, campaign
from tests.support.campaigns import made, purse, refusal
from tests.support.game import USD, Game, account_terms
from tests.support.storages import START, MemoryHarness, StorageHarness

HOUR = 3_600_000  # ms


MIDNIGHT = START + 16 * HOUR


DAY = 24 * HOUR


UNIT = 10**9


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


def numbers_of(game: Game, level: Level | None = None) -> list[int]:
    """Return the numbers of the periods that began, in the order of the journal."""
    wanted = level or game.campaign
    return [entry.body["number"] for at, entry in game.entries
            if at is wanted and entry.kind == "renewed"]  # fmt: skip


def test_what_a_period_has_and_what_earlier_ones_have_taken() -> None:
    first = Period(1, START, MIDNIGHT, 0, [0], [0], [0])
    balances = [Balance(10, spent=3, held=2, presumed=1)]
    for carry, budget, carried in (("all", 20, 4), ("none", 16, 0)):
        period, after = first.next(balances, [10], carry, MIDNIGHT + 24 * HOUR, 5)
        assert after == [Balance(budget, 3, 2, 1)]
        assert period == Period(2, MIDNIGHT, MIDNIGHT + 24 * HOUR, 5, [carried], [6], [2])
        assert (period.budget(after), period.spent(after)) == ([10 + carried], [0])
    # a ticket of the first period for which 2 were held costs 1
    paid, back = [Balance(held=-2, spent=1)], {"all": (5, 0), "none": (0, 1)}
    for carry, (carried, dropped) in back.items():
        period, after = first.next(balances, [10], carry, MIDNIGHT + 24 * HOUR, 5)
        assert period.after_hold(paid, carry) == (
            Period(2, MIDNIGHT, MIDNIGHT + 24 * HOUR, 5, [carried], [5], [0])
            if carry == "none"
            else period._replace(carried=[carried], before=[5], held=[0]),
            [dropped],
        )


def test_missed_periods_begin_in_order_from_the_top_down() -> None:
    game = Game(account_terms("team", 20, every="1h", carry="all"), every="1h", carry="all")
    game.now += 3 * HOUR
    game.do(reports.expire, [])
    assert (numbers_of(game), numbers_of(game, game.accounts[0])) == ([2, 3, 4], [2, 3, 4])
    order = [level.kind for level, entry in game.entries if entry.kind == "renewed"]
    assert order == ["account"] * 3 + ["campaign"] * 3
    requests = [entry.request for _, entry in game.entries if entry.kind == "renewed"]
    assert requests[:3] == ["\nperiod 2", "\nperiod 3", "\nperiod 4"]


def test_a_refusal_says_when_the_next_period_begins() -> None:
    game = Game(every="day", script=(0,), arms={"red": 8})
    game.do(reports.tell, game.do(asks.ask, 1, "first")[0].id, 1.0, [8 * USD])
    with pytest.raises(BudgetExhausted, match="the next period begins 2027-01-16 00:00:00 UTC"):
        game.do(asks.ask, 1, "second")


@pytest.mark.parametrize(
    ("carry", "left", "carried"), [("none", "10", "0"), ("all", "19.5", "9.5")]
)
def test_what_is_left_is_dropped_or_kept(carry: str, left: str, carried: str) -> None:
    harness = MemoryHarness()
    campaign = begun(harness, carry=carry)
    campaign.tell(campaign.ask(), 1, "0.5")
    harness.clock += 6 * HOUR
    assert purse(campaign) == ("0.5", "0", "0", left, "0")
    assert campaign.status().entries == 3  # nobody has made it yet
    campaign.ask()
    now = period(campaign)
    assert (now.number, now.allowance, now.carried, now.spent) == (2, ("10",), (carried,), ("0",))
    assert campaign.status().entries == 5
    assert is_whole(campaign)


@pytest.mark.parametrize(
    ("carry", "left", "carried"), [("none", "10", "0"), ("all", "19.5", "9.5")]
)
@pytest.mark.parametrize(
    ("verb", "given"),
    [("tell", (1, "0.5")), ("settle", ("0.5",)), ("fail", ("0.5",)), ("void", ())],
)
def test_a_refund_of_an_ended_period_is_carried_over_like_what_was_left(
    carry: str, left: str, carried: str, verb: str, given: tuple[Any, ...]
) -> None:
    """9 was left, 1 was held, and 0.5 of it comes back; of a void one all."""
    harness = MemoryHarness()
    campaign = begun(harness, carry=carry)
    ticket = campaign.ask()
    harness.clock += 6 * HOUR
    receipt = getattr(campaign, verb)(ticket, *given)
    if verb == "void":
        assert purse(campaign) == ("0", "0", "0", "10" if carry == "none" else "20", "0")
    else:
        assert (receipt.spent, receipt.refunded) == (("0.5",), ("0.5",))
        assert purse(campaign) == ("0.5", "0", "0", left, "0")
        assert (period(campaign).carried, period(campaign).spent) == ((carried,), ("0",))
    assert is_whole(campaign)


def test_what_is_presumed_spent_was_spent_in_its_period_and_may_come_back() -> None:
    harness = MemoryHarness()
    campaign = begun(harness, carry="all", expires_after=3600)
    ticket = campaign.ask()
    harness.clock += 7 * HOUR
    campaign.expire()
    assert purse(campaign) == ("0", "0", "1", "19", "0")
    assert period(campaign).spent == ("0",)
    campaign.tell(ticket, 1, "0.5")
    assert purse(campaign) == ("0.5", "0", "0", "19.5", "0")
    assert (period(campaign).spent, period(campaign).carried) == (("0",), ("9.5",))
    harness.clock += 6 * HOUR
    campaign.tell(campaign.ask(), 1, 1)
    assert period(campaign).spent == ("1",)
    assert is_whole(campaign)


def test_no_more_than_the_allowance_is_held_in_a_period() -> None:
    harness = MemoryHarness()
    campaign = begun(harness)
    for number in range(1, 4):
        assert len(campaign.ask_many(20)) == 10
        with pytest.raises(BudgetHeld):
            campaign.ask()
        assert period(campaign).number == number
        harness.clock += 6 * HOUR
    assert purse(campaign)[1] == "30"  # nobody has reported anything
    assert is_whole(campaign)


def test_top_ups_are_money_of_their_period() -> None:
    harness = MemoryHarness()
    campaign = begun(harness, carry="none")
    campaign.top_up(5)
    assert purse(campaign)[3] == "15"
    harness.clock += 6 * HOUR
    assert purse(campaign)[3] == "10"


def test_each_resource_is_carried_over_by_itself() -> None:
    harness = MemoryHarness()
    changes: dict[str, Any] = {"resources": ["USD", "tokens"], "budget": [10, 100]}
    changes["arms"] = {"red": [1, 50], "green": [1, 50]}
    campaign = begun(harness, **changes, cost_min=None, carry="all")
    ticket = campaign.ask()
    harness.clock += 6 * HOUR
    campaign.tell(ticket, 1, [1, 45])
    status = campaign.status()
    assert [each.left for each in status.purses] == ["19", "155"]
    assert period(campaign).carry == "all"
    assert period(campaign).carried == ("9", "55")
    assert is_whole(campaign)


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
        assert "in this period" in refusal(HorizonReached, campaign.ask)
        assert period(campaign).rounds == 3
        harness.clock += 6 * HOUR
    assert "round 9, 0 of 3 in this period" in str(campaign.status())
    assert is_whole(campaign)


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


def test_a_clock_that_goes_back_makes_none_twice() -> None:
    harness = MemoryHarness()
    campaign = begun(harness)
    harness.clock = START + 13 * HOUR
    campaign.ask()
    for clock in (START + 5 * HOUR, START - DAY, START + 12 * HOUR, START + 17 * HOUR):
        harness.clock = clock
        campaign.ask()
        assert period(campaign).number == 3
    harness.clock = START + 18 * HOUR
    assert period(campaign).number == 4
    harness.clock = START  # nobody has made it
    assert period(campaign).number == 3
    harness.clock = START + 18 * HOUR
    campaign.ask()
    assert [entry.body["number"] for entry in renewals(campaign)] == [2, 3, 4]
    assert is_whole(campaign)


def test_a_paused_campaign_makes_none_and_goes_on_at_the_first_after_it_resumes() -> None:
    harness = MemoryHarness()
    campaign = begun(harness)
    ticket = campaign.ask()
    campaign.pause()
    assert period(campaign).ends_at is None
    harness.clock = START + 13 * HOUR
    campaign.tell(ticket, 1, 1)
    refusal(CampaignPaused, campaign.ask)
    assert renewals(campaign) == []
    campaign.resume()
    assert (period(campaign).number, period(campaign).ends_at) == (1, (START + 18 * HOUR) / 1000)
    campaign.ask()
    assert renewals(campaign) == []
    harness.clock = START + 18 * HOUR
    campaign.ask()
    assert [entry.body["number"] for entry in renewals(campaign)] == [2]
    campaign.end()
    harness.clock += DAY
    campaign.expire()
    assert (period(campaign).number, period(campaign).ends_at) == (2, None)
    assert len(renewals(campaign)) == 1
    assert is_whole(campaign)


def test_a_short_pause_changes_nothing() -> None:
    harness = MemoryHarness()
    campaign = begun(harness)
    campaign.pause()
    harness.clock += HOUR
    campaign.resume()
    assert next(e for e in campaign.journal() if e.kind == "resumed").body == {}
    harness.clock = START + 7 * HOUR
    campaign.pause()  # it was over before
    assert [entry.kind for entry in campaign.journal()][-2:] == ["renewed", "paused"]
    assert is_whole(campaign)


def test_months_are_local() -> None:
    harness = MemoryHarness()
    harness.clock = round(datetime(2026, 1, 15, tzinfo=UTC).timestamp() * 1000)
    campaign = begun(harness, every="month", time_zone="Europe/Berlin")
    ends = []
    for _ in range(4):
        ends.append(period(campaign).ends_at)
        harness.clock = round(ends[-1] * 1000)
        campaign.ask()
    shown = [datetime.fromtimestamp(each, UTC).strftime("%m-%d %H:%M") for each in ends]
    assert shown == ["01-31 23:00", "02-28 23:00", "03-31 22:00", "04-30 22:00"]
    assert {entry.body["tz"] for entry in renewals(campaign)} == {campaign.terms.tz}
    assert is_whole(campaign)


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

    threads = [threading.Thread(target=ask, args=(each,)) for each in opened]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [entry.body["number"] for entry in renewals(opened[0])] == [2, 3, 4]
    assert opened[0].audit(full=True).ok


def test_a_copy_goes_on_from_the_same_period() -> None:
    harness = MemoryHarness()
    campaign = begun(harness, carry="all")
    ticket = campaign.ask()
    harness.clock += 7 * HOUR
    campaign.ask()
    file = StringIO()
    campaign.export(file)
    file.seek(0)
    storage = in_memory()
    storage.now = lambda: harness.clock
    copy = Campaign.restore(file, storage=storage, name="copy")
    assert copy.status().period == period(campaign)
    assert copy.audit(full=True).digest == campaign.audit(full=True).digest
    harness.clock += 6 * HOUR
    for each in (copy, campaign):
        each.tell(ticket.id, 1, "0.25")
        assert each.audit().ok
    assert copy.status().purses == campaign.status().purses


def test_an_audit_finds_a_boundary_that_nobody_made(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = MemoryHarness()
    campaign = begun(harness)
    harness.clock += 7 * HOUR
    with monkeypatch.context() as patched:
        patched.setattr(Transaction, "renew", lambda _: None)
        campaign.ask()
    assert any("was over" in each for each in campaign.audit(full=True).findings)


def test_an_audit_decides_on_a_boundary_again(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = MemoryHarness()
    campaign = begun(harness)
    harness.clock += 7 * HOUR
    with monkeypatch.context() as patched:
        patched.setattr(Transaction, "end_after", lambda *_: {"next": START + 13 * HOUR})
        campaign.ask()
    assert any("would be" in each for each in campaign.audit(full=True).findings)


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


# plays the first arm in the first two rounds of a horizon, and then the second
POLICY = '''
"""A policy that shows how many rounds it sees."""

from typing import Any, NamedTuple

import numpy as np

from purse.kernels import kernel
from purse.types import Floats, Now, Play, Problem

NAME = "counting"


class Params(NamedTuple):
    horizon: float


class State(NamedTuple):
    nothing: Floats


def params(problem: Problem) -> Params:
    """No options."""
    return Params(float(problem.horizon or 0))


def init(params: Params, problem: Problem) -> State:
    return State(np.zeros(1))


@kernel
def choose(params: Params, state: State, scratch: Any, now: Now, play: Play) -> None:
    play.arms[0] = 0 if now.rounds_left > params.horizon - 2 else 1
    play.probs[0] = 1.0


@kernel
def update(params: Params, state: State, scratch: Any, now: Now, play: Play) -> None:
    pass


@kernel
def probabilities(params: Params, state: State, scratch: Any, now: Now, out: Floats) -> None:
    out[:] = 0.0
    out[0 if now.rounds_left > params.horizon - 2 else 1] = 1.0
'''


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


def test_the_first_operation_below_it_begins_its_periods() -> None:
    harness = MemoryHarness()
    account, below = below_account(harness, carry="all")
    below.tell(below.ask(), 1, "0.5")
    harness.clock = START + 13 * HOUR
    assert balance(account) == ("0.5", "0", "0", "29.5", "0")
    assert renewals(account) == []  # nobody has made them
    below.ask()
    found = renewals(account)
    assert [each.body["number"] for each in found] == [2, 3]
    assert [entry.kind for entry in account.journal()] == ["created", "renewed", "renewed"]
    assert balance(account) == ("0.5", "1", "0", "28.5", "0")
    assert (period(account).number, period(account).carried, period(account).rounds) == (
        3,
        ("19.5",),
        None,
    )
    assert renewals(below) == []
    assert Account.open("team", storage=harness.storage()).status() == account.status()
    assert below.audit(full=True).ok
    assert account.audit().findings == ()


@pytest.mark.parametrize(("carry", "left"), [("none", "10"), ("all", "19.5")])
@pytest.mark.parametrize("verb", ["tell", "settle", "fail", "late"])
def test_a_refund_counts_by_the_period_of_the_account(carry: str, left: str, verb: str) -> None:
    harness = MemoryHarness()
    account = Account.create("team", budget=10, every="6h", carry=carry, storage=harness.storage())
    more = {"expires_after": 3600 if verb == "late" else None, "every": "5h", "carry": "all"}
    below = campaign(account.storage, "c", **more)
    ticket = below.ask()
    harness.clock += 6 * HOUR
    if verb == "late":
        below.expire()
        assert balance(account)[2] == "1"
        assert period(account).spent == ("0",)
    if verb == "settle":
        below.settle(ticket, "0.5")
    elif verb == "fail":
        below.fail(ticket, "0.5")
    else:
        below.tell(ticket, 1, "0.5")
    assert balance(account) == ("0.5", "0", "0", left, "0")
    assert balance(below) == ("0.5", "0", "0", "199.5", "0")
    assert period(account).spent == ("0",)
    assert below.audit(full=True).ok
    assert account.audit().findings == ()


def test_what_may_be_held_is_the_least_of_all_periods() -> None:
    harness = MemoryHarness()
    storage = harness.storage()
    Account.create("company", budget=3, every="12h", storage=storage)
    account = Account.create("team", budget=2, account="company", every="6h", storage=storage)
    below = campaign(storage, "c", every="month", time_zone="Europe/Berlin", expires_after=None)
    assert len(below.ask_many(5)) == 2
    assert "account 'team' has 0 left" in refusal(BudgetHeld, below.ask)
    harness.clock += 6 * HOUR
    assert len(below.ask_many(5)) == 1
    assert "account 'company' has 0 left" in refusal(BudgetHeld, below.ask)
    harness.clock += 6 * HOUR
    assert len(below.ask_many(5)) == 2
    assert [each.body["number"] for each in renewals(account)] == [2, 3]
    assert below.audit(full=True).ok
    assert account.audit().findings == ()


@pytest.mark.parametrize("same", [True, False])
def test_holds_of_a_restored_campaign_count_as_asked_for_when_it_joined(same: bool) -> None:
    harness = MemoryHarness()
    account, below = below_account(harness)
    ticket = below.ask()
    harness.clock += 13 * HOUR
    file = StringIO()
    below.export(file)
    file.seek(0)
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
    file = StringIO()
    below.export(file)
    file.seek(0)
    account = Account.create("other", budget=10, every="6h", storage=below.storage)
    copy = Campaign.restore(file, storage=below.storage, name="copy", account="other")
    harness.clock += 6 * HOUR
    copy.void(ticket.id)
    assert balance(account) == ("0", "0", "0", "10", "0")
    assert account.audit().findings == ()


def test_an_audit_finds_a_refund_that_should_have_been_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = MemoryHarness()
    account, below = below_account(harness)
    ticket = below.ask()
    harness.clock += 6 * HOUR
    with monkeypatch.context() as patched:
        patched.setattr(Period, "after_hold", lambda period, *_: (period, [0]))
        below.void(ticket)
    assert any("the balances of account 'team'" in each for each in account.audit().findings)


def test_terms_of_accounts_are_checked_and_come_back() -> None:
    storage = MemoryHarness().storage()
    for field, changes in (("every", {"every": "year"}), ("carry", {"carry": "all"})):
        text = refusal(InvalidInput, Account.create, "x", budget=1, storage=storage, **changes)
        assert text.startswith(f"{field}=")
    made: Any = Account.create(
        "x", budget=1, every="month", time_zone="Asia/Tokyo", carry="all", storage=storage
    )
    assert AccountTerms.from_dict(made.terms.as_dict()).checked() == made.terms
    plain: Any = Account.create("y", budget=1, storage=storage)
    assert set(plain.terms.as_dict()) == {"name", "resources", "budget", "id"}
    head = json.loads(storage.level("y")[-1].text)
    assert set(head) == {"id", "status", "created", "changed", "digest", "turn"}
