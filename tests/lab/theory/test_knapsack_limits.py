from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import purse
from purse.lab.theory import knapsack
from purse.lab.theory.knapsack import dynamic_optimum, exact, greedy
from purse.worlds.bernoulli import bernoulli

# the money is for one round, and the second is the better one
PATIENCE = "table:rewards=[[.1],[1]],costs=[[1],[1]]"


@pytest.mark.parametrize("horizon", [0, -1, 2.5, float("nan"), float("inf"), "2", True, [2]])
@pytest.mark.parametrize("world", [PATIENCE, "bernoulli:rewards=[1],costs=[.1]"])
def test_a_horizon_that_is_no_number_of_rounds_is_refused(horizon: Any, world: str) -> None:
    with pytest.raises(purse.InvalidInput) as caught:
        dynamic_optimum(world, 1, horizon=horizon)
    assert str(caught.value) == f"horizon={horizon!r}: must be a whole number from 1 up"


@pytest.mark.parametrize("solve", [greedy, exact])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"costs": [1]}, r"costs of shape \(1,\) do not match rewards of 2 arms"),
        ({"costs": [1, 1, 1]}, r"costs of shape \(3,\) do not match rewards of 2 arms"),
        ({"costs": 1}, r"costs of shape \(\) do not match rewards of 2 arms"),
        ({"costs": [1, 0]}, "costs=0: must be positive, at least 1e-9"),
        ({"costs": [1, 1e-10]}, "costs=0: must be positive, at least 1e-9"),
        ({"costs": [-0.5, 1]}, "costs=-0.5: must be positive, at least 1e-9"),
        ({"costs": [[1, 1], [1, 1]]}, "costs: a knapsack has one resource"),
        ({"costs": [1, "x"]}, "costs='x': must be a number"),
        ({"costs": [1, float("nan")]}, "costs=nan: must be a number"),
        ({"budget": -1}, "budget=-1: must be positive, at least 1e-9"),
        ({"budget": 0}, "budget=0: must be positive, at least 1e-9"),
        ({"budget": [1, 2]}, r"budget=\[1, 2\]: must be one positive number"),
        ({"budget": "ten"}, "budget='ten': must be a number"),
        ({"rewards": []}, r"rewards=\[\]: must have 1 dimension and at least one entry"),
        ({"rewards": [], "costs": []}, r"rewards=\[\]: must have 1 dimension and at least one"),
        ({"rewards": [[1, 1]]}, "rewards=.*: must have 1 dimension"),
        ({"rewards": [1, 1.5]}, "rewards=1.5: must lie between 0 and 1"),
        ({"rewards": [1, -0.5]}, "rewards=-0.5: must lie between 0 and 1"),
        ({"rewards": [1, float("nan")]}, "rewards=nan: must be a finite number"),
    ],
)
def test_a_knapsack_refuses_what_it_cannot_use_and_says_why(
    solve: Callable[..., float], given: dict[str, Any], message: str
) -> None:
    with pytest.raises(purse.InvalidInput, match=f"^{message}"):
        solve(**({"rewards": [1, 0.5], "costs": [1, 0.5], "budget": 3} | given))


KNOWN = "is for worlds that are tables of one resource, in a known order"


@pytest.mark.parametrize(
    ("world", "budget", "message"),
    [
        ("bernoulli:rewards=[.9,.6],costs=[[.8,.1],[.3,.2]]", 3, KNOWN),
        ("table:rewards=[[1,0],[0,1]],costs=[.5,.5],shuffle=True", 3, KNOWN),
        ("bernoulli:rewards=[.9,.6],costs=[.5,0]", 3, "costs=0: must be positive"),
        ("bernouli", 3, "did you mean 'bernoulli'"),
        (bernoulli([1], [0.5]), -1, "budget=-1: must be positive"),
        (bernoulli([1], [0.5]), 0, "budget=0: must be positive"),
        (bernoulli([1], [0.5]), [1, 2], "must be one positive number"),
    ],
)
def test_the_dynamic_optimum_refuses_what_it_cannot_know(
    world: Any, budget: Any, message: str
) -> None:
    with pytest.raises(purse.InvalidInput, match=message):
        dynamic_optimum(world, budget)


NANO = "steps of 0.000000001, the common divisor of all costs, are too many$"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exact([1, 1], [0.5, 0.499999999], 1), "^budget=1: 1,000,000,000"),
        (
            lambda: dynamic_optimum("bernoulli:rewards=[1,1],costs=[.5,.499999999]", 1),
            "budget=1: 1,000,000,000",
        ),
        (
            lambda: dynamic_optimum("table:rewards=[[1,0],[0,1]],costs=[.5,.499999999]", 1),
            "budget=1: 1,000,000,000",
        ),
        # a single arm does not make 30 million steps few
        (lambda: exact([1], ["0.000000001"], "0.03"), "^budget=0.03: 30,000,000"),
    ],
)
def test_too_many_steps_are_refused_before_they_are_taken(
    call: Callable[[], float], message: str
) -> None:
    assert knapsack.MOST_STEPS < 30_000_000 < knapsack.MOST_WORK
    with pytest.raises(purse.InvalidInput, match=f"{message} {NANO}"):
        call()
    assert greedy(rewards=[1, 1], costs=[0.5, 0.499999999], budget=1) == 2


def test_the_limit_counts_arms_atoms_steps_and_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    constant = {"rewards": [1, 1], "costs": [0.1, 0.2], "budget": 1}  # 2 arms, 10 steps
    steady = "bernoulli:rewards=[1,.5],costs=[.1,.2]"  # 2 arms of 2 atoms, 10 steps
    # 3 rounds, 2 arms, 10 steps and none
    changing = "table:rewards=[[1,0],[0,1],[1,1]],costs=[.1,.2]"
    calls: dict[int, Callable[[], float]] = {
        20: lambda: exact(**constant),
        40: lambda: dynamic_optimum(steady, 1),
        66: lambda: dynamic_optimum(changing, 1),
    }
    for work, call in calls.items():
        monkeypatch.setattr(knapsack, "MOST_WORK", work)
        assert call() > 0
        monkeypatch.setattr(knapsack, "MOST_WORK", work - 1)
        with pytest.raises(purse.InvalidInput, match=r"budget=1: 10 steps of 0\.1"):
            call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: exact([1], [0.1], 1),
        lambda: dynamic_optimum("bernoulli:rewards=[1],costs=[.1]", 1),
        lambda: dynamic_optimum("table:rewards=[[1],[1]],costs=[.1]", 1),
        lambda: dynamic_optimum("table:rewards=[[1],[1]],costs=[.1]", 1, horizon=1),
    ],
    ids=["exact", "steady", "changing", "with a horizon"],
)
def test_steps_are_limited_by_the_memory_that_they_take(
    call: Callable[[], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knapsack, "MOST_STEPS", 10)
    assert call() > 0
    monkeypatch.setattr(knapsack, "MOST_STEPS", 9)
    with pytest.raises(
        purse.InvalidInput,
        match=r"^budget=1: 10 steps of 0\.1, the common divisor of all costs, are too many$",
    ):
        call()


def test_the_limit_counts_the_rounds_of_a_horizon(monkeypatch: pytest.MonkeyPatch) -> None:
    # 2 arms of 2 atoms, 2 steps and none
    world = "switching:segments=1,rewards=[[1,0],[0,1]],costs=[.5,1]"
    monkeypatch.setattr(knapsack, "MOST_WORK", 3 * 4 * 100)
    assert dynamic_optimum(world, 1, horizon=100) == 2
    with pytest.raises(purse.InvalidInput, match=r"^budget=1: 2 steps of 0\.5"):
        dynamic_optimum(world, 1, horizon=101)
    assert dynamic_optimum(world, 1) == 1
