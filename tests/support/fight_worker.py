"""Processes that use up one account together.

Half of the campaigns are directly under the account, the others under a second one below it. Each
process asks and tells on one campaign until nothing is left; one more tops up both accounts
meanwhile, so that locks are taken in more than one order if they can be.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from typing import Any

from purse import Account, BudgetExhausted
from purse.campaign.campaign import Campaign
from purse.campaign.storage.connect import connect
from purse.errors import BudgetHeld
from tests.support.race_worker import TERMS

COMPANY, TEAM = "company", "team"
COST = "0.5"  # of each call, for which 1 is held
TOP_UPS = 8


def name_of(number: int) -> str:
    return f"campaign-{number}"


def spend(storage: str, number: int, start: Any, results: Any) -> None:
    """Until the account has nothing left; how many pairs, and how often others held the rest."""
    campaign = Campaign.open(name_of(number), storage=storage)
    pairs = waits = 0
    results.put(None)
    start.wait()
    while True:
        try:
            ticket = campaign.ask()
        except BudgetHeld:
            waits += 1
            time.sleep(0.002)
            continue
        except BudgetExhausted as error:
            results.put((number, pairs, waits, str(error)))
            return
        campaign.tell(ticket, 0.5, COST)
        pairs += 1


def top_up(storage: str, start: Any, results: Any) -> None:
    """Both accounts in turn, and each of them twice in the same words."""
    accounts = [Account.open(name, storage=storage) for name in (COMPANY, TEAM)]
    results.put(None)
    start.wait()
    for turn in range(TOP_UPS):
        for account in accounts * 2:
            account.top_up(1, f"top-up-{turn}")
    results.put(TOP_UPS)


def main(storage: str, *numbers: str) -> None:
    """Start so many processes on so many campaigns with this budget; write a line of JSON."""
    processes, campaigns, budget = map(int, numbers)
    warm = Campaign.create("warm", **TERMS, storage="memory:")
    warm.tell(warm.ask(), 1, 1)
    kept = connect(storage)
    Account.create(COMPANY, budget=budget, storage=kept)
    Account.create(TEAM, budget=10**6, account=COMPANY, storage=kept)
    for number in range(campaigns):
        above = COMPANY if number % 2 else TEAM
        Campaign.create(name_of(number), **{**TERMS, "budget": 10**6}, account=above, storage=kept)
    kept.close()
    context = multiprocessing.get_context("fork")
    start, results = context.Event(), context.Queue()
    works = [context.Process(target=top_up, args=(storage, start, results))] + [
        context.Process(target=spend, args=(storage, number % campaigns, start, results))
        for number in range(processes)
    ]
    for work in works:
        work.start()
    for _ in works:
        results.get(timeout=120)
    began = time.perf_counter()
    start.set()
    ends = [results.get(timeout=600) for _ in works]
    seconds = time.perf_counter() - began
    for work in works:
        work.join()
    kept = connect(storage)
    levels: list[Any] = [Account.open(name, storage=kept) for name in (COMPANY, TEAM)]
    levels += [Campaign.open(name_of(number), storage=kept) for number in range(campaigns)]
    purses = [level.status().purses[0] for level in levels]
    print(
        json.dumps(
            {
                "seconds": seconds,
                "ends": [end for end in ends if not isinstance(end, int)],
                "spent": [purse.spent for purse in purses],
                "rest": [[purse.held, purse.presumed, purse.overrun] for purse in purses],
                "left": purses[0].left,
                "findings": [finding for level in levels for finding in level.audit().findings],
            }
        )
    )
    kept.close()
