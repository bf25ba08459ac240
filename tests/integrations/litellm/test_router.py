"""What LiteLLM does not report, breaks off, or would do without asking."""

from __future__ import annotations

import asyncio
import gc
import sys
from decimal import Decimal
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from purse import AsyncCampaign, Campaign, InvalidInput
from purse.campaign.storage.connect import in_memory
from tests.support.campaigns import balance, counts, made, refusal
from tests.support.processes import in_loop

if TYPE_CHECKING:
    from tests.support.litellm_lab import Lab


def test_the_cost_is_settled_before_the_answer_is_returned(lab: Lab) -> None:
    campaign = lab.start(reward=None)
    router = lab.router()

    async def one() -> Any:
        answer = await router.acompletion("auto", lab.asked, max_tokens=500)
        return answer, counts(campaign)

    answer, at_once = lab.run(one())
    assert at_once == {"tickets": 1, "settled": 1}
    found = lab.ticket_of(answer)
    assert found == {"campaign": "chat", "ticket": 1, "arm": answer.choices[0].message.content[:-8]}
    assert balance(campaign)[0] == f"{answer._hidden_params['response_cost']:.9f}".rstrip("0")
    campaign.reward(found["ticket"], 1.0)  # a thumb, a day later
    assert counts(campaign) == {"tickets": 1, "told": 1}


def test_the_ticket_of_a_stream_is_found_and_one_that_is_broken_off_stays_held(lab: Lab) -> None:
    campaign = lab.campaign()
    hook = lab.use(campaign, reward=None)
    router = lab.router()

    async def stream(whole: bool, wait: float) -> Any:
        stream = await router.acompletion("auto", lab.asked, stream=True, max_tokens=500)
        async for _ in stream:
            if not whole:
                break
        await stream.aclose()
        return (lab.ticket_of(stream) or {}).get("ticket"), await hook.flush(wait)

    assert lab.run(stream(True, 60)) == (1, 0)
    assert counts(campaign) == {"tickets": 1, "settled": 1}
    assert lab.run(stream(False, 0.1)) == (2, 1)
    assert counts(campaign) == {"tickets": 2, "settled": 1, "held": 1}
    assert lab.ticket_of(object()) is None


@pytest.mark.parametrize("kind", ["coroutine", "none", "raises"])
def test_rewards_may_be_awaited_left_out_or_fail(lab: Lab, kind: str, caplog: Any) -> None:
    async def judge(answer: Any, messages: Any) -> float:
        assert messages[0]["content"] == "hello there"
        return float(answer.choices[0].message.content.endswith("answers"))

    def broken(answer: Any, messages: Any) -> float:
        raise RuntimeError("no judge today")

    given = {"coroutine": judge, "none": lambda *_: None, "raises": broken}[kind]
    campaign = lab.start(reward=given)
    lab.ask(lab.router(), 2)
    state = "told" if kind == "coroutine" else "settled"
    assert counts(campaign) == {"tickets": 2, state: 2}
    assert ("no judge today" in caplog.text) == (kind == "raises")


def test_a_success_that_is_reported_twice_is_judged_once(lab: Lab, caplog: Any) -> None:
    rewards = iter([1.0, 0.0])

    async def judge(answer: Any, messages: Any) -> float:
        await asyncio.sleep(0.05)
        return next(rewards)

    campaign = lab.start(reward=judge)
    hook: Any = lab.hook
    report = hook.async_log_success_event

    async def twice(*event: Any, **named: Any) -> None:
        await asyncio.gather(report(*event, **named), report(*event, **named))

    hook.async_log_success_event = twice
    lab.ask(lab.router(), 1)
    assert counts(campaign) == {"tickets": 1, "told": 1}
    assert not caplog.records


@pytest.mark.parametrize("stream", [False, True])
def test_without_a_cost_the_hold_stays(
    lab: Lab, stream: bool, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    from litellm.litellm_core_utils.litellm_logging import Logging

    campaign = lab.start()
    with monkeypatch.context() as patch:
        patch.setattr(Logging, "response_cost_calculator", lambda *_, **__: None)
        patch.setattr(Logging, "_response_cost_calculator", lambda *_, **__: None)
        lab.ask(lab.router(), 1, stream=stream)
    assert "LiteLLM reports no cost of ticket 1 of campaign chat" in caplog.text
    assert counts(campaign) == {"tickets": 1, "held": 1}
    campaign.tell(1, 1.0, "0.0001")  # who finds the bill reports it
    assert counts(campaign) == {"tickets": 1, "told": 1}


def test_a_cancelled_call_stays_held_and_a_cancelled_ask_is_void(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = lab.start()
    router = lab.router()

    async def called() -> None:
        call = asyncio.ensure_future(
            router.acompletion("auto", lab.asked, max_tokens=500, mock_delay=30)
        )
        while counts(campaign).get("held", 0) == 0:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)

    lab.run(called())
    assert counts(campaign) == {"tickets": 1, "held": 1}  # it may be billed
    campaign.void(1)
    real = Campaign._ask

    async def asked() -> None:
        begun = asyncio.Event()
        loop = asyncio.get_running_loop()

        def slow(*given: Any, **named: Any) -> Any:
            loop.call_soon_threadsafe(begun.set)
            return real(*given, **named)

        monkeypatch.setattr(Campaign, "_ask", slow)
        call = asyncio.ensure_future(router.acompletion("auto", lab.asked, max_tokens=500))
        await begun.wait()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        while counts(campaign).get("void") != 2:
            await asyncio.sleep(0.01)

    lab.run(asyncio.wait_for(asked(), 60))
    assert counts(campaign) == {"tickets": 2, "void": 2}


@pytest.mark.parametrize("part", [1, 3])
def test_a_stream_that_breaks_costs_what_came_or_falls_back(
    lab: Lab, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from litellm.litellm_core_utils.streaming_handler import CustomStreamWrapper

    campaign = lab.campaign(group=["auto", "spare"])
    lab.use({"auto": campaign, "spare": campaign})
    real, seen = CustomStreamWrapper.chunk_creator, []

    def breaks(self: Any, chunk: Any) -> Any:
        seen.append(chunk)
        if len(seen) == part:
            raise RuntimeError("the line is dead")
        return real(self, chunk)

    monkeypatch.setattr(CustomStreamWrapper, "chunk_creator", breaks)
    if part == 1:
        router = lab.router(fallbacks=[{"auto": ["spare"]}])
        assert lab.ask(router, 1, stream=True) == {"spare": 1}
        # what broke off may be billed; and LiteLLM reports a cost of 0 for such a fallback, which
        # no arm has: these holds stay
        assert set(counts(campaign)) <= {"tickets", "told", "held"}
        assert counts(campaign)["held"] >= 1
    else:
        answers = lab.ask(lab.router(), 1, stream=True)
        errors = {"APIConnectionError", "MidStreamFallbackError", "InternalServerError"}
        assert set(answers) <= errors
        assert lab.ended(campaign) == {"failed": 1}
        assert float(balance(campaign)[0]) > 0


def test_a_call_that_failed_is_free_only_if_the_provider_did_not_begin(lab: Lab) -> None:
    import litellm

    for error, state in (
        ("RateLimitError", "failed"),
        ("ServiceUnavailableError", "failed"),
        ("InternalServerError", "held"),
        ("Timeout", "held"),
    ):
        campaign = lab.start()
        answer: Any = f"litellm.{error}"
        if error == "ServiceUnavailableError":
            answer = litellm.ServiceUnavailableError("overloaded", "openai", "gpt-5-nano")
        slow = {"mock_timeout": True, "timeout": 0.01}
        request = slow if error == "Timeout" else {"mock_response": answer}
        assert lab.ask(lab.router(), 1, **request) == {error: 1}
        assert counts(campaign) == {"tickets": 1, state: 1}
        assert balance(campaign)[0] == "0"
        assert len(campaign.status().cooling) == 1
        lab.clear()


def test_a_bad_request_cools_no_arm(lab: Lab) -> None:
    campaign = lab.start()
    found = lab.ask(lab.router(), 3, mock_response="litellm.ContextWindowExceededError")
    assert found == {"ContextWindowExceededError": 3}
    assert lab.ended(campaign) == {"void": 3}
    assert campaign.status().cooling == ()


@pytest.mark.filterwarnings("ignore::UserWarning")  # LiteLLM's cache makes pydantic complain
def test_an_answer_from_the_cache_costs_nothing(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    import litellm

    # LiteLLM's cache imports its proxy, which imports this, and uses nothing of it here
    monkeypatch.setitem(sys.modules, "soundfile", ModuleType("soundfile"))

    campaign = lab.campaign(lab.deployments()[:1])
    lab.use(campaign)
    litellm.cache = litellm.Cache(type="local")
    router = lab.router(models=lab.deployments()[:1], cache_responses=True)
    assert lab.ask(router, 3) == {"nano": 3}
    assert counts(campaign) == {"tickets": 3, "told": 1, "void": 2}


def test_a_call_without_a_limit_gets_one_that_the_maximum_pays_for(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    import litellm

    lab.start()
    seen: list[Any] = []
    real = litellm.acompletion

    async def watched(**given: Any) -> Any:
        seen.append((given["metadata"]["purse_ticket"]["arm"], given.get("max_tokens")))
        return await real(**given)

    monkeypatch.setattr(litellm, "acompletion", watched)
    lab.ask(lab.router(), 6, max_tokens=None)
    dollars = {"nano": (5e-8, 4e-7), "mini": (2.5e-7, 2e-6), "big": (2.5e-6, 1.5e-5)}
    assert seen
    for arm, limit in seen:
        prompt, answer = dollars[arm]
        assert limit == int((2_000 * prompt + 500 * answer - 12 * prompt) / answer + 1e-6)


@pytest.mark.parametrize("dearer_first", [True, False])
@pytest.mark.parametrize("own", [None, 200])
def test_an_arm_of_several_deployments_holds_what_its_dearest_may_cost(
    lab: Lab, dearer_first: bool, own: int | None
) -> None:
    """Without `max_tokens`, whether or not the cheaper one has a limit of its own."""
    from purse.integrations.litellm.costs import offers_of

    prices = [2e-5, 1e-6] if dearer_first else [1e-6, 2e-5]
    models = [
        {
            "model_name": "auto",
            "litellm_params": {
                "model": "openai/gpt-5-nano",
                "input_cost_per_token": 0.0,
                "output_cost_per_token": price,
                **({"max_tokens": own} if price < 1e-5 else {}),
            },
        }
        for price in prices
    ]
    campaign = lab.campaign(models, prompt_tokens=1_000, answer_tokens=500)
    (offer,) = offers_of(campaign, "auto", models, lab.asked, {}, None, 1.25).values()
    assert len(offer.deployments) == 2
    assert offer.answer_tokens == (own or 500)
    assert offer.maximum == Decimal(str(max(prices))) * offer.answer_tokens


def test_a_campaign_on_a_server_needs_no_terms_here(lab: Lab) -> None:
    from tests.support.service import served

    with served(storage=in_memory()) as at:
        campaign = lab.campaign(storage=at.url)
        lab.use(campaign)
        assert lab.ask(lab.router(), 3, max_tokens=None).keys() <= {"nano", "mini", "big"}
        assert lab.ended(campaign) == {"told": 3}


def test_embeddings_are_paid_too(lab: Lab) -> None:
    given = {"api_key": "x", "mock_response": [0.1, 0.2]}
    arms = ("openai/text-embedding-3-small", "openai/text-embedding-3-large")
    models = [{"model_name": "auto", "litellm_params": {"model": arm, **given}} for arm in arms]
    campaign = lab.campaign(models, answer_tokens=None)
    hook = lab.use(campaign, reward=None)
    router = lab.router(models=models)

    async def one() -> int:
        await router.aembedding("auto", input=["hello there", "you"])
        return await hook.flush(60)

    assert lab.run(one()) == 0
    assert campaign.status().arms == arms
    assert lab.ended(campaign) == {"settled": 1}


def test_what_runs_no_hook_is_refused(lab: Lab) -> None:
    import litellm

    campaign = lab.start()
    router = lab.router(num_retries=2)
    with pytest.raises(litellm.BadRequestError, match=r"'auto' is synchronous.*use the async"):
        router.completion("auto", lab.asked, max_tokens=500)
    with pytest.raises(litellm.BadRequestError, match="addressed by the id of a deployment"):
        lab.run(router.acompletion("mini", lab.asked, max_tokens=500))
    with pytest.raises(litellm.BadRequestError, match="above its maximum"):
        lab.run(router.acompletion("auto", lab.asked, max_tokens=100_000))
    assert counts(campaign) == {}
    assert router.completion("spare", lab.asked).choices[0].message.content == "spare answers"


def test_an_attempt_that_is_never_made_is_void(lab: Lab) -> None:
    campaign = lab.start()
    router = lab.router()

    async def chosen() -> None:
        for _ in "ab":  # the second ask of a task ends the first, its end the second
            await router.async_get_available_deployment(
                model="auto", request_kwargs={"max_tokens": 9}, messages=[]
            )

    in_loop(chosen())
    assert counts(campaign) == {"tickets": 2, "void": 2}


def test_bad_input_is_named(lab: Lab) -> None:
    from purse.integrations.litellm import PurseRouter, create_campaign

    deployments = lab.deployments()
    text = refusal(InvalidInput, create_campaign, deployments, "atuo", budget=1, storage="memory:")
    assert text == "unknown model group 'atuo'; did you mean 'auto'?"
    strange: list[Any] = [
        {"model_name": "auto", "litellm_params": {"model": "openai/nix", "api_key": "x"}}
    ]
    text = refusal(InvalidInput, create_campaign, strange, "auto", budget=1, storage="memory:")
    assert text.startswith("LiteLLM knows no price of model 'openai/nix': set input_cost_per_token")
    strange[0]["litellm_params"].update(input_cost_per_token=1e-6, output_cost_per_token=2e-6)
    text = refusal(InvalidInput, create_campaign, strange, "auto", budget=1, storage="memory:")
    assert text.startswith("LiteLLM knows no limit of model 'openai/nix': set prompt_tokens")
    priced = create_campaign(
        strange, "auto", budget=1, storage="memory:", prompt_tokens=1_000, answer_tokens=1_000
    )
    assert (priced.terms.arms, priced.terms.cost_max) == (("openai/nix",), ((3_000_000,),))
    campaign = lab.campaign()
    two = made(resources=["USD", "tokens"], budget=[1, 9])

    for campaigns, settings in (
        ({}, {}),
        ({"auto": two}, {}),
        ({"auto": AsyncCampaign(campaign)}, {}),
        ({"auto": campaign}, {"reward": 1}),
        ({"auto": campaign}, {"reward": "fine"}),
        ({"auto": campaign}, {"labels": "team"}),
        ({"auto": campaign}, {"wait": -1}),
        ({"auto": campaign}, {"answer_tokens": 0}),
        ({"auto": campaign}, {"margin": 0.5}),
    ):
        refusal(InvalidInput, PurseRouter, campaigns, **settings)
    other = lab.campaign(deployments, "spare", name="other")
    lab.use({"auto": other})
    with pytest.raises(Exception, match=r"is an arm of campaign 'other'.*the arms are spare"):
        lab.run(lab.router().acompletion("auto", lab.asked))


def test_there_is_one_hook_in_a_process(lab: Lab) -> None:
    from purse.integrations.litellm import PurseRouter

    campaign = lab.campaign()
    hook = lab.use(campaign)
    text = refusal(InvalidInput, PurseRouter, {"auto": campaign})
    assert text.startswith("there is a PurseRouter already")
    hook.close()
    lab.hook = None
    second = PurseRouter({"auto": campaign})
    del second
    gc.collect()
    PurseRouter({"auto": campaign}).close()
