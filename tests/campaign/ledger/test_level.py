"""Entries and what they change, without a storage: on a ticket, its level and the levels above."""

from itertools import count, permutations, product
from typing import Any

import pytest

from purse import Account, Campaign
from purse.base.amounts import LARGEST
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.entry import LedgerEntry
from purse.campaign.ledger.level import Level
from purse.campaign.ledger.records import Balance, Head
from purse.campaign.ledger.ticket import fold_ticket as ticket_of_entries
from purse.campaign.rules import asks, operators, reports
from purse.campaign.run.audit import audit
from purse.campaign.storage.storage import _read_entries
from purse.errors import AskRefused, InvalidInput, PurseError, TicketError
from tests.support import storages
from tests.support.campaigns import exported
from tests.support.game import START, USD, Game, account_terms, money, terms_of

WITHIN = 20_000  # ms, for a reward


def about(*rows: tuple[str, dict[str, Any]]) -> list[LedgerEntry]:
    """Return the entries about ticket 7, for which 4 USD are held until a deadline."""
    ask = {"t": 3, "arm": 1, "p": 0.25, "held": [4 * USD], "deadline": START + 60_000}
    return [
        LedgerEntry.of(seq, START + 1000 * seq, kind, body, "it" if seq == 0 else None, 7)
        for seq, (kind, body) in enumerate([("asked", ask), *rows])
    ]


def report(kind: str, cost: int, source: str = "held", **more: Any) -> tuple[str, dict[str, Any]]:
    return kind, {"costs": [cost * USD], "from": source, **more}


def test_an_entry_is_read_as_it_was_written() -> None:
    entry = about()[0]
    assert _read_entries([entry.row()]) == [entry]
    assert entry.chain("") != entry.chain("other")


def test_every_part_of_an_entry_is_in_the_digest() -> None:
    facts: dict[str, Any] = {
        "seq": 2, "at": 5, "kind": "topped_up", "body": {"units": [1]}, "request": "r", "ticket": 1,
    }  # fmt: skip
    others: dict[str, Any] = {
        "seq": 3, "at": 6, "kind": "told", "body": {"units": [2]}, "request": None, "ticket": None,
    }  # fmt: skip
    digests = {LedgerEntry.of(**{**facts, name: other}).chain("") for name, other in others.items()}
    assert len(digests | {LedgerEntry.of(**facts).chain("")}) == 7


def test_a_copy_has_the_digest_of_the_original_under_another_name() -> None:
    terms = {"name": "one", "id": "a" * 16, "budget": [10]}
    copy = {"name": "two", "id": "b" * 16, "restored_from": "a" * 16, "account": "x"}
    one, two = (LedgerEntry.of(1, START, "created", body) for body in (terms, {**terms, **copy}))
    assert one.chain("") == two.chain("")
    richer = LedgerEntry.of(1, START, "created", {**terms, "budget": [11]})
    assert richer.chain("") != one.chain("")


def test_a_ticket_is_the_fold_of_its_entries_in_any_order() -> None:
    entries = about(report("settled", 3), ("rewarded", {"reward": 1}), report("told", 3, reward=1))
    whole = ticket_of_entries(entries, WITHIN)
    assert all(ticket_of_entries(order, WITHIN) == whole for order in permutations(entries))
    assert ticket_of_entries([], WITHIN) is None


def folded(*rows: tuple[object, ...]) -> CampaignLevel:
    """Return a campaign with a budget of 10 USD after entries of kind, body and ticket."""
    level = CampaignLevel(terms_of(alerts=["50%"]))
    first = LedgerEntry.of(1, START, "created", level.terms.as_dict())
    level.fold(first)
    for seq, (kind, body, ticket) in enumerate(rows, 2):
        level.fold(LedgerEntry.of(seq, START + seq, str(kind), body, None, ticket))
    return level


def asked(t: int, arm: int, held: int, **more: object) -> tuple[object, ...]:
    return "asked", {"t": t, "arm": arm, "p": 0.5, "held": [held], **more}, t


def told(ticket: int, cost: int, source: str = "held", **more: object) -> tuple[object, ...]:
    report = {"t": ticket, "arm": 0, "p": 0.5, "reward": 1, "costs": [cost], "from": source}
    return "told", {**report, **more}, ticket


def test_a_fold_books_what_the_entry_says_and_nothing_else() -> None:
    """A forged amount shows in the balances: the fold takes no part of it from elsewhere."""
    for units in (0, 1, USD, 4 * USD, 5 * USD):
        level = folded(asked(1, 0, 4 * USD), told(1, units))
        assert level.balances == [Balance(10 * USD, units, 0, 0, max(0, units - 4 * USD))]
        assert level.tickets[1].costs == [units]


def test_entries_of_a_tree_have_their_place_in_its_order() -> None:
    game = Game(account_terms("company", 20), account_terms("team", 8))
    assert game.accounts[0].head.turn == 3  # each level has its first entry
    game.do(asks.ask, 2, "first")
    game.top_up(game.accounts[1], 1, "more")
    assert game.accounts[0].head.turn == 6
    assert [level.head.turn for level in (game.accounts[1], game.campaign)] == [0, 0]
    alone = Level(account_terms("alone", 1))
    assert alone.fold(LedgerEntry.of(1, START, "created", {})) == 1
    assert CampaignLevel(terms_of()).fold(LedgerEntry.of(1, START, "created", {})) is None


def test_who_ended_it_is_in_the_journal() -> None:
    game = Game(account_terms("team", 8))
    game.do(operators.set_status, "ended", "ended")
    game.do(operators.set_status, "ended", "ended", level=game.accounts[0])
    ends = [entry for _, entry in game.entries if entry.kind == "ended"]
    assert [entry.body for entry in ends] == [{"by": "somebody"}] * 2
    for by in ("policy", "horizon"):  # nobody writes these yet, and the fold reads them
        assert folded(("ended", {"by": by}, None)).head.status == "ended"


def test_an_ask_may_say_with_how_many_rounds_it_planned() -> None:
    level = folded(asked(1, 0, USD, rounds=7.5))
    assert level.tickets[1].asked["rounds"] == 7.5


def test_a_head_is_stored_without_what_is_empty_and_read_as_it_was() -> None:
    assert Head().to_json() == '{"status":"running"}'
    level = folded(asked(1, 0, USD, labels={"team": "x"}), told(1, 2 * USD, over=True))
    assert Head.from_json(level.head.to_json()) == level.head


def test_an_unknown_kind_of_entry_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown kind of entry 'acknowledged'"):
        folded(("acknowledged", {"kind": "overrun", "count": 1}, None))


def refused(error: type[PurseError], text: str, game: Game, rule: Any, *values: Any) -> None:
    """Check that a rule refuses, in these words, and adds nothing."""
    before = len(game.entries)
    with pytest.raises(error) as caught:
        game.do(rule, *values)
    assert type(caught.value) is error
    assert str(caught.value) == text
    assert len(game.entries) == before


def test_an_overrun_that_cannot_be_counted_is_refused() -> None:
    game = Game(script=(0,))
    game.do(asks.ask, 2, "both")
    game.do(reports.tell, 1, 1.0, [LARGEST])
    with pytest.raises(InvalidInput, match="with it what is spent would exceed"):
        game.do(reports.tell, 2, 1.0, [LARGEST])
    assert game.campaign.tickets[2].state == "held"


def test_a_policy_that_stops_or_chooses_nonsense_is_refused() -> None:
    for choice, error, text in (
        (-2, AskRefused, "uniform has ended the game after 0 rounds"),
        (-1, AskRefused, "uniform has ended the game after 0 rounds"),
        (7, PurseError, "uniform chose arm 7 in round 1, and there are arms 0 to 1"),
    ):  # fmt: skip
        refused(error, text, Game(script=(choice,)), asks.ask, 1, "first")
    skipped = Game(script=(-1,), horizon=5, skip=True)
    (ticket,) = skipped.do(asks.ask, 1, "first")
    assert (ticket.state, ticket.held, money(skipped.campaign)) == (
        "skipped", [0], "10 0 0 0 0 10",
    )  # fmt: skip
    refused(TicketError, "ticket 1 skipped its round: there is nothing to tell",
            skipped, reports.tell, 1, 1.0, [0])  # fmt: skip


HOUR = 3_600_000  # ms
DAY = 24 * HOUR
YEAR = 365 * DAY
TERMS: dict[str, Any] = {
    "arms": {"small": 1},
    "budget": 5,
    "policy": "uniform",
    "cooldown": 1,
    "expires_after": 60,
}


def of(level: Any, kind: str) -> list[Any]:
    """The entries of a kind."""
    return [entry for entry in level.journal() if entry.kind == kind]


def keys(level: Any) -> list[str]:
    return [entry.body["key"] for entry in of(level, "event")]


def spend(harness: Any, campaign: Any, at: int, cost: Any = 1) -> None:
    """One call by a clock that shows a time."""
    harness.clock = at
    campaign.tell(campaign.ask(), 1, cost)


def check(harness: Any, *levels: Any) -> None:
    """Audits agree under any clock, and a copy of what is no account comes to the same."""
    now, found = harness.clock, [audit(level.storage, level.name) for level in levels]
    assert all(each.ok for each in found), found
    for clock in (now - YEAR, now + 2 * YEAR):
        harness.clock = clock
        assert [audit(level.storage, level.name) for level in levels] == found
    for level, before in zip(levels, found, strict=True):
        if isinstance(level, Campaign) and not level.status().account:
            other = storages.MemoryHarness()
            other.clock = now - YEAR
            copy = Campaign.restore(exported(level), storage=other.storage())
            assert copy.audit(full=True) == before
    harness.clock = now


def alarms(level: Any) -> list[str]:
    return [alarm.text for alarm in level.status().alarms if alarm.kind == "clock"]


def test_events_go_on_after_a_clock_that_was_ahead() -> None:
    harness = storages.MemoryHarness()
    Account.create("team", budget=100_000, alerts=["overrun"], storage=harness.storage())
    rules, costs = ["overrun", "expired", "cooling-down"], count(2)
    terms = {**TERMS, "budget": 100_000, "alerts": rules, "account": "team"}
    campaign: Any = harness.create_at(harness.place(), "test", **terms)
    team = Account.open("team", storage=harness.place())

    def hour(at: int) -> None:
        spend(harness, campaign, at, next(costs))  # an overrun
        campaign.ask()
        campaign.fail(campaign.ask(), 0)
        harness.clock += 60_000
        campaign.expire()

    hour(START + YEAR)
    for number in range(48):
        hour(START + number * HOUR)
        hour(START + number * HOUR + 120_000)
    assert alarms(campaign) == [] == alarms(team)  # a day is over
    assert len(keys(campaign)) == len(set(keys(campaign))) == 3 * 49
    assert len(keys(team)) == len(set(keys(team))) == 49
    first, second = START // HOUR, (START + YEAR) // HOUR
    assert keys(team)[:3] == [f"overrun/{second}", f"overrun/{first}/1", f"overrun/{first + 1}/1"]
    check(harness, campaign, team)


def test_somebody_is_told_for_a_day() -> None:
    harness = storages.MemoryHarness()
    Account.create("team", budget=90, alerts=[], storage=harness.storage())
    campaign: Any = harness.create_at(
        harness.place(), "test", **{**TERMS, "budget": 50}, account="team"
    )
    team = Account.open("team", storage=harness.place())
    for ahead, cost in ((HOUR, 1), (0, 1), (YEAR, 2), (0, 1)):  # an hour is no jump
        spend(harness, campaign, START + ahead, cost)
    said = "the clock was more than an hour ahead, 1 time: deadlines and periods may have ended"
    for level in (campaign, team):
        harness.clock = START
        assert alarms(level) == [f"{said} early"]
        assert "overrun" in {alarm.kind for alarm in level.status().alarms}
        harness.clock = START + DAY - 1
        assert alarms(level)
        harness.clock = START + DAY
        # that of the overrun is no longer shown either
        assert {alarm.kind for alarm in level.status().alarms} <= {"dearer"}
    check(harness, campaign, team)


def test_periods_go_on_after_a_clock_that_was_ahead() -> None:
    for carry, of_account in product(["none", "all"], [False, True]):
        harness: Any = storages.MemoryHarness()
        renewed: dict[str, Any] = {"every": "day", "carry": carry}
        place, terms = harness.storage(), {**TERMS, "horizon": 5, **renewed}
        if of_account:
            Account.create("team", budget=5, **renewed, storage=place)
            terms = {**TERMS, "budget": 1_000, "account": "team"}
        campaign = harness.create_at(place, "test", **terms)
        level: Any = Account.open("team", storage=place) if of_account else campaign
        spend(harness, campaign, START)
        spend(harness, campaign, START + YEAR)
        before = len(of(level, "renewed"))
        for day in range(20):
            harness.clock = START + day * DAY
            shown = level.status().period
            assert (shown.number, shown.begun_at * 1000 <= harness.clock) == (
                before + 1 + day,
                True,
            )
            assert shown.ends_at == (START // DAY + day + 1) * DAY / 1000
            for _ in range(4 + (day > 0)):  # all that a day has, but for what the jump has spent
                spend(harness, campaign, START + day * DAY)
        assert (len(of(level, "renewed")), len(of(level, "clock"))) == (before + 19, 1)
        # under `all` one grant for each boundary of the jump, and for each since
        granted = 5 * (1 + before + 19) if carry == "all" else 1 + 5 + 19 * 5
        assert level.status().purses[0].budget == str(granted)
        check(harness, campaign, level)


def test_a_clock_that_comes_and_goes_grants_nothing_again() -> None:
    """Two processes with clocks of their own, in turn; one may be behind, by years."""
    for carry, away in product(["none", "all"], [-3 * YEAR, -2 * HOUR, 2 * HOUR, 30 * DAY]):
        harness: Any = storages.MemoryHarness()
        terms = {**TERMS, "budget": 50, "every": "6h", "carry": carry, "alerts": ["overrun"]}
        campaign = harness.create("test", **terms)
        at = START + 7 * HOUR
        spend(harness, campaign, at)
        spend(harness, campaign, at + away)
        granted = len(of(campaign, "renewed"))
        for _ in range(5):
            spend(harness, campaign, at)
            spend(harness, campaign, at + away, 2)
        spend(harness, campaign, at)
        assert len(of(campaign, "renewed")) == granted
        assert len(set(keys(campaign))) == len(keys(campaign)) > 0
        spend(harness, campaign, at + 6 * HOUR)
        assert of(campaign, "renewed")[granted:][0].body["at"] == START + 12 * HOUR
        assert len(of(campaign, "renewed")) == granted + 1
        check(harness, campaign)


def test_a_period_that_was_begun_too_early_begins_in_its_turn() -> None:
    """The clock comes to it day after day: it is granted like all others."""
    harness = storages.MemoryHarness()
    campaign: Any = harness.create("test", **{**TERMS, "every": "day", "carry": "none"})
    spend(harness, campaign, START + 3 * DAY)
    for day in range(6):
        for _ in range(4 if day == 0 else 5):
            spend(harness, campaign, START + day * DAY)
    assert len(of(campaign, "renewed")) == 3 + 5
    check(harness, campaign)


def test_a_pause_under_a_clock_that_was_ahead() -> None:
    harness = storages.MemoryHarness()
    campaign: Any = harness.create("test", **{**TERMS, "every": "day", "carry": "all"})
    spend(harness, campaign, START + YEAR)
    before = len(of(campaign, "renewed"))
    campaign.pause()
    harness.clock = START
    campaign.resume()
    assert campaign.status().period.ends_at == (START // DAY + 1) * DAY / 1000
    spend(harness, campaign, START + DAY)
    assert len(of(campaign, "renewed")) == before + 1
    campaign.pause()
    harness.clock = START + 2 * YEAR  # what passes in a pause is not granted
    campaign.resume()
    assert campaign.status().period.number == before + 2
    assert campaign.status().period.ends_at == ((START + 2 * YEAR) // DAY + 1) * DAY / 1000
    check(harness, campaign)
