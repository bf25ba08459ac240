"""The requests that cost money, and what their answers say, whole or as server-sent events."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

_FREE = ("/count_tokens", "/input_tokens", "/cancel")  # requests that cost nothing
_NORMAL = {"stop", "tool_calls", "function_call", "end_turn", "tool_use", "stop_sequence"}
_NORMAL.add("completed")
_PRICED = ("service_tier", "speed")  # fields that change the price
# headers of frameworks that name a conversation, the first that is there counts
_SESSION = re.compile("(x-([a-z]+-)?)?session-id|x-litellm-trace-id|thread-id")
_LONGEST = 200  # characters of a session's name
_WHOLE = ""  # the type of an answer that is no event
_OVER = {"message_stop", "response.completed", "response.incomplete", "response.failed"}
_BLANK = re.compile(rb"\r?\n\r?\n")
_LINE = re.compile(rb"^data: ?(.*?)\r?$", re.MULTILINE)
# tools whose use costs tokens only, as the caller runs them
_TOOL = re.compile("function|custom|local_shell|apply_patch|(bash|text_editor|computer|memory).*")
# parts of a prompt whose tokens are not its bytes
_MEDIA = {"image", "image_url", "input_image", "computer_screenshot", "document", "file"}
_MEDIA |= {"input_file", "audio", "input_audio", "video", "video_url", "container_upload"}
_ELSEWHERE = ("previous_response_id", "conversation")  # a conversation that the provider has


@dataclass
class Answer:
    """What an answer has said so far.

    texts     of each choice, in parts
    ends      why each choice ended, in the provider's words
    calls     whether it calls a tool
    usage     as the provider reports it; None: not yet
    id        the provider's name for it
    size      bytes that came of texts, thoughts and calls, in the parts of a stream
    is_over   whether nothing more is to come
    error     of a stream that failed, in the provider's words
    """

    texts: defaultdict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    ends: list[str] = field(default_factory=list)
    calls: bool = False
    usage: dict[str, Any] | None = None
    conditions: dict[str, str] = field(default_factory=dict)
    id: str = ""
    size: int = 0
    is_over: bool = False
    error: str = ""

    def is_valid(self, as_json: bool) -> bool:
        """Return whether it ended normally, is not empty, and is JSON if JSON was asked for."""
        if not self.ends or not set(self.ends) <= _NORMAL:
            return False
        texts = ["".join(parts) for parts in self.texts.values()]
        if self.calls or not as_json:
            return self.calls or (bool(texts) and all(texts))
        try:
            return bool([orjson.loads(text) for text in texts])
        except ValueError:
            return False

    def take_part(self, *texts: Any) -> None:
        """Count the texts of a part of a stream."""
        self.size += sum(len(text.encode()) for text in texts if isinstance(text, str))

    def take_usage(self, usage: dict[str, Any] | None) -> None:
        """Take in a usage; later counts replace earlier ones."""
        if usage:
            self.usage = {**(self.usage or {}), **usage}
            self.conditions |= conditions_of(usage)


def read_chat(answer: Answer, event: dict[str, Any]) -> None:
    """Take in a chat completion, or a chunk of one."""
    answer.id = str(event.get("id") or answer.id)
    for index, choice in enumerate(event.get("choices") or ()):
        message = choice.get("message") or choice.get("delta") or {}
        if isinstance(text := message.get("content") or message.get("text"), str):
            answer.texts[choice.get("index", index)].append(text)
        calls = message.get("tool_calls") or ()
        others = ("function_call", "audio", "images")
        answer.calls |= bool(calls) or any(message.get(name) for name in others)
        answer.take_part(text, message.get("reasoning_content"), message.get("reasoning"))
        answer.take_part(*((call.get("function") or {}).get("arguments") for call in calls))
        if end := choice.get("finish_reason"):
            answer.ends.append(end)
    answer.conditions |= conditions_of(event)
    answer.take_usage(event.get("usage"))


def _read_response(answer: Answer, event: dict[str, Any]) -> None:
    """Take in a response; of its events the last one, which has all of it."""
    whole = event.get("response") or event
    answer.take_part(event.get("delta"))
    if "output" in whole:
        answer.id = str(whole.get("id") or answer.id)
    if event.get("type", _WHOLE) not in {_WHOLE, *_OVER}:
        return
    for item in whole.get("output") or ():
        answer.calls |= str(item.get("type")).endswith("_call")
        for part in item.get("content") or ():
            answer.texts[0].append(part.get("text") or "")
    if whole.get("status") not in (None, "queued", "in_progress"):
        answer.ends.append(whole["status"])
    answer.conditions |= conditions_of(whole)
    answer.take_usage(whole.get("usage"))


def _read_message(answer: Answer, event: dict[str, Any]) -> None:
    """Take in a message, or an event of one."""
    whole = event.get("message") or event
    answer.id = str(whole.get("id") or answer.id)
    delta = event.get("delta") or {}
    for block in (*(whole.get("content") or ()), event.get("content_block") or {}, delta):
        answer.texts[0].append(block.get("text") or "")
        answer.take_part(*(block.get(name) for name in ("text", "thinking", "partial_json")))
        answer.calls |= block.get("type") == "tool_use"
    if end := whole.get("stop_reason") or delta.get("stop_reason"):
        answer.ends.append(end)
    answer.take_usage(whole.get("usage"))


def _read_embeddings(answer: Answer, event: dict[str, Any]) -> None:
    """Take in embeddings, which call for nothing more."""
    answer.calls, answer.ends = True, ["stop"]
    answer.take_usage(event.get("usage"))


class Form(NamedTuple):
    """One kind of request.

    provider, flavor   whose usage it has, as genai-prices names it
    limits             fields of the most tokens of an answer; the first is set if none is
    """

    provider: str
    flavor: str
    limits: tuple[str, ...]
    read: Callable[[Answer, dict[str, Any]], None]


_FORMS = {
    "/chat/completions": Form("openai", "chat", ("max_completion_tokens", "max_tokens"), read_chat),
    "/responses": Form("openai", "responses", ("max_output_tokens",), _read_response),
    "/messages": Form("anthropic", "default", ("max_tokens",), _read_message),
    "/embeddings": Form("openai", "embeddings", (), _read_embeddings),
}


def form_of(method: str, path: str) -> Form | None:
    """Return the kind of a request; None if it costs nothing. Raise `ValueError` if nobody knows
    what it costs.
    """
    if method != "POST" or path.endswith(_FREE):
        return None
    for end, form in _FORMS.items():
        if path.endswith(end):
            return form
    raise ValueError(f"what a call of {path} costs is not known")


def conditions_of(body: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of a request or an answer on which prices depend."""
    return {name: body[name] for name in _PRICED if isinstance(body.get(name), str)}


def wants_json(body: Mapping[str, Any]) -> bool:
    """Return whether a request asks for an answer in JSON: by a type, or by a class."""
    forms = (
        body.get("response_format"),
        body["text"].get("format") if isinstance(body.get("text"), Mapping) else None,
        (body.get("output_config") or {}).get("format"),
        body.get("output_format"),
    )
    return any(
        str(form.get("type")).startswith("json") if isinstance(form, Mapping) else form is not None
        for form in forms
    )


def check_priced(body: Mapping[str, Any], *, counted: bool) -> None:
    """Raise `ValueError` if a request costs more than its tokens, or nobody can say how many.

    counted   whether the caller counts the tokens of a request, images included
    """
    media = _media([body.get(name) for name in ("system", "messages", "input")])
    if media and not counted:
        raise ValueError(f"{media} input has tokens that nobody can count before: set tokens=")
    if "audio" in (body.get("modalities") or ()) or body.get("background"):
        raise ValueError("audio answers and background=true have costs that no answer says")
    tools = [str(tool.get("type") or "function") for tool in body.get("tools") or ()]
    if "web_search_options" in body:
        tools.append("web_search_options")
    for name in tools:
        if not _TOOL.fullmatch(name):
            raise ValueError(f"tool {name!r} is billed by use, and has no price here")


def session_of(headers: Mapping[str, str], body: Mapping[str, Any]) -> str | None:
    """Return the conversation that a request belongs to, as frameworks name it; None: unknown."""
    names: list[Any] = [headers[name] for name in sorted(headers) if _SESSION.fullmatch(name)]
    names.insert(0, headers.get("x-purse-session"))
    metadata = body.get("metadata")
    if isinstance(metadata, Mapping):
        names.append(metadata.get("session_id"))
        if "session" in str(metadata.get("user_id")):  # of Anthropic's own agents
            names.append(metadata["user_id"])
    names.append(body.get("prompt_cache_key"))
    sessions = ("".join(filter(str.isprintable, str(name))) for name in names if name)
    return next((session[-_LONGEST:] for session in sessions if session), None)


def _media(node: Any) -> str | None:
    """Return the type of the first part of a prompt that is no text; None if there is none."""
    if isinstance(node, list):
        return next((name for part in node if (name := _media(part))), None)
    if not isinstance(node, dict):
        return None
    if node.get("type") in _MEDIA:
        return str(node["type"])
    return _media(node.get("content")) or _media(node.get("output"))


def names_more(body: Mapping[str, Any]) -> bool:
    """Return whether a request goes on with a conversation that only the provider has."""
    return any(body.get(name) for name in _ELSEWHERE)


class Events:
    """The server-sent events of a stream, cut out of its bytes."""

    def __init__(self) -> None:
        self.rest = b""

    def cut(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield each event that is complete now, and the data in it."""
        blocks = _BLANK.split(self.rest + data)
        self.rest = blocks.pop()
        for block in blocks:
            if block.startswith(b"data: ") and b"\n" not in block:
                yield block + b"\n\n", block[6:]
            elif block:
                yield block + b"\n\n", b"\n".join(_LINE.findall(block))


def is_last(event: Mapping[str, Any], text: bytes) -> bool:
    """Return whether nothing comes after an event."""
    return text == b"[DONE]" or event.get("type") in _OVER
