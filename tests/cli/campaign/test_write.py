from __future__ import annotations

import json

import pytest

from purse.base import exit_codes
from tests.support.campaign_cli import NEW, Complaint, Run, data


def test_a_campaign_from_its_creation_to_its_end(run: Run) -> None:
    assert "spent 0 of 25" in run(*NEW, "--resource", "USD").stdout
    first, second, third = [
        line.split("\t") for line in run("ask prompts -n 3").stdout.splitlines()
    ]
    assert [first[0], second[0], third[0]] == ["1", "2", "3"]
    assert {first[1]: first[3], second[1]: second[3]} == {"small": "0.01", "large": "0.05"}
    assert run("tell prompts 1 --reward 0.93 --cost 0.0021").stdout.startswith(
        "ticket 1 told, spent 0.0021, refunded 0."
    )
    assert run("tell prompts 1 --reward 0.93 --cost 0.0021").stdout.endswith("(duplicate)\n")
    assert run("void prompts 2").stdout.startswith("ticket 2 void, spent 0, refunded 0.")
    assert "spent 0.0021 of 30" in run("top-up prompts 5 --request raise").stdout
    assert "spent 0.0021 of 30" in run("top-up prompts 5 --request raise").stdout
    for verb, status in (("pause", "paused"), ("resume", "running"), ("end", "ended")):
        assert run(verb, "prompts").stdout.startswith(f"prompts: {status}")
    assert run("tell prompts 3 --reward 1 --cost 0.06").stdout.split("overrun ")[1] == (
        "0.05\n" if third[1] == "small" else "0.01\n"
    )
    found = data(run("status prompts --json"))
    assert (
        found["status"],
        found["purses"][0]["resource"],
        found["counts"]["told"],
        found["counts"]["void"],
    ) == ("ended", "USD", 2, 1)
    assert "more was spent than held" in run("status prompts").stdout.split("!")[1]


def test_a_repeated_request_gets_the_same_ticket_and_holds_nothing_more(run: Run) -> None:
    run(*NEW)
    first = data(run("ask prompts --request a --json"))
    assert data(run("ask prompts --request a --json")) == first
    assert data(run("status prompts --json"))["purses"][0]["held"] == first["tickets"][0]["held"][0]


def test_reports_from_stdin_stand_alone(run: Run) -> None:
    run(*NEW)
    run("ask prompts -n 3")
    reports = "".join(
        json.dumps({"ticket": ticket, "reward": 0.5, "cost": "0.002"}) + "\n\n"
        for ticket in (1, 99, 3)
    )
    result = run("tell prompts -", stdin=reports, code=2)
    assert [line.split(",")[0] for line in result.stdout.splitlines()] == [
        "ticket 1 told",
        "ticket 3 told",
    ]
    assert result.stderr.startswith("purse: ticket 99 is not one")
    assert result.stderr.count("\n") == 1
    again = data(run("tell prompts - --json", stdin=reports, code=2))
    assert [(receipt["ticket"], receipt["duplicate"]) for receipt in again["receipts"]] == [
        (1, True),
        (3, True),
    ]
    assert [wrong["ticket"] for wrong in again["errors"]] == [99]
    assert run("tell prompts 2 --reward 7 --cost 0", code=2).stderr.startswith(
        "purse: ticket 2: reward=7"
    )
    run("tell prompts -", stdin="")


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[1, 2, 3]",
        '{"ticket": 1, "reward": 1}',
        '{"ticket": "1", "reward": 1, "cost": 1}',
        '{"ticket": 1, "reward": 1, "cost": 1, "x": 0}',
    ],
)
def test_a_bad_line_is_named_and_nothing_is_told(run: Run, line: str) -> None:
    run(*NEW)
    run("ask prompts -n 2")
    result = run(
        "tell prompts -", stdin=f'{{"ticket": 1, "reward": 1, "cost": "0.001"}}\n{line}\n', code=1
    )
    assert str(result.exception).startswith("stdin, line 2=")
    assert data(run("status prompts --json"))["counts"]["told"] == 0


def test_several_resources_are_given_between_commas(run: Run) -> None:
    run(
        "new pair --arm a=0.01,500 --arm b=0.05,100 --budget 2,10000 --cost-min 0.0001,1 "
        "--resource USD --resource tokens --seed 3 --horizon 9"
    )
    assert run("ask pair").stdout.split("\t")[3] in ("0.01,500\n", "0.05,100\n")
    run("tell pair 1 --reward 1 --cost 0.002,70")
    run("top-up pair 1,100")
    assert [
        (each["budget"], each["spent"]) for each in data(run("status pair --json"))["purses"]
    ] == [("3", "0.002"), ("10100", "70")]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("30m", 1800), ("1h", 3600), ("1.5d", 129600), ("never", None)],
)
def test_times_are_written_short(run: Run, text: str, seconds: float | None) -> None:
    run(*NEW, "--expires-after", text)
    (ticket,) = data(run("ask prompts --json"))["tickets"]
    assert ticket["deadline"] == (
        None if seconds is None else pytest.approx(ticket["asked_at"] + seconds)
    )


def test_reports_that_are_refused_are_one_line_and_exit_code_2(
    complaint: Complaint, run: Run
) -> None:
    run(*NEW)
    run("ask prompts")
    for reward, cost in (
        ("2", "0.001"),
        ("nan", "0.001"),
        ("0.5", "-1"),
        ("0.5", "NaN"),
        ("0.5", "0.00000000001"),
        ("0.5", "9999999999"),
        ("0.5", "1,2"),
    ):
        assert (
            "reward="
            in (line := complaint("tell", "prompts", "1", "--reward", reward, "--cost", cost))
            or "cost=" in line
        )
    run("tell prompts 1 --reward 0.5 --cost 0.001")
    assert "ticket 1" in complaint("tell prompts 1 --reward 0.6 --cost 0.001")
    run("end prompts")
    assert "ended" in complaint("ask prompts", code=exit_codes.OVER)


def test_cost_and_reward_are_told_apart_and_calls_fail(run: Run) -> None:
    run(*NEW)
    run("ask prompts -n 2")
    assert run("settle prompts 1 --cost 0.003").stdout.startswith("ticket 1 settled, spent 0.003")
    assert run("reward prompts 1 --reward 0.5").stdout.startswith("ticket 1 told, spent 0.003")
    assert run("fail prompts 2 --reason down").stdout.startswith("ticket 2 failed, spent 0")
    assert "another report" in str(run("fail prompts 2 --cost 0.001", code=1).exception)
    assert data(run("audit prompts --json"))["ok"] is True
