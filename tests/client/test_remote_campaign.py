"""How a campaign on a server is reached: addresses, tokens, lost answers, imports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from purse.client.connection import Connection

import purse
from purse import Campaign
from purse.campaign.storage.connect import in_memory
from tests.client.test_parity import TERMS
from tests.support.server import Served, served
from tests.support.service import HERE, token_file

HEAVY = {"apsw", "click", "httpx", "numba", "numpy", "orjson", "polars", "rich", "scipy"}


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the client would have waited."""
    waited: list[float] = []
    monkeypatch.setattr("purse.client.connection.time.sleep", waited.append)
    return waited


def test_the_token_comes_from_the_argument_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.mark.parametrize("token", ["two\nlines", "über", 7])
def test_a_token_that_is_none_is_refused_and_not_shown(token: Any) -> None:
    with pytest.raises(purse.InvalidInput, match="token: must be what `purse token new`") as caught:
        Campaign.open("prompts", storage=HERE, token=token)
    assert str(token) not in str(caught.value)


def test_a_token_is_for_servers_only(at: Served) -> None:
    with pytest.raises(purse.InvalidInput, match="token: must be left out"):
        Campaign.open("prompts", storage="memory:", token="purse_secret")
    with pytest.raises(purse.InvalidInput, match="must be left out"):
        Campaign.open("prompts", storage=Connection(at.url), token="purse_secret")


@pytest.mark.parametrize(
    "address",
    [
        "http://",
        "https:host",
        "http://host:port",
        "http://host:99999",
        "http://host/?a=1",
        "https://host#a",
        "http://a b",
        "https://[::1",
    ],
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(purse.InvalidInput, match=r"storage=.*must be https://HOST"):
        Campaign.open("prompts", storage=address)


def test_a_password_in_an_address_is_refused_and_not_shown() -> None:
    with pytest.raises(purse.InvalidInput, match="without a name or a password") as caught:
        Campaign.open("prompts", storage="https://me:secret@host")
    assert "secret" not in str(caught.value)


def test_no_server_is_one_clear_error(waits: list[float]) -> None:
    with pytest.raises(
        purse.errors.StorageUnavailable,
        match=r"^http://127.0.0.1:9 does not answer after 6 attempts: ConnectionRefusedError",
    ):
        Campaign.open("prompts", storage="http://127.0.0.1:9")
    assert len(waits) == 5


def test_another_timeout_and_number_of_attempts(waits: list[float]) -> None:
    connection = Connection("http://127.0.0.1:9", timeout=1, retries=1)
    with pytest.raises(purse.errors.StorageUnavailable, match="after 2 attempts"):
        Campaign.names(storage=connection)
    assert len(waits) == 1
    connection.close()


def test_a_path_that_is_no_server_is_told(at: Served) -> None:
    with pytest.raises(purse.PurseError, match="GET /else/campaigns/prompts: there is nothing"):
        Campaign.open("prompts", storage=at.url + "/else")


def test_no_class_takes_what_is_not_its_own(tmp_path: Path) -> None:
    from purse.campaign.local.campaign import LocalCampaign
    from purse.client.remote_campaign import RemoteCampaign

    with pytest.raises(purse.InvalidInput, match="storage="):
        LocalCampaign.open("prompts", storage="https://host")
    with pytest.raises(purse.InvalidInput, match="must be https://HOST"):
        RemoteCampaign.open("prompts", storage=f"sqlite:///{tmp_path}/a.db")
    with pytest.raises(purse.InvalidInput, match="must be the address of a server"):
        RemoteCampaign.open("prompts", storage=in_memory())


OPENED = """
import sys, purse
campaign = purse.Campaign.open("prompts", storage=sys.argv[1])
ticket = campaign.ask()
campaign.tell(ticket, 1, "0.001")
print(campaign.status().counts["told"], *sys.modules)
"""


def test_a_campaign_on_a_server_loads_nothing_heavy(at: Served) -> None:
    Campaign.create("prompts", **TERMS, storage=at.url)
    told, *loaded = subprocess.run(
        [sys.executable, "-c", OPENED, at.url], capture_output=True, text=True, check=True
    ).stdout.split()
    assert told == "1"
    assert "purse.client.remote_campaign" in loaded
    assert not HEAVY & set(loaded)
    ours = [name for name in loaded if name.split(".")[0] == "purse"]
    assert not [name for name in ours if name.startswith("purse.campaign.local")]
    assert len(ours) < 48


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


def test_a_client_alone_says_what_it_cannot_do(at: Served) -> None:
    Campaign.create("prompts", **TERMS, storage=at.url)
    name, said = subprocess.run(
        [sys.executable, "-c", WITHOUT, at.url], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert name == "prompts"
    assert "needs all that purse depends on, and" in said


def test_a_child_of_a_fork_makes_connections_of_its_own(at: Served) -> None:
    campaign = Campaign.create("prompts", **TERMS, storage=at.url)
    campaign.ask()
    child = os.fork()
    if child == 0:
        try:
            campaign.ask()
            code = 0
        except BaseException:
            code = 1
        os._exit(code)
    campaign.ask()
    assert os.waitpid(child, 0)[1] == 0
    assert campaign.status().counts["tickets"] == 3
