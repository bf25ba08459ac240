"""Features and contexts over HTTP."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purse
from purse import Campaign
from purse.campaign.storage.connect import in_memory
from tests.support.server import served
from tests.support.service import PROMPTS, TestClient, running

AT = "/campaigns/prompts"
FEATURES: dict[str, Any] = {
    "length": {"low": 0, "high": 8000, "optional": False},
    "source": {"classes": ["chat", "code"]},
}


def test_contexts_over_http() -> None:
    storage = in_memory()
    client = running(storage, features=FEATURES)
    campaign = Campaign.open("prompts", storage=storage)
    assert campaign.terms.features == {
        "length": {"low": 0, "high": 8000},
        "source": {"classes": ["chat", "code"]},
    }
    body = {"request_id": "q", "context": {"length": 9000, "source": "code"}}
    first = client.post(f"{AT}/asks", json=body).json()["tickets"]
    assert client.post(f"{AT}/asks", json=body).json()["tickets"] == first
    other = {**body, "context": [7999, "code"]}
    assert client.post(f"{AT}/asks", json=other).status_code == 409
    several = {"n": 2, "contexts": [[1, "chat"], {"length": 2, "source": "?"}]}
    assert len(client.post(f"{AT}/asks", json=several).json()["tickets"]) == 2
    looked = client.post(f"{AT}/probabilities", json={"context": [1, "chat"]})
    assert looked.json()["probabilities"] == {"small": 0.5, "large": 0.5}
    status = client.get(AT).json()
    assert status["counts"]["clipped"] == 1
    assert status["features"][0] == {"column": "length", "least": -0.99975, "most": 1.0}
    assert campaign.audit(full=True).ok


@pytest.fixture(scope="module")
def seeing() -> TestClient:
    """A service with a campaign that sees contexts, for requests that change nothing."""
    return running(features=FEATURES)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"context": None},
        {"context": 3},
        {"context": "length"},
        {"context": [1]},
        {"context": [1, "chat"], "contexts": [[1, "chat"]]},
        {"context": [1, "chat"], "n": 2},
        {"contexts": [[1, "chat"]], "n": 2},
        {"contexts": [], "n": 1},
        {"contexts": {"a": 1}},
        {"context": {"length": 1, "source": "chat", "more": 1}},
        {"context": ["1", "chat"]},
        {"context": [[1, "chat"], [1, "chat"]]},
        {"context": {"length": {"a": 1}, "source": "chat"}},
        {"context": [1] * 1001},
        {"context": [[1] * 257]},
    ],
)
def test_a_context_that_does_not_fit_is_refused(seeing: TestClient, body: dict[str, Any]) -> None:
    answer = seeing.post(f"{AT}/asks", json=body)
    assert answer.status_code == 400, answer.text
    assert seeing.get(AT).json()["entries"] == 1


@pytest.mark.parametrize(
    "features",
    [
        "length",
        1.5,
        65,
        True,
        ["a", "a"],
        ["a"] * 65,
        [1],
        {"a": 5},
        {"a": "b"},
        {"a": {"low": 1}},
        {"a": {"low": "0", "high": 1}},
        {"a": {"low": 0, "high": 1, "optional": "yes"}},
        {"a": {"classes": [1, 2]}},
        {"a": {"classes": ["x"]}},
        {"a": {"range": [1, 2]}},
    ],
)
def test_features_that_are_not_possible_are_refused(untouched: TestClient, features: Any) -> None:
    answer = untouched.post("/campaigns", json={**PROMPTS, "name": "new", "features": features})
    assert answer.status_code == 400, answer.text


def test_a_campaign_on_a_server_takes_the_same() -> None:
    features: dict[str, Any] = {"length": (0, 8000, "optional"), "source": ("chat", "code")}
    terms = {**PROMPTS, "features": features}
    storage = in_memory()
    with served(storage=storage) as server:
        here = Campaign.create(**{**terms, "name": "here"}, storage=storage)
        far = Campaign.create(**terms, storage=server.url)
        kept = Campaign.open("prompts", storage=storage)
        assert kept.terms.features == here.terms.features
        ticket = far.ask("q", context={"length": np.float64(9), "source": "chat"})
        assert far.ask("q", context=[9, "chat"]) == ticket
        with pytest.raises(purse.Conflict, match="another context"):
            far.ask("q", context=[None, "chat"])
        tickets = far.ask_many(2, contexts=[(None, "code"), {"source": "chat"}])
        assert len(tickets) == 2
        assert far.probabilities(None, [1, "chat"]) == {"small": 0.5, "large": 0.5}
        with pytest.raises(purse.InvalidInput, match="the features are length, source"):
            far.ask()
        status = far.status()
        assert status == kept.status()
        assert status.features[1].column == "length is missing"
        far.close()
