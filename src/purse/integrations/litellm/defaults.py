"""The defaults of a `PurseRouter`: valid answers as rewards, whose calls as labels, and sessions.

reward = 1 if the answer ended normally, is not empty, and is JSON if JSON was asked for
reward = 0 otherwise
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from purse.campaign.ledger.ask_inputs import LONGEST_VALUE
from purse.integrations.litellm.attempts import metadata_of
from purse.integrations.transport.wire import Answer, read_chat

VALID: Final = "valid"  # the name of the default reward
_FIELDS = ("content", "text", "tool_calls", "function_call", "audio", "images")
# {label: fields of the proxy's metadata, of which the first that is not empty counts}
_LABELS = {
    "team": ("user_api_key_team_id",),
    "user": ("user_api_key_user_id",),
    "key": ("user_api_key_alias", "user_api_key_hash"),
}
_GENERATED = "litellm_session_id_generated"  # marks ids that LiteLLM makes up
_HASH = re.compile("[0-9a-f]{64}")  # SHA-256: a key that was not hashed is a secret


def valid_answer(answer: Any, is_json: bool) -> float:
    """Return 1 for a valid answer and 0 for another one.

    answer    what LiteLLM returns; without choices, such as embeddings, it is valid
    is_json   whether JSON was asked for
    """
    choices = getattr(answer, "choices", None)
    if choices is None:
        return 1.0
    read = Answer()
    for index, choice in enumerate(choices):
        message = getattr(choice, "message", choice)  # a text completion has its text itself
        fields = {name: getattr(message, name, None) for name in _FIELDS}
        part = {"index": index, "finish_reason": getattr(choice, "finish_reason", None)}
        read_chat(read, {"choices": [{**part, "message": fields}]})
    return float(read.is_valid(is_json))


def labels_of(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the labels team, user and key of a request, as far as the proxy knows them.

    metadata   of the request, in which the proxy writes whose key it came with

    A key is named by its alias, or by the first 12 digits of its hash.
    """
    labels: dict[str, str] = {}
    for label, fields in _LABELS.items():
        for name in fields:
            value = metadata.get(name)
            if name.endswith("_hash"):
                value = value[:12] if isinstance(value, str) and _HASH.fullmatch(value) else None
            if value:
                printable = "".join(filter(str.isprintable, str(value)))[:LONGEST_VALUE]
                labels |= {label: printable} if printable else {}
                break
    return labels


def session_of(request: Mapping[str, Any]) -> str | None:
    """Return the conversation that a request belongs to, as LiteLLM knows it; None: unknown."""
    for metadata in metadata_of(request):
        if not metadata.get(_GENERATED) and (session := str(metadata.get("session_id") or "")):
            return "".join(filter(str.isprintable, session))[-LONGEST_VALUE:] or None
    return None
