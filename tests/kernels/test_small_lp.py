import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from purse.kernels.small_lp import _SMALLEST, SmallLp, new_lp, set_limit, solve
from purse.types import Floats
from tests.support.soak import scale

NONE = math.inf
THREE = [[1, 0.9], [0.1, 1], [1, 0.1]]
TOLERANCES = ("primal_feasibility_tolerance", "dual_feasibility_tolerance")
INPUTS = ("gains", "uses", "limits", "parts", "caps", "open")


def program(gains: Any, uses: Any, limits: Any, caps: Any = NONE, open: Any = 1) -> SmallLp:
    lp = new_lp(len(gains), len(limits))
    lp.gains[:], lp.uses[:], lp.caps[:], lp.open[:] = gains, uses, caps, open
    for j, limit in enumerate(limits):
        set_limit(lp, j, float(limit))
    return lp


def solved(lp: SmallLp) -> Floats:
    """The solution: it is within the limits, and neither rests of an earlier program nor a second
    call change a bit of it.
    """
    for name, array in lp._asdict().items():
        if name not in INPUTS:
            array[...] = np.nan if array.dtype == np.float64 else -(2**40)
    total = solve(lp)
    pulls = lp.pulls.copy()
    assert solve(lp) == total == pytest.approx(pulls.sum(), rel=1e-12)
    assert lp.pulls.tobytes() == pulls.tobytes()
    assert np.isfinite(pulls).all()
    assert ((pulls >= 0) & (pulls <= lp.caps * (1 + 1e-9))).all()
    assert not pulls[lp.open == 0].any()
    assert (pulls @ lp.uses <= np.maximum(lp.limits, _SMALLEST) * (1 + 1e-9)).all()
    return pulls


def optimum(lp: SmallLp) -> float:
    """The largest gain by HiGHS, in units of what each column may be alone."""
    limits = np.maximum(lp.limits, _SMALLEST)
    able = (lp.open == 1) & (lp.uses > 0).any(axis=1)
    alone = np.minimum(1 / (lp.uses[able] / limits).max(axis=1), lp.caps[able])
    values = lp.gains[able] * alone
    if not (values > 0).any():
        return 0.0
    rows = (lp.uses[able] / limits * alone[:, None]).T
    found = linprog(
        -values / values.max(),
        A_ub=rows,
        b_ub=np.ones(len(limits)),
        bounds=(0, 1),
        method="highs",
        options={**dict.fromkeys(TOLERANCES, 1e-10), "presolve": False},  # it gives up on some
    )
    assert found.status == 0
    return float(values @ found.x / max(1, (rows @ found.x).max()))  # as much as the rows allow


def is_best(lp: SmallLp) -> bool:
    """Whether no more can be gained, which HiGHS knows to seven digits or more."""
    gained, most = float(lp.gains @ solved(lp)), optimum(lp)
    return most * (1 - 1e-9) <= gained <= most * (1 + 1e-7)


@pytest.mark.parametrize(
    ("gains", "uses", "limits", "caps", "pulls"),
    [
        # 0.6 / 0.5 is more than 1 / 1
        ([1, 0.6], [[1], [0.5]], [10], NONE, [0, 20]),
        # 0.2 a + 0.8 b = 40 and a + b = 100
        ([0.5, 0.9], [[0.2, 1], [0.8, 1]], [40, 100], NONE, [200 / 3, 100 / 3]),
        # 30 of b take 24, and a fills the 70 rounds that are left
        ([0.5, 0.9], [[0.2, 1], [0.8, 1]], [40, 100], [NONE, 30], [70, 30]),
        # 8 of the best ratio take 4, and 6 are left for the other
        ([1, 0.6], [[1], [0.5]], [10], [NONE, 8], [6, 8]),
        # nothing is scarce but the caps
        ([0.3, 0.2], [[1], [1]], [100], [3, 4], [3, 4]),
        # A enters first and stands at its cap; B and C together then price it out:
        # B + 0.1 C = 1 = 0.1 B + C
        ([1, 0.95, 0.95], THREE, [1, 1], [0.5, 1, 1], [0, 1 / 1.1, 1 / 1.1]),
        # as A gives way B = (0.9 - 0.8 A) / 0.99 reaches its cap of 0.8: A = 0.135 comes back into
        # the basis, and C = (0.9 - 0.91 A) / 0.99
        ([1, 0.95, 0.95], THREE, [1, 1], [0.5, 0.8, 1], [0.135, 0.8, 0.785]),
        # a column without a gain, and one that uses nothing
        ([0, 1, 0.5], [[1], [0], [2]], [10], NONE, [0, 0, 5]),
        ([0, 0], [[1], [1]], [10], NONE, [0, 0]),
    ],
)
def test_programs_by_hand(gains: Any, uses: Any, limits: Any, caps: Any, pulls: Any) -> None:
    assert solved(program(gains, uses, limits, caps)) == pytest.approx(pulls, rel=1e-12, abs=1e-12)


def test_closed_columns_and_nothing_open() -> None:
    gains, uses = [1, 0.6, 0.9], [[1], [0.5], [1]]
    assert solved(program(gains, uses, [10], open=[1, 0, 1])).tolist() == [10, 0, 0]
    assert solved(program(gains, uses, [10], open=0)).tolist() == [0, 0, 0]
    two = [[1, 1], [0.5, 1], [1, 1]]
    assert solved(program(gains, two, [10, 30], open=[0, 0, 1])).tolist() == [0, 0, 10]
    assert solved(program(gains, two, [10, 30], open=0)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_a_limit_of_nothing_counts_as_next_to_nothing(n_rows: int) -> None:
    """Columns that need the row are as good as closed; one that does not is as it was."""
    uses = np.ones((3, n_rows))
    uses[:, 0] = [0.3, 0.7, 1]
    for first in (0.0, 1e-300, 1e-13):
        pulls = solved(program([0.5, 0.9, 1], uses, [first] + [10] * (n_rows - 1)))
        assert pulls.sum() <= _SMALLEST / 0.3 * (1 + 1e-9)
    if n_rows > 1:
        uses[1, 0] = 0
        pulls = solved(program([0.5, 0.4, 1], uses, [0] + [10] * (n_rows - 1)))
        assert pulls == pytest.approx([0, 10, 0], abs=1e-9)


KINDS = st.tuples(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.integers(1, 4),
    st.sampled_from([0, 1, 3, 9]),  # decades between the largest and the smallest use
    st.sampled_from([None, 2, 8]),  # with a coarse grain many columns are equal or use nothing
    st.sampled_from(["none", "some", "tiny", "huge", "all", "nothing"]),
)


def random_program(
    seed: int, n_columns: int, n_rows: int, decades: int, grain: int | None, caps: str
) -> SmallLp:
    order = np.random.default_rng(seed)
    gains, uses = order.random(n_columns), order.random((n_columns, n_rows))
    if grain:
        gains, uses = np.round(gains * grain) / grain, np.round(uses * grain) / grain
    uses *= 10.0 ** -order.integers(0, decades + 1, (n_columns, 1))
    limits = 10.0 ** order.integers(-3, 7, n_rows) * order.choice([0.37, 1.0], n_rows)
    lp = program(gains, uses, limits, open=order.random(n_columns) < 0.9)
    alone = np.full(n_columns, 1.0)
    used = (uses > 0).any(axis=1)
    alone[used] = 1 / (uses[used] / limits).max(axis=1)
    lp.caps[:] = {
        "none": NONE,
        "some": np.where(order.random(n_columns) < 0.5, alone * order.random(n_columns), NONE),
        "tiny": alone * 10.0 ** -order.integers(1, 13, n_columns),
        "huge": alone * 1e9,
        "all": alone * order.random(n_columns) * 3 / n_columns,
        "nothing": np.where(order.random(n_columns) < 0.5, 0.0, alone / 2),
    }[caps]
    return lp


@settings(max_examples=scale(200, 600), deadline=None, derandomize=True)
@given(KINDS)
def test_programs_of_all_kinds(kind: Any) -> None:
    assert is_best(random_program(*kind))


@pytest.mark.parametrize("n_rows", [1, 2, 4])
def test_as_many_caps_as_there_are_columns(n_rows: int) -> None:
    """All of 300 columns go to their caps one by one."""
    order = np.random.default_rng(n_rows)
    gains, uses = order.random(300), order.random((300, n_rows))
    for share in (0.5, 0.99, 2.0):
        lp = program(gains, uses, share * uses.sum(axis=0), caps=1)
        assert is_best(lp)
        assert share < 1 or lp.pulls.tolist() == [1] * 300


def test_corners_in_which_more_columns_and_rows_meet_than_needed() -> None:
    """Every step there may be one of length 0, and the simplex method may go round in a circle."""
    for n in (2, 3, 4):
        corner = np.where(np.eye(n) > 0, 1.0, 0.5)
        columns = np.vstack([corner, corner, np.ones((n, n)), np.eye(n)])
        limits = corner.sum(axis=0)
        for gains in (columns.sum(axis=1), np.ones(len(columns))):
            assert is_best(program(gains, columns, limits))
            assert is_best(program(gains, columns, limits, caps=1))


def test_a_row_that_hardly_matters_and_one_of_a_million() -> None:
    """Limits of 1e-3 and 1e6 stand side by side: what is worth a step is not measured in their
    units.
    """
    order = np.random.default_rng(0)
    for _ in range(200):
        uses = np.stack([order.random(6) * 1e-6, np.ones(6), order.random(6)], axis=1)
        unit = 10.0 ** order.integers(-6, 7, 3)
        lp = program(order.random(6) * 1e-3, uses * unit, np.array([0.4, 1e6, 3e5]) * unit)
        assert is_best(lp)
