"""2 to 64 processes released at once on one ticket, on one request, or on the last of a budget:
exactly one wins, every time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.support import race_worker
from tests.support.paths import ROOT
from tests.support.race_worker import DIFFERENT, KINDS, LAST, PARTS, REPEAT, SAME, size
from tests.support.soak import scale

RACES = scale(40, 10_000)


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return (
        f"sqlite:///{tmp_path}/races.db"
        if request.param == "sqlite"
        else request.getfixturevalue("postgres_address")
    )


def won(answers: list[dict[str, Any]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The winner's answer, and those of the others."""
    winners = [
        answer for answer in answers if "error" not in answer and not answer.get("duplicate")
    ]
    assert len(winners) == 1, answers
    return winners[0], [answer for answer in answers if answer is not winners[0]]


def test_exactly_one_wins_every_race(address: str) -> None:
    # 40 races come as far as eight at once: more processes would only wait, and take long to start
    most = scale(8, 64)
    assert max(size(race, 64) for race in range(RACES)) == most
    command = [sys.executable, "-m", race_worker.__name__, address, str(RACES), str(most)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=scale(120, 3600),
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *races, findings = map(json.loads, done.stdout.splitlines())
    assert len(races) == RACES
    spent = dict.fromkeys(KINDS, Decimal(0))  # what should have been, race by race
    parts, conflicts = Decimal(0), 0
    for number, race in enumerate(races):
        kind, answers, purse = race["kind"], race["answers"], race["purse"]
        assert len(answers) == size(number, most)
        match kind:
            case race_worker.DIFFERENT:
                winner, others = won(answers)
                assert others == [{"error": "Conflict"}] * len(others)
                assert winner["spent"] == [f"0.{answers.index(winner) + 100}".rstrip("0")]
                assert purse["held"] == "0"
                spent[kind] += Decimal(winner["spent"][0])
            case race_worker.SAME:
                winner, others = won(answers)
                assert others == [{**winner, "duplicate": True}] * len(others)
                assert purse["held"] == "0"
                spent[kind] += Decimal("0.5")
            case race_worker.LAST:
                winner, others = won(answers)
                assert others == [{"error": "BudgetHeld"}] * len(others)
                assert (winner["held"], purse["held"], purse["left"]) == (["1"], "1", "0")
            case race_worker.REPEAT:
                assert answers == [answers[0]] * len(answers)
                assert (answers[0]["state"], purse["held"], purse["left"]) == ("held", "1", "0")
            case race_worker.PARTS:
                # whoever came first, the money moved once at most, and a conflict is counted
                moved = Decimal(purse["spent"]) + Decimal(purse["overrun"]) - parts
                assert moved in (0, Decimal("0.5"))
                assert {answer.get("error", "Conflict") for answer in answers} == {"Conflict"}
                conflicts += sum("error" in answer for answer in answers)
                assert race["counts"]["conflicts"] == conflicts
                # a ticket that got only its reward is told afterwards, with a cost of 1
                held = Decimal(purse["held"])
                parts += moved + held
                spent[kind] = Decimal(purse["spent"])
        assert Decimal(purse["spent"]) == spent[kind]
        spent[kind] += 1 if kind in (LAST, REPEAT) else 0  # the winner is told afterwards
        assert race["counts"]["tickets"] == number // len(KINDS) + 1
    assert {
        kind: race["counts"]["conflicts"]
        for kind, race in zip(KINDS, races[-len(KINDS) :], strict=True)
    } == {
        DIFFERENT: sum(len(race["answers"]) - 1 for race in races if race["kind"] == DIFFERENT),
        PARTS: conflicts,
        **dict.fromkeys((SAME, LAST, REPEAT), 0),
    }
    assert findings == {kind: [] for kind in KINDS}
