"""One transcript of all verbs, with refusals, wherever a campaign is kept: equal results, equal
words.
"""

import inspect
import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from purse import Account, AsyncAccount, AsyncCampaign, Campaign
from purse.campaign.api.verb import verbs
from purse.campaign.storage.connect import in_memory
from purse.errors import PurseError
from tests.support.frozen import FOLDER, REFUSALS
from tests.support.processes import in_loop
from tests.support.service import served
from tests.support.transcript import STEPS, Step, shape, still

ACCOUNTS = ("company", "team")
Played = list[tuple[Step, Any]]


class Player:
    """Plays the steps in a place, by verbs that block."""

    campaign: Any = Campaign
    account: Any = Account

    def __init__(self, place: Any, clock: list[int]) -> None:
        self.place, self.clock = place, clock
        self.opened: dict[str, Any] = {}

    async def play(self) -> Played:
        return [(step, await self.outcome(step)) for step in STEPS]

    async def outcome(self, step: Step) -> Any:
        try:
            return shape(await self.do(step))
        except PurseError as error:
            return shape(error)

    async def do(self, step: Step) -> Any:
        of, verb, given, named = step
        if of == "clock":
            self.clock[0] += given[0] * 1000
            return None
        if of in ("Campaign", "Account"):
            kind = self.campaign if of == "Campaign" else self.account
            found = await self.call(getattr(kind, verb), *given, **named, storage=self.place)
            return found.name if hasattr(found, "name") else found
        if of not in self.opened:
            kind = self.account if of in ACCOUNTS else self.campaign
            self.opened[of] = await self.call(kind.open, of, storage=self.place)
        found = getattr(self.opened[of], verb)
        if verb == "journal":
            return await self.listed(found(*given))
        if verb == "export":
            file = StringIO()
            return await self.call(found, file, **named), file.getvalue()
        return await self.call(found, *given, **named)

    async def call(self, verb: Any, *given: Any, **named: Any) -> Any:
        return verb(*given, **named)

    async def listed(self, entries: Any) -> list[Any]:
        return list(entries)


class AsyncPlayer(Player):
    """Plays the steps by verbs that are awaited."""

    campaign, account = AsyncCampaign, AsyncAccount

    async def call(self, verb: Any, *given: Any, **named: Any) -> Any:
        return await verb(*given, **named)

    async def listed(self, entries: Any) -> list[Any]:
        return [entry async for entry in entries]


@pytest.fixture
def clock() -> Iterator[list[int]]:
    with still() as made:
        yield made


@pytest.fixture(scope="module")
def expected() -> Played:
    return in_this_process()


def in_this_process() -> Played:
    """What a campaign in the memory of this process answers."""
    with still() as clock:
        return in_loop(Player(in_memory(), clock).play())


def refusals(played: Played) -> dict[str, str]:
    """The words of each step that is refused, after the name of its error."""
    return {
        repr(step): f"{answer[0]}: {answer[1]}"
        for step, answer in played
        if isinstance(answer, tuple) and len(answer) == 3
    }


def same(found: Played, expected: Played) -> None:
    differ = [
        f"{step}\n    {answer}\n    {wanted}"
        for (step, answer), (_, wanted) in zip(found, expected, strict=True)
        if answer != wanted
    ]
    assert not differ, "\n".join(differ)


def test_every_verb_is_played_and_every_refusal_is_a_line(expected: Played) -> None:
    of_accounts = [step.of in ("Account", *ACCOUNTS) for step, _ in expected]
    for kind in (Campaign, Account):
        played = {
            step.verb
            for (step, _), of_account in zip(expected, of_accounts, strict=True)
            if of_account == (kind is Account)
        }
        assert {row.name for row in verbs(kind)} <= played
    words = refusals(expected)
    assert not [each for each in words.values() if "\n" in each]
    assert words == json.loads((FOLDER / REFUSALS).read_text()), (
        "if this is meant: python -m tests.support.frozen"
    )


def test_postgres(expected: Played, clock: list[int], postgres_address: str) -> None:
    same(in_loop(Player(postgres_address, clock).play()), expected)


def test_http(expected: Played, clock: list[int]) -> None:
    with served(storage=in_memory()) as at:
        same(in_loop(Player(at.url, clock).play()), expected)


def test_coroutines_on_a_unix_socket(expected: Played, clock: list[int], tmp_path: Path) -> None:
    with served(storage=in_memory(), socket=tmp_path / "purse.sock") as at:
        same(in_loop(AsyncPlayer(at.url, clock).play()), expected)


def test_coroutines_on_a_file(expected: Played, clock: list[int], tmp_path: Path) -> None:
    same(in_loop(AsyncPlayer(f"sqlite:///{tmp_path}/purse.db", clock).play()), expected)


@pytest.mark.parametrize(
    ("blocking", "waiting"), [(Campaign, AsyncCampaign), (Account, AsyncAccount)]
)
def test_every_verb_has_its_awaited_form(blocking: Any, waiting: Any) -> None:
    names = {name for name, _ in inspect.getmembers(blocking, inspect.isroutine) if name[0] != "_"}
    for name in names:
        found, verb = getattr(waiting, name), getattr(blocking, name)
        assert inspect.signature(found).parameters == inspect.signature(verb).parameters
        assert inspect.getdoc(found) == inspect.getdoc(verb)
        if name != "spending":  # what it returns is for `async with`
            assert inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found)
