import re
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from purse import Account, Campaign
from purse.campaign.api.results import ALARM_KINDS
from purse.campaign.api.states import CAMPAIGN_STATES
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.sqlite import _SqliteSession
from tests.support.paths import ROOT
from tests.support.service import PROMPTS, TestClient, problem, running, service

ALL = "/metrics?show=campaigns"


def numbers(client: TestClient) -> dict[tuple[str, ...], float]:
    """All samples by name and label values."""
    families = text_string_to_metric_families(client.get(ALL).text)
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


def test_the_numbers_are_those_of_the_status() -> None:
    storage = in_memory()
    storage.now = lambda: 1_000_000
    terms = {"arms": {"a": "0.5", "b": "0.5"}, "expires_after": 10, "reward_range": [0, 10]}
    client = running(storage, **terms)
    client.post("/campaigns/prompts/asks", json={"n": 5})
    for ticket, verb, body in (
        (1, "tell", {"reward": 11, "cost": "0.75"}),
        (2, "void", None),
        (3, "fail", {"cost": 0}),
        (4, "settle", {"cost": "0.5"}),
    ):
        client.post(f"/campaigns/prompts/tickets/{ticket}/{verb}", json=body)
    storage.now = lambda: 1_007_000
    found = numbers(client)
    expected = {
        "budget": 25, "spent": 1.25, "held": 0.5, "presumed": 0, "left": 23.25, "overrun": 0.25,
    }  # fmt: skip
    assert {word: found[f"purse_{word}", "prompts", "USD"] for word in expected} == expected
    expected = {
        "open_tickets": 1, "oldest_ticket_seconds": 7, "overdue_tickets": 0, "alarms": 4,
        "tickets_total": 5, "told_total": 1, "void_total": 1, "skipped_total": 0,
        "conflicts_total": 0, "overruns_total": 1, "below_minimum_total": 0, "settled_tickets": 1,
        "cooling_arms": 1, "failed_total": 1, "outside_range_total": 1,
    }  # fmt: skip
    assert {word: found[f"purse_{word}", "prompts"] for word in expected} == expected
    storage.now = lambda: 1_011_000
    assert numbers(client)["purse_overdue_tickets", "prompts"] == 1
    client.post("/campaigns/prompts/expire")
    found = numbers(client)
    assert found["purse_presumed", "prompts", "USD"] == 0.5
    assert found["purse_presumed_tickets", "prompts"] == 1
    for verb, state in (("pause", "paused"), ("resume", "running"), ("end", "ended")):
        client.post(f"/campaigns/prompts/{verb}")
        found = numbers(client)
        states = {word: found["purse_state", "prompts", word] for word in CAMPAIGN_STATES}
        assert states == {word: word == state for word in CAMPAIGN_STATES}


def test_every_kind_of_alarm_has_a_number() -> None:
    storage = in_memory()
    storage.now = lambda: 1_000_000
    client = running(storage, arms={"a": "0.5"}, budget="0.5")
    client.post("/campaigns/prompts/asks")
    client.post("/campaigns/prompts/tickets/1/tell", json={"reward": 1, "cost": "0.75"})
    found = numbers(client)
    raised = {kind for kind in ALARM_KINDS if found["purse_alarm", "prompts", kind]}
    assert raised == {"overdrawn", "overrun", "dearer"}
    storage.now = lambda: 87_400_000  # a day later
    assert numbers(client)["purse_alarm", "prompts", "overrun"] == 0


def test_accounts_have_numbers_of_their_own_and_labels_have_none() -> None:
    client = service()
    account = {"name": "team-a", "budget": "500", "resources": ["USD"]}
    assert client.post("/accounts", json=account).status_code == 201
    assert client.post("/campaigns", json={**PROMPTS, "account": "team-a"}).status_code == 201
    labelled = {"arms": ["small"], "labels": {"tenant": "acme"}}
    client.post("/campaigns/prompts/asks", json=labelled)
    found = numbers(client)
    balance = {"budget": 500, "spent": 0, "held": 0.01, "presumed": 0, "left": 499.99, "overrun": 0}
    assert {word: found[f"purse_account_{word}", "team-a", "USD"] for word in balance} == balance
    assert found["purse_account_state", "team-a", "running"] == found["purse_storage_up",] == 1
    assert not {word for key in found for word in key} & {"acme", "tenant"}
    assert ("purse_budget", "team-a", "USD") not in found


def test_what_may_be_spent_in_a_period_has_a_number_of_its_own() -> None:
    storage = in_memory()
    storage.now = lambda: 1_000_000
    client = running(storage, every="day")
    account = {"name": "team-a", "budget": "30", "every": "day", "resources": ["USD"]}
    client.post("/accounts", json=account)
    client.post("/accounts", json={"name": "team-b", "budget": "7", "resources": ["USD"]})
    storage.now = lambda: 1_000_000 + 24 * 86_400_000
    client.post("/campaigns/prompts/asks")
    found = numbers(client)
    assert found["purse_period_budget", "prompts", "USD"] == 25
    assert found["purse_account_left", "team-a", "USD"] == 30
    assert found["purse_account_period_budget", "team-a", "USD"] == 30
    assert found["purse_account_period_budget", "team-b", "USD"] == 7
    assert "of a resource" not in client.get(ALL).text


def test_campaigns_are_shown_to_those_who_ask_for_them() -> None:
    client = running()
    client.post("/accounts", json={"name": "team-a", "budget": "500"})
    plain, whole = client.get("/metrics").text, client.get(ALL).text
    assert "prompts" not in plain
    assert 'purse_account_left{account="team-a",resource="units"} 500.0\n' in plain
    assert 'purse_left{campaign="prompts",resource="USD"} 25.0\n' in whole
    assert "show='all': must be" in problem(client.get("/metrics?show=all"), 400, "invalid-input")
    assert "known: show" in problem(client.get("/metrics?all=1"), 400, "invalid-input")


@pytest.mark.parametrize("path", [ALL, "/metrics", "/overview", "/accounts/team-a"])
def test_a_few_statements_read_any_number_of_campaigns(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, texts = _SqliteSession.read, list[str]()

    def counted(self: Any, statements: Any) -> Any:
        texts.extend(text for text, _ in statements)
        return read(self, statements)

    monkeypatch.setattr(_SqliteSession, "read", counted)
    storage, counts = in_memory(), list[int]()
    Account.create("team-a", budget=9, resources=["USD"], storage=storage)
    for number in range(12):
        terms = {**PROMPTS, "name": f"c{number}", "account": "team-a" if number % 3 else None}
        Campaign.create(**terms, storage=storage)
        if number in (2, 11):
            client = service(storage)
            texts.clear()
            assert client.get(path).status_code == 200
            counts.append(len(texts))
    assert counts[0] == counts[1] <= 12, texts


def test_every_number_is_documented() -> None:
    client = running()
    client.post("/accounts", json={"name": "team-a", "budget": 1})
    client.get("/campaigns")
    known = {name for name, *_ in numbers(client)}
    documented = (ROOT / "docs" / "operations.md").read_text()
    told = set(re.findall(r"`(purse_[a-z_]+)`", documented))
    ends = r"_(created|bucket|count|sum)$"
    assert {re.sub(ends, "", name) for name in known if not name.endswith("_created")} <= told
    there = set(re.findall(r"\bpurse_[a-z_]+", client.get(ALL).text))
    assert told <= there | {f"{name}_total" for name in there}  # of receivers there is no sample


def test_every_kind_of_alarm_is_documented() -> None:
    page = (ROOT / "docs" / "campaigns.md").read_text()
    table = page.partition("\nAlarms, ")[2].partition("\n\nAlarms about")[0]
    assert {*re.findall(r"(?m)^\| `([a-z-]+)`", table), "storage"} == set(ALARM_KINDS)


def test_requests_are_counted_by_route_and_status_and_never_by_path() -> None:
    client = running()
    client.post("/campaigns/prompts/asks", json={"n": 2})
    client.post(
        "/campaigns/prompts/tells",
        json={"reports": [{"ticket": number, "reward": 1, "cost": 0.001} for number in (1, 9)]},
    )
    for name in ("other", "another"):
        client.get(f"/campaigns/{name}")
    client.get("/nothing/here")
    client.request("BREW", "/campaigns")
    found = numbers(client)
    requests = {
        key[1:]: value for key, value in found.items() if key[0] == "purse_http_requests_total"
    }
    assert requests == {
        ("POST", "/campaigns", "201"): 1,
        ("POST", "/campaigns/{name}/asks", "200"): 1,
        ("POST", "/campaigns/{name}/tells", "200"): 1,
        ("GET", "/campaigns/{name}", "404"): 2,
        ("GET", "unknown", "404"): 1,
        ("other", "/campaigns", "405"): 1,
    }
    assert found["purse_http_seconds_count", "/campaigns/{name}", "404"] == 2
    assert found["purse_process_asks_total", "prompts"] == 2
    assert found["purse_process_tells_total", "prompts"] == 1
    assert ("purse_process_asks_total", "prompts") not in numbers(running()), "apps count apart"
