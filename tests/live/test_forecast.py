"""Forecasts of the rounds left that each ask tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from purse import BudgetExhausted, InvalidInput, Policy
from purse.live import save_file
from tests.live.test_policy import make, refusal
from tests.support.policies import compile_steps

ROUNDS = 60


def planner(horizon: Any) -> Policy:
    return make("replan", budget=12, horizon=horizon, seed=3)


def play(policy: Policy, rounds: range, **more: Any) -> list[Any]:
    """What a policy does in these rounds of `ROUNDS`; every third ticket is void."""
    seen: list[Any] = []
    for t in rounds:
        told = {name: number(t) for name, number in more.items()}
        try:
            seen.append(policy.probabilities(**told).tolist())
            ticket = policy.ask(**told)
        except BudgetExhausted as error:
            return [*seen, str(error)]
        seen.append(ticket)
        if t % 3 == 0 and not ticket.skipped:
            policy.void(ticket)
        elif not ticket.skipped:
            policy.tell(ticket, reward=(4 + ticket.arm) / 10, cost=(ticket.arm + 1) / 5)
    return seen


def left(t: int) -> int:
    return ROUNDS - t + 1


@pytest.mark.parametrize("compiled", [False, True])
def test_the_rounds_left_of_each_ask_are_those_of_a_horizon(compiled: bool, tmp_path: Path) -> None:
    told, foreseen = planner(ROUNDS), planner("forecast")
    if compiled:
        compile_steps(foreseen)
    first, rest = range(1, 21), range(21, ROUNDS + 1)
    assert play(told, first) == play(foreseen, first, rounds_left=left)
    foreseen.save(tmp_path / "policy")
    loaded = Policy.load(tmp_path / "policy")
    after = play(told, rest)
    assert after == play(foreseen, rest, rounds_left=left) == play(loaded, rest, rounds_left=left)
    beyond = planner("forecast")
    assert [beyond.ask(rounds_left=1).t for _ in range(3)] == [1, 2, 3]


def test_a_forecast_decides_what_is_spent() -> None:
    def spent(rounds_left: int) -> float:
        after = play(planner("forecast"), range(1, 31), rounds_left=lambda _: rounds_left)[20::2]
        return sum(chances[0] + 2 * chances[1] + 3 * chances[2] for chances in after)

    assert spent(5) > 1.5 * spent(5_000) > 0


@pytest.mark.parametrize("left", [0, 2**53 + 1, 1.5, "x", True, None])
def test_forecasts_that_are_none(left: Any) -> None:
    live = planner("forecast")
    message = refusal(InvalidInput, live.ask, rounds_left=left)
    assert f"rounds_left={left!r}: must be a whole number from 1 to" in message
    assert (live.t, live.held) == (0, 0)


def test_who_takes_no_forecast(tmp_path: Path) -> None:
    for horizon in (None, 9):
        assert "needs a policy with horizon='forecast'" in refusal(
            InvalidInput, planner(horizon).ask, rounds_left=9
        )
    assert "exp3.bwk cannot plan with a forecast" in refusal(InvalidInput, make, horizon="forecast")
    planner("forecast").save(tmp_path / "policy")
    facts, arrays = save_file.load(tmp_path / "policy")
    for wrong in ({"horizon": 9}, {"forecast": "yes"}):
        facts_now = {**facts, "problem": {**facts["problem"], **wrong}}
        save_file.save(
            tmp_path / "other", {k: v for k, v in facts_now.items() if k != "format"}, arrays
        )
        assert "forecast" in refusal(InvalidInput, Policy.load, tmp_path / "other")
