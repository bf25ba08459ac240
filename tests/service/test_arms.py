"""Asks with arms, arms that come and go, and arms that cool down, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from purse import Campaign
from purse.campaign.storage.connect import in_memory
from purse.errors import ArmsCoolingDown
from purse.service import problems
from tests.support.service import PROMPTS, TestClient, problem, running, service

AT = "/campaigns/prompts"
ROOM = {"capacity": 4, "cost_ceiling": "0.1"}
NAMES = ("a/b", "..", "é=1, 2%", "x" * 200, "#?&", "日本", "{name}")


def ask(client: Any, status: int = 200, **body: Any) -> Any:
    answer = client.post(f"{AT}/asks", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()["tickets"]


def test_the_new_terms_reach_the_campaign() -> None:
    storage = in_memory()
    terms = {
        "cooldown": 2,
        "reward_within": 60,
        "missing_reward": 5,
        "reward_range": [0, 20],
        "explore": 0.1,
        **ROOM,
    }
    client = running(storage, **terms)
    kept = Campaign.open("prompts", storage=storage).terms
    assert kept.cooldown == 2_000
    assert (kept.reward_within, kept.missing_reward) == (60_000, 5)
    assert (kept.reward_range, kept.explore, kept.capacity) == ((0, 20), 0.1, 4)
    assert (kept.floor[0], kept.ceiling[0]) == ((100_000,), (100_000_000,))
    ask(client)
    report = {"reward": 17.5, "cost": "0.001"}
    assert client.post(f"{AT}/tickets/1/tell", json=report).json()["state"] == "told"
    assert client.post(f"{AT}/tickets/1/tell", json=report).json()["duplicate"] is True


def test_without_a_cool_down_failures_have_no_consequence() -> None:
    client = running(cooldown=None)
    for ticket in ask(client, n=4, arms=["small"]):
        client.post(f"{AT}/tickets/{ticket['id']}/fail")
    assert ask(client, arms=["small"])[0]["arm"] == "small"
    assert client.get(AT).json()["cooling"] == []


@pytest.mark.parametrize("arms", [["large"], {"large": "0.02"}, {"large": {"USD": 0.02}}])
def test_an_ask_chooses_among_the_arms_it_names(arms: Any) -> None:
    client = running()
    tickets = ask(client, n=5, arms=arms)
    assert {ticket["arm"] for ticket in tickets} == {"large"}
    held = "0.05" if isinstance(arms, list) else "0.02"
    assert {ticket["held"][0] for ticket in tickets} == {held}
    assert {ticket["probability"] for ticket in tickets} == {1.0}


def test_a_repeated_ask_names_the_same_arms_in_any_order() -> None:
    client = running()
    first = ask(client, request_id="q", arms=["small", "large"])
    assert ask(client, request_id="q", arms=["large", "small"]) == first
    for other in (["small"], {"small": "0.01", "large": "0.05"}, None):
        answer = client.post(f"{AT}/asks", json={"request_id": "q", "arms": other})
        problem(answer, 409, "conflict")
    assert client.get(AT).json()["counts"]["tickets"] == 1


@pytest.mark.parametrize(
    ("arms", "words"),
    [
        ([], "arms=[]: must name at least one arm"),
        ({}, "arms={}: must name at least one arm"),
        ("small", "arms='small': must be a list of names"),
        ([1], "unknown arm in arms '1'"),
        (["smal"], "unknown arm in arms 'smal'; did you mean 'small'?"),
        ({"smal": 1}, "unknown arm in arms 'smal'"),
        ({"small": "0.02"}, "arms['small']=0.02: must be at most the arm's maximum, 0.01"),
        ({"small": -1}, "arms['small']=-1: must not be negative"),
        ({"small": None}, "arms['small']=None: must be a number"),
        ({"small": [1, 2]}, "arms['small']=[1, 2]: must be one amount"),
        ({"small": {"EUR": 1}}, "EUR"),
        (["x" * 201], "unknown arm in arms 'xxx"),
        ({"x" * 201: 1}, "unknown arm in arms 'xxx"),
        ({"small": {"x" * 201: 1}}, "unknown resource in arms['small'] 'xxx"),
    ],
)
@pytest.mark.parametrize("verb", ["asks", "probabilities"])
def test_arms_that_cannot_be_are_refused_by_name(
    untouched: TestClient, verb: str, arms: Any, words: str
) -> None:
    answer = untouched.post(f"{AT}/{verb}", json={"arms": arms})
    assert words in problem(answer, 400, "invalid-input")
    assert untouched.get(AT).json()["entries"] == 1


def test_probabilities_are_those_of_the_next_ask() -> None:
    client = running()
    assert client.post(f"{AT}/probabilities").json() == {
        "probabilities": {"small": 0.5, "large": 0.5}
    }
    body = {"arms": ["large"]}
    found = client.post(f"{AT}/probabilities", json=body).json()["probabilities"]
    assert found == {"small": 0.0, "large": 1.0}
    assert client.get(AT).json()["entries"] == 1
    drawn = running(policy="budgeted-thompson", arms={"a": 1})
    ask(drawn)
    words = problem(drawn.post(f"{AT}/probabilities"), 400, "invalid-input")
    assert words == "budgeted-thompson draws its arm without computing probabilities"


def test_arms_are_added_changed_and_retired() -> None:
    client = running(**ROOM)
    new = {"name": "medium", "cost_min": "0.001", "cost_max": {"USD": "0.03"}}
    for _ in range(2):
        added = client.post(f"{AT}/arms", json=new).json()
        assert (added["arms"], added["entries"]) == (["small", "large", "medium"], 2)
    assert ask(client, arms=["medium"])[0]["held"] == ["0.03"]
    client.post(f"{AT}/arms/set", json={"name": "medium", "cost_max": "0.02"})
    assert ask(client, arms=["medium"])[0]["held"] == ["0.02"]
    for _ in range(2):
        gone = client.post(f"{AT}/arms/retire", json={"name": "medium"}).json()
        assert (gone["arms"], gone["retired"]) == (["small", "large"], ["medium"])
    answer = client.post(f"{AT}/asks", json={"arms": ["medium"]})
    assert "'medium' is retired" in problem(answer, 400, "invalid-input")
    assert client.post(f"{AT}/tickets/1/tell", json={"reward": 1, "cost": 0}).json()["spent"]
    back = client.post(f"{AT}/arms", json={"name": "medium"}).json()
    assert (back["retired"], ask(client, arms=["medium"])[0]["held"]) == ([], ["0.02"])


@pytest.mark.parametrize("name", NAMES)
def test_an_arm_may_have_any_printable_name(name: str) -> None:
    client = running(**ROOM)
    assert client.post(f"{AT}/arms", json={"name": name}).json()["arms"][2] == name
    assert client.post(f"{AT}/arms/set", json={"name": name, "cost_max": "0.02"}).status_code == 200
    assert ask(client, arms={name: "0.01"})[0]["arm"] == name
    assert client.post(f"{AT}/arms/retire", json={"name": name}).json()["retired"] == [name]


@pytest.fixture(scope="module")
def with_room() -> TestClient:
    """A service with a campaign that takes more arms, for requests that change nothing."""
    return running(**ROOM)


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("", {}, "name: is missing"),
        ("", {"name": ""}, "name='': must be a printable name"),
        ("", {"name": 7}, "name=7: must be a printable name"),
        ("", {"name": "a\tb"}, "name='a\\tb': must be a printable name"),
        ("", {"name": "x" * 201}, "name='xxx"),
        ("", {"name": "third", "cost_max": "-1"}, "cost_max=-1 USD: must lie between"),
        ("", {"name": "third", "cost_max": "0.2"}, "between the cost_min of arm"),
        ("", {"name": "third", "cost_max": [1, 2]}, "cost_max=[1, 2]: must be one amount"),
        ("", {"name": "third", "price": 1}, "unknown field of add_arm 'price'"),
        ("", {"name": "small", "cost_max": "0.02"}, "is an arm already; set_arm changes"),
        ("/set", {"name": "smal", "cost_max": 1}, "unknown arm 'smal'; did you mean 'small'?"),
        ("/set", {"name": "small", "cost_max": 1}, "between the cost_min of arm"),
        ("/set", {"name": "small", "cost_min": "0.09"}, "between the cost_min of arm"),
        ("/retire", {"name": "smal"}, "unknown arm 'smal'"),
        ("/retire", {"name": "small", "cost_max": 1}, "unknown field of retire_arm 'cost_max'"),
        ("/retire", {}, "name: is missing"),
    ],
)
def test_an_arm_that_cannot_be_is_refused_by_name(
    with_room: TestClient, path: str, body: dict[str, Any], words: str
) -> None:
    answer = with_room.post(f"{AT}/arms{path}", json=body)
    assert words in problem(answer, 400, "invalid-input")
    assert with_room.get(AT).json()["entries"] == 1


def test_a_campaign_that_is_full_or_has_ended_gets_no_arms() -> None:
    client = running()
    answer = client.post(f"{AT}/arms", json={"name": "third"})
    assert "a capacity of 2 arms" in problem(answer, 400, "invalid-input")
    client.post(f"{AT}/arms/retire", json={"name": "small"})
    answer = client.post(f"{AT}/arms/retire", json={"name": "large"})
    assert "no arm would be left" in problem(answer, 400, "invalid-input")
    client.post(f"{AT}/end")
    for path, body in (("", {"name": "small"}), ("/set", {"name": "large"}), ("/retire", {})):
        answer = client.post(f"{AT}/arms{path}", json={"name": "small", **body})
        problem(answer, 409, "campaign-ended")
    problem(service().post(f"{AT}/arms", json={"name": "a"}), 404, "not-found")


@pytest.mark.parametrize(("seconds", "header"), [(0.75, "1"), (2, "2"), (7.001, "8")])
def test_arms_that_cool_down_say_when_to_come_again(seconds: float, header: str) -> None:
    storage = in_memory()
    storage.now = lambda: 1_000_000
    client = running(storage, cooldown=seconds)
    ask(client, arms=["small"])
    client.post(f"{AT}/tickets/1/fail", json={"reason": "429"})
    for verb in ("asks", "probabilities"):
        answer = client.post(f"{AT}/{verb}", json={"arms": ["small"]})
        words = problem(answer, 503, "arms-cooling-down")
        assert words == (
            f"calls of 'small' failed, and the arm cools down: ask again in {seconds:g} s"
        )
        assert answer.headers["Retry-After"] == header
        assert answer.json()["seconds"] == seconds
    assert ask(client)[0]["arm"] == "large"
    (cooling,) = client.get(AT).json()["cooling"]
    until = 1_000 + seconds
    assert cooling == {"arm": "small", "until": until, "length": seconds, "probe": None}
    storage.now = lambda: 1_000_000 + round(seconds * 1000)
    (probe,) = ask(client, arms=["small"])
    assert client.get(AT).json()["cooling"][0]["probe"] == probe["id"]
    client.post(f"{AT}/tickets/{probe['id']}/settle", json={"cost": "0.001"})
    assert client.get(AT).json()["cooling"] == []


def test_arms_that_cool_down_are_no_failure_of_the_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    client = running()
    ask(client, arms=["small"])
    client.post(f"{AT}/tickets/1/fail")
    problem(client.post(f"{AT}/asks", json={"arms": ["small"]}), 503, "arms-cooling-down")
    assert caplog.text.count("arms-cooling-down") == 0
    answer = problems.answer_to(ArmsCoolingDown("wait"))
    assert answer.headers["Retry-After"] == "1"


def test_a_reward_that_does_not_come_counts_as_what_was_declared() -> None:
    storage = in_memory()
    storage.now = lambda: 1_000_000
    client = running(storage, reward_within=10, missing_reward=0)
    ask(client)
    client.post(f"{AT}/tickets/1/settle", json={"cost": "0.001"})
    storage.now = lambda: 1_011_000
    ask(client)
    (found,) = client.get(f"{AT}/tickets?state=told").json()["tickets"]
    assert (found["id"], found["state"]) == (1, "told")


@pytest.mark.parametrize("key", ["", "x" * 201, "é"])
@pytest.mark.parametrize("path", ["asks", "top-ups"])
def test_a_key_that_is_no_request_id_is_refused_like_one(
    untouched: TestClient, key: str, path: str
) -> None:
    body = {} if path == "asks" else {"amount": 1}
    header = {"Idempotency-Key": key.encode()}
    said = problem(untouched.post(f"{AT}/{path}", json=body, headers=header), 400, "invalid-input")
    assert said.startswith(("request_id=", "Idempotency-Key="))
    assert untouched.get(AT).json()["entries"] == 1


@pytest.mark.parametrize(("key", "good"), [("", False), ("x" * 201, False), ("a\tb", False),
                                           ("a b", True), ("é", True)])  # fmt: skip
@pytest.mark.parametrize("path", ["asks", "top-ups"])
def test_a_body_takes_the_request_ids_of_a_campaign(key: str, good: bool, path: str) -> None:
    client = running()
    body = {"request_id": key} | ({} if path == "asks" else {"amount": 1})
    answer = client.post(f"{AT}/{path}", json=body)
    if good:
        assert answer.status_code == 200
    else:
        assert problem(answer, 400, "invalid-input").startswith("request_id")
    assert client.get(AT).json()["entries"] == 1 + good


def test_the_key_names_an_ask_with_arms() -> None:
    client = running()
    header = {"Idempotency-Key": "q"}
    first, second = (
        client.post(f"{AT}/asks", json={"arms": ["large"]}, headers=header).json() for _ in range(2)
    )
    assert first == second
    assert first["tickets"][0]["request_id"] == "q"
    problem(client.post(f"{AT}/asks", json={"arms": ["small"]}, headers=header), 409, "conflict")


def test_a_campaign_without_the_new_terms_is_made_as_before() -> None:
    storage = in_memory()
    client = service(storage)
    assert client.post("/campaigns", json=PROMPTS).status_code == 201
    created = Campaign.open("prompts", storage=storage).terms.as_dict()
    Campaign.create(**{**PROMPTS, "name": "direct"}, storage=storage)
    direct = Campaign.open("direct", storage=storage).terms.as_dict()
    assert {**created, "name": "", "id": ""} == {**direct, "name": "", "id": ""}
