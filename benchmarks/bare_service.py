"""`python -m benchmarks.bare_service ASK TELL`: a bare route in the server that `purse serve` uses.
It reads the JSON of a request, answers with a body that it was given, and does nothing else.
"""

from __future__ import annotations

import json
import socket
import sys

import orjson
import uvicorn
from fastapi import FastAPI, Request, Response

app = FastAPI()
ASKED, TOLD = (json.loads(text) for text in sys.argv[1:3]) if sys.argv[2:] else ({}, {})


@app.post("/campaigns/{name}/asks")
async def ask(name: str, request: Request) -> Response:
    """What an ask was answered with."""
    await request.json()
    return Response(orjson.dumps(ASKED), media_type="application/json")


@app.post("/campaigns/{name}/tickets/{id}/tell")
async def tell(name: str, id: int, request: Request) -> Response:
    """What a tell was answered with."""
    await request.json()
    return Response(orjson.dumps(TOLD), media_type="application/json")


def main() -> None:
    """Serve until told to stop."""
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        print(json.dumps({"url": url}), file=sys.stderr, flush=True)
        config = uvicorn.Config(
            app, log_config=None, access_log=False, http="httptools", ws="none", server_header=False
        )
        uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    main()
