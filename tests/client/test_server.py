"""How a server is reached: addresses, tokens, other timeouts, imports, and what only a database can
do.
"""

import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import purse
from purse import Account, Campaign
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage
from purse.client import Server

if TYPE_CHECKING:
    from tests.support.service import Served

TERMS: dict[str, Any] = {
    "arms": {"small": "0.01", "large": "0.05"},
    "budget": "25",
    "policy": "uniform",
}
HEAVY = {"apsw", "asyncio", "click", "numba", "numpy", "orjson", "polars", "rich", "scipy"}


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the client would have waited."""
    waited: list[float] = []
    monkeypatch.setattr("purse.client.server.time.sleep", waited.append)
    return waited


def test_the_address_says_who_keeps_a_budget(at: "Served", storage: Storage) -> None:
    for kind, terms in ((Campaign, TERMS), (Account, {"budget": 1})):
        name = kind.__name__
        made: Any = kind.create(name, **terms, storage=at.url)
        kept: Any = kind.open(name, storage=storage)
        assert type(made) is type(kept) is kind
        assert repr(made) == f"<{name} {name!r} at {at.url}>"
        assert repr(kept) == f"<{name} {name!r}>"
        assert kind.names(storage=at.url) == kind.names(storage=storage) == [name]
        with kind.open(name, storage=Server(at.url + "/", timeout=3)) as other:
            assert other.status() == made.status() == kept.status()
        assert other.status() == kept.status()  # who let go connects again
        for word in ("terms", "storage"):
            assert getattr(kept, word)
            with pytest.raises(AttributeError, match="has neither 'storage' nor 'terms' here"):
                getattr(made, word)
    with pytest.raises(purse.PurseError, match="restored on the machine of the database"):
        Campaign.restore(StringIO(), storage=at.url)


def test_the_token_comes_from_the_argument_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.support.service import served, token_file

    file, tokens = token_file(tmp_path)
    with served(storage=in_memory(), tokens=file) as at:
        for wrong in (None, "purse_unknown"):
            with pytest.raises(purse.PurseError, match=r"wants a token.*PURSE_TOKEN") as caught:
                Campaign.open("prompts", storage=at.url, token=wrong)
            assert "purse_unknown" not in str(caught.value)
        made = Campaign.create("prompts", **TERMS, storage=at.url, token=tokens["admin"])
        assert made.ask().id == 1
        monkeypatch.setenv("PURSE_TOKEN", tokens["read"] + "\n")
        found = Campaign.open("prompts", storage=at.url)
        assert Campaign.names(storage=at.url) == ["prompts"]
        with pytest.raises(purse.PurseError, match="needs the role act; the token 'read'"):
            found.ask()
        acting = Campaign.open("prompts", storage=at.url, token=tokens["act"])
        assert acting.ask().id == 2
        with pytest.raises(purse.PurseError, match="needs the role admin"):
            acting.audit()
        assert made.audit().ok


NOWHERE = (
    "http:// https:host http://host:port http://host:99999 http://host/?a=1 https://host#a "
    "http://host/ü https://[::1 unix: unix:run/purse.sock unix://run/purse.sock"
)
WRONG: list[tuple[Any, Any, str]] = [
    *(
        (address, None, r"storage=.*must be https://HOST.* or unix:/PATH")
        for address in (*NOWHERE.split(), "http://a b", "http://host\n", "unix:/a\nb")
    ),
    ("https://me:secret@host", None, "without a name or a password"),
    *(
        ("http://127.0.0.1:9", token, "token: must be what `purse token new`")
        for token in ("two\nsecret", "secret über", 7)
    ),
    ("memory:", "purse_secret", "token: must be left out"),
    (Server("http://127.0.0.1:9"), "purse_secret", "token: must be left out"),
]


@pytest.mark.parametrize(("place", "token", "words"), WRONG)
def test_an_address_or_a_token_that_is_none_is_refused_and_secrets_are_not_shown(
    place: Any, token: Any, words: str
) -> None:
    with pytest.raises(purse.InvalidInput, match=words) as caught:
        Campaign.open("prompts", storage=place, token=token)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:9", "https://127.0.0.1:9", "unix:/nowhere/purse.sock"]
)
def test_no_server_is_one_clear_error(waits: list[float], address: str) -> None:
    with pytest.raises(
        purse.errors.StorageUnavailable,
        match=rf"^{address} does not answer after 6 attempts: \w+Error",
    ):
        Campaign.open("prompts", storage=address)
    assert len(waits) == 5


def test_another_timeout_and_number_of_attempts(waits: list[float]) -> None:
    server = Server("http://127.0.0.1:9", timeout=1, retries=1)
    with pytest.raises(purse.errors.StorageUnavailable, match="after 2 attempts"):
        Campaign.names(storage=server)
    assert len(waits) == 1
    server.close()
    for bad, words in (
        ({"timeout": 0}, "timeout=0: must"),
        ({"retries": -1}, "retries=-1: must"),
        ({"url": "sqlite:///purse.db"}, "storage=.*must be https://HOST"),
        ({"url": 7}, "storage=.*must be https://HOST"),
    ):
        with pytest.raises(purse.InvalidInput, match=words):
            Server(**{"url": "http://127.0.0.1:9", **bad})


def test_a_path_that_is_no_server_is_told(at: "Served") -> None:
    with pytest.raises(purse.PurseError, match="GET /else/campaigns/prompts: there is nothing"):
        Campaign.open("prompts", storage=at.url + "/else")


def test_long_answers_come_in_pages(at: "Served", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purse.campaign.campaign.MOST", 2)
    monkeypatch.setattr("purse.campaign.budget.PAGE", 2)
    campaign = Campaign.create("prompts", **TERMS, storage=at.url)
    tickets = campaign.ask_many(2) + campaign.ask_many(2) + campaign.ask_many(1)
    assert campaign.tickets() == tickets
    assert campaign.tickets(limit=3) == tickets[:3]
    assert campaign.tickets(after=1, limit=2) == tickets[1:3]
    reports = [(ticket, 1, -1 if ticket.id in (2, 4) else "0.001") for ticket in tickets]
    found = campaign.tell_many(reports)
    assert [isinstance(each, purse.InvalidInput) for each in found] == [False, True] * 2 + [False]
    assert campaign.status().counts["told"] == 3
    assert [entry.seq for entry in campaign.journal()] == list(range(1, 10))


OPENED = """
import sys, purse
campaign = purse.Campaign.open("prompts", storage=sys.argv[1])
ticket = campaign.ask()
campaign.tell(ticket, 1, "0.001")
print(campaign.status().counts["told"], *sys.modules)
"""
NAMED = "import sys; from purse import Campaign; print(*sys.modules)"


def loaded(program: str, *given: str) -> list[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *given], capture_output=True, text=True, check=True
    ).stdout.split()


def test_a_campaign_on_a_server_loads_nothing_heavy(at: "Served") -> None:
    Campaign.create("prompts", **TERMS, storage=at.url)
    told, *modules = loaded(OPENED, at.url)
    assert told == "1"
    assert "purse.client.links" in modules
    assert not HEAVY & set(modules)
    ours = [name for name in modules if name.split(".")[0] == "purse"]
    assert not {"purse.campaign.run.local_level", "purse.asynchronous"} & set(ours)
    assert len(ours) < 40


def test_the_name_of_a_campaign_loads_less() -> None:
    found = loaded(NAMED)
    assert "purse.campaign.campaign" in found
    assert not (HEAVY | {"http.client", "ssl", "purse.campaign.run.local_level"}) & set(found)


WITHOUT = """
import sys
for name in ("apsw", "numba", "numpy", "orjson", "scipy"):
    sys.modules[name] = None
import purse
print(purse.Campaign.open("prompts", storage=sys.argv[1]).status().name)
try:
    purse.Campaign.open("prompts")
except purse.errors.MissingExtra as error:
    print(error)
"""


def test_a_client_alone_says_what_it_cannot_do(at: "Served") -> None:
    Campaign.create("prompts", **TERMS, storage=at.url)
    name, *said = loaded(WITHOUT, at.url)
    assert name == "prompts"
    assert "a campaign at 'sqlite:///purse.db' needs" in " ".join(said)
    assert said[-3:] == ["pip", "install", "purse-bandits"]
