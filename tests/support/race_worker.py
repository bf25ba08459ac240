"""Processes that race for one ticket, or for the last of a budget or an account.

One process is warmed up and forks all racers, which live on from race to race, so that a race costs
milliseconds.
"""

import json
import multiprocessing
import os
import time
from dataclasses import asdict
from multiprocessing.connection import Connection
from typing import Any

from purse import Account, PurseError
from purse.campaign.campaign import Campaign
from purse.campaign.storage.connect import connect

SIZES = (2, 2, 3, 2, 4, 2, 8, 2, 16, 64)  # so many race in turn, where so many may
DIFFERENT, SAME, LAST, REPEAT, PARTS, DEADLINE, PROBE, SHARED = KINDS = (
    "different-reports",
    "the-same-report",
    "the-last-of-the-budget",
    "the-same-request",
    "parts-of-a-report",
    "at-the-deadline",
    "the-probe",
    "the-last-of-an-account",
)
SHARES = 8  # campaigns under one account
TERMS: dict[str, Any] = {
    "arms": {"left": 1, "right": 1},
    "budget": 1,
    "cost_min": "0.001",
    "policy": "uniform",
    "expires_after": None,
    "cooldown": None,
}
SPECIAL: dict[str, dict[str, Any]] = {
    # a ticket is past its deadline at once, and so is its reward after its cost
    DEADLINE: {"expires_after": 0.001, "reward_within": 0.001, "missing_reward": 0.25},
    PROBE: {"budget": 100, "cooldown": 0.001},
    SHARED: {"budget": 10**6, "account": SHARED},
}
REPORTS: list[Any] = [
    ("settle", "0.5"), ("reward", 0.5), ("fail", "0.5"), ("void",), ("tell", 0.5, "0.5"),
]  # fmt: skip
ONLY = ["left"]  # the arm that is probed


def size(race: int, most: int) -> int:
    """How many are in a race."""
    return min(SIZES[race // len(KINDS) % len(SIZES)], most)


def act(campaign: Campaign, kind: str, racer: int, race: int, ticket: int) -> dict[str, Any]:
    try:
        match kind:
            case "different-reports":
                return campaign.tell(ticket, 0.5, f"0.{racer + 100}").as_dict()
            case "the-same-report":
                return campaign.tell(ticket, 0.5, "0.5").as_dict()
            case "parts-of-a-report":
                return part(campaign, racer + race // len(KINDS), ticket).as_dict()
            case "at-the-deadline":
                return at_the_deadline(campaign, racer + race // len(KINDS), ticket)
            case "the-probe":
                return campaign.ask(arms=ONLY).as_dict()
            case _:
                return campaign.ask(f"race {race}" if kind == REPEAT else None).as_dict()
    except PurseError as error:
        return {"error": type(error).__name__}


def part(campaign: Campaign, which: int, ticket: int) -> Any:
    """The receipt of one of the verbs that report something of a ticket."""
    verb, *given = REPORTS[which % len(REPORTS)]
    return getattr(campaign, verb)(ticket, *given)


def at_the_deadline(campaign: Campaign, which: int, ticket: int) -> dict[str, Any]:
    """Each verb in turn, and each second racer lets everything expire that is due."""
    if which % 2:
        return {"expired": campaign.expire()}
    return part(campaign, which // 2, ticket).as_dict()


def entries_about(campaign: Campaign, ticket: int, after: int) -> list[dict[str, Any]]:
    """What the journal says became of a ticket."""
    return [
        {"kind": entry.kind, "missing": bool(entry.body.get("missing"))}
        for entry in campaign.journal(after)
        if entry.ticket == ticket and entry.kind != "asked"
    ]


def prepare(campaign: Campaign, kind: str) -> int:
    """A ticket to race for; 0 where there is none. A probe needs an arm that has cooled down."""
    if kind in (DIFFERENT, SAME, PARTS, DEADLINE):
        return campaign.ask().id
    if kind == PROBE:
        campaign.fail(campaign.ask(arms=ONLY), 0)
        time.sleep(0.01)
    return 0


def names_of(kind: str) -> list[str]:
    """The campaigns of a kind of race: one, or several under one account."""
    return [f"{SHARED}-{number}" for number in range(SHARES)] if kind == SHARED else [kind]


def opened(storage: str) -> dict[str, list[Campaign]]:
    kept = connect(storage)
    return {kind: [Campaign.open(name, storage=kept) for name in names_of(kind)] for kind in KINDS}


def total(counts: list[dict[str, int]]) -> dict[str, int]:
    return {name: sum(each[name] for each in counts) for name in counts[0]}


def live(storage: str, racer: int, pipe: Connection, gate: int) -> None:
    """A racer: get ready, wait at the gate, act."""
    campaigns = opened(storage)
    pipe.send("ready")
    while race := pipe.recv():
        kind, *rest = race
        campaign = campaigns[kind][racer % len(campaigns[kind])]
        pipe.send("at the gate")
        os.read(gate, 1)
        pipe.send(act(campaign, kind, racer, *rest))


def race(storage: str, races: str, most: str) -> None:
    """Write a line of JSON for each race; so many processes, at most, take part in one."""
    warm = Campaign.create("warm", **TERMS, storage="memory:")
    warm.tell(warm.ask(), 1, 1)
    kept = connect(storage)
    Account.create(SHARED, budget=1, storage=kept)
    for kind in KINDS:
        for name in names_of(kind):
            Campaign.create(name, **{**TERMS, **SPECIAL.get(kind, {})}, storage=kept)
    kept.close()
    context, (gate, opener) = multiprocessing.get_context("fork"), os.pipe()
    pipes, racers = [], []
    for racer in range(int(most)):
        ours, theirs = context.Pipe()
        racers.append(context.Process(target=live, args=(storage, racer, theirs, gate)))
        racers[-1].start()
        pipes.append(ours)
    for pipe in pipes:
        pipe.recv()
    campaigns = opened(storage)
    shared = Account.open(SHARED, storage=storage)
    for race in range(int(races)):
        kind, running = KINDS[race % len(KINDS)], pipes[: size(race, int(most))]
        campaign = campaigns[kind][0]
        budget = shared if kind == SHARED else campaign  # what is raced for, or paid from
        if race >= len(KINDS):
            budget.top_up(1)
        before, ticket = campaign.status().entries, prepare(campaign, kind)
        for pipe in running:
            pipe.send((kind, race, ticket))
        for pipe in running:
            pipe.recv()
        os.write(opener, b"." * len(running))
        answers = [pipe.recv() for pipe in running]
        if kind == DEADLINE:  # what is settled is told, and what is not has been presumed
            time.sleep(0.01)  # clocks count whole milliseconds
            campaign.expire()
        counts = [each.status().counts for each in campaigns[kind]]
        print(
            json.dumps(
                {
                    "kind": kind,
                    "ticket": ticket,
                    "answers": answers,
                    "purse": asdict(budget.status().purses[0]),
                    "counts": total(counts),
                    "entries": entries_about(campaign, ticket, before),
                }
            )
        )
        for each in campaigns[kind]:
            for out in each.tickets():
                each.tell(out, 0.5, 1)
    for pipe in pipes:
        pipe.send(None)
    for process in racers:
        process.join()
    findings = {
        kind: [finding for each in made for finding in each.audit().findings]
        for kind, made in campaigns.items()
    }
    print(json.dumps({**findings, SHARED: [*findings[SHARED], *shared.audit().findings]}))
