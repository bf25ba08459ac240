"""What an entry changes, computed by hand: on its level and on those above it."""

from __future__ import annotations

import pytest

from purse.campaign import asks, operators, reports
from purse.campaign.campaign_ledger import CampaignLevel
from purse.campaign.entry import Entry
from purse.campaign.ledger import Level
from purse.campaign.records import Balance, Head
from tests.support.game import HOUR, START, USD, Game, account_terms, money, terms_of


def folded(*rows: tuple[object, ...]) -> CampaignLevel:
    """Return a campaign with a budget of 10 USD after entries of kind, body and ticket."""
    level = CampaignLevel(terms_of(alerts=["50%"]))
    first = Entry.of(1, START, "created", level.terms.as_dict())
    level.fold(first)
    for seq, (kind, body, ticket) in enumerate(rows, 2):
        level.fold(Entry.of(seq, START + seq, str(kind), body, None, ticket))
    return level


def asked(t: int, arm: int, held: int, **more: object) -> tuple[object, ...]:
    return "asked", {"t": t, "arm": arm, "p": 0.5, "held": [held], **more}, t


def told(ticket: int, cost: int, source: str = "held", **more: object) -> tuple[object, ...]:
    report = {"t": ticket, "arm": 0, "p": 0.5, "reward": 1, "costs": [cost], "from": source}
    return "told", {**report, **more}, ticket


def test_each_entry_moves_what_it_says() -> None:
    rows = [
        asked(1, 0, 4 * USD),
        asked(2, 1, 1 * USD),
        asked(3, 1, 1 * USD),
        asked(4, 1, 1 * USD),
        told(1, 3 * USD),
        ("settled", {"costs": [2 * USD], "from": "held", "over": True}, 2),
        ("failed", {"costs": [USD // 2], "from": "held", "reason": ""}, 3),
        ("expired", {}, 4),
    ]
    expected = [
        "10 0 4 0 0 6",
        "10 0 5 0 0 5",
        "10 0 6 0 0 4",
        "10 0 7 0 0 3",
        "10 3 3 0 0 4",
        "10 4 2 0 1 4",  # the hold pays 1, and 1 is overrun
        "10 4.5 1 0 1 4.5",
        "10 4.5 0 1 1 4.5",
    ]
    assert [money(folded(*rows[: end + 1])) for end in range(len(rows))] == expected
    after = folded(*rows).head
    assert after.rounds == 4
    states = {"held": 0, "told": 1, "settled": 1, "failed": 1, "presumed": 1, "tickets": 4}
    assert after.counts == {**states, "overruns": 1}
    assert after.alarmed == {"overrun": START + 7}


def test_what_was_presumed_or_void_is_paid_when_it_is_reported() -> None:
    held = asked(1, 0, 4 * USD)
    late = folded(held, ("expired", {}, 1), told(1, 3 * USD, "presumed"))
    assert money(late) == "10 3 0 0 0 7"
    void = folded(held, ("voided", {}, 1), told(1, 3 * USD, "void", over=True))
    assert money(void) == "10 0 0 0 3 10"  # nothing was held: all of it is overrun
    again = folded(held, ("settled", {"costs": [USD], "from": "held"}, 1), told(1, USD))
    assert money(again) == "10 1 0 0 0 9"  # paid once


def test_a_fold_books_what_the_entry_says_and_nothing_else() -> None:
    """A forged amount shows in the balances: the fold takes no part of it from elsewhere."""
    for units in (0, 1, USD, 4 * USD, 5 * USD):
        level = folded(asked(1, 0, 4 * USD), told(1, units))
        assert level.balances == [
            Balance(10 * USD, min(units, 4 * USD), 0, 0, max(0, units - 4 * USD))
        ]
        assert level.tickets[1].costs == [units]


def test_what_moves_on_a_level_moves_on_all_above() -> None:
    game = Game(account_terms("company", 20), account_terms("team", 8))
    game.do(asks.ask, 2, "first")
    company, team = game.accounts
    assert [money(each) for each in (game.campaign, team, company)] == [
        "10 0 5 0 0 5",
        "8 0 5 0 0 3",
        "20 0 5 0 0 15",
    ]
    game.do(reports.tell, 1, 1.0, [5 * USD])
    assert [money(each) for each in (game.campaign, team, company)] == [
        "10 4 1 0 1 5",
        "8 4 1 0 1 3",
        "20 4 1 0 1 15",
    ]
    assert [each.head.alarmed for each in (company, team)] == [{"overrun": START}] * 2
    assert game.kinds(team) == game.kinds(company) == ["created"]
    game.do(reports.void, 2)
    assert money(company) == "20 4 0 0 1 16"


def test_entries_of_a_tree_have_their_place_in_its_order() -> None:
    game = Game(account_terms("company", 20), account_terms("team", 8))
    assert game.accounts[0].head.turn == 3  # each level has its first entry
    game.do(asks.ask, 2, "first")
    game.top_up(game.accounts[1], 1, "more")
    assert game.accounts[0].head.turn == 6
    assert [level.head.turn for level in (game.accounts[1], game.campaign)] == [0, 0]
    alone = Level(account_terms("alone", 1))
    assert alone.fold(Entry.of(1, START, "created", {})) == 1
    assert CampaignLevel(terms_of()).fold(Entry.of(1, START, "created", {})) is None


def test_an_arm_whose_initial_pull_fails_owes_it_again_in_a_new_round() -> None:
    game = Game(policy="ucb-bv1", cooldown=None)
    assert game.campaign.head.owed == [0, 1]
    game.do(asks.ask, 2, "first")
    assert game.campaign.head.owed == []
    assert [game.campaign.tickets[n].asked["initial"] for n in (1, 2)] == [True, True]
    game.do(reports.fail, 2, [0], "429")
    game.do(reports.void, 1)
    assert game.campaign.head.owed == [0, 1]
    (ticket,) = game.do(asks.ask, 1, "again")
    assert (ticket.t, game.campaign.head.rounds, game.campaign.head.owed) == (3, 3, [1])
    game.do(reports.tell, 3, 1.0, [USD])
    assert game.campaign.head.owed == [1]  # what was told is not owed


def test_counts_of_an_arm_that_brings_nothing_and_of_open_tickets() -> None:
    game = Game(policy="best-arm", script=(0,), cooldown=None, budget=100)
    game.do(asks.ask, 4, "first")
    head = game.campaign.head
    assert (head.silent, head.open) == ([4, 0], [4, 0])
    game.do(reports.void, 1)
    game.do(reports.settle, 2, [USD])
    assert (head.silent, head.open) == ([3, 0], [3, 0])  # a settled one waits for its reward
    game.do(reports.reward, 2, 0.5)
    assert (head.silent, head.open) == ([-1, 0], [2, 0])
    game.do(asks.ask, 1, "more")
    assert head.silent == [-1, 0]


def test_alarms_know_their_last_cause() -> None:
    game = Game(reward_range=(0, 10), arms={"red": 4}, script=(0,), budget=100)
    game.do(asks.ask, 4, "first")
    for number, (reward, cost) in enumerate([(20, USD), (5, 5 * USD), (5, 1), (30, USD)], 1):
        game.now = START + 1000 * number
        game.do(reports.tell, number, float(reward), [cost])
    game.now += HOUR
    with pytest.raises(Exception, match="the first report stands"):
        game.do(reports.tell, 1, 0.0, [USD])
    assert game.campaign.head.alarmed == {
        "outside-range": START + 4000,
        "overrun": START + 2000,
        "below-minimum": START + 3000,
        "conflict": START + 4000 + HOUR,
    }
    counts = game.campaign.head.counts
    names = ("outside_range", "overruns", "below_minimum", "conflicts")
    assert [counts[name] for name in names] == [2, 1, 1, 1]


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
