"""Two processes, each with a campaign of its own, on the last of an account: exactly one wins."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from purse import Account
from tests.support.campaigns import balance, campaign
from tests.support.processes import forked
from tests.support.soak import scale
from tests.support.storages import StorageHarness

ASK = """
import json, pathlib, sys, time
from purse import BudgetExhausted, Campaign
address, name, go = sys.argv[1:]
campaign = Campaign.open(name, storage=address)
pathlib.Path(f"{go}-{name}").touch()
while not pathlib.Path(go).exists():
    time.sleep(0.001)
won = 0
try:
    while True:
        campaign.ask()
        won += 1
except BudgetExhausted as error:
    print(json.dumps([won, str(error)]))
"""
BUDGET = scale(20, 2_000)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_the_last_of_an_account(
    make_harness: Callable[[str], StorageHarness], kind: str, tmp_path: Path
) -> None:
    harness = make_harness(kind)
    address = harness.address
    account = Account.create("shared", budget=BUDGET, storage=address)
    names = ("first", "second")
    campaigns = [campaign(address, name, "shared", budget=2 * BUDGET) for name in names]
    go = tmp_path / "go"
    files = [tmp_path / f"{name}.out" for name in names]
    racers = [
        forked(ASK, address, name, go, out=file) for name, file in zip(names, files, strict=True)
    ]
    while not all(Path(f"{go}-{name}").exists() for name in names):
        assert all(racer.exitcode is None for racer in racers), [f.read_text() for f in files]
        racers[0].join(0.01)
    go.touch()
    for racer in racers:
        racer.join()
    answers = [json.loads(file.read_text()) for file in files]
    assert sum(won for won, _ in answers) == BUDGET
    assert all("account 'shared' has 0 left" in why for _, why in answers)
    assert balance(account) == ("0", str(BUDGET), "0", "0", "0")
    assert all(each.audit().ok for each in (account, *campaigns))
