"""2 to 64 processes released at once on one ticket, on one request, or on the last of a budget or
an account: exactly one wins, every time.
"""

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.support import race_worker as worker
from tests.support.processes import printed
from tests.support.race_worker import DEADLINE, KINDS, PARTS, size
from tests.support.soak import scale

RACE = "import sys; from tests.support import race_worker; race_worker.race(*sys.argv[1:])"
TOLD = (worker.LAST, worker.REPEAT, worker.PROBE, worker.SHARED)
RACES = scale(56, 10_000)
# what may become of one ticket: expiry, one outcome, and what still comes of a void one
LIFE = re.compile(
    r"(expired )?(told |settled (told |missing )|failed |voided (told |settled (told |missing ))?)?"
)


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return (
        f"sqlite:///{tmp_path}/races.db"
        if request.param == "sqlite"
        else request.getfixturevalue("postgres_address")
    )


def won(answers: list[dict[str, Any]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    winners = [
        answer for answer in answers if "error" not in answer and not answer.get("duplicate")
    ]
    assert len(winners) == 1, answers
    return winners[0], [answer for answer in answers if answer is not winners[0]]


def check_life(race: dict[str, Any]) -> None:
    """Settle, reward, fail, void, tell and both deadlines at once: the ticket has one outcome, and
    nothing happens to it twice.
    """
    kinds = ["missing" if each["missing"] else each["kind"] for each in race["entries"]]
    life = "".join(f"{kind} " for kind in kinds if kind not in ("conflict", "rewarded"))
    assert LIFE.fullmatch(life), kinds
    assert kinds.count("rewarded") <= 1, kinds
    assert {answer.get("error", "Conflict") for answer in race["answers"]} == {"Conflict"}
    assert sum(answer.get("expired", 0) for answer in race["answers"]) <= 2
    moved = [answer for answer in race["answers"] if answer.get("spent") not in (None, ["0"])]
    assert {answer["spent"][0] for answer in moved} <= {"0.5"}, moved


def test_exactly_one_wins_every_race(address: str, tmp_path: Path) -> None:
    # 56 races come as far as eight at once: more processes would only wait, and take long to start
    most = scale(8, 64)
    assert max(size(race, 64) for race in range(RACES)) == most
    lines = printed(RACE, address, RACES, most, out=tmp_path / "lines", limit=scale(120, 3600))
    *races, findings = map(json.loads, lines.splitlines())
    assert len(races) == RACES
    spent = dict.fromkeys(KINDS, Decimal(0))  # what should have been, race by race
    parts, conflicts = Decimal(0), dict.fromkeys((PARTS, DEADLINE), 0)
    for number, race in enumerate(races):
        kind, answers, purse = race["kind"], race["answers"], race["purse"]
        assert len(answers) == size(number, most)
        match kind:
            case worker.DIFFERENT:
                winner, others = won(answers)
                assert others == [{"error": "Conflict"}] * len(others)
                assert winner["spent"] == [f"0.{answers.index(winner) + 100}".rstrip("0")]
                assert purse["held"] == "0"
                spent[kind] += Decimal(winner["spent"][0])
            case worker.SAME:
                winner, others = won(answers)
                assert others == [{**winner, "duplicate": True}] * len(others)
                assert purse["held"] == "0"
                spent[kind] += Decimal("0.5")
            case worker.LAST | worker.SHARED:
                winner, others = won(answers)
                assert others == [{"error": "BudgetHeld"}] * len(others)
                assert (winner["held"], purse["held"], purse["left"]) == (["1"], "1", "0")
            case worker.REPEAT:
                assert answers == [answers[0]] * len(answers)
                assert (answers[0]["state"], purse["held"], purse["left"]) == ("held", "1", "0")
            case worker.PARTS:
                # whoever came first, the money moved once at most, and a conflict is counted
                moved = Decimal(purse["spent"]) - parts
                assert moved in (0, Decimal("0.5"))
                assert {answer.get("error", "Conflict") for answer in answers} == {"Conflict"}
                conflicts[kind] += sum("error" in answer for answer in answers)
                assert race["counts"]["conflicts"] == conflicts[kind]
                # a ticket that got only its reward is told afterwards, with a cost of 1
                held = Decimal(purse["held"])
                parts += moved + held
                spent[kind] = Decimal(purse["spent"])
            case worker.DEADLINE:
                check_life(race)
                conflicts[kind] += sum("error" in answer for answer in answers)
                assert race["counts"]["conflicts"] == conflicts[kind]
                spent[kind] = Decimal(purse["spent"])
            case worker.PROBE:
                winner, others = won(answers)
                assert others == [{"error": "ArmsCoolingDown"}] * len(others)
                assert (winner["held"], purse["held"]) == (["1"], "1")
        assert Decimal(purse["spent"]) == spent[kind]
        spent[kind] += kind in TOLD  # the winner is told afterwards
        tickets = 2 if kind == worker.PROBE else 1
        assert race["counts"]["tickets"] == tickets * (number // len(KINDS) + 1)
    assert {
        kind: race["counts"]["conflicts"]
        for kind, race in zip(KINDS, races[-len(KINDS) :], strict=True)
    } == {
        **dict.fromkeys((worker.SAME, *TOLD), 0),
        worker.DIFFERENT: sum(len(race["answers"]) - 1 for race in races[:: len(KINDS)]),
        **conflicts,
    }
    assert findings == {kind: [] for kind in KINDS}
