"""`purse.http_client(campaign)`: a client for the SDKs of providers, which spends by a campaign."""

from importlib import import_module
from typing import Any
from weakref import finalize

from purse.base import amounts
from purse.base.optional import is_installed, needs
from purse.campaign.campaign import Campaign
from purse.integrations.campaign_costs import ANY

_CONNECTIONS = {"max_connections": 1000, "max_keepalive_connections": 100}  # as the SDKs have it
_SHARE = 20  # of a cap is what one call may cost


def http_client(campaign: Campaign, *, library: Any = None, inner: Any = None, **more: Any) -> Any:
    """Return a client for `http_client` of an SDK, such as `OpenAI` or `Anthropic`.

    campaign   pays each request and chooses its model: its arms are models, its only resource is
               dollars. `cap` makes one that chooses nothing
    library    httpx2 or httpx, for SDKs that want the one; None: httpx2
    inner      the transport that does the work, such as `httpx2.HTTPTransport(proxy=...)`
    models     {arm: the model to ask for}; None: the arms are models
    reward     "valid": 1 for an answer that ended normally, is not empty, and is JSON if JSON was
               asked for, else 0; or `reward(body, answer)` of the request and its `wire.Answer`,
               from 0 to 1 or None; None: the reward comes later, by `purse.reward`
    labels, session, context   functions of a request and its body; by default labels are read
               from the header x-purse-labels, such as `user=ann, run=7`, and the session from
               x-purse-session, or the ids that frameworks send
    price      `price(model, usage, url, conditions)` in dollars, which raises `LookupError` for
               what it does not know; by default that of genai-prices
    tokens     `tokens(content)`, the most tokens that the body of a request may have; None: its
               bytes, and no images
    answer_tokens   the limit of an answer if a request sets none, as far as the arm's maximum pays
    margin     a stream that is broken off is settled at what came, times this; None: its hold
               stays until it expires, as nobody knows what it cost
    wait       seconds to wait for money that others hold, or for arms that cool down

    Raise `MissingExtra` without the extra `prices`, and `InvalidInput` if a value is not allowed.
    """
    return _client(campaign, library, inner, "", more)


def async_http_client(
    campaign: Campaign, *, library: Any = None, inner: Any = None, **more: Any
) -> Any:
    """Return a client for `AsyncOpenAI`, `AsyncAnthropic` and others, as `http_client` does."""
    return _client(campaign, library, inner, "Async", more)


def _client(campaign: Campaign, library: Any, inner: Any, kind: str, more: dict[str, Any]) -> Any:
    """Return a client; `kind` is "Async" for coroutines."""
    with needs("purse.http_client", "prices"):
        from purse.integrations.transport.transport import Transport

        if library is None:
            library = import_module("httpx2" if is_installed("httpx2") else "httpx")
    own = inner is None
    if own:
        limits = library.Limits(**_CONNECTIONS)
        inner = getattr(library, f"{kind}HTTPTransport")(limits=limits)
    transport = Transport(campaign, inner, **more)
    client = getattr(library, f"{kind}Client")(transport=transport, follow_redirects=True)
    if own and not kind:  # nobody else knows it; to close the other kind needs an event loop
        finalize(client, inner.close)
    return client


def cap(
    budget: Any, *, most: Any = None, name: str = "cap", storage: Any = None, **terms: Any
) -> Campaign:
    """Return a campaign that pays every model at its own price and chooses nothing.

    budget    in dollars
    most      that one call may cost; None: a twentieth of the budget
    storage   as for `Campaign.create`: processes share the cap of this name; None: the memory of
              this process
    terms     as for `Campaign.create`, such as `every="day"`
    """
    if storage is None:
        from purse.campaign.storage.connect import in_memory

        storage = in_memory()
    if most is None:
        most = amounts.text(amounts.to_units("budget", budget) // _SHARE)
    free = {"resources": ["USD"], "policy": "uniform", "cost_min": "0.000000001"}
    free["exist_ok"] = "update"
    return Campaign.create(
        name, arms={ANY: most}, budget=budget, storage=storage, **{**free, **terms}
    )
