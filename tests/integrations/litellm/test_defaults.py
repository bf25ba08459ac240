"""A hook as it comes: it rewards valid answers, labels calls, and moves the traffic by itself."""

from collections import Counter
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.support.litellm_lab import Lab

JSON = {"type": "json_object"}
PROXY = {  # a part of what LiteLLM's proxy writes into the metadata of a request
    "user_api_key_hash": "0123456789abcdef" * 4,
    "user_api_key_alias": None,
    "user_api_key_team_id": "search",
    "user_api_key_user_id": "ann\n" + "x" * 300,
}


def chosen(text: str | None, end: str = "stop", **more: Any) -> Any:
    message = SimpleNamespace(content=text, **more)
    return SimpleNamespace(choices=[SimpleNamespace(finish_reason=end, message=message)])


@pytest.mark.parametrize(
    ("answer", "is_json", "reward"),
    [
        (chosen("hello"), False, 1),
        (chosen("hel", "length"), False, 0),
        (chosen("", "stop"), False, 0),
        (chosen("no", "content_filter"), False, 0),
        (chosen(None, "tool_calls", tool_calls=[{}]), True, 1),
        (chosen('{"a": 1}'), True, 1),
        (chosen('{"a": 1'), True, 0),
        (chosen(None), True, 0),
        (SimpleNamespace(choices=[SimpleNamespace(finish_reason="stop", text="hi")]), False, 1),
        (SimpleNamespace(choices=[]), False, 0),
        (SimpleNamespace(data=[[0.1]]), False, 1),
    ],
)
def test_a_valid_answer_ended_normally_and_is_what_was_asked_for(
    answer: Any, is_json: bool, reward: float
) -> None:
    from purse.integrations.litellm.defaults import valid_answer

    assert valid_answer(answer, is_json) == reward


def test_labels_are_those_of_the_proxy_and_never_a_key() -> None:
    from purse.integrations.litellm.defaults import labels_of

    user = "ann" + "x" * 197
    assert labels_of(PROXY) == {"team": "search", "user": user, "key": "0123456789ab"}
    assert labels_of({**PROXY, "user_api_key_alias": "night"})["key"] == "night"
    assert labels_of({"user_api_key_hash": "sk-secret", "user_api_key": "sk-secret"}) == {}


def test_a_session_keeps_its_deployment_unless_litellm_has_made_its_name_up(lab: "Lab") -> None:
    campaign, router = lab.start(), lab.router()
    for session in ("talk", "chat", "words") * 4:
        lab.ask(router, 1, metadata={"session_id": session})
    entries = [entry.body for entry in campaign.journal() if entry.kind == "asked"]
    assert [entry["arm"] for entry in entries] == [entry["arm"] for entry in entries[:3]] * 4
    assert sum("kept" in entry for entry in entries) == 9
    made_up = {"session_id": "talk", "litellm_session_id_generated": True}
    lab.ask(router, 1, metadata=made_up)
    assert (
        "session" not in [entry for entry in campaign.journal() if entry.kind == "asked"][-1].body
    )


def test_the_better_model_gets_most_of_the_traffic_by_itself(lab: "Lab") -> None:
    """Of two models at one price, one answers no JSON when JSON is asked for."""
    texts = {"words": "I am afraid not", "json": '{"fine": true}'}
    models = [
        {
            "model_name": "auto",
            "litellm_params": {"model": "openai/gpt-5-nano", "api_key": "x", "mock_response": text},
            "model_info": {"id": name},
        }
        for name, text in texts.items()
    ]
    campaign = lab.campaign(models, policy="replan", horizon=500)
    lab.use(campaign, reward="valid")
    asked = {"response_format": JSON, "metadata": PROXY}
    assert lab.ask(lab.router(models=models), 500, 10, **asked).total() == 500
    tickets = Counter(ticket.arm for ticket in campaign.tickets(["told"]))
    assert tickets["json"] > 400, tickets
    assert campaign.status().counts["told"] == 500
    team = campaign.labels(key="team")[0]
    assert (team.value, team.tickets) == ("search", 500)


def test_a_judge_moves_the_traffic_to_the_better_model_at_nine_times_the_price(lab: "Lab") -> None:
    """The page's models and budget, in 500 calls; `horizon` says that there will be no more."""
    answers = {"small": "openai/gpt-5-mini", "large": "openai/gpt-5.4"}
    models = [
        {
            "model_name": "auto",
            "litellm_params": {"model": model, "api_key": "x", "mock_response": f"{name} says so"},
            "model_info": {"id": name},
        }
        for name, model in answers.items()
    ]
    right, draws = {"small": 0.30, "large": 0.95}, Random(0)

    def judge(answer: Any, messages: Any) -> float:
        return float(draws.random() < right[answer.choices[0].message.content.split()[0]])

    campaign = lab.campaign(models, policy="replan", budget="25", horizon=500)
    lab.use(campaign, reward=judge)
    assert lab.ask(lab.router(models=models), 500, 10)["large"] > 400


def test_labels_are_replaced_by_a_function_which_may_fail(lab: "Lab", caplog: Any) -> None:
    def one(metadata: Any) -> Any:
        return {"feature": metadata["feature"]}

    campaign = lab.start(labels=one)
    router = lab.router()
    lab.ask(router, 1, metadata={"feature": "chat"})
    lab.ask(router, 1, metadata={})
    assert [(label.key, label.value) for label in campaign.labels()] == [("feature", "chat")]
    assert lab.ended(campaign) == {"told": 2}
    assert "no labels for a request" in caplog.text
