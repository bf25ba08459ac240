"""An account on a server has what one in a file has: verbs, signatures, answers, errors."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from purse.campaign.local.account import LocalAccount
from purse.client.connection import Connection
from purse.client.remote_account import RemoteAccount

import purse
from purse import Account, AsyncAccount, Campaign
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage
from tests.client.test_parity import TERMS, shape
from tests.support.server import Served
from tests.support.storages import START

USD: dict[str, Any] = {"resources": ["USD"]}
VERBS = sorted(
    name
    for name in dir(LocalAccount)
    if not name.startswith("_") and callable(getattr(LocalAccount, name))
)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", [RemoteAccount, AsyncAccount, Account])
def test_every_verb_is_there_and_takes_the_same(kind: type, verb: str) -> None:
    here, there = getattr(LocalAccount, verb), getattr(kind, verb)
    assert shape(there) == shape(here)
    assert inspect.getdoc(there)
    assert inspect.getdoc(there) == inspect.getdoc(getattr(Account, verb))
    if kind is AsyncAccount:
        assert inspect.iscoroutinefunction(there) or inspect.isasyncgenfunction(there)


def places(at: Served) -> list[Any]:
    """A server, and a storage of this process."""
    memory = in_memory()
    memory.now = lambda: START
    return [at.url, memory]


def answers(place: Any) -> list[Any]:
    """What accounts answer to every verb, without their ids."""
    company = Account.create("company", budget="100", **USD, storage=place)
    team = Account.create("team-a", budget=50, **USD, account="company", storage=place)
    again = Account.create(
        "team-a", budget=50, **USD, account="company", storage=place, exist_ok=True
    )
    campaign = Campaign.create("prompts", **TERMS, account="team-a", storage=place)
    campaign.tell(campaign.ask(arms=["small"]), 1, "0.004")
    campaign.ask(arms=["large"])
    found: list[Any] = [Account.names(storage=place), Campaign.names(storage=place), again.name]
    found += [campaign.status().account, company.status(), team.status()]
    found += [team.top_up("5", "t-1"), team.top_up("5", "t-1"), team.pause(), team.resume()]
    entries = list(team.journal())
    found += [[(each.seq, each.kind, each.body) for each in entries[1:]]]
    found += [[each.seq for each in team.journal(after=2)], company.audit(), team.audit()]
    file = StringIO()
    found += [team.export(file), file.getvalue().count("\n"), team.end(), company.name]
    return found


def plain(value: Any) -> Any:
    """A status without its digest, which depends on an id."""
    digest = getattr(value, "digest", None)
    return value if digest is None else (type(value), {**vars_of(value), "digest": ""})


def vars_of(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def test_every_verb_answers_the_same(at: Served) -> None:
    there, here = (answers(place) for place in places(at))
    for theirs, ours in zip(there, here, strict=True):
        assert plain(theirs) == plain(ours)


def test_the_address_says_which_class_it_is(at: Served, storage: Storage) -> None:
    made = Account.create("company", budget=1, storage=at.url)
    assert type(made) is RemoteAccount
    assert repr(made) == f"<Account 'company' at {at.url}>"
    assert type(Account.open("company", storage=storage)) is LocalAccount
    with pytest.raises(purse.InvalidInput, match="must be left out"):
        Account.open("company", storage=Connection(at.url), token="purse_secret")
    assert Account.open("company", storage=Connection(at.url)).status() == made.status()


REFUSED: dict[str, Callable[[Any], Any]] = {
    "no such account": lambda place: Account.open("compny", storage=place),
    "no such account above": lambda place: Account.create(
        "b", budget=1, **USD, account="none", storage=place
    ),
    "no such account above a campaign": lambda place: Campaign.create(
        "b", **TERMS, account="none", storage=place
    ),
    "other resources": lambda place: Account.create(
        "b", budget=1, resources=["EUR"], account="company", storage=place
    ),
    "a name that is taken": lambda place: Account.create("company", budget=1, **USD, storage=place),
    "other values": lambda place: Account.create(
        "company", budget=2, **USD, storage=place, exist_ok=True
    ),
    "too deep": lambda place: [
        Account.create(name, budget=1, **USD, account=above, storage=place)
        for name, above in (("b", "company"), ("c", "b"), ("d", "c"))
    ],
    "no money left above": lambda place: (
        Campaign.create("poor", **TERMS, account="company", storage=place).ask_many(
            1000, arms=["large"], request_id="r"
        )
        and Campaign.open("poor", storage=place).ask(arms=["large"])
    ),
    "a paused account": lambda place: (
        Account.open("company", storage=place).pause(),
        Campaign.create("idle", **TERMS, account="company", storage=place).ask(),
    ),
    "an ended account": lambda place: [
        Account.open("company", storage=place).end(),
        Account.open("company", storage=place).top_up(1),
    ],
    "nothing more": lambda place: Account.open("company", storage=place).top_up(0),
    "another amount": lambda place: [
        Account.open("company", storage=place).top_up(amount, "t") for amount in (1, 2)
    ],
    "a request that is none": lambda place: Account.open("company", storage=place).top_up(1, ""),
}


@pytest.mark.parametrize("what", REFUSED)
def test_errors_are_the_same_with_the_same_words(at: Served, storage: Storage, what: str) -> None:
    said = []
    for place in places(at):
        Account.create("company", budget="0.2", **USD, storage=place)
        with pytest.raises(purse.PurseError) as caught:
            REFUSED[what](place)
        said.append((type(caught.value), str(caught.value)))
    assert said[0] == said[1]


@pytest.mark.parametrize("where", ["server", "here"])
def test_the_verbs_of_the_twin_are_done(at: Served, where: str, tmp_path: Path) -> None:
    place = at.url if where == "server" else in_memory()

    async def use() -> None:
        made = await AsyncAccount.create("company", budget=9, storage=place)
        assert await AsyncAccount.names(storage=place) == ["company"]
        async with await AsyncAccount.open("company", storage=place) as other:
            assert other.name == "company"
        assert (await made.top_up(1)).purses[0].budget == "10"
        assert (await made.pause()).status == "paused"
        assert (await made.resume()).status == "running"
        assert [entry.kind async for entry in made.journal(after=1)] == [
            "topped_up",
            "paused",
            "resumed",
        ]
        assert (await made.audit()).ok
        assert await made.export(tmp_path / "company.jsonl") == 4
        assert (await made.end()).status == (await made.status()).status == "ended"
        with pytest.raises(purse.errors.NotFound):
            await AsyncAccount.open("none", storage=place)
        assert repr(made).startswith("<AsyncAccount 'company'")
        await made.close()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(use())).result()
