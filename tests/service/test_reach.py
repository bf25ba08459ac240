"""What a token with a scope sees of every route: what is below its names, and nothing else."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from purse import Account, Campaign
from purse.campaign.storage.connect import in_memory
from purse.service import live_view, tokens
from purse.service.reach import _FILTERED
from purse.service.routes import _Endpoint
from tests.support.paths import ROOT
from tests.support.service import PROMPTS, bearer, operations_of, problem, service

OUTSIDE = ("zeppelin", "walrus", "quokka", "ocelot", "777.5")  # names and an amount
PUBLIC = ("/", "/healthz", "/readyz", "/openapi.json", "/dashboard/{file}")
# routes without a name: what each has of what is reached, and nothing of the rest
LISTS = {
    ("GET", "/campaigns"): '"prompts"',
    ("GET", "/accounts"): '"team-a"',
    ("GET", "/overview"): '"name":"team-a"',
    ("GET", "/metrics"): 'account="team-a"',
    ("POST", "/campaigns"): "account: is missing",
    ("POST", "/accounts"): "account: is missing",
}
BODIES: dict[str, dict[str, Any]] = {
    "campaigns": {**PROMPTS, "name": "another"},
    "accounts": {"name": "team-c", "budget": "9", "resources": ["USD"]},
    "alerts": {"alerts": ["80%"]},
    "tells": {"reports": [{"ticket": 1, "reward": 1, "cost": 0}, {"ticket": 9, "reward": 1}]},
    "tell": {"reward": 1, "cost": 0},
    "settle": {"cost": 0},
    "reward": {"reward": 1},
    "arms": {"name": "third"},
    "set": {"name": "large", "cost_max": "0.04"},
    "retire": {"name": "third"},
    **{word: {"amount": 1, "note": "x"} for word in ("charges",)},
    **{word: {"amount": 1} for word in ("top-ups", "budget")},
}


class Scoped:
    """A service with a tree: zeppelin above team-a, with prompts, and walrus, with quokka; ocelot
    stands alone. Tokens reach what they name.
    """

    def __init__(self, folder: Path) -> None:
        self.storage, self.file = in_memory(), folder / "tokens"
        self.zeppelin = self.account("zeppelin", budget="777.5")
        self.account("team-a", account="zeppelin", budget="100")
        self.account("walrus", account="zeppelin", budget="100")
        for name, above in (("prompts", "team-a"), ("quokka", "walrus"), ("ocelot", None)):
            terms: Any = {**PROMPTS, "capacity": 3, "cost_ceiling": "0.05", "account": above}
            Campaign.create(**{**terms, "name": name}, storage=self.storage).ask()
        self.admin, self.plain = self.token("admin", "team-a"), self.token("admin")
        self.client = service(self.storage, tokens=self.file)
        self.app = cast(Any, self.client.app)
        self.app.views.close()  # so that a stream ends after one event

    def account(self, name: str, **terms: Any) -> Account:
        return Account.create(name, resources=["USD"], storage=self.storage, **terms)

    def token(self, role: str, *only: str) -> dict[str, str]:
        """The headers of a new token."""
        name = f"{role} {only}"
        return bearer(tokens.new(self.file, name, role, None, 0, list(only) or None))

    def send(self, method: str, path: str, headers: Any = None, **more: Any) -> Any:
        if method == "POST" and not more:
            more = {"json": BODIES.get(path.rpartition("/")[2], {})}
        return self.client.request(method, path, headers=headers or self.admin, **more)

    def routes(self) -> list[tuple[str, str]]:
        return [
            (method, route.path)
            for route in self.app.routes
            for method in cast(_Endpoint, route.endpoint).operations
        ]


@pytest.fixture
def scoped(tmp_path: Path) -> Scoped:
    return Scoped(tmp_path)


def path_of(route: str, name: str) -> str:
    return route.format(name=name, ticket=1)


def test_every_route_has_a_name_or_leaves_out_what_is_not_reached(scoped: Scoped) -> None:
    """A new route without a name is closed until it is in the table and filters itself."""
    free = [(method, path) for method, path in scoped.routes() if "{name}" not in path]
    assert set(free) == {*LISTS, *(("GET", path) for path in PUBLIC)}
    assert {path for _, path in LISTS} == set(_FILTERED)
    for (method, path), own in LISTS.items():
        assert any(word in scoped.send(method, path, scoped.plain).text for word in OUTSIDE) or (
            method == "POST"
        )
        text = scoped.send(method, path).text
        assert own in text
        assert not [word for word in OUTSIDE if word in text], (path, text)
    text = scoped.send("GET", "/metrics?show=campaigns").text
    assert 'purse_left{campaign="prompts"' in text
    assert not [word for word in (*OUTSIDE, "purse_http", "purse_storage_up") if word in text]


def test_what_is_not_reached_is_not_there(scoped: Scoped) -> None:
    """Nothing tells a name out of reach from one that nobody has, whatever else is wrong."""
    wrong: tuple[dict[str, Any], ...] = (
        {},
        {"params": {"no": "such"}},
        {"content": b"{", "headers": scoped.admin},
    )
    walked = 0
    for method, route in scoped.routes():
        if "{name}" not in route:
            continue
        walked += 1
        kind = route.split("/")[1].removesuffix("s")
        for more in wrong:
            if "content" in more:
                more["headers"] = {**scoped.admin, "content-type": "application/json"}
            said = {
                scoped.client.request(
                    method, path_of(route, name), **{"headers": scoped.admin, **more}
                ).text.replace(name, "NAME")
                for name in ("zeppelin", "walrus", "quokka", "ocelot", "nobody-has-it")
            }
            assert len(said) == 1, route
            facts = json.loads(said.pop())
            assert (facts["status"], facts["detail"]) == (404, f"there is no {kind} 'NAME'"), route
    assert walked == len(
        [path for _, path in operations_of(scoped.app) if "prompts" in path or "team-a" in path]
    )
    scoped.account("prompt", budget=1)
    # the other kind of what is reached has no "did you mean", and odd names are only unknown
    for path in ("/accounts/prompts", "/campaigns/team-a", "/campaigns/%00", "/accounts/wal rus"):
        assert "did you mean" not in problem(scoped.send("GET", path), 404, "not-found")


def test_no_answer_of_what_is_reached_tells_of_the_rest(
    scoped: Scoped, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In three states of what is above: running, without money, paused."""
    monkeypatch.setattr(live_view, "_FRESH", 0.0)
    seen = set()
    for change in (lambda: None, lambda: scoped.zeppelin.set_budget("0.02"), scoped.zeppelin.pause):
        change()
        for method, route in scoped.routes():
            if "{name}" not in route or route.endswith(("/end", "/pause")):
                continue
            for name in ("team-a",) if route.startswith("/accounts") else ("prompts",):
                answer = scoped.send(method, path_of(route, name))
                seen.add((answer.status_code, route.rpartition("/")[2]))
                text = answer.text + str(answer.headers)
                assert not [word for word in OUTSIDE if word in text], (route, text)
    # what was refused, so that its words were looked at
    assert {
        (409, "asks"),
        (403, "audit"),
        (403, "top-ups"),
        (200, "picture"),
        (200, "events"),
    } <= seen
    said = problem(scoped.send("POST", "/campaigns/prompts/asks"), 409, "campaign-paused")
    assert said == "The campaign, or an account above it, is paused"
    status = scoped.send("GET", "/accounts/team-a").json()
    assert (status["status"], status["account"]) == ("paused", "")
    assert status["why"] == status["children"][0]["why"] != ""
    first = scoped.send("GET", "/campaigns/prompts/journal").text.splitlines()[0]
    assert json.loads(first)["body"]["account"] == "team-a"  # within reach


def test_an_admin_creates_below_and_learns_of_other_names_that_they_are_taken(
    scoped: Scoped,
) -> None:
    new = {**PROMPTS, "name": "another"}
    for above in ("walrus", "zeppelin", "nobody-has-it", "prompts"):
        said = problem(
            scoped.send("POST", "/campaigns", json={**new, "account": above}), 404, "not-found"
        )
        assert said == f"there is no account {above!r}"
    for name in ("walrus", "quokka", "ocelot"):
        for more in ({}, {"exist_ok": True}, {"exist_ok": "update"}):
            body = {**new, "name": name, "account": "team-a", **more}
            said = problem(scoped.send("POST", "/campaigns", json=body), 409, "campaign-exists")
            assert said == f"the name {name!r} is in use; take another"
    made = scoped.send("POST", "/campaigns", json={**new, "account": "team-a"})
    assert (made.status_code, made.json()["account"]) == (201, "team-a")
    below = {**BODIES["accounts"], "account": "team-a"}
    said = problem(scoped.send("POST", "/accounts", json=below), 400, "invalid-input")
    assert "zeppelin" not in said  # which is why there is no room for another level
    assert scoped.send("POST", "/campaigns/another/top-ups").status_code == 200
    for way in ("top-ups", "budget", "charges", "pause", "resume", "end"):
        said = problem(scoped.send("POST", f"/accounts/team-a/{way}"), 403, "wrong-role")
        assert said == "the token is for 'team-a', whose money and state are set from above"
    assert scoped.send("POST", "/accounts/team-a/alerts").status_code == 200


def test_scopes_name_several_and_the_top_one_may_audit(scoped: Scoped) -> None:
    both = scoped.token("read", "quokka", "team-a", "ocelot")
    assert scoped.send("GET", "/campaigns", both).json() == {
        "names": ["ocelot", "prompts", "quokka"]
    }
    assert scoped.send("GET", "/accounts", both).json() == {"names": ["team-a"]}
    problem(scoped.send("GET", "/accounts/walrus", both), 404, "not-found")
    problem(scoped.send("POST", "/campaigns/quokka/asks", both), 403, "wrong-role")
    top = scoped.token("admin", "zeppelin", "team-a")
    assert scoped.send("POST", "/campaigns/prompts/audit", top).json()["findings"] == []
    assert scoped.send("POST", "/accounts/team-a/top-ups", top).status_code == 200  # from above
    problem(scoped.send("POST", "/accounts/zeppelin/top-ups", top), 403, "wrong-role")
    nobody = scoped.token("admin", "of-the-future")
    assert scoped.send("GET", "/campaigns", nobody).json() == {"names": []}
    Account.create("of-the-future", budget=1, storage=scoped.storage)
    assert scoped.send("GET", "/accounts", nobody).json() == {"names": ["of-the-future"]}


def test_a_stream_ends_when_its_token_reaches_less(
    scoped: Scoped, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a viewer may look on is asked at each beat."""
    asked: list[Callable[[], bool]] = []
    own = scoped.app.views.events

    def events(name: str, may_look: Callable[[], bool], *more: Any) -> Any:
        asked.append(may_look)
        return own(name, may_look, *more)

    monkeypatch.setattr(scoped.app.views, "events", events)
    assert scoped.send("GET", "/campaigns/quokka/events", scoped.plain).status_code == 200
    (may_look,) = asked
    assert may_look()
    lines = [json.loads(line) for line in scoped.file.read_text().splitlines()]
    for line in lines:
        line["only"] = ["team-a"]
    scoped.file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert not may_look()


def test_the_page_works_as_pasted(tmp_path: Path) -> None:
    """The first screen of the page on tokens, with a port that is free."""
    page = (ROOT / "docs" / "tokens.md").read_text()
    assert len(page.split()) <= 400
    screen = page.split("```console\n")[1].split("```")[0]
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    words = [line.removeprefix("$ ") for line in screen.splitlines() if line.startswith("$ ")]
    said = [line for line in screen.splitlines() if not line.startswith("$ ")]
    # a person needs longer to type the next line than the server to begin
    ready = f"until curl -s 127.0.0.1:{port}/healthz > /dev/null; do sleep 0.1; done"
    lines = [part for word in words for part in ([word, ready] if word.endswith("&") else [word])]
    script = "\n".join(["trap 'kill $(jobs -p)' EXIT", *lines]).replace("8000", port)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PURSE_")}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env={**clean, "PATH": path}, capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    shown = [
        *done.stdout.splitlines(),
        *(x for x in done.stderr.splitlines() if x.startswith("purse:")),
    ]
    assert shown == said, done.stderr
    assert (tmp_path / "ticket").read_text().split()[1] in ("small", "large")
