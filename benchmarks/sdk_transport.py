"""What a campaign adds to a call of the OpenAI SDK: processor time without a network, beside a
client without a campaign, in one run.

Run it: python -m benchmarks.sdk_transport [ROUNDS] [CALLS]
"""

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

BASE = {"id": "a", "created": 1, "model": "gpt-5-mini", "object": "chat.completion"}
USED = {"prompt_tokens": 200, "completion_tokens": 100, "total_tokens": 300}
MESSAGE = {"role": "assistant", "content": "word " * 100}
CHOICE = {"index": 0, "message": MESSAGE, "finish_reason": "stop"}
WHOLE = json.dumps({**BASE, "usage": USED, "choices": [CHOICE]}).encode()
ASKED: dict[str, Any] = {
    "model": "gpt-5-mini",
    "messages": [{"role": "user", "content": "word " * 200}],
    "max_completion_tokens": 300,
}


def events() -> Iterator[bytes]:
    """Yield a stream of 100 words, their usage and the end."""
    for number in range(101):
        delta = {"content": "word "}
        choice = {"index": 0, "delta": delta, "finish_reason": "stop" if number == 100 else None}
        yield b"data: " + json.dumps({**BASE, "choices": [choice]}).encode() + b"\n\n"
    yield b"data: " + json.dumps({**BASE, "choices": [], "usage": USED}).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"


def main(rounds: int, calls: int) -> None:
    """Print the least processor time of a call over the rounds, in ms."""
    import httpx2
    import openai

    import purse

    parts = list(events())

    class Stream(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield from parts

    def answer(request: Any) -> Any:
        if b'"stream":true' in request.content:
            head = {"content-type": "text/event-stream"}
            return httpx2.Response(200, headers=head, stream=Stream())
        return httpx2.Response(200, headers={"content-type": "application/json"}, content=WHOLE)

    inner = httpx2.MockTransport(answer)
    with tempfile.TemporaryDirectory() as folder:
        file = f"sqlite:///{folder}/c.db"
        terms: dict[str, Any] = {"budget": 1_000, "prompt_tokens": 4_000, "answer_tokens": 500}
        models = ["gpt-5-mini", "gpt-5"]
        kinds = {
            "memory": purse.Campaign.create("memory", arms=models, storage="memory:", **terms),
            "file": purse.Campaign.create("file", arms=models, storage=file, **terms),
            "cap": purse.cap(1_000, storage=file),
        }
        clients: dict[str, Any] = {"bare": httpx2.Client(transport=inner)}
        clients |= {name: purse.http_client(one, inner=inner) for name, one in kinds.items()}
        took: dict[tuple[str, bool], list[float]] = {}
        for turn in range(rounds + 1):
            for name, http in clients.items():
                sdk = openai.OpenAI(http_client=http, api_key="x")
                for stream in (False, True):
                    at = time.process_time()
                    for _ in range(calls):
                        reply = sdk.chat.completions.create(**ASKED, stream=stream)
                        if stream:
                            list(reply)
                    if turn > 0:  # the first imports what is imported late
                        took.setdefault((name, stream), []).append(time.process_time() - at)
        for stream in (False, True):
            row = [f"{name} {1000 * min(took[name, stream]) / calls:.2f}" for name in clients]
            print("stream of 100:" if stream else "whole:", ", ".join(row), "ms of processor time")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or ("5", "20")))
