from __future__ import annotations

import pytest

from purse import Campaign
from purse.base import exit_codes
from purse.errors import ArmsCoolingDown
from tests.support.campaign_cli import NEW, Complaint, Run, data

ROOM = "--capacity 4 --cost-ceiling 0.1"
ODD = "é=1, 2%"


def new(run: Run, more: str = "") -> None:
    run(" ".join(NEW) + f" {more}")


def test_the_new_terms_reach_the_campaign(run: Run) -> None:
    new(
        run,
        "--cooldown 2s --reward-within 7d --missing-reward -1 "
        "--reward-range -1,20 --explore 0.1 --capacity 3 "
        "--cost-ceiling 0.1 --cost-ceiling large=0.2",
    )
    terms = Campaign.open("prompts").terms
    assert terms.cooldown == 2_000
    assert (terms.reward_within, terms.missing_reward) == (604_800_000, -1)
    assert (terms.reward_range, terms.explore, terms.capacity) == ((-1, 20), 0.1, 3)
    assert terms.floor == ((100_000,),) * 3
    assert terms.ceiling == ((100_000_000,), (200_000_000,), (200_000_000,))
    run("ask prompts")
    assert run("tell prompts 1 --reward 17.5 --cost 0.002").stdout.startswith("ticket 1 told")


def test_bounds_of_one_arm_leave_the_others_as_they_are(run: Run) -> None:
    new(run, "--cost-ceiling small=0.02 --cooldown never")
    terms = Campaign.open("prompts").terms
    assert terms.cost_ceiling == ((20_000_000,), (50_000_000,))
    assert (terms.cooldown, terms.missing_reward) == (None, None)


def test_an_ask_chooses_among_the_arms_it_names(run: Run) -> None:
    run(*NEW)
    for _ in range(3):
        assert run("ask prompts --arm large").stdout.split("\t")[1::2] == ["large", "0.05\n"]
    assert run("ask prompts --most large=0.02").stdout.split("\t")[1::2] == ["large", "0.02\n"]
    both = "ask prompts --request r --json --arm"
    assert data(run(f"{both} small --arm large")) == data(run(f"{both} large --arm small"))
    assert "r" in str(run(f"{both} small", code=1).exception)
    rows = [
        line.split("\t") for line in run("probabilities prompts --arm large").stdout.split("\n")
    ]
    assert rows == [["small", "0"], ["large", "1"], [""]]
    found = data(run("probabilities prompts --json --most small=0.001 --most large=0.02"))
    assert sum(found["probabilities"].values()) == pytest.approx(1)


def test_several_resources_have_several_maxima(run: Run) -> None:
    run(
        "new pair --arm a=0.01,500 --arm b=0.05,100 --budget 2,10000 --cost-min 0.0001,1 "
        "--resource USD --resource tokens"
    )
    assert run("ask pair --most b=0.02,90").stdout.split("\t")[1::2] == ["b", "0.02,90\n"]


@pytest.mark.parametrize("arm", ["medium", "a/b", ODD, "--arm"])
def test_arms_come_and_go(run: Run, arm: str) -> None:
    new(run, ROOM)
    assert run("add-arm", "--cost-max", "0.03", "--", "prompts", arm).stdout.startswith("prompts:")
    assert data(run("status prompts --json"))["arms"] == ["small", "large", arm]
    assert run("ask", "prompts", "--arm", arm).stdout.split("\t")[3] == "0.03\n"
    run("set-arm", "--cost-max", "0.02", "--cost-min", "0.001", "--", "prompts", arm)
    assert run("ask", "prompts", "--most", f"{arm}=0.015").stdout.split("\t")[3] == "0.015\n"
    assert f"  retired: {arm}\n" in run("retire-arm", "--", "prompts", arm).stdout
    assert f"  retired: {arm}\n" in run("status prompts").stdout
    assert f"{arm} (retired)" in run("watch prompts --once").stdout
    assert "retired" not in run("add-arm", "--", "prompts", arm).stdout
    assert data(run("audit prompts --json"))["ok"] is True


def test_status_shows_arms_that_cool_down(run: Run) -> None:
    new(run, "--cooldown 1h")
    run("ask prompts --arm small")
    assert "cooling" not in run("status prompts").stdout
    run("fail prompts 1")
    text = run("status prompts").stdout
    assert "  cooling down: small, tried again from 2" in text
    assert "! calls of 'small' fail" in text
    assert "small (cooling down)" in run("watch prompts --once").stdout
    refused = run("ask prompts --arm small", code=1).exception
    assert isinstance(refused, ArmsCoolingDown)
    assert 3590 < refused.seconds <= 3600


def test_a_probe_is_named(run: Run) -> None:
    new(run, "--cooldown 0.001")
    run("ask prompts --arm small")
    run("fail prompts 1")
    run("ask prompts --arm small")
    assert "  cooling down: small, tried by ticket 2\n" in run("status prompts").stdout


def test_a_reward_that_does_not_come_counts_as_what_was_declared(run: Run) -> None:
    new(run, "--reward-within 0.001 --missing-reward 0.5")
    run("ask prompts")
    run("settle prompts 1 --cost 0.002")
    run("ask prompts")
    assert run("tickets prompts --state told").stdout.split("\t")[::4] == ["1", "told\n"]


def test_a_full_campaign_and_one_that_cools_down_are_one_line(
    complaint: Complaint, run: Run
) -> None:
    run(*NEW)
    assert "a capacity of 2 arms" in complaint("add-arm prompts medium")
    run("ask prompts --arm small")
    run("fail prompts 1")
    assert "ask again in" in complaint("ask prompts --arm small", code=exit_codes.COOLING)
    run("retire-arm prompts small")
    assert "arm 'small' is retired" in complaint("ask prompts --arm small")
    assert "no arm would be left" in complaint("retire-arm prompts large")
