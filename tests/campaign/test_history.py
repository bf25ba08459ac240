from __future__ import annotations

import json
import random
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pytest

from purse.campaign.history import SHOWN, History
from purse.campaign.journal import Entry
from purse.campaign.local.campaign import LocalCampaign as Campaign
from purse.campaign.storage.memory import Memory
from purse.campaign.terms import Terms
from purse.campaign.time_series import POINTS, LastMinute
from purse.errors import AskRefused

START = 1_700_000_000_000
CENT = 10**7


def make_terms(
    arms: int = 2,
    resources: tuple[str, ...] = ("USD",),
    budget: tuple[int, ...] = (100 * CENT,),
) -> Terms:
    costs = ((1,) * len(resources),) * arms
    names = tuple("abcdefghijklmnopqrstuvwxyz"[:arms])
    return Terms(
        "c",
        names,
        resources,
        budget,
        costs,
        costs,
        None,
        "uniform",
        0,
        None,
        0,
        "0" * 16,
    )


class Script:
    """Writes a journal by hand."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.at = START
        self.add("created")

    def add(self, kind: str, ticket: int | None = None, after: int = 0, **body: Any) -> None:
        self.at += after
        self.entries.append(Entry(len(self.entries) + 1, self.at, kind, None, ticket, body))

    def ask(self, ticket: int, arms: list[int], held: list[int], after: int = 0) -> None:
        self.add(
            "asked",
            after=after,
            n=1,
            deadline=None,
            tickets=[
                {
                    "id": ticket,
                    "t": ticket,
                    "arms": arms,
                    "probabilities": [0.5] * len(arms),
                    "held": held,
                }
            ],
        )

    def tell(
        self,
        ticket: int,
        arms: list[int],
        rewards: list[float],
        costs: list[int],
        spent: list[int],
        after: int = 0,
        **more: Any,
    ) -> None:
        facts = {"from": "held", "overrun": [0] * len(spent), **more}
        self.add(
            "told",
            ticket,
            after,
            t=ticket,
            arms=arms,
            probabilities=[0.5],
            rewards=rewards,
            costs=costs,
            spent=spent,
            **facts,
        )


def folded(script: Script, terms: Terms | None = None) -> History:
    history = History(terms or make_terms())
    history.fold(script.entries)
    return history


def last(history: History, resource: int = 0) -> dict[str, str]:
    purse = history.as_dict()["purses"][resource]
    return {
        name: purse[name][-1] for name in ("budget", "spent", "held", "presumed", "left", "overrun")
    }


def test_purses_follow_every_kind_of_entry() -> None:
    script = Script()
    for ticket in range(1, 6):
        script.ask(ticket, [0], [10 * CENT], after=1000)
    script.tell(1, [0], [1.0], [4 * CENT], [4 * CENT])
    script.add("voided", 2, **{"from": "held", "released": [10 * CENT]})
    script.add("expired", 3, units=[10 * CENT])
    script.add("voided", 4, **{"from": "held", "released": [10 * CENT]})
    assert last(folded(script)) == {
        "budget": "1",
        "spent": "0.04",
        "held": "0.1",
        "presumed": "0.1",
        "left": "0.76",
        "overrun": "0",
    }
    script.tell(3, [0], [0.0], [13 * CENT], [10 * CENT], overrun=[3 * CENT], **{"from": "presumed"})
    script.tell(4, [0], [0.0], [2 * CENT], [0], overrun=[2 * CENT], **{"from": "void"})
    script.add("topped_up", units=[50 * CENT])
    script.add("conflict", 1, report={})
    history = folded(script)
    assert last(history) == {
        "budget": "1.5",
        "spent": "0.14",
        "held": "0.1",
        "presumed": "0",
        "left": "1.26",
        "overrun": "0.05",
    }
    assert (history.seq, history.asks, history.tells) == (len(script.entries), 5, 3)


def test_an_arms_row_is_computed_by_hand() -> None:
    script = Script()
    for ticket, (reward, cost) in enumerate([(1.0, 2), (0.0, 4), (0.5, 3)], 1):
        script.ask(ticket, [0], [5 * CENT], after=1000)
        script.tell(ticket, [0], [reward], [cost * CENT], [cost * CENT], after=500)
    script.ask(4, [1], [5 * CENT])
    one, two = folded(script).as_dict()["arms"]
    assert (
        one["arm"],
        one["pulls"],
        one["told"],
        one["mean_reward"],
        one["mean_costs"],
        one["share"],
    ) == ("a", 3, 3, 0.5, [pytest.approx(0.03)], 0.75)
    ratio = 1.5 / 0.09
    rest = sum(
        (reward - ratio * cost) ** 2 for reward, cost in [(1.0, 0.02), (0.0, 0.04), (0.5, 0.03)]
    )
    margin = 1.959964 * (rest / (3 * 2)) ** 0.5 / 0.03
    assert one["efficiency"] == pytest.approx(ratio)
    assert one["interval"] == [0.0, pytest.approx(ratio + margin)]
    assert ratio - margin < 0, "an efficiency is never negative"
    assert two == {
        **two,
        "pulls": 1,
        "told": 0,
        "mean_reward": None,
        "mean_costs": None,
        "efficiency": None,
        "interval": None,
        "share": 0.25,
    }


def test_one_report_has_no_interval_and_free_arms_no_efficiency() -> None:
    script = Script()
    script.tell(1, [0], [0.5], [CENT], [CENT])
    script.tell(2, [1], [0.5], [0], [0])
    one, two = folded(script).as_dict()["arms"]
    assert (one["efficiency"], one["interval"]) == (pytest.approx(50), None)
    assert (two["efficiency"], two["interval"]) == (None, None)


def test_the_interval_covers_the_true_ratio_as_often_as_it_says() -> None:
    rng = random.Random(5)
    hits = 0
    for _ in range(400):
        script = Script()
        for ticket in range(1, 61):
            cost = rng.randint(1, 9) * CENT
            script.tell(ticket, [0], [float(rng.random() < 0.4)], [cost], [cost])
        low, high = folded(script).as_dict()["arms"][0]["interval"]
        hits += low <= 0.4 / 0.05 <= high
    assert 0.91 <= hits / 400 <= 0.98


def test_resources_are_told_apart() -> None:
    terms = make_terms(3, ("USD", "tokens"), (100 * CENT, 1000 * CENT))
    script = Script()
    script.ask(1, [2], [10 * CENT, 20 * CENT])
    script.ask(2, [0], [10 * CENT, 20 * CENT])
    script.tell(1, [2], [1.0], [CENT, 5 * CENT], [CENT, 5 * CENT])
    script.tell(2, [0], [0.0], [2 * CENT, 6 * CENT], [2 * CENT, 6 * CENT])
    history = folded(script, terms)
    rows = history.as_dict()["arms"]
    assert [row["pulls"] for row in rows] == [1, 0, 1]
    assert [row["mean_costs"] for row in rows] == [[0.02, 0.06], None, [0.01, 0.05]]
    assert (last(history)["spent"], last(history, 1)["spent"]) == ("0.03", "0.11")


def test_a_round_without_a_pull_counts_as_asked_and_for_no_arm() -> None:
    script = Script()
    script.ask(1, [-1], [0])
    history = folded(script)
    assert history.asks == 1
    assert [row["pulls"] for row in history.as_dict()["arms"]] == [0, 0]


def long_script(entries: int, seed: int = 0) -> Script:
    rng, script = random.Random(seed), Script()
    for ticket in range(1, entries // 2):
        script.ask(ticket, [rng.randrange(2)], [CENT], after=rng.choice([1, 3, 700, 40_000]))
        script.tell(
            ticket,
            [rng.randrange(2)],
            [rng.random()],
            [CENT // 100],
            [CENT // 100],
            after=rng.randrange(900),
        )
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
    script = long_script(20_000)
    series = folded(script).as_dict()
    at, spent = series["series"]["at"], [float(text) for text in series["purses"][0]["spent"]]
    assert POINTS / 3 < len(at) <= POINTS
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
    script.ask(1, [0], [CENT], after=5000)
    script.tell(1, [0], [1.0], [CENT], [CENT], after=-3000)
    at = folded(script).as_dict()["series"]["at"]
    assert at == sorted(at)


def test_many_arms_share_the_last_series() -> None:
    script = Script()
    for ticket in range(1, 101):
        script.ask(ticket, [ticket % 20 if ticket % 3 else 19], [CENT], after=1000)
    history = folded(script, make_terms(20))
    rows = history.as_dict()["series"]["pulls"]
    assert len(rows) == SHOWN + 1
    assert [row["arm"] for row in rows].count(None) == 1
    assert rows[-1]["arm"] is None
    assert "t" in [row["arm"] for row in rows]
    assert sum(row["pulls"][-1] for row in rows) == 100


def steady(seconds: int, cost: int, start: int = 0) -> Script:
    script = Script()
    script.at += start
    for ticket in range(1, seconds + 1):
        script.ask(ticket, [0], [cost], after=500)
        script.tell(ticket, [0], [1.0], [cost], [cost], after=500)
    return script


def test_the_forecast_is_what_is_left_over_the_recent_rate() -> None:
    script = steady(20, CENT)
    script.ask(21, [0], [10 * CENT])
    (found,) = folded(script).forecast(script.at)
    assert found == {
        "per_second": pytest.approx(0.01),
        "seconds": pytest.approx(70),
        "at": pytest.approx(script.at / 1000 + 70),
    }


def test_only_the_recent_rate_counts() -> None:
    script = steady(1600, CENT // 100)
    for ticket in range(2001, 2401):
        script.tell(ticket, [0], [1.0], [CENT // 10], [CENT // 10], after=1000)
    (found,) = folded(script).forecast(script.at)
    assert found is not None
    assert found["per_second"] == pytest.approx(0.001, rel=0.05)  # not the mean over all, 0.00028


def test_what_is_presumed_is_spending_too() -> None:
    script = Script()
    script.ask(1, [0], [10 * CENT])
    script.add("expired", 1, after=10_000, units=[10 * CENT])
    (found,) = folded(script).forecast(script.at)
    assert found is not None
    assert found["seconds"] == pytest.approx(90)


def test_there_is_no_forecast_where_nothing_is_spent_of_late_or_nothing_runs() -> None:
    script = Script()
    assert folded(script).forecast(START) == [None]
    script.ask(1, [0], [CENT], after=1000)
    assert folded(script).forecast(script.at) == [None]
    script = steady(100, CENT // 10)
    assert folded(script).forecast(script.at + 3_600_000) == [None]
    for kind, runs in (("paused", False), ("resumed", True), ("closed", False)):
        script.add(kind)
        assert (folded(script).forecast(script.at) != [None]) == runs


def test_rates_are_those_of_the_last_minute() -> None:
    script = steady(300, CENT // 10)
    history = folded(script)
    assert history.as_dict()["rates"] == {
        "asks": pytest.approx(1, rel=0.02),
        "tells": pytest.approx(1, rel=0.02),
    }
    assert history.as_dict(script.at + 30_000)["rates"]["asks"] == pytest.approx(0.5, rel=0.04)
    assert history.as_dict(script.at + 61_000)["rates"] == {"asks": 0, "tells": 0}


def test_the_minute_forgets() -> None:
    minute = LastMinute()
    for second in range(1000):
        minute.begin(second, second, second)
    assert len(minute.seconds) <= 60
    assert minute.since(999, 1000, 1000) == (60, 60)


def test_a_history_before_the_first_entry_and_as_json() -> None:
    assert History(make_terms()).as_dict()["purses"][0]["left"][-1] == "1"
    facts = folded(long_script(500)).as_dict()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts


def test_it_agrees_with_the_campaign_whose_journal_it_is() -> None:
    rng, storage, now = random.Random(1), Memory(), START
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
