"""Small arrays on the stack, for kernels: what never leaves the loop stays in registers, on a CPU
as on a GPU. How compiled code makes them is said in `purse.compiler.intrinsics`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from purse.compiler.kernel import Intrinsic


def _room(shape: Any, like: float) -> Any:
    return np.zeros(shape, np.int64 if isinstance(like, int) else np.float64)


def _on_a_gpu(*args: Any) -> Any:
    raise TypeError("only a GPU lays the arrays of several paths side by side")


_CODE = "purse.compiler.intrinsics"
# arrays with the type of `like`, the last argument; sizes are constants
vector: Any = Intrinsic(f"{_CODE}:vector", _room, prefer_literal=True)
matrix: Any = Intrinsic(
    f"{_CODE}:matrix", lambda rows, columns, like: _room((rows, columns), like), prefer_literal=True
)
beside: Any = Intrinsic(f"{_CODE}:beside", _on_a_gpu, prefer_literal=True)
copy: Any = Intrinsic(f"{_CODE}:copy", _on_a_gpu)
