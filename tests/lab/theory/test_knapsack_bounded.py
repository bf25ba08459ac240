from __future__ import annotations

from fractions import Fraction
from itertools import product
from operator import mul
from random import Random
from typing import Any

import pytest

import purse
from purse.lab.theory import knapsack
from purse.lab.theory.knapsack import bounded, exact, parts

# Money is in hundredths here and rewards are in sixteenths: floats hold their sums exactly.
SEEDS = range(300)


def some_knapsack(seed: int) -> tuple[list[int], list[int], list[int], int]:
    """Rewards, costs, caps and a budget, for one to four arms."""
    random = Random(seed)
    n_arms, step = random.randint(1, 4), random.choice([1, 5, 10])
    rewards = [random.randint(0, 16) for _ in range(n_arms)]
    costs = [step * random.randint(1, 100 // step) for _ in range(n_arms)]
    caps = [random.choice([0, 1, 2, 3, 5, 6, 10**9]) for _ in range(n_arms)]
    return rewards, costs, caps, random.randint(1, 400)


def numbers(
    rewards: list[int], costs: list[int], caps: list[int], budget: int
) -> tuple[list[float], list[float], list[int], float]:
    """The same as a user would give it."""
    return [reward / 16 for reward in rewards], [cost / 100 for cost in costs], caps, budget / 100


def best_of_all(rewards: list[int], costs: list[int], caps: list[int], budget: int) -> Fraction:
    """Every choice of counts but the last arm's, which then is as large as it can be."""
    *some, last = [
        range(min(cap, budget // cost) + 1) for cap, cost in zip(caps, costs, strict=True)
    ]
    best = Fraction(0)
    for counts in product(*some):
        left = budget - sum(map(mul, counts, costs))
        if left >= 0:
            final = min(left // costs[-1], last[-1])
            best = max(best, Fraction(sum(map(mul, counts, rewards)) + final * rewards[-1], 16))
    return best


def test_is_the_best_of_all_counts_that_the_caps_allow_and_more_room_never_hurts() -> None:
    for seed in SEEDS:
        given = some_knapsack(seed)
        rewards, costs, caps, budget = numbers(*given)
        best, free = bounded(rewards, costs, caps, budget), exact(rewards, costs, budget)
        assert best == best_of_all(*given)
        assert best <= bounded(rewards, costs, [cap + 1 for cap in caps], budget) <= free
        assert bounded(rewards, costs, 10**9, budget) == free


@pytest.mark.parametrize("caps", [0, [0, 0]])
def test_caps_of_nothing_buy_nothing(caps: Any) -> None:
    assert bounded([1, 0.5], [0.5, 0.2], caps, 10) == 0


def test_by_hand() -> None:
    # arm 0 pays most per unit, but only once; five times arm 1 would cost 1.25: four fit beside it
    assert bounded(rewards=[1, 0.375], costs=[0.5, 0.25], caps=[1, 5], budget=1.5) == 1 + 4 * 0.375
    # without the pull of arm 0 one more of arm 1 fits: 2 * 0.75 beats 1 + 0
    assert bounded(rewards=[1, 0.75], costs=[1, 0.8], caps=[1, 2], budget=1.6) == 1.5
    assert bounded(rewards=[1, 0.75], costs=[1, 0.8], caps=[1, 1], budget=1.6) == 1


def test_caps_may_be_one_number_and_amounts_texts() -> None:
    assert bounded([1, 1], ["0.1", "0.3"], 3, "1.2") == 6
    assert bounded([1, 1], ["0.1", "0.3"], [3, 3], "1.2") == 6
    assert bounded([1], ["0.1"], 10**30, "0.3") == 3


@pytest.mark.parametrize("most", [5, 100])
@pytest.mark.parametrize("cap", [0, 1, 2, 3, 4, 5, 6, 7, 8, 30, 31, 32, 99, 100, 101])
def test_bundles_make_every_count_up_to_the_cap_and_no_other(cap: int, most: int) -> None:
    if cap >= most:
        assert parts(cap, most) == [0]
        return
    sums = {0}
    for count in parts(cap, most):
        sums |= {count + some for some in sums}
    assert sums == set(range(cap + 1))
    assert len(parts(cap, most)) == cap.bit_length()


def test_an_arm_that_the_budget_cannot_buy_has_no_bundles() -> None:
    assert parts(5, 0) == parts(0, 0) == []
    assert bounded([1, 1], [0.5, 2], [1, 1], 1) == 1


def test_large_knapsacks_by_their_greedy_optimum() -> None:
    # the two better arms use up their caps, and the third what is left, to the last unit
    assert (
        bounded([0.5, 0.25, 0.125], [0.25, 0.25, 0.25], [1000, 20_000, 10**9], 10_000)
        == 500 + 5000 + 19_000 / 8
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"caps": -1}, "caps=-1: must be a whole number from 0 up"),
        ({"caps": [1, 2.5]}, "caps=2.5: must be a whole number from 0 up"),
        ({"caps": [1]}, r"caps=\[1\]: must be one number, or one for each of the 2 arms"),
        ({"caps": [1, 2, 3]}, r"caps=\[1, 2, 3\]: must be one number, or one for each of the 2"),
        ({"caps": None}, "caps=None: must be a whole number from 0 up"),
        ({"costs": [1]}, r"costs of shape \(1,\) do not match rewards of 2 arms"),
        ({"costs": [1, 0]}, "costs=0: must be positive, at least 1e-9"),
        ({"costs": [[1, 1], [1, 1]]}, "costs: a knapsack has one resource"),
        ({"budget": 0}, "budget=0: must be positive, at least 1e-9"),
        ({"budget": [1, 2]}, r"budget=\[1, 2\]: must be one positive number"),
        ({"rewards": [1, 1.5]}, "rewards=1.5: must lie between 0 and 1"),
    ],
)
def test_refuses_what_it_cannot_use_and_says_why(given: dict[str, Any], message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=f"^{message}"):
        bounded(**({"rewards": [1, 0.5], "costs": [1, 0.5], "caps": 2, "budget": 3} | given))


def test_too_many_steps_are_refused_before_they_are_taken() -> None:
    with pytest.raises(
        purse.InvalidInput,
        match=r"^budget=1: 1,000,000,000 steps of 0\.000000001, the common divisor of all "
        r"costs, are too many$",
    ):
        bounded(rewards=[1, 1], costs=[0.5, 0.499999999], caps=1, budget=1)


def test_the_limit_counts_bundles_and_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    def call() -> float:
        # 10 steps; 1 + 2 + 2, no limit, nothing: 4 bundles
        return bounded([1, 1, 1], [0.1, 0.2, 0.1], [5, 10**9, 0], 1)

    monkeypatch.setattr(knapsack, "MOST_WORK", 40)
    assert call() == 5 + 2
    for limit, number in (("MOST_WORK", 39), ("MOST_STEPS", 9)):
        with monkeypatch.context() as patch:
            patch.setattr(knapsack, limit, number)
            with pytest.raises(purse.InvalidInput, match=r"^budget=1: 10 steps of 0\.1"):
                call()
