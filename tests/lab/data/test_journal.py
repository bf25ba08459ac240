"""What another policy would have earned in the place of a campaign's own, from its journal."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purse
from purse import AskRefused, InvalidInput
from purse.lab.data.journal import _MOST_SEGMENTS, _repeat_masks, is_journal
from tests.support.campaigns import made, refusal
from tests.support.replays import log_of
from tests.support.soak import SOAK
from tests.support.storages import MemoryHarness

# three arms: the chance of a reward of 1, what a pull costs, and the chance of the dearer price
MEANS, PRICES, DEAR = (0.3, 0.55, 0.5), ((0.2, 1.0), (0.3, 1.0), (0.4, 1.0)), (0.3, 0.4, 0.5)
ARMS = ("small", "middle", "large")
BUDGET, EXPLORE = 2_000, 0.05
EXPLORED: dict[str, Any] = {
    "arms": dict.fromkeys(ARMS, 1),
    "budget": BUDGET,
    "cost_min": [low for low, _ in PRICES],
    "policy": "replan",
    "explore": EXPLORE,
}


def place() -> purse.lab.World:
    """The arms as a world."""
    chances = [
        [(1 - mean) * (1 - dear), (1 - mean) * dear, mean * (1 - dear), mean * dear]
        for mean, dear in zip(MEANS, DEAR, strict=True)
    ]
    return purse.worlds.atoms(chances, [[0, 0, 1, 1]] * 3, [[*price, *price] for price in PRICES])


def play(campaign: Any, seed: int, batch: int = 20) -> None:
    """Ask and tell until the money is gone."""
    rng = np.random.default_rng((seed, 7))
    try:
        while True:
            reports = []
            for ticket in campaign.ask_many(batch):
                arm = ARMS.index(ticket.arm)
                reward, price = rng.random() < MEANS[arm], rng.random() < DEAR[arm]
                reports.append((ticket, float(reward), PRICES[arm][int(price)]))
            campaign.tell_many(reports)
    except AskRefused:
        pass


@pytest.mark.skipif(not SOAK, reason="a coverage")
def test_intervals_from_journals_hold_what_the_policy_would_have_earned(tmp_path: Path) -> None:
    policies, export = ["fixed:arm=2", "uniform"], tmp_path / "export.jsonl"
    truth = {
        policy: purse.simulate(policy, place(), BUDGET, n_paths=2_000, seed=1, stop="fit").gain
        for policy in policies
    }
    n = 100
    hits, errors = (
        dict.fromkeys(policies, 0),
        dict[str, list[float]]({name: [] for name in policies}),
    )
    for seed in range(n):
        campaign = made(**EXPLORED, seed=seed)
        play(campaign, seed)
        campaign.export(export)
        found = purse.replay(export, policies=policies, seed=seed).frame()
        for row in found.iter_rows(named=True):
            true = float(truth[row["policy"]].mean())
            assert row["refused"] is None
            assert row["budget"] == BUDGET
            assert row["high"] - row["low"] < true
            hits[row["policy"]] += row["low"] <= true <= row["high"]
            errors[row["policy"]].append((row["estimate"] - true) / row["error"])
    spread = {name: round(float(np.std(each)), 2) for name, each in errors.items()}
    print(f"intervals that hold the truth, of {n}: {hits}; errors in standard errors: {spread}")
    assert min(hits.values()) >= 93, hits


def everything(tmp_path: Path, **changes: Any) -> tuple[Any, Path]:
    """A campaign in which everything happens to tickets, and its export."""
    harness = MemoryHarness()
    terms: dict[str, Any] = {
        "arms": {"red": 1, "green": 1},
        "budget": 50,
        "explore": 0.2,
        "reward_range": (0, 20),
        "reward_within": 60,
        "missing_reward": 2,
        "cooldown": None,
    }
    campaign = made(harness, **{**terms, **changes})
    tickets = campaign.ask_many(8)
    campaign.tell(tickets[0], 12.5, "0.5")
    campaign.tell(tickets[1], 25, "1.75")  # above the range, and above the maximum
    campaign.settle(tickets[2], "0.25")  # no reward comes
    campaign.void(tickets[3])
    campaign.fail(tickets[4], "0.5", "timeout")
    campaign.settle(tickets[5], "0.125")
    campaign.reward(tickets[5], 5)
    harness.clock += 61_000
    campaign.expire()
    campaign.ask(arms=["green"])
    campaign.top_up(10)
    export = tmp_path / "export.jsonl"
    campaign.export(export)
    return campaign, export


def test_a_journal_is_a_log_of_the_tickets_with_a_reward(tmp_path: Path) -> None:
    campaign, export = everything(tmp_path)
    log = log_of(export)
    told = [campaign.ticket(number) for number in (1, 2, 6, 3)]  # in the order of their reports
    assert is_journal(export)
    assert log.budget == (60.0,)
    assert [log.arms[arm] for arm in log.arm] == [ticket.arm for ticket in told]
    assert (1 / log.weight).tolist() == pytest.approx([ticket.probability for ticket in told])
    assert log.reward.tolist() == [12.5, 25, 5, 2]
    assert log.cost[:, 0].tolist() == [500_000_000, 1_000_000_000, 125_000_000, 250_000_000]
    assert (log.reward_range, log.inside.tolist()) == ((0, 20), [0.625, 1, 0.25, 0.1])
    assert log.notes == (
        "the campaign itself earned 44.5 with uniform, from 4 tickets with a reward",
        "left out, without a reward: 1 void, 1 failed, 3 held",
        "1 rewards did not come in time and count as 2",
        "1 tickets cost less than their minimum or more than their maximum and count at that bound",
        "arms or their costs changed on the way; all rounds count alike",
    )


def test_rounds_in_which_an_arm_could_not_be_chosen_do_not_count(tmp_path: Path) -> None:
    campaign = made(
        arms={"red": 1, "green": 1, "blue": 1}, budget=4, capacity=4, explore=0.5, seed=2
    )
    plan: list[Any] = [None, ["red", "green"], ["blue"], {"red": "0.5", "blue": 1}]
    for mask in plan:
        campaign.tell(campaign.ask(arms=mask), 1, "0.5")
    campaign.retire_arm("blue")
    campaign.add_arm("grey")
    campaign.tell(campaign.ask(), 0, "0.75")
    held = campaign.ask(arms=["green"])
    campaign.tell(campaign.ask(arms={"red": "0.25", "green": 1}), 0, "0.2")  # green does not fit
    campaign.tell(held, 1, "0.1")
    campaign.export(tmp_path / "export.jsonl")
    log = log_of(tmp_path / "export.jsonl")
    assert log.arms == ("red", "green", "blue", "grey")
    assert log.rounds is not None
    assert log.rounds.tolist() == [5, 4, 3, 1]
    assert log.outages is not None
    allowed = [log.outages.allowed(t) for t in range(1, 10)]
    assert allowed[:4] == [[0, 1, 2], [0, 1], [2], [0, 2]]
    assert allowed[4:] == [[0, 1, 3], [1], [0, 1], [0, 1], [0, 1]]
    assert log.notes[-1] == "arms or their costs changed on the way; all rounds count alike"


def test_many_masks_are_mixed_by_their_parts() -> None:
    masks = [((0, 1), 3), ((1,), 1)] * 50
    found = _repeat_masks(masks, 2)
    assert found is not None
    assert found.up.tolist()[:8] == [[True, True], [True, True], [False, True], [True, True]] * 2
    assert (~found.up[:, 0]).sum() == _MOST_SEGMENTS / 4
    assert _repeat_masks([((0, 1), 5)], 2) is None


def test_masks_bind_the_other_policy(tmp_path: Path) -> None:
    campaign = made(budget=200, cost_min=1, explore=0.1, seed=4)
    for turn in range(200):
        ticket = campaign.ask(arms=["green"] if turn % 2 else None)
        campaign.tell(ticket, float(ticket.arm == "red"), 1)
    campaign.export(tmp_path / "export.jsonl")
    found = purse.replay(tmp_path / "export.jsonl", policies="fixed:arm=0", n_paths=4).frame()
    assert found["estimate"].to_list() == [100]


def test_rewards_outside_their_range_count_as_they_are(tmp_path: Path) -> None:
    campaign = made(budget=400, cost_min=1, reward_range=(0, 10), seed=5)
    for _ in range(400):
        ticket = campaign.ask()
        campaign.tell(ticket, 15 if ticket.arm == "red" else -5, 1)
    campaign.export(tmp_path / "export.jsonl")
    policies = ["fixed:arm=0", "fixed:arm=1"]
    found = purse.replay(tmp_path / "export.jsonl", policies=policies, n_paths=4).frame()
    assert found["estimate"].to_list() == pytest.approx([6_000, -2_000])
    assert (found["low"] <= found["estimate"]).all()
    assert (found["estimate"] <= found["high"]).all()


def test_several_resources(tmp_path: Path) -> None:
    campaign = made(
        resources=["euros", "hours"],
        budget=[300, 120],
        cost_min=[[1, "0.25"], ["0.5", "0.5"]],
        arms={"red": [1, "0.25"], "green": ["0.5", "0.5"]},
        seed=6,
    )
    for ticket in campaign.ask_many(200):
        campaign.tell(ticket, 1, [1, "0.25"] if ticket.arm == "red" else ["0.5", "0.5"])
    export, policies = tmp_path / "export.jsonl", ["fixed:arm=0", "fixed:arm=1"]
    campaign.export(export)
    found = purse.replay(export, policies=policies, n_paths=4)
    assert found.frame()["estimate"].to_list() == [300, 240]
    assert found.arms()["cost_hours"].to_list() == [0.25, 0.5]
    less = purse.replay(export, policies=policies, n_paths=4, budgets=[[300, 30], [60, 120]])
    assert less.frame()["estimate"].to_list() == [120, 60, 60, 120]
    assert less.facts.command.startswith("purse.replay(")
    said = refusal(InvalidInput, purse.replay, export, policies=policies, budgets=[300, 120])
    assert "an amount for each of the resources euros, hours" in said


def test_what_a_journal_cannot_tell_is_said_in_one_line(tmp_path: Path) -> None:
    campaign = made(budget=100, policy="fixed:arm=0")
    for ticket in campaign.ask_many(40):
        campaign.tell(ticket, 1, "0.5")
    campaign.export(tmp_path / "export.jsonl")
    said = refusal(InvalidInput, purse.replay, tmp_path / "export.jsonl")
    for part in ("40 of 40 arms were chosen with probability 1", "explore=0.05"):
        assert part in said


def test_a_journal_without_rewards_or_with_a_wrong_line_is_refused(tmp_path: Path) -> None:
    campaign = made()
    campaign.ask()
    export = tmp_path / "export.jsonl"
    campaign.export(export)
    assert "no ticket has a reward yet" in refusal(InvalidInput, purse.replay, export)
    text = export.read_text()
    export.write_text(re.sub('"arm":[01]', '"arm":7', text))
    assert "entry 2, asked, cannot follow" in refusal(InvalidInput, purse.replay, export)
    export.write_text(text.replace('"policy":"uniform"', '"polici":"uniform"'))
    assert "not the terms of a campaign" in refusal(InvalidInput, purse.replay, export)


def test_policies_on_other_data_need_a_budget(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("arm,reward,cost,probability\na,1,0.1,0.5\nb,0,0.1,0.5\n")
    assert not is_journal(tmp_path / "log.csv")
    assert not is_journal(tmp_path / "nowhere.jsonl")
    said = refusal(InvalidInput, purse.replay, tmp_path / "log.csv", policies=["uniform"])
    assert said == "budgets: is missing; policies need one, or several (--budget)"


def test_a_log_knows_late_reports_and_the_arms_that_had_a_chance(tmp_path: Path) -> None:
    campaign = made(arms={"a": 1, "b": 4}, budget=5, cost_min=None, explore=0.5)
    late = campaign.ask(arms=["a"])
    campaign.void(late)
    for _ in range(4):
        campaign.tell(campaign.ask(), 0.5, "0.4")
    campaign.tell(late, 1, "0.25")
    campaign.settle(campaign.ask(arms=["a"]), "0.1")
    path = tmp_path / "export.jsonl"
    campaign.export(path)
    log = log_of(path)
    assert list(log.reward) == [0.5] * 4 + [1.0]
    assert log.arms == ("a", "b")
    assert "1 settled" in " ".join(log.notes)
    assert is_journal(path)
