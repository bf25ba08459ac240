"""What numba-cuda is told while our kernels are compiled, and that nothing of it stays."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from numba import cuda, float64, int64, types

from purse.compiler.cuda_patches import REPLACED, compiling

DEVICE = type("Device", (), {"compute_capability": (9, 0)})


def code_of(function: Any, *kinds: Any) -> str:
    with compiling(), patch("numba.cuda.dispatcher.get_current_device", DEVICE):
        return str(
            cuda.compile(function, types.void(*kinds), device=False, cc=(9, 0), abi="numba")[0]
        )


def product_and_sum(x: Any, out: Any) -> None:
    out[0] = x[0] * x[1] + x[2]


def total(x: Any, out: Any) -> None:
    result = 0.0
    for i in range(x.shape[0]):
        result += x[i]
    out[0] = result


def last(x: Any, out: Any) -> None:
    out[0] = x[-1]


def at(x: Any, i: int, out: Any) -> None:
    out[0] = x[i]


def test_a_product_and_a_sum_are_rounded_one_by_one() -> None:
    code = code_of(product_and_sum, float64[:], float64[:])
    assert "mul.rn.f64" in code
    assert "fma.rn.f64" not in code


def test_a_loop_over_a_range_counts_without_choosing() -> None:
    # how many rounds there are; numba-cuda's own way chooses twice in each
    assert code_of(total, float64[:], float64[:]).count("selp") == 1


def test_a_constant_index_may_be_negative_and_others_are_taken_as_they_are() -> None:
    assert "selp" not in code_of(at, float64[:], int64, float64[:])
    assert "add" in code_of(last, float64[:], float64[:])  # the size is added to -1


def state_now() -> list[Any]:
    return [*(getattr(module, name) for module, name, _ in REPLACED), hasattr(np, "row_stack")]


def fail_inside() -> None:
    with compiling():
        assert state_now() == [*(ours for _, _, ours in REPLACED), True]
        raise RuntimeError("broken")


def test_everything_is_as_before_afterwards_even_if_it_fails() -> None:
    before = state_now()
    with pytest.raises(RuntimeError, match="broken"):
        fail_inside()
    assert state_now() == before
