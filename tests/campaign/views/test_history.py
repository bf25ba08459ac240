"""The history of a campaign: the fold of a journal written by hand, and of a campaign's own."""

import json
import random
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pytest

from purse.base import amounts
from purse.campaign.api.states import CAMPAIGN_STATES, RUNNING
from purse.campaign.campaign import Campaign
from purse.campaign.ledger.entry import LedgerEntry
from purse.campaign.ledger.records import HISTORY
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage
from purse.campaign.views import history
from purse.campaign.views.history import _SHOWN, FollowedHistory, History
from purse.campaign.views.time_series import _POINTS, _SLOTS, LENGTHS
from purse.errors import AskRefused
from tests.support.soak import SOAK

START = 1_700_000_000_000
CENT = 10**7


def make_terms(arms: int = 2, budget: tuple[int, ...] = (100 * CENT,), **more: Any) -> Any:
    """Return terms in which every arm may cost the whole budget."""
    whole = [amounts.text(units) for units in budget]
    terms: dict[str, Any] = {
        "arms": dict.fromkeys("abcdefghijklmnopqrstuvwxyz"[:arms], whole),
        "budget": whole,
        "resources": ["USD", "tokens"][: len(budget)],
        "policy": "uniform",
        **more,
    }
    return Campaign.create("c", **terms, storage=in_memory()).terms


class Script:
    """Writes a journal by hand."""

    def __init__(self) -> None:
        self.entries: list[LedgerEntry] = []
        self.at, self.asked = START, dict[int, Any]()
        self.add("created")

    def add(self, kind: str, ticket: int | None = None, after: int = 0, **body: Any) -> None:
        """Add an entry, so many ms after the last one."""
        self.at += after
        self.entries.append(
            LedgerEntry.of(len(self.entries) + 1, self.at, kind, body, None, ticket)
        )

    def ask(self, arm: int = 0, *held: int, after: int = 0) -> int:
        """Issue a ticket with so much held, and return its number."""
        ticket = len(self.asked) + 1
        self.asked[ticket] = {"t": ticket, "arm": arm, "p": 0.5}
        self.add("asked", ticket, after, **self.asked[ticket], held=list(held or (CENT,)))
        return ticket

    def tell(self, ticket: int, reward: float, *costs: int, after: int = 0, **more: Any) -> None:
        """Report a ticket that is held."""
        report = {"reward": reward, "costs": list(costs), "from": "held", **more}
        self.add("told", ticket, after, **self.asked[ticket], **report)

    def pull(self, arm: int, reward: float, cost: int, after: int = 0, later: int = 0) -> None:
        """Ask for a ticket, and report `later` ms after it."""
        self.tell(self.ask(arm, cost, after=after), reward, cost, after=later)


def folded(script: Script, terms: Any = None) -> History:
    """Return the history that watches the fold of a journal."""
    history = History(terms or make_terms())
    history.fold(script.entries)
    return history


def last(history: History, resource: int = 0) -> dict[str, str]:
    """Return the last point of the counters of a resource."""
    purse = history.as_dict()["purses"][resource]
    return {
        name: purse[name][-1] for name in ("budget", "spent", "held", "presumed", "left", "overrun")
    }


def test_an_arms_row_is_computed_by_hand() -> None:
    script = Script()
    for reward, cost in [(1.0, 2), (0.0, 4), (0.5, 3)]:
        script.pull(0, reward, cost * CENT, after=1000, later=500)
    script.ask(1)
    one, two = folded(script).as_dict()["arms"]
    assert (one["arm"], one["pulls"], one["told"], one["share"]) == ("a", 3, 3, 0.75)
    assert (one["mean_reward"], one["mean_costs"]) == (0.5, [pytest.approx(0.03)])
    ratio = 1.5 / 0.09
    pairs = [(1.0, 0.02), (0.0, 0.04), (0.5, 0.03)]
    rest = sum((reward - ratio * cost) ** 2 for reward, cost in pairs)
    margin = 1.959964 * (rest / (3 * 2)) ** 0.5 / 0.03
    assert one["efficiency"] == pytest.approx(ratio)
    assert one["interval"] == [0.0, pytest.approx(ratio + margin)]
    assert ratio - margin < 0, "an efficiency is never negative"
    assert (two["pulls"], two["told"], two["share"]) == (1, 0, 0.25)
    for name in ("mean_reward", "mean_costs", "efficiency", "interval"):
        assert two[name] is None


def test_one_report_has_no_interval_and_free_arms_no_efficiency() -> None:
    script = Script()
    script.pull(0, 0.5, CENT)
    script.tell(script.ask(1), 0.5, 0)
    one, two = folded(script).as_dict()["arms"]
    assert (one["efficiency"], one["interval"]) == (pytest.approx(50), None)
    assert (two["efficiency"], two["interval"]) == (None, None)


@pytest.mark.skipif(not SOAK, reason="a coverage")
def test_the_interval_covers_the_true_ratio_as_often_as_it_says() -> None:
    rng, terms = random.Random(5), make_terms(budget=(10_000 * CENT,))
    hits = 0
    for _ in range(400):
        script = Script()
        for _ in range(60):
            script.pull(0, float(rng.random() < 0.4), rng.randint(1, 9) * CENT)
        low, high = folded(script, terms).as_dict()["arms"][0]["interval"]
        hits += low <= 0.4 / 0.05 <= high
    assert 0.91 <= hits / 400 <= 0.98


def test_resources_are_told_apart() -> None:
    script = Script()
    script.tell(script.ask(1, 10 * CENT, 20 * CENT), 1.0, CENT, 5 * CENT)
    history = folded(script, make_terms(3, (100 * CENT, 1000 * CENT)))
    assert [row["mean_costs"] for row in history.as_dict()["arms"]] == [None, [0.01, 0.05], None]
    assert (last(history)["spent"], last(history, 1)["spent"]) == ("0.01", "0.05")


def test_a_round_without_a_pull_counts_as_asked_and_for_no_arm() -> None:
    script = Script()
    script.ask(-1, 0)
    history = folded(script)
    assert history.asks == 1
    assert [row["pulls"] for row in history.as_dict()["arms"]] == [0, 0]


def long_script(entries: int) -> Script:
    rng, script = random.Random(0), Script()
    for _ in range(1, entries // 2):
        after, later = rng.choice([1, 3, 700, 40_000]), rng.randrange(900)
        script.pull(rng.randrange(2), rng.random(), CENT // 100, after, later)
    return script


@pytest.mark.parametrize("pace", [1, 7, 1000])
def test_a_few_entries_at_a_time_come_to_the_same_as_all_at_once(pace: int) -> None:
    script = long_script(4000)
    whole, parts = folded(script), History(make_terms())
    for place in range(0, len(script.entries), pace):
        parts.fold(iter(script.entries[place : place + pace]))
        if pace == 1000:
            parts.as_dict(script.at)  # looking changes nothing
    assert parts.as_dict() == whole.as_dict()


def test_a_long_campaign_keeps_its_shape_in_bounded_room() -> None:
    script, terms = long_script(20_000), make_terms(budget=(10_000 * CENT,))
    series = folded(script, terms).as_dict()
    at, spent = series["series"]["at"], [float(text) for text in series["purses"][0]["spent"]]
    assert _POINTS / 3 < len(at) <= _POINTS
    assert at == sorted(at)
    assert (at[0], at[-1]) == (START / 1000, script.at / 1000)
    truth = {entry.at / 1000: place for place, entry in enumerate(script.entries)}
    for time, paid in zip(at[1:-1], spent[1:-1], strict=True):
        told = sum(entry.kind == "told" for entry in script.entries[: truth[time] + 1])
        assert paid == pytest.approx(told * 1e-4), "a point is how things stood at its time"
    gaps = [after - before for before, after in pairwise(at)]
    assert max(gaps) < 0.05 * (at[-1] - at[0])


def test_a_clock_that_goes_back_harms_nothing() -> None:
    script = Script()
    script.pull(0, 1.0, CENT, after=5000, later=-3000)
    at = folded(script).as_dict()["series"]["at"]
    assert at == sorted(at)


def test_many_arms_share_the_last_series() -> None:
    script = Script()
    for number in range(1, 101):
        script.ask(number % 20 if number % 3 else 19, after=1000)
    rows = folded(script, make_terms(20)).as_dict()["series"]["pulls"]
    assert len(rows) == _SHOWN + 1
    assert [row["arm"] for row in rows].count(None) == 1
    assert rows[-1]["arm"] is None
    assert "t" in [row["arm"] for row in rows]
    assert sum(row["pulls"][-1] for row in rows) == 100


def test_one_arm_alone_is_never_the_others() -> None:
    script = Script()
    for number in range(_SHOWN + 1):
        script.ask(number, after=1000)
    rows = folded(script, make_terms(_SHOWN + 1)).as_dict()["series"]["pulls"]
    assert [row["arm"] for row in rows] == list("abcdefgh")


def steady(seconds: int, cost: int) -> Script:
    script = Script()
    for _ in range(seconds):
        script.pull(0, 1.0, cost, 500, 500)
    return script


def test_the_projection_is_what_is_left_over_the_recent_rate() -> None:
    script = steady(20, CENT)
    script.ask(0, 10 * CENT)
    (found,) = folded(script).projections(script.at, RUNNING)
    assert found == {
        "per_second": pytest.approx(0.01),
        "seconds": pytest.approx(70),
        "at": pytest.approx(script.at / 1000 + 70),
    }


def test_only_the_recent_rate_counts() -> None:
    script = steady(1600, CENT // 100)
    for _ in range(400):
        script.pull(0, 1.0, CENT // 10, after=1000)
    (found,) = folded(script).projections(script.at, RUNNING)
    assert found is not None
    assert found["per_second"] == pytest.approx(0.001, rel=0.05)  # not the mean over all, 0.00028


def test_what_is_presumed_is_spending_too() -> None:
    script = Script()
    script.add("expired", script.ask(0, 10 * CENT), after=10_000)
    (found,) = folded(script).projections(script.at, RUNNING)
    assert found is not None
    assert found["seconds"] == pytest.approx(90)


def test_there_is_no_projection_if_nothing_is_spent_of_late_or_nothing_runs() -> None:
    script = Script()
    assert folded(script).projections(START, RUNNING) == [None]
    script.ask(after=1000)
    assert folded(script).projections(script.at, RUNNING) == [None]
    script = steady(100, CENT // 10)
    assert folded(script).projections(script.at + 3_600_000, RUNNING) == [None]
    for state in CAMPAIGN_STATES:
        runs = folded(script).projections(script.at, state) != [None]
        assert runs == (state == RUNNING)


def test_rates_are_those_of_the_last_minute() -> None:
    script = steady(300, CENT // 10)
    history = folded(script)
    assert history.as_dict()["rates"] == {
        "asks": pytest.approx(1, rel=0.02),
        "tells": pytest.approx(1, rel=0.02),
    }
    assert history.as_dict(script.at + 30_000)["rates"]["asks"] == pytest.approx(0.5, rel=0.04)
    assert history.as_dict(script.at + 61_000)["rates"] == {"asks": 0, "tells": 0}


def test_a_history_before_the_first_entry_and_as_json() -> None:
    assert History(make_terms()).as_dict()["purses"][0]["left"][-1] == "1"
    facts = folded(long_script(500)).as_dict()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts


def alternating(n: int, after: int) -> Script:
    """Pulls of arm 0 with reward 1 and of arm 1 with reward 0.25, in turn."""
    script = Script()
    for number in range(1, n + 1):
        script.pull(number % 2, 0.25 if number % 2 else 1.0, CENT, after)
    return script


def test_the_gain_is_compared_with_one_arm_and_with_all_equally_often() -> None:
    value = folded(alternating(8, 1000)).as_dict()["value"]
    assert (value["gain"], value["paid"], value["per_unit"]) == (5.0, ["0.08"], pytest.approx(62.5))
    assert (value["best"]["arm"], value["best"]["told"]) == ("a", 4)
    assert value["best"]["gain"] == pytest.approx(8.0)
    assert value["uniform"] == pytest.approx(5.0)


def test_with_a_horizon_others_get_no_more_pulls() -> None:
    script = Script()
    for number in range(1, 9):  # the cheap arm gains less in a pull, and more for the money
        cheap = number % 2
        script.pull(cheap, 0.5 if cheap else 1.0, CENT if cheap else 10 * CENT)
    value = folded(script, make_terms(horizon=100)).as_dict()["value"]
    assert (value["best"]["arm"], value["best"]["gain"]) == ("a", pytest.approx(4.4))
    assert (value["gain"], value["uniform"]) == (6.0, pytest.approx(6.0))
    assert folded(script).as_dict()["value"]["best"]["gain"] == pytest.approx(22.0)


def test_overruns_are_paid_and_what_has_no_report_is_not_compared() -> None:
    script = Script()
    script.tell(script.ask(0), 1.0, 3 * CENT, over=True)
    script.ask(1)
    value = folded(script).as_dict()["value"]
    assert (value["paid"], value["best"], value["uniform"]) == (["0.03"], None, None)
    nothing = History(make_terms()).as_dict()["value"]
    assert (nothing["gain"], nothing["per_unit"], nothing["best"]) == (0.0, None, None)


@pytest.mark.parametrize(("span", "length"), list(LENGTHS.items()))
def test_the_last_hour_and_day_are_finer_than_the_whole(span: str, length: int) -> None:
    terms = make_terms(budget=(10_000 * CENT,))
    history, now = folded(alternating(3000, 60_000), terms), START + 3000 * 60_000  # two days
    series = history.as_dict(now, span)["series"]
    assert series["at"][0] == (now - length) / 1000
    assert series["at"] == sorted(series["at"])
    assert len(series["at"]) <= _SLOTS + 3
    made = [sum(arm["pulls"][place] for arm in series["pulls"]) for place in (0, -1)]
    assert 0 <= made[1] - made[0] - length // 60_000 <= length / _SLOTS / 60_000  # a slot
    gained = series["gain"][-1] - series["gain"][0]
    assert gained == pytest.approx(0.625 * (made[1] - made[0]), abs=0.5)
    again = History.from_json(terms, history.to_json())
    assert again.as_dict(now, span) == history.as_dict(now, span)
    later = history.as_dict(now + 2 * length, span)["series"]
    assert len(later["at"]) == 1, "nothing has happened since"


def test_the_last_tickets_of_each_kind_of_alarm_are_known() -> None:
    script = alternating(1, 1000)
    for _ in range(2, 20):
        script.tell(script.ask(), 1.0, 2 * CENT, after=1000, over=True)
    script.tell(script.ask(), 3.5, CENT)
    script.add("conflict", 5, report={})
    script.add("expired", script.ask())
    found = folded(script, make_terms(reward_range=(0, 2))).as_dict()["incidents"]
    assert [ticket for _, ticket in found["overrun"]] == list(range(10, 20))
    assert found["outside-range"] == [[script.at / 1000, 20]]
    assert found["conflict"] == [[script.at / 1000, 5]]
    assert found["presumed"] == [[script.at / 1000, 21]]


def test_it_agrees_with_the_campaign_whose_journal_it_is() -> None:
    rng, storage, now = random.Random(1), in_memory(), START
    storage.now = lambda: now
    campaign = Campaign.create(
        "c",
        arms={"a": "0.02", "b": "0.05"},
        budget="3",
        cost_min="0.001",
        policy="uniform",
        expires_after=5,
        storage=storage,
    )
    history, out = History(campaign.terms), []
    for turn in range(300):
        now += rng.randrange(800)
        try:
            out.extend(campaign.ask_many(rng.randint(1, 3)))
        except AskRefused:
            campaign.top_up("0.5")
        while len(out) > 4:
            ticket = out.pop(rng.randrange(len(out)))
            if rng.random() < 0.1:
                campaign.void(ticket)
            elif rng.random() < 0.9:
                campaign.tell(ticket, rng.random(), f"{rng.uniform(0.0005, 0.06):.4f}")
        if turn % 50 == 0:
            history.fold(campaign.journal(after=history.seq))
    history.fold(campaign.journal(after=history.seq))
    status = campaign.status()
    assert history.seq == status.entries
    assert last(history) == {
        name: value for name, value in asdict(status.purses[0]).items() if name != "resource"
    }
    assert float(status.purses[0].overrun) > 0
    assert status.counts["presumed"] > 0
    assert sum(row["told"] for row in history.as_dict()["arms"]) == status.counts["told"]


def make(storage: Storage | None = None, **terms: Any) -> Campaign:
    given: Any = {
        "arms": {"a": "0.02", "b": "0.05"},
        "budget": "3",
        "cost_min": "0.001",
        "policy": "uniform",
        "cooldown": None,
        "storage": storage or in_memory(),
        **terms,
    }
    return Campaign.create("c", **given)


def counts_of(found: History, *names: str) -> dict[str, list[int]]:
    """Return the counts_of of each arm, by its name."""
    return {row["arm"]: [row[name] for name in names] for row in found.as_dict()["arms"]}


def restarted(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, followed: FollowedHistory
) -> FollowedHistory:
    """Return a history that begins where another one leaves a checkpoint."""
    monkeypatch.setattr(history, "_CHECKPOINT_EVERY", 1)
    before = followed.follow()
    other = FollowedHistory(campaign.terms, campaign.storage)
    assert other.history.seq == before.seq > 0
    assert other.history.as_dict() == before.as_dict()
    return other


def test_what_becomes_of_pulls_is_counted_for_their_arm() -> None:
    storage, now = in_memory(), START
    storage.now = lambda: now
    campaign = make(storage, expires_after=5, reward_within=10, missing_reward=0)
    followed = FollowedHistory(campaign.terms, campaign.storage)

    def asked(arm: str) -> Any:
        return campaign.ask(arms=[arm])

    def counted() -> dict[str, list[int]]:
        return counts_of(followed.follow(), "failed", "settled", "told")

    late, void, rewarded, waits, gone = map(asked, "baaab")
    campaign.fail(asked("a"), "0.001", "503")
    campaign.tell(asked("a"), 1, "0.01")
    campaign.reward(rewarded, 0.5)  # its cost comes later
    for ticket in (waits, gone):
        campaign.settle(ticket, "0.01")
    campaign.void(void)
    campaign.settle(void, "0.01")  # nobody waits for its reward
    assert counted() == {"a": [1, 1, 1], "b": [0, 1, 0]}
    now += 6_000
    campaign.expire()
    assert not campaign.fail(late, 0).duplicate
    assert campaign.fail(late, 0).duplicate
    campaign.settle(rewarded, "0.01")
    campaign.reward(waits, 1)
    campaign.reward(void, 1)
    assert counted() == {"a": [1, 0, 4], "b": [1, 1, 0]}
    now += 6_000
    campaign.expire()  # one reward did not come in time
    assert counted() == {"a": [1, 0, 4], "b": [1, 0, 1]}
    spent, left = (followed.history.as_dict()["purses"][0][name][-1] for name in ("spent", "left"))
    assert (spent, left) == (campaign.status().purses[0].spent, campaign.status().purses[0].left)


def test_tickets_that_wait_for_ever_take_little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "_MOST_TICKETS", 100)
    campaign = make(budget="100")
    tickets = campaign.ask_many(500)
    for ticket in tickets:
        campaign.settle(ticket, "0.01")
    followed = FollowedHistory(campaign.terms, campaign.storage)
    assert sum(row["settled"] for row in followed.follow().as_dict()["arms"]) == 500
    assert len(followed.history.to_json()) < 20_000
    assert len(followed.history.level.tickets) <= 100
    campaign.reward(tickets[0], 1)
    assert sum(row["settled"] for row in followed.follow().as_dict()["arms"]) == 499


def test_arms_that_are_added_have_rows_and_failures_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    campaign = make(capacity=4)
    ticket = campaign.ask(arms=["a"])
    followed = FollowedHistory(campaign.terms, campaign.storage)
    assert list(counts_of(followed.follow())) == ["a", "b"]
    campaign.add_arm("c")
    campaign.fail(ticket, 0)
    campaign.fail(campaign.ask(arms=["c"]), 0)
    campaign.retire_arm("c")
    followed = restarted(campaign, monkeypatch, followed)
    assert counts_of(followed.follow(), "failed") == {"a": [1], "b": [0], "c": [1]}
    rows = followed.history.as_dict()["series"]["pulls"]
    assert [row["arm"] for row in rows] == ["a", "b", "c"]


def test_open_and_settled_tickets_outlive_a_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = make()
    failing, settling, told = (campaign.ask(arms=["b"]) for _ in range(3))
    campaign.settle(told, "0.01")
    followed = restarted(campaign, monkeypatch, FollowedHistory(campaign.terms, campaign.storage))
    campaign.fail(failing, 0)
    campaign.settle(settling, "0.01")
    campaign.reward(told, 1)
    found = followed.follow()
    assert counts_of(found, "failed", "settled", "told") == {"a": [0, 0, 0], "b": [1, 1, 1]}
    whole = History(campaign.terms)
    whole.fold(campaign.journal())
    assert found.as_dict() == whole.as_dict()


def test_a_checkpoint_that_is_damaged_or_of_another_journal_is_not_taken_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    campaign = make()
    campaign.ask()
    restarted(campaign, monkeypatch, FollowedHistory(campaign.terms, campaign.storage))
    kept = campaign.storage.checkpoint("c", HISTORY)
    assert kept is not None
    seq, digest, body = kept
    for row in ((seq, digest, bytes(body) + b" "), (seq, "0" * 32, bytes(body)), (9, digest, b"")):
        campaign.storage.keep("c", HISTORY, *row)
        assert FollowedHistory(campaign.terms, campaign.storage).history.seq == 0
        assert FollowedHistory(campaign.terms, campaign.storage).follow().seq == seq
