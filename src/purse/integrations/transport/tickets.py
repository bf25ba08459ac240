"""`purse.reward(answer, 0.9)`: the reward of an answer that an SDK has returned."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from purse.campaign.api.results import CampaignTicket, Receipt
from purse.campaign.campaign import Campaign
from purse.errors import InvalidInput

_MOST = 10_000  # answers whose tickets are remembered, the latest
_FIELDS = ("id", "provider_response_id", "response_id")  # which SDKs call the name of an answer
_by_answer: OrderedDict[str, tuple[Campaign, CampaignTicket]] = OrderedDict()


def remember(answer: str, campaign: Campaign, ticket: CampaignTicket) -> None:
    """Remember the ticket of an answer by the provider's name for it."""
    if answer:
        _by_answer[answer] = campaign, ticket
        if len(_by_answer) > _MOST:
            _by_answer.popitem(last=False)


def reward(answer: Any, value: float) -> Receipt:
    """Report the reward of an answer, and return a receipt.

    answer   what an SDK has returned, a part of its stream, or its id. It came through
             `http_client(campaign, reward=None)` of this process, and is one of its last 10,000;
             in another process, the header x-purse-ticket says which ticket it has
    value    from 0 to 1, or in the campaign's range

    Raise `InvalidInput` if no such answer is remembered, and what `Campaign.reward` raises.
    """
    metadata = getattr(answer, "response_metadata", None)
    names = [answer] if isinstance(answer, str) else [getattr(answer, name, 0) for name in _FIELDS]
    if isinstance(metadata, Mapping):  # of LangChain
        names += [metadata.get(name) for name in _FIELDS]
    for name in names:
        if isinstance(name, str) and name in _by_answer:
            campaign, ticket = _by_answer[name]
            return campaign.reward(ticket, value)
    raise InvalidInput(
        f"answer of type {type(answer).__name__}: no ticket of it is remembered here; it must come "
        "from a client with http_client=purse.http_client(campaign, reward=None)"
    )
