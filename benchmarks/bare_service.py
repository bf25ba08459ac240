"""`python -m benchmarks.bare_service ASK TELL`: a bare route in the server that `purse serve` uses.
It reads the JSON of a request, answers with a body that it was given, and does nothing else.
"""

from __future__ import annotations

import json
import socket
import sys

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

ASKED, TOLD = (json.loads(text) for text in sys.argv[1:3]) if sys.argv[2:] else ({}, {})


async def ask(request: Request) -> Response:
    """Answer with what an ask was answered with."""
    await request.json()
    return Response(orjson.dumps(ASKED), media_type="application/json")


async def tell(request: Request) -> Response:
    """Answer with what a tell was answered with."""
    await request.json()
    return Response(orjson.dumps(TOLD), media_type="application/json")


app = Starlette(
    routes=[
        Route("/campaigns/{name}/asks", ask, methods=["POST"]),
        Route("/campaigns/{name}/tickets/{ticket}/tell", tell, methods=["POST"]),
    ]
)


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
