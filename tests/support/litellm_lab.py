"""The real LiteLLM with its mock answers: routers, campaigns and requests."""

import asyncio
import logging
from collections import Counter
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import litellm
from litellm import Router

from purse import Campaign
from purse.campaign.storage.connect import in_memory
from purse.integrations.litellm import PurseRouter, create_campaign, ticket_of

MODELS = {"nano": "gpt-5-nano", "mini": "gpt-5-mini", "big": "gpt-5.4"}
ASKED = [{"role": "user", "content": "hello there"}]
DOWN = "litellm.RateLimitError"  # a mock answer that is raised


class Lab:
    """One event loop for all tests, as LiteLLM keeps a worker in it; in a thread of its own, as
    the tests in a browser leave a loop in this one.
    """

    asked = ASKED
    ticket_of = staticmethod(ticket_of)

    def __enter__(self) -> Self:
        litellm.suppress_debug_info = True
        for name in ("LiteLLM", "LiteLLM Router"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self.runner, self.thread = asyncio.Runner(), ThreadPoolExecutor(1)
        self.hook: PurseRouter | None = None
        return self

    def __exit__(self, *error: object) -> None:
        self.thread.submit(self.runner.close).result()
        self.thread.shutdown()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.thread.submit(self.runner.run, work).result()

    def clear(self) -> None:
        if self.hook is not None:
            self.hook.close()
        self.hook, litellm.callbacks, litellm.cache = None, [], None

    def deployments(self, down: tuple[str, ...] = (), **params: Any) -> list[dict[str, Any]]:
        """Three models in the group "auto", and one of group "spare"."""
        return [
            {
                "model_name": "auto" if name in MODELS else name,
                "litellm_params": {
                    "model": f"openai/{MODELS.get(name, 'gpt-5-nano')}",
                    "api_key": "x",
                    "mock_response": DOWN if name in down else f"{name} answers",
                    **params,
                },
                "model_info": {"id": name},
            }
            for name in (*MODELS, "spare")
        ]

    def router(self, down: tuple[str, ...] = (), **more: Any) -> Router:
        models = more.pop("models", None) or self.deployments(down)
        return Router(model_list=models, **{"num_retries": 0, "retry_after": 0, **more})

    def campaign(self, router: Any = None, group: Any = "auto", **terms: Any) -> Campaign:
        given = {"prompt_tokens": 2_000, "answer_tokens": 500, "budget": "1", "policy": "uniform"}
        where = {"storage": in_memory(), "name": "chat"}
        return create_campaign(router or self.deployments(), group, **{**given, **where, **terms})

    def use(self, campaigns: Any, **settings: Any) -> PurseRouter:
        """Make a hook, and hand it to LiteLLM."""
        given = campaigns if isinstance(campaigns, dict) else {"auto": campaigns}
        self.hook = PurseRouter(given, **{"reward": lambda answer, messages: 1.0, **settings})
        litellm.callbacks = [self.hook]
        return self.hook

    def start(self, terms: Mapping[str, Any] | None = None, **settings: Any) -> Campaign:
        """Create a campaign for the group "auto" with a hook, and return it."""
        campaign = self.campaign(**(terms or {}))
        self.use(campaign, **settings)
        return campaign

    def ask(self, router: Router, n: int, together: int = 1, **request: Any) -> Counter[str]:
        """Send requests, wait for all reports, and count answers by their first word, errors by
        their class.
        """

        async def all_of_them() -> Counter[str]:
            answers: Counter[str] = Counter()
            for start in range(0, n, together):
                part = range(start, min(n, start + together))
                answers.update(await asyncio.gather(*(answer(router, **request) for _ in part)))
            assert self.hook is not None
            assert await self.hook.flush(60) == 0
            return answers

        return Counter(self.run(all_of_them()))

    @staticmethod
    def ended(campaign: Campaign) -> dict[str, int]:
        """Tickets by their state, where nothing is held, nothing overrun and the audit is clean."""
        status = campaign.status()
        (purse,) = status.purses
        assert (purse.held, purse.presumed, purse.overrun) == ("0", "0", "0")
        assert campaign.audit(full=True).ok
        states = ("held", "settled", "told", "failed", "void", "presumed")
        return {state: status.counts[state] for state in states if status.counts[state]}


async def answer(router: Router, **request: Any) -> str:
    """The first word of an answer, or the class of the error."""
    asked = {"model": "auto", "messages": ASKED, "max_tokens": 500, **request}
    try:
        reply: Any = await router.acompletion(**asked)
        if not asked.get("stream"):
            return str(reply.choices[0].message.content).split()[0]
        parts = [part.choices[0].delta.content or "" async for part in reply]
        return "".join(parts).split()[0]
    except Exception as error:
        return type(error).__name__
