import json
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import CHECKS, load_all_checks

from purse.campaign.api.kinds import _OF_BUDGETS
from purse.campaign.budget import LARGEST
from purse.service.auth import is_public
from purse.service.problems import MEDIA_TYPE
from tests.support import api_examples
from tests.support.service import PROMPTS, bearer, problem_kinds, service, token_file
from tests.support.soak import SOAK, scale

EXAMPLES = scale(6, 300)
STALE = "stale: run python -m tests.support.api_examples"
MOST_NAME = 200  # characters of the name of an arm or a resource
# what fits the schema may be refused: a campaign may have ended
LEFT_OUT = ("positive_data_acceptance", "ensure_resource_availability", "use_after_free")
# verbs that end or change a campaign, or need one with money left, and the one that they get
ELSEWHERE = {
    "/(pause|resume|end|expire)$": "other",
    "/arms": "changing",
    "/(budget|charges)$": "billed",
    "/probabilities$": "untouched",
    "/limits$": "limited",
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
EXCLUDED = CHECKS.get_by_names(list(LEFT_OUT))
# each report stands alone: one that cannot be is answered with its error, among the receipts
ALONE = CHECKS.get_by_names(["negative_data_rejection"])


@cache
def recorded() -> dict[str, Any]:
    return api_examples.recorded()


@pytest.fixture(scope="module", autouse=True)
def _campaigns() -> None:
    def send(path: str, **body: Any) -> None:
        answer = CLIENT.post(path, json=body, headers=bearer(TOKENS["admin"]))
        assert answer.status_code in (200, 201), answer.text

    for name in ("team-a", "team-b"):
        send("/accounts", name=name, budget=1, resources=["USD"])
    for name in ("prompts", *ELSEWHERE.values()):
        room = ROOM if name == "changing" else {}
        # arms that cool down would be answered with a 503
        send("/campaigns", **{**PROMPTS, "name": name, "cooldown": None, **room})
    send("/campaigns/prompts/asks", n=72)
    send("/campaigns/limited/asks", labels={"tenant": "acme"})


def aim(case: Any) -> None:
    """Let what is generated hit: a campaign that exists, its tickets, and an account, where the
    name and the number are possible ones.
    """
    given = case.path_parameters
    if re.fullmatch(_OF_BUDGETS, str(given.get("name", ""))):
        given["name"] = next(
            (name for words, name in ELSEWHERE.items() if re.search(words, case.path)), "prompts"
        )
        if case.path.startswith("/accounts"):
            ends = re.search("/(pause|resume|end)$", case.path)
            given["name"] = "team-b" if ends else "team-a"
    if re.fullmatch("[1-9][0-9]{0,15}", str(given.get("ticket", ""))):
        verb = case.path.rpartition("/")[2]
        first = 13 + 12 * (VERBS.index(verb) if verb in VERBS else len(VERBS))
        given["ticket"] = int(given["ticket"]) % 12 + first
    if isinstance(case.body, dict) and case.body.get("name") in ("prompts", "team-a"):
        case.body["name"] = f"fresh-{case.body['name']}"  # that of an example
    if case.path in ("/campaigns", "/accounts") and isinstance(case.body, dict):
        aim_periods(case.body)
    changes_arm = case.path.endswith(("/arms/set", "/arms/retire"))
    if changes_arm and isinstance(case.body, dict) and is_name(case.body.get("name")):
        case.body["name"] = "small"
    if case.path.endswith("/limits") and isinstance(case.body, dict) and "key" in case.body:
        case.body["key"] = "tenant" if is_name(case.body["key"]) else case.body["key"]
    if case.path.endswith(("/asks", "/probabilities")) and isinstance(case.body, dict):
        aim_arms(case.body)
    reports = case.body.get("reports") if isinstance(case.body, dict) else None
    for report in reports if isinstance(reports, list) else ():
        if (
            isinstance(report, dict)
            and isinstance(report.get("ticket"), int)
            and 1 <= report["ticket"] <= LARGEST
        ):
            report["ticket"] = report["ticket"] % 12 + 1


def aim_periods(body: dict[str, Any]) -> None:
    """Let new terms name a time zone that there is, and an end that lies ahead; without periods
    they say nothing of them.
    """
    if isinstance(body.get("time_zone"), str) and len(body["time_zone"]) <= MOST_NAME:
        body["time_zone"] = "Europe/Berlin"
    if isinstance(body.get("until"), str):
        body["until"] = "2099-12-31"
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
    excluded = EXCLUDED + (ALONE if case.path.endswith("/tells") else [])
    answer = case.call_and_validate(headers=bearer(TOKENS["admin"]), excluded_checks=excluded)
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
    assert facts["summary"] in " ".join(facts["description"].split())
    assert facts["operationId"].isidentifier()
    for given in facts.get("parameters", ()):
        assert given.get("description") or given == {"$ref": "#/components/parameters/Key"}
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
            assert media[1]["example"] == recorded()[facts["operationId"]]["answer"], STALE
    for body in facts.get("requestBody", {"content": {}})["content"].values():
        fields = body["schema"]["properties"]
        assert all(field["description"] for field in fields.values())
        assert set(body.get("example", ())) <= set(fields)
        assert "example" in body or not body["schema"].get("required")
    assert ({"400", "429", "503"} | (set() if is_public(path) else {"401", "403"})) <= set(
        facts["responses"]
    )
    assert facts.get("security") == (None if is_public(path) else [{"token": []}])


def test_the_document_is_valid_and_names_operations_and_problems() -> None:
    schema.validate()  # by the schema of OpenAPI 3.1
    names = [facts["operationId"] for _, _, facts in OPERATIONS]
    assert len(set(names)) == len(names)
    assert DOCUMENT["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    named = {
        word
        for _, _, facts in OPERATIONS
        for answer in facts["responses"].values()
        for media in answer["content"].values()
        for word in media.get("examples", ())
    }
    slugs = {kind.slug for kind in problem_kinds() if kind.status not in (405, 500)}
    assert slugs - {"no-such-path"} <= named


def test_examples_are_what_a_service_answers() -> None:
    shown = recorded()
    assert alike(json.loads(api_examples.FILE.read_text()), shown), STALE
    assert set(shown) == {facts["operationId"] for _, _, facts in OPERATIONS}


def alike(one: Any, other: Any) -> bool:
    """Whether two values of JSON are the same, but for the last digits of numbers."""
    if isinstance(one, dict):
        return list(one) == list(other) and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == (pytest.approx(other) if isinstance(other, float) else other))
