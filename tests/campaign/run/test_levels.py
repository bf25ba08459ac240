"""All levels read together stand as each does that is read alone."""

from typing import Any

from purse import Account, Campaign
from purse.campaign.run.levels import LevelReader
from tests.support.storages import TERMS, StorageHarness


def test_levels_read_together_stand_as_each_alone(harness: StorageHarness) -> None:
    day: dict[str, Any] = {"every": "day", "time_zone": "Europe/Berlin"}
    storage = harness.storage()
    Account.create("top", budget=30, storage=storage)
    Account.create("team", budget=13, account="top", storage=storage, **day)
    for name, account in (("free", None), ("daily", "team"), ("open", "team"), ("dear", "top")):
        terms = {**TERMS, "expires_after": 60, **({"time_zone": None} if account == "team" else {})}
        Campaign.create(name, **terms, account=account, limits={"user": 4}, storage=storage)
    opened = {name: Campaign.open(name, storage=storage) for name in storage.names()}
    reader = LevelReader(storage)

    def check() -> None:
        levels = reader.read()
        campaigns, accounts = list(levels.campaigns()), list(levels.accounts())
        assert campaigns == [campaign.status() for campaign in opened.values()]
        names = storage.names("account")
        assert accounts == [Account.open(name, storage=storage).status() for name in names]
        labels = [(level.terms.name, label) for level, label in levels.largest(storage, 1)]
        assert labels == [
            (name, label)
            for name, campaign in opened.items()
            for label in campaign.labels("user", 1)
        ]

    check()
    for campaign in opened.values():
        for user in ("ada", "bob"):
            campaign.tell(campaign.ask(arms=["a"], labels={"user": user}), 1, 2)
        campaign.ask(arms=["a"], labels={"user": "eve"})
    check()
    harness.clock += 120_000  # tickets are overdue
    check()
    Account.open("top", storage=storage).pause()
    opened.pop("daily").end()
    opened["daily"] = Campaign.open("daily", storage=storage)
    opened = dict(sorted(opened.items()))
    harness.clock += 3 * 86_400_000  # other periods
    check()
    (level,) = reader.read(only=["dear"]).campaigns()
    assert (level.name, level.status) == ("dear", "paused")
