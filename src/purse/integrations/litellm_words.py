"""Tickets and errors in LiteLLM's terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from purse.base.optional import needs
from purse.integrations.litellm_attempts import TICKET

with needs("purse.integrations.litellm", "litellm"):
    from litellm.exceptions import BadRequestError, UnprocessableEntityError

METADATA = ("metadata", "litellm_metadata")  # which of them, the kind of call decides
# errors after which the deployment is as well as before
THE_REQUESTS_FAULT = (BadRequestError, UnprocessableEntityError)


def ticket_of(response: Any) -> dict[str, Any] | None:
    """Return {"campaign", "ticket", "arm"} of an answer or a stream of a guarded group.

    With it the reward can be reported later: `campaign.reward(found["ticket"], 1.0)`.
    """
    hidden = getattr(response, "_hidden_params", None)
    if isinstance(hidden, Mapping) and TICKET in hidden:
        return dict(hidden[TICKET])
    details = getattr(getattr(response, "logging_obj", None), "model_call_details", {})
    params = details.get("litellm_params") or {}
    found = [params.get(name) for name in METADATA]
    return next((dict(each[TICKET]) for each in found if each and TICKET in each), None)


def reason_of(error: Any) -> str:
    """Return an error in a line, for the journal."""
    return f"{type(error).__name__}: {error}"


def refusal(group: str, why: str) -> BadRequestError:
    """Return the error for a call that would spend outside of the budget."""
    return BadRequestError(f"a call to group {group!r} {why}; it is not made", group, "purse")
