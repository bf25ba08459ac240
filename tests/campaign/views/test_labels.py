"""Labels of asks: what they may be, what is summed for them, and what an audit finds."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from io import StringIO
from operator import add
from random import Random
from typing import Any

import pytest

from purse import Campaign, Conflict, InvalidInput
from purse.campaign.rules import asks
from purse.campaign.storage.connect import in_memory
from tests.support.campaigns import exported
from tests.support.game import Game
from tests.support.storages import MemoryHarness, StorageHarness

TERMS: dict[str, Any] = {
    "arms": {"a": 1, "b": 2},
    "budget": 100,
    "cost_min": "0.001",
    "policy": "uniform",
    "cooldown": None,
    "expires_after": 60,
}
TENANT = {"tenant": "x"}


@pytest.fixture
def harness() -> MemoryHarness:
    return MemoryHarness()


@pytest.fixture
def campaign(harness: MemoryHarness) -> Campaign:
    made: Campaign = harness.create("c", **TERMS)
    return made


def sums(campaign: Campaign) -> dict[str, list[str]]:
    """Tickets, spent, held, presumed and overrun of each label, of the first resource."""
    return {
        f"{each.key}={each.value}": [
            str(each.tickets),
            each.spent[0],
            each.held[0],
            each.presumed[0],
            each.overrun[0],
        ]
        for each in campaign.labels()
    }


def test_labels_by_day_count_tickets_on_the_local_day_of_their_ask(harness: MemoryHarness) -> None:
    """New York's days; what is reported, lost, or told late belongs to the day of the ask."""
    zone = {"every": "month", "time_zone": "America/New_York"}
    campaign = harness.create("c", **TERMS, **zone)
    for hour in range(48):
        ticket = campaign.ask(arms=["a"], labels={"tenant": "xyz"[hour % 3], "team": "t"})
        if hour % 4 == 0:
            campaign.tell(ticket, 1, "1.25")  # more than was held
        elif hour % 4 == 1:
            campaign.fail(ticket, "0.1")
        elif hour % 4 == 2:
            campaign.void(ticket)
        harness.clock += 3600 * 1000
        campaign.expire()
        if hour % 8 == 3:
            campaign.tell(ticket, 0, "0.5")
    days = campaign.labels(by="day")
    assert [(each.day, each.tickets) for each in days if each.key == "team"] == [
        ("2027-01-15", 21),
        ("2027-01-16", 24),
        ("2027-01-17", 3),
    ]
    for total in campaign.labels():
        parts = [label for label in days if (label.key, label.value) == (total.key, total.value)]
        assert sum(part.tickets for part in parts) == total.tickets
        for sums in ("spent", "held", "presumed", "overrun"):
            added = sum(Decimal(getattr(part, sums)[0]) for part in parts)
            assert added == Decimal(getattr(total, sums)[0])
    tenants = campaign.labels("tenant", 1, by="day")
    assert [label.key for label in tenants] == ["tenant"] * 3
    wrong: Any = "week"
    with pytest.raises(InvalidInput, match="by='week': must be one of 'day'"):
        campaign.labels(by=wrong)


@pytest.mark.parametrize("seed", range(20))
def test_the_days_together_are_the_labels_whatever_was_reported(seed: int) -> None:
    """Reports of all kinds come late, twice, above the hold, and on void tickets."""
    harness, rng = MemoryHarness(), Random(seed)
    campaign = harness.create("c", **TERMS)
    for number in range(1, 40):
        campaign.ask(arms=["a"], labels={"tenant": rng.choice("xyz")})
        for _ in range(3):
            verb = rng.choice(["tell", "settle", "reward", "fail", "break", "void"])
            cost = rng.choice(["0", "0.5", "1.25"])
            said = {"tell": (0.5, cost), "settle": (cost,), "reward": (0.5,), "fail": (cost,)}
            ticket = rng.randint(1, number)
            with suppress(Conflict):
                getattr(campaign, "fail" if verb == "break" else verb)(ticket, *said.get(verb, ()))
        harness.clock += rng.randrange(3_600_000)
        campaign.expire()
    added: dict[str, list[Decimal]] = {}
    for day in campaign.labels(by="day"):
        money = (day.tickets, *day.spent, *day.held, *day.presumed, *day.overrun)
        before = added.setdefault(f"{day.key}={day.value}", [Decimal(0)] * 5)
        added[f"{day.key}={day.value}"] = list(map(add, before, map(Decimal, money)))
    assert added == {label: list(map(Decimal, money)) for label, money in sums(campaign).items()}
    assert campaign.audit(full=True).ok


def test_a_repeat_with_other_labels_is_a_conflict(campaign: Campaign) -> None:
    first = campaign.ask("r", labels={"tenant": "x", "team": "y"})
    assert campaign.ask("r", labels={"team": "y", "tenant": "x"}) == first
    for other in (None, {}, TENANT, {"tenant": "x", "team": "z"}):
        with pytest.raises(Conflict, match="another request: 1 ticket with labels"):
            campaign.ask("r", labels=other)
    campaign.ask("s")
    with pytest.raises(Conflict):
        campaign.ask("s", labels=TENANT)
    assert campaign.ask("s", labels={})
    assert sums(campaign)["tenant=x"][0] == "1"


def test_what_are_no_labels_is_refused(campaign: Campaign) -> None:
    wrong: list[tuple[Any, str]] = [
        ({"tenant": 1}, r"labels\['tenant'\]=1: must be text"),
        ({"tenant": "x" * 201}, "must be text of 1 to 200"),
        ({"tenant": "a\nb"}, "printable"),
        ({"": "x"}, "a key must be text of 1 to 50"),
        ({"k" * 51: "x"}, "a key must be text of 1 to 50"),
        ({1: "x"}, "a key must be text"),
        ({f"k{number}": "x" for number in range(9)}, "at most 8 keys"),
    ]
    for labels, said in wrong:
        with pytest.raises(InvalidInput, match=said):
            campaign.ask(labels=labels)
    for wanted, said in (
        ({"key": 1}, "key=1: a key must be text of 1 to 50"),
        ({"key": ""}, "key='': a key must be text"),
        ({"limit": 10_001}, "limit=10001: must be a whole number from 1 to 10000"),
    ):
        with pytest.raises(InvalidInput, match=said):
            campaign.labels(**wanted)
    assert campaign.status().entries == 1


def test_a_ninth_key_is_refused_and_nothing_is_written(campaign: Campaign) -> None:
    campaign.ask(labels={f"k{number}": "x" for number in range(7)})
    campaign.ask(labels={"k7": "other"})
    before = campaign.status().digest
    with pytest.raises(InvalidInput, match=r"labels='k8': must be one of the 8 keys .* k0, k1"):
        campaign.ask(labels={"k8": "x"})
    assert campaign.status().digest == before
    campaign.ask(labels={"k0": "y", "k7": "z"})
    assert campaign.audit().ok


def test_a_key_may_have_any_number_of_values(campaign: Campaign) -> None:
    for number in range(101):
        campaign.void(campaign.ask(arms=["a"], labels={"id": f"{number}"}))
    assert len(campaign.labels(limit=10_000)) == 101
    assert len(campaign.labels()) == 100
    assert campaign.audit(full=True).ok
    game = Game(budget=10_000)
    for number in range(1_010):
        game.do(asks.ask, 1, f"{number}", None, None, {"id": f"{number}"})
    assert len(game.campaign.labels.rows) == 1_010


def test_the_labels_on_which_most_was_spent_come_first(campaign: Campaign) -> None:
    def spend(cost: Any, **given: str) -> None:
        campaign.tell(campaign.ask(arms=["a"], labels=given), 1, cost)

    spend("0.5", tenant="x")
    spend(3, tenant="y")  # 2 of it overrun
    spend("0.75", tenant="z", team="p")
    campaign.ask(arms=["a"], labels={"team": "q"})
    campaign.ask_many(2, arms=["a"], labels={"team": "r"})

    def listed(*wanted: Any) -> list[str]:
        return [f"{each.key}={each.value}" for each in campaign.labels(*wanted)]

    assert listed() == ["tenant=y", "team=p", "tenant=z", "tenant=x", "team=r", "team=q"]
    assert listed(None, 3) == ["tenant=y", "team=p", "tenant=z"]
    assert listed("tenant") == ["tenant=y", "tenant=z", "tenant=x"]
    assert listed("team", 1) == ["team=p"]
    assert listed("nobody") == []


def test_a_journal_with_labels_that_no_campaign_writes_is_not_restored(campaign: Campaign) -> None:
    campaign.ask(labels=TENANT)
    text = exported(campaign).getvalue()
    for wrong in ('"labels":{"tenant":1}', '"labels":{"tenant":"x"},"other":["tenant"]'):
        forged = text.replace('"labels":{"tenant":"x"}', wrong)
        with pytest.raises(Exception, match=r"entry 2|contradicts"):
            Campaign.restore(StringIO(forged), storage=in_memory())


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_connections_that_race_for_a_label_agree(
    make_harness: Callable[[str], StorageHarness], kind: str
) -> None:
    harness = make_harness(kind)
    harness.create("c", **TERMS)
    places = [Campaign.open("c", storage=harness.storage()) for _ in range(3)]

    def work(number: int) -> None:
        for turn in range(4):
            ticket = places[number].ask(arms=["a"], labels={"tenant": f"{turn}"})
            places[number].tell(ticket, 1, 1)

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(work, range(3)))
    found = sums(places[0])
    assert found == {f"tenant={turn}": ["3", "3", "0", "0", "0"] for turn in range(4)}
    assert places[0].audit(full=True).ok
