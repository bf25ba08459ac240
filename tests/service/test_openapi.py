from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_type_hints

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import CHECKS, load_all_checks

from purse.base.recommendation import ArmVerdict, MeanBounds, Recommendation
from purse.campaign.journal import Entry
from purse.campaign.results import (
    Alarm,
    BalanceStatus,
    CampaignTicket,
    CoolingArm,
    FeatureStatus,
    Receipt,
    Status,
)
from purse.campaign.states import STATES
from purse.service.auth import is_public
from purse.service.problems import KINDS, MEDIA_TYPE
from purse.service.schemas.fields import LARGEST_ID, MOST_NAME, NAME
from tests.support.service import PROMPTS, bearer, service, token_file
from tests.support.soak import SOAK, scale

EXAMPLES = scale(10, 300)
# what fits the schema may be refused: a campaign may have ended
LEFT_OUT = ("positive_data_acceptance", "ensure_resource_availability", "use_after_free")
# verbs that end or change a campaign, or need one with money left, and the one that they get
ELSEWHERE = {
    "/(pause|resume|end|expire)$": "other",
    "/arms": "changing",
    "/probabilities$": "untouched",
}
ROOM = {"capacity": 10_000, "cost_ceiling": "0.1"}
# each has tickets of its own, which the others leave open
VERBS = ("tell", "fail", "void", "settle")
FOLDER = TemporaryDirectory()  # gone with the process
FILE, TOKENS = token_file(Path(FOLDER.name))
CLIENT = service(tokens=FILE)
SEEN: dict[tuple[str, str], set[int]] = {}  # statuses of each operation
DOCUMENT: dict[str, Any] = CLIENT.get("/openapi.json").json()
OPERATIONS = [
    (path, method, facts)
    for path, methods in DOCUMENT["paths"].items()
    for method, facts in methods.items()
]
# a stream has no end
schema = schemathesis.openapi.from_asgi("/openapi.json", CLIENT.app).exclude(path_regex="/events$")
# a thousand requests with each field at its bounds and beyond; `test_problems.py` has a hundred
schema.config.phases.coverage.enabled = SOAK
load_all_checks()
EXCLUDED = [check for name in LEFT_OUT for check in CHECKS.get_by_names([name])]


@pytest.fixture(scope="module", autouse=True)
def _campaigns() -> None:
    for name in ("team-a", "team-b"):
        account = {"name": name, "budget": 1, "resources": ["USD"]}
        made = CLIENT.post("/accounts", json=account, headers=bearer(TOKENS["admin"]))
        assert made.status_code == 201
    for name in ("prompts", *ELSEWHERE.values()):
        assert (
            CLIENT.post(
                "/campaigns",
                json={  # arms that cool down would be answered with a 503
                    **PROMPTS,
                    "name": name,
                    "cooldown": None,
                    **(ROOM if name == "changing" else {}),
                },
                headers=bearer(TOKENS["admin"]),
            ).status_code
            == 201
        )
    assert (
        CLIENT.post(
            "/campaigns/prompts/asks", json={"n": 72}, headers=bearer(TOKENS["act"])
        ).status_code
        == 200
    )


def aim(case: Any) -> None:
    """Let what is generated hit: a campaign that exists, its tickets, and an account, where the
    name and the number are possible ones.
    """
    given = case.path_parameters
    if re.fullmatch(NAME, str(given.get("name", ""))):
        given["name"] = next(
            (name for words, name in ELSEWHERE.items() if re.search(words, case.path)), "prompts"
        )
    if re.fullmatch(NAME, str(given.get("account", ""))):
        ends = re.search("/(pause|resume|end)$", case.path)
        given["account"] = "team-b" if ends else "team-a"
    if re.fullmatch("[1-9][0-9]{0,15}", str(given.get("id", ""))):
        verb = case.path.rpartition("/")[2]
        first = 13 + 12 * (VERBS.index(verb) if verb in VERBS else len(VERBS))
        given["id"] = int(given["id"]) % 12 + first
    if isinstance(case.body, dict) and case.body.get("name") in ("prompts", "team-a"):
        case.body["name"] = f"fresh-{case.body['name']}"  # that of an example
    if case.path in ("/campaigns", "/accounts") and isinstance(case.body, dict):
        aim_periods(case.body)
    changes_arm = case.path.endswith(("/arms/set", "/arms/retire"))
    if changes_arm and isinstance(case.body, dict) and is_name(case.body.get("name")):
        case.body["name"] = "small"
    if case.path.endswith(("/asks", "/probabilities")) and isinstance(case.body, dict):
        aim_arms(case.body)
    reports = case.body.get("reports") if isinstance(case.body, dict) else None
    for report in reports if isinstance(reports, list) else ():
        if (
            isinstance(report, dict)
            and isinstance(report.get("ticket"), int)
            and 1 <= report["ticket"] <= LARGEST_ID
        ):
            report["ticket"] = report["ticket"] % 12 + 1


def aim_periods(body: dict[str, Any]) -> None:
    """Let new terms name a time zone that there is; without periods they say nothing of them."""
    if isinstance(body.get("time_zone"), str) and len(body["time_zone"]) <= MOST_NAME:
        body["time_zone"] = "Europe/Berlin"
    if body.get("every") is None:
        body.pop("carry", None)
        if body.get("time_zone") in ("Europe/Berlin", None):  # what the document forbids stays
            body.pop("time_zone", None)


def is_name(value: Any) -> bool:
    """Whether this is a name that the document allows."""
    return isinstance(value, str) and 1 <= len(value) <= MOST_NAME


def aim_arms(body: dict[str, Any]) -> None:
    """Let an ask name arms that there are, where it names possible ones."""
    arms = body.get("arms")
    if isinstance(arms, list) and arms and all(map(is_name, arms)):
        body["arms"] = ["small", "large"][: len(arms)]
    elif isinstance(arms, dict) and len(arms) == 1 and all(map(is_name, arms)):
        (most,) = arms.values()
        body["arms"] = {"small": most}


@schema.parametrize()
@settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
def test_whatever_is_sent_the_answer_is_one_that_the_document_names(case: Any) -> None:
    aim(case)
    answer = case.call_and_validate(headers=bearer(TOKENS["admin"]), excluded_checks=EXCLUDED)
    SEEN.setdefault((case.method, case.path), set()).add(answer.status_code)


def test_what_was_sent_has_hit() -> None:
    """Looks back on the test above: what is documented has been answered, and not only refused."""
    documented = {(method.upper(), path) for path, method, _ in OPERATIONS}
    assert not [
        operation
        for operation, statuses in SEEN.items()
        if operation in documented and not statuses & {200, 201}
    ]


@pytest.mark.parametrize(
    ("path", "method", "facts"),
    OPERATIONS,
    ids=[f"{method} {path}" for path, method, _ in OPERATIONS],
)
def test_every_operation_is_described(path: str, method: str, facts: dict[str, Any]) -> None:
    assert facts["summary"]
    assert facts["operationId"].isidentifier()
    for status, answer in facts["responses"].items():
        assert answer["description"]
        (media,) = answer["content"].items()
        if int(status) >= 400:
            assert media[0] == MEDIA_TYPE
            assert media[1]["schema"] == {"$ref": "#/components/schemas/Problem"}
            assert media[1]["examples"]
            assert all(
                example["value"]["status"] == int(status)
                for example in media[1]["examples"].values()
            )
        else:
            assert has_example(media[1])
    for body in facts.get("requestBody", {"content": {}})["content"].values():
        assert has_example(body)
    assert ({"400", "429", "503"} | (set() if is_public(path) else {"401", "403"})) <= set(
        facts["responses"]
    )
    assert facts.get("security") == (None if is_public(path) else [{"token": []}])


def has_example(media: dict[str, Any]) -> bool:
    name = media.get("schema", {}).get("$ref", "").rpartition("/")[2]
    return bool(
        media.get("example") or DOCUMENT["components"]["schemas"].get(name, {}).get("examples")
    )


def test_operations_have_different_names() -> None:
    names = [facts["operationId"] for _, _, facts in OPERATIONS]
    assert len(set(names)) == len(names)


def test_the_scheme_is_a_bearer_token_and_every_problem_is_named_somewhere() -> None:
    assert DOCUMENT["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    named = {
        word
        for _, _, facts in OPERATIONS
        for answer in facts["responses"].values()
        for media in answer["content"].values()
        for word in media.get("examples", ())
    }
    slugs = {kind.slug for kind in KINDS if kind.status not in (405, 500)}
    assert slugs - {"no-such-path"} <= named


def test_examples_are_true() -> None:
    """The document's examples, sent one after another to a new service, are answered as it says."""
    client = service()
    schemas = DOCUMENT["components"]["schemas"]
    example = {name: facts["examples"][0] for name, facts in schemas.items() if "examples" in facts}
    assert client.post("/campaigns", json=example["NewCampaign"]).status_code == 201
    (ticket,) = client.post("/campaigns/prompts/asks", json=example["Ask"]).json()["tickets"]
    assert ticket == {
        **example["Ticket"],
        "asked_at": ticket["asked_at"],
        "deadline": ticket["deadline"],
    }
    assert client.post("/campaigns/prompts/tells", json=example["Reports"]).json()["receipts"] == [
        example["Receipt"]
    ]
    assert client.get("/campaigns/prompts/labels").json() == example["Labels"]
    status = client.get("/campaigns/prompts").json()
    assert status == {
        **example["Status"],
        "digest": status["digest"],
        "created_at": status["created_at"],
        "changed_at": status["changed_at"],
    }
    advice = client.get("/campaigns/prompts/recommendation").json()
    assert advice == example["Recommendation"]
    assert client.post("/campaigns/prompts/top-ups", json=example["TopUp"]).status_code == 200
    found = client.post("/campaigns/prompts/probabilities", json=example["Look"]).json()
    assert set(found["probabilities"]) == set(example["Probabilities"]["probabilities"])
    for path, name in (("", "NewArm"), ("/set", "ChangedArm"), ("/retire", "RetiredArm")):
        answer = client.post(f"/campaigns/prompts/arms{path}", json=example[name])
        assert answer.status_code == 200, answer.text
    assert answer.json()["retired"] == [example["RetiredArm"]["name"]]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Ticket", CampaignTicket),
        ("Receipt", Receipt),
        ("Purse", BalanceStatus),
        ("Alarm", Alarm),
        ("CoolingArm", CoolingArm),
        ("Feature", FeatureStatus),
        ("Status", Status),
        ("Entry", Entry),
        ("Recommendation", Recommendation),
        ("ArmVerdict", ArmVerdict),
        ("MeanBounds", MeanBounds),
    ],
)
def test_a_response_model_has_the_fields_of_its_result_type(name: str, kind: type) -> None:
    described = DOCUMENT["components"]["schemas"][name]
    assert described["required"] == list(described["properties"]) == list(get_type_hints(kind))
    assert described["description"] == kind.__doc__
    assert described["additionalProperties"] is False


def test_the_texts_and_types_of_fields_are_those_of_the_result_types() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["Ticket"]["properties"]["t"]["description"] == "The round."
    assert schemas["Ticket"]["properties"]["state"]["enum"] == list(STATES)
    overrun = schemas["Receipt"]["properties"]["overrun"]
    assert overrun["description"] == "Above what was held."
    assert re.fullmatch(overrun["items"]["pattern"], "0.000000001")
    assert schemas["Status"]["properties"]["purses"]["items"]["$ref"].endswith("/Purse")
