"""A campaign under the models of an agent, with functions in place of providers."""

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest

from purse import AskRefused, BudgetExhausted, Campaign, InvalidInput
from purse.campaign.storage.connect import in_memory
from tests.support.campaigns import balance, counts, refusal
from tests.support.processes import in_loop

NAMES = {"small": "gpt-5-mini", "large": "gpt-5.4"}


def models(error: Exception | None = None, usage: Any = None) -> dict[str, Any]:
    """Two models whose calls answer, or raise; a stream raises after its second word."""
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import FunctionModel

    def answers(arm: str) -> Any:
        def answer(messages: Any, info: Any) -> Any:
            if error is not None:
                raise error
            more = {} if usage is None else {"usage": usage}
            return ModelResponse(parts=[TextPart(f"{arm} answers")], **more)

        return answer

    async def stream(messages: Any, info: Any) -> AsyncIterator[str]:
        for word in ("one ", "two ", "three"):
            yield word
            if error is not None and word == "two ":
                raise error

    return {
        arm: FunctionModel(answers(arm), stream_function=stream, model_name=name)
        for arm, name in NAMES.items()
    }


def campaign(**terms: Any) -> Campaign:
    from purse.integrations.pydantic_ai import most_of

    most = most_of(models(), prompt_tokens=2_000, answer_tokens=500)
    given = {"budget": "1", "resources": ["USD"], "policy": "uniform", "storage": in_memory()}
    return Campaign.create("agent", arms=most, **{**given, **terms})


def agent(
    spent: Campaign,
    error: Exception | None = None,
    answer_tokens: int | None = 500,
    usage: Any = None,
    **more: Any,
) -> Any:
    """An agent whose models the campaign chooses."""
    from pydantic_ai import Agent

    from purse.integrations.pydantic_ai import PurseModel

    answering = models(error, usage)
    return Agent(PurseModel(spent, answering, answer_tokens=answer_tokens, **more))


def test_requests_of_an_agent_are_paid_by_the_campaign() -> None:
    from purse.integrations.pydantic_ai import most_of, ticket_of

    spent = campaign()

    async def judge(response: Any, messages: Any) -> float:
        return float("answers" in response.parts[0].content)

    judged = agent(spent, reward=judge)
    runs = [in_loop(judged.run("hello there")) for _ in range(4)]
    assert {run.output for run in runs} == {"small answers", "large answers"}
    assert counts(spent) == {"tickets": 4, "told": 4}
    found = ticket_of(runs[-1].new_messages()[-1])
    assert found == {"campaign": "agent", "ticket": 4, "arm": runs[-1].output.split()[0]}
    most = most_of(models(), prompt_tokens=1_000, answer_tokens=500)
    assert all(
        Decimal(ticket.held[0]) < most[str(ticket.arm)] for ticket in spent.tickets(["told"])
    )
    assert Decimal("0") < Decimal(balance(spent)[0]) < Decimal("0.01")
    assert spent.audit().ok


def test_streams_are_settled_at_their_end_or_stay_held() -> None:
    spent = campaign()
    streaming = agent(spent)

    async def whole() -> str:
        async with streaming.run_stream("hello") as run:
            return str(await run.get_output())

    async def broken() -> None:
        async with streaming.run_stream("hello") as run:
            async for _ in run.stream_text(debounce_by=None):
                break

    assert in_loop(whole()) == "one two three"
    assert counts(spent) == {"tickets": 1, "settled": 1}
    in_loop(broken())
    assert counts(spent) == {"tickets": 2, "settled": 1, "held": 1}


def test_a_failure_is_reported_and_raised_and_is_free_if_nothing_was_begun() -> None:
    from pydantic_ai import exceptions

    http, offline = exceptions.ModelHTTPError, exceptions.ModelConnectionError
    for error, state in (
        (http(503, "gpt"), "failed"),
        (offline("gpt", "no such host", phase="connect"), "failed"),
        (http(504, "gpt"), "held"),  # a gateway that waited for an answer
        (offline("gpt", "the line is dead", phase="read"), "held"),
        (TimeoutError("too slow"), "held"),
        (exceptions.UnexpectedModelBehavior("no JSON"), "held"),
    ):
        spent = campaign()
        with pytest.raises(type(error)):
            in_loop(agent(spent, error).run("hello"))
        assert counts(spent) == {"tickets": 1, state: 1}, error
        assert len(spent.status().cooling) == 1
        assert balance(spent)[0] == "0"


def test_the_money_for_a_stream_that_breaks_stays_held() -> None:
    """Whoever breaks it, and with whatever error: its tokens are charged."""
    from pydantic_ai.exceptions import ModelHTTPError
    from pydantic_ai.messages import ModelRequest
    from pydantic_ai.models import ModelRequestParameters

    refused = ModelHTTPError(429, "gpt")

    async def broken_by(spent: Campaign, provider: Exception | None) -> None:
        asked = [ModelRequest.user_text_prompt("hello")], None, ModelRequestParameters()
        async with agent(spent, provider).model.request_stream(*asked) as stream:
            async for _ in stream:
                if provider is None:
                    raise refused  # of another call, which the reader makes

    for provider in (refused, None):
        spent = campaign()
        with pytest.raises(ModelHTTPError):
            in_loop(broken_by(spent, provider))
        assert counts(spent) == {"tickets": 1, "held": 1}
        assert [entry.kind for entry in spent.journal()][2:] == ["broken"]


def test_an_answer_without_a_price_is_returned_and_its_hold_stays() -> None:
    from pydantic_ai.usage import RequestUsage

    for strange in (
        RequestUsage(input_tokens=10, cache_read_tokens=20, output_tokens=1),
        RequestUsage(input_tokens=10, output_tokens=-10_000),
        RequestUsage(input_tokens=10**30, output_tokens=1),
        RequestUsage(input_tokens=10**19, output_tokens=1),
    ):
        spent = campaign()
        assert in_loop(agent(spent, usage=strange).run("hello")).output.endswith("answers")
        assert counts(spent) == {"tickets": 1, "held": 1}, strange


def test_a_request_that_passes_is_refused() -> None:
    spent = campaign(policy="replan", horizon=300, skip=True, budget="0.01", cooldown=60)
    working = agent(spent, reward=lambda *_: 1.0)
    for _ in range(6):
        in_loop(working.run("hello"))
    spent.fail(spent.ask(arms=["small"]), 0, reason="down")

    async def until_one_passes() -> None:
        for _ in range(40):
            await working.run("hello")

    with pytest.raises(AskRefused, match="the request passes, as money is worth more in others"):
        in_loop(until_one_passes())
    assert balance(spent)[1] == "0"
    assert counts(spent)["skipped"] == 1


def test_without_money_nothing_is_called_and_bad_input_is_named() -> None:
    from pydantic_ai.models.function import FunctionModel

    from purse.integrations.pydantic_ai import PurseModel

    spent = campaign(budget="0.0001")
    with pytest.raises(BudgetExhausted, match="may cost"):
        in_loop(agent(spent, answer_tokens=None).run("hello"))
    assert counts(spent) == {}
    text = refusal(InvalidInput, PurseModel, spent, {"small": models()["small"]})
    assert text.endswith("must have a model for each of the arms small, large")
    nix = {arm: FunctionModel(lambda *_: None, model_name="nix") for arm in NAMES}
    text = refusal(InvalidInput, PurseModel, spent, nix)
    assert text.startswith("genai-prices knows no price of model 'nix' of 'function'")
