"""What numba-cuda is told while our kernels are compiled, and that nothing of it stays or reaches
others.
"""

import re
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest
from numba import cuda, float64, int64, types

from purse.compiler.cuda_patches import _REPLACEMENTS, _Quiet, compiling
from purse.compiler.numba_contract import cuda_parts
from tests.support.processes import fresh_process

USERS = """
import json, sys, threading, warnings
from numba import cuda, float64, int64, types

def total(x, i, out):
    for k in range(x.shape[0]):
        out[k] = x[i] * x[k] + x[-1]

def compiled():
    kinds = types.void(float64[:], int64, float64[:])
    found.append(cuda.compile(total, kinds, device=False, cc=(9, 0), abi="numba")[0])

found = []
warnings.simplefilter("ignore")
compiled()  # as if there were no purse
assert "purse" not in sys.modules
from purse.engine import gpu
with gpu.compiling((8, 0)):
    thread = threading.Thread(target=compiled)
    thread.start()
    thread.join()
compiled()
with gpu.compiling((8, 0)):
    compiled()
print(json.dumps(found))
"""


def test_a_users_kernel_is_compiled_as_if_there_were_no_purse(tmp_path: Path) -> None:
    """Before purse is loaded, in another thread while ours compiles, after ours, in our thread."""
    codes = fresh_process(USERS, cache=tmp_path)
    # numba numbers what it compiles
    alone, inside, afterwards, ours = (re.sub(r"totalB\d+v\d+", "total", code) for code in codes)
    assert "fma.rn.f64" in alone
    assert inside == afterwards == alone
    assert "fma.rn.f64" not in ours


def code_of(function: Any, *kinds: Any) -> str:
    with compiling((9, 0)):
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


TABLE = np.array([2.0, 3.0, 5.0])


def looked_up(i: int, out: Any) -> None:
    out[0] = TABLE[i]


def test_a_table_lies_where_threads_read_different_items_at_once() -> None:
    code = code_of(looked_up, int64, float64[:])
    assert "ld.global.nc.f64" in code
    assert "ld.const" not in code


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
    held = [getattr(place, name) for name, place in cuda_parts().replaceable.items()]
    return [*held, hasattr(np, "row_stack")]


def all_replaced(before: list[Any]) -> bool:
    return all(now is not then for now, then in zip(state_now()[:-1], before, strict=False))


def fail_inside(before: list[Any]) -> None:
    with compiling():
        assert all_replaced(before)
        assert state_now()[-1]
        raise RuntimeError("broken")


def test_all_that_is_replaced_is_found_in_this_numba() -> None:
    assert cuda_parts().replaceable.keys() == _REPLACEMENTS.keys()


def test_everything_is_as_before_afterwards_even_if_it_fails() -> None:
    before = state_now()
    with pytest.raises(RuntimeError, match="broken"):
        fail_inside(before)
    assert state_now() == before


def test_replacements_stay_until_the_last_thread_is_done() -> None:
    before = state_now()
    both_inside, one_left = Barrier(2, timeout=30), Barrier(2, timeout=30)
    seen = []

    def first() -> None:
        with compiling():
            both_inside.wait()
        one_left.wait()

    thread = Thread(target=first)
    thread.start()
    with compiling():
        both_inside.wait()
        one_left.wait()
        seen.append(all_replaced(before))
        with compiling():
            pass
        seen.append(all_replaced(before))
    thread.join()
    assert seen == [True, True]
    assert state_now() == before


def test_few_threads_are_no_mistake_of_ours_but_may_be_one_of_others() -> None:
    warned = []
    with compiling():
        warned.append(bool(_Quiet(1)))
        thread = Thread(target=lambda: warned.append(bool(_Quiet(1))))
        thread.start()
        thread.join()
    assert warned == [False, True]
    assert not _Quiet(0)


def test_without_numba_cuda_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purse.compiler.numba_contract.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="is not installed") as caught:
        cuda_parts.__wrapped__()
    assert caught.value.name == "numba_cuda"
