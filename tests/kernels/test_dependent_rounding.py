from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purse.kernels.dependent_rounding import dependent_round
from purse.kernels.random import POLICY, U, at, stream, uniform

STEADY = settings(deadline=None, derandomize=True, max_examples=200)
CASES = [
    ["1/2", "1/2"],
    ["1/3", "1/3", "1/3"],
    ["2/3", "2/3", "2/3"],
    ["1/2", "1/4", "3/4", "1/2"],
    ["1", "1/5", "4/5"],
    ["1/10", "9/10", "1", "0", "1/2", "1/2"],
    ["3/7", "5/7", "6/7", "2/7", "5/7"],
    ["99/100", "99/100", "1/100", "1/100"],
    ["1", "1", "1"],
]


def settle(chances: list[Fraction], decide: Callable[[int, Fraction], bool]) -> list[int]:
    """Dependent rounding as its authors state it: two open entries move until one of them is 0 or
    1, for as long as there are two.
    """
    p = list(chances)
    while unsettled := [i for i, x in enumerate(p) if 0 < x < 1]:
        i, j = unsettled[:2]
        up, down = min(1 - p[i], p[j]), min(p[i], 1 - p[j])
        move = up if decide(j, down / (up + down)) else -down
        p[i], p[j] = p[i] + move, p[j] - move
    return [i for i, x in enumerate(p) if x == 1]


def outcomes(chances: list[Fraction]) -> Iterator[tuple[Fraction, list[int]]]:
    """All sets that can come, with their exact probabilities: every way in which the decisions can
    fall.
    """
    waiting: list[list[bool]] = [[]]
    while waiting:
        path = waiting.pop()
        weight, step = Fraction(1), 0

        def decide(_: int, chance: Fraction, path: list[bool] = path) -> bool:
            nonlocal weight, step
            if step == len(path):
                path.append(True)
                waiting.append([*path[:-1], False])
            yes = path[step]
            weight *= chance if yes else 1 - chance
            step += 1
            return yes

        chosen = settle(chances, decide)
        yield weight, chosen


def fractions(case: list[str]) -> list[Fraction]:
    return [Fraction(text) for text in case]


def chosen_with(key: U, marginals: np.ndarray) -> list[int]:
    arms = np.full(round(marginals.sum()), -1)
    dependent_round(key, marginals, arms)
    return sorted(arms.tolist())


def keys(seed: int, n: int) -> list[U]:
    own = U(stream(seed, 0, POLICY))
    return [U(at(own, t)) for t in range(1, n + 1)]


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_the_method_keeps_probabilities_and_no_two_arms_help_each_other_in(case: list[str]) -> None:
    chances = fractions(case)
    found = list(outcomes(chances))
    assert sum(weight for weight, _ in found) == 1
    assert {len(chosen) for _, chosen in found} == {sum(chances)}
    for i, chance in enumerate(chances):
        assert sum(weight for weight, chosen in found if i in chosen) == chance
    for i, j in combinations(range(len(chances)), 2):
        both = sum(weight for weight, chosen in found if {i, j} <= set(chosen))
        assert both <= chances[i] * chances[j]


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_the_kernel_decides_as_the_method_does(case: list[str]) -> None:
    chances = fractions(case)
    for key in keys(1, 1000):

        def toss(j: int, chance: Any, key: Any = key) -> bool:
            return bool(uniform(key, j) < chance)

        wanted = settle(chances, toss)
        assert chosen_with(key, np.array(chances, float)) == wanted


@STEADY
@given(st.data())
def test_the_size_is_right_and_sure_arms_come(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 30))
    plays = data.draw(st.integers(1, n))
    sets = data.draw(
        st.lists(
            st.permutations(range(n)).map(lambda order: order[:plays]), min_size=1, max_size=12
        )
    )
    # a mean of sets has the sum of each
    marginals = np.mean([[i in chosen for i in range(n)] for chosen in sets], axis=0)
    for key in keys(data.draw(st.integers(0, 2**63 - 1)), 5):
        arms = chosen_with(key, marginals)
        assert len(set(arms)) == plays
        assert (
            {i for i in range(n) if marginals[i] == 1}
            <= set(arms)
            <= {i for i in range(n) if marginals[i] > 0}
        )


@pytest.mark.parametrize("error", [-1e-13, 1e-13])
def test_a_sum_that_is_off_by_rounding_still_gives_the_right_size(error: float) -> None:
    marginals = np.full(7, 3 / 7 + error)
    for key in keys(4, 500):
        arms = np.full(3, -1)
        dependent_round(key, marginals, arms)
        assert len(set(arms.tolist())) == 3
        assert arms.min() >= 0


def test_a_wrong_sum_writes_nowhere_else() -> None:
    room = np.full(5, -1)
    dependent_round(keys(5, 1)[0], np.ones(4), room[1:3])
    assert room[[0, 3, 4]].tolist() == [-1, -1, -1]
