"""Two campaigns below an account in a storage, after random operations, and damage done to them."""

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import orjson

from purse.campaign.account import Account as Account
from purse.campaign.campaign import Campaign
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage
from purse.errors import PurseError
from tests.support.game import START

Change = Callable[[dict[str, Any]], None]  # of the body of an entry
CAMPAIGNS = ("one", "two")
TERMS: dict[str, Any] = {
    "arms": {"a": "0.1", "b": "0.05"},
    "budget": "20",
    "resources": ["USD"],
    "account": "team",
    "expires_after": 60,
    "reward_within": 300,
    "missing_reward": 0.5,
    "every": "day",
    "alerts": ["50%", "overrun", "expired"],
    "policy": "tsallis-inf",  # whose probabilities follow from every reward
}


class Tree:
    """An account and two campaigns, with a clock of their own."""

    def __init__(self, storage: Storage | None = None, **changes: Any) -> None:
        self.clock = START
        self.storage = storage or in_memory()
        self.storage.now = lambda: self.clock
        self.account = Account.create(
            "team", budget="30", resources=["USD"], every="1h", carry="none", alerts=["50%"],
            storage=self.storage,
        )  # fmt: skip
        self.campaigns = [
            Campaign.create(name, **{**TERMS, **changes}, storage=self.storage)
            for name in CAMPAIGNS
        ]

    def play(self, steps: int, seed: int = 1) -> None:
        """Do random operations; refusals do not matter."""
        rng = random.Random(seed)
        for _ in range(steps):
            self.clock += rng.choice([10, 400, 70_000])
            with suppress(PurseError):
                self.operate(rng, rng.choice(self.campaigns))

    def operate(self, rng: random.Random, campaign: Campaign) -> None:
        """Ask, and report or not."""
        ticket = campaign.ask(labels={"team": rng.choice("xy")})
        match rng.randrange(9):
            case 0:
                campaign.void(ticket)
            case 1:
                campaign.fail(ticket, "0.01", "429")
            case 2:
                campaign.settle(ticket, "0.02")
            case 3:
                pass
            case 4:
                campaign.settle(ticket, "0.2")
                campaign.reward(ticket, 0.5)
            case 5:
                campaign.tell(ticket, 1, "0.03")
                campaign.tell(ticket, 0, "0.03")
            case _:
                campaign.tell(ticket, rng.choice([0, 0.5, 1]), "0.03")


def findings(storage: Storage) -> tuple[str, ...]:
    """Return what an audit of the whole tree finds."""
    return Account.open("team", storage=storage).audit().findings


def execute(storage: Storage, statement: str, *values: Any) -> list[Any]:
    """Change what is stored behind the back of the library; return the rows of the statement."""
    guards = [f"DROP TRIGGER IF EXISTS purse_no_{event}" for event in ("update", "delete")]
    with storage.db.writing() as session:
        *_, rows = session.read([*((guard, ()) for guard in guards), (statement, values)])
        return list(rows)


def forge(storage: Storage, name: str, kind: str, change: Change) -> None:
    """Change the body of an entry of a kind, and make all digests right again."""
    ((key, head),) = execute(storage, f"SELECT id, head FROM purse_levels WHERE name = '{name}'")
    entries = list(storage.entries(name, 0, 10_000))
    which = [entry for entry in entries if entry.kind == kind]
    forged = which[len(which) // 2]
    change(forged.body)
    forged.text = orjson.dumps(forged.body).decode()
    digest = ""
    for entry in entries:
        digest = entry.chain(digest)
        where = f"level = {key} AND seq = {entry.seq}"
        put = f"UPDATE purse_journal SET body = ?, digest = ? WHERE {where}"
        execute(storage, put, entry.text, bytes.fromhex(digest))
    facts = orjson.loads(head) | {"digest": digest}
    put = f"UPDATE purse_levels SET head = ? WHERE id = {key}"
    execute(storage, put, orjson.dumps(facts).decode())
