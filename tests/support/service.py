"""A service in this process, with a campaign in memory, and every route of it; and a real server on
a free port of this machine, or on a Unix socket, in a thread.
"""

import json
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast

from purse.base.problem_types import OF_ERRORS, ProblemType
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.sqlite import Memory
from purse.campaign.storage.storage import Storage
from purse.service import problems, tokens
from purse.service.app import Service
from purse.service.budgets import Budgets
from purse.service.live_view import LiveViews
from purse.service.routes import _Endpoint
from purse.service.server import Server, listening
from purse.service.settings import Settings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it would like another HTTP library, which does the same
    from starlette.testclient import TestClient as TestClient

HERE = "http://127.0.0.1:8000"
PROMPTS = {
    "name": "prompts",
    "arms": {"small": "0.01", "large": "0.05"},
    "budget": "25",
    "cost_min": "0.0001",
    "resources": ["USD"],
    "policy": "uniform",
}


def service(storage: Storage | None = None, **settings: Any) -> TestClient:
    """A client of a new service; without tokens it may do everything."""
    return TestClient(Service(Settings(storage=storage or in_memory(), **settings)), base_url=HERE)


def running(storage: Storage | None = None, **terms: Any) -> TestClient:
    """A client of a service that has the campaign `prompts`."""
    client = service(storage)
    assert client.post("/campaigns", json={**PROMPTS, **terms}).status_code == 201
    return client


def empty(storage: Storage) -> None:
    """Delete all campaigns and accounts of a storage in memory."""
    Storage.__init__(storage, Memory())


def token_file(folder: Path, now: float = 0.0) -> tuple[Path, dict[str, str]]:
    """A file with a token of each role, and one of an admin that expires ten seconds after
    `now`.
    """
    path = folder / "tokens.jsonl"
    made = {role: tokens.new(path, role, role, None, now) for role in tokens._ROLES}
    return path, {**made, "expired": tokens.new(path, "expired", "admin", 10, now)}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def operations_of(app: Service) -> dict[tuple[str, str], str | None]:
    """Method and path of every operation, with the campaign `prompts`, ticket 1 and the account
    `team-a` in it, and the role that it needs.
    """
    values = {"name": "prompts", "ticket": 1, "file": "style.css"}
    return {
        (method, route.path.replace("accounts/{name}", "accounts/team-a").format(**values)): (
            operation.role
        )
        for route in app.routes
        for method, operation in cast(_Endpoint, route.endpoint).operations.items()
    }


def problem_kinds() -> list[ProblemType]:
    """All kinds of problems that the service answers with."""
    own = [kind for kind in vars(problems).values() if isinstance(kind, ProblemType)]
    return [*OF_ERRORS.values(), *own]


def problem(response: Any, status: int, word: str) -> str:
    """The detail of an answer that has to be this problem."""
    facts = response.json()
    assert (response.status_code, facts["status"], facts["type"]) == (
        status,
        status,
        f"urn:purse:problem:{word}",
    ), response.text
    assert response.headers["Content-Type"] == "application/problem+json"
    assert json.dumps(facts["detail"]).count("\\n") == 0
    return str(facts["detail"])


LONG = 30.0  # seconds after which something that should have happened never will


class Served(NamedTuple):
    """Where a server is, what its viewers see, and which campaigns it has open."""

    url: str
    port: int  # 0 for a Unix socket
    views: LiveViews
    budgets: Budgets


@contextmanager
def served(port: int = 0, **settings: Any) -> Iterator[Served]:
    """A server, until the block ends; then it has to stop by itself, whoever still looks."""
    chosen = Settings(port=port, **settings)
    app = Service(chosen)
    with listening(chosen) as (listener, url):
        server = Server(app)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        number = listener.getsockname()[1] if chosen.socket is None else 0
        try:
            yield Served(url, number, app.views, app.budgets)
        finally:
            server.should_exit = True
            thread.join(LONG)
            assert not thread.is_alive(), "the server did not stop"
