"""What the compiled code of every policy must hold to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from purse.compiler import jit
from tests.support.policies import libm_calls


@pytest.fixture(scope="module", autouse=True)
def _the_same_bits_on_every_machine(looked_through: dict[str, int]) -> Iterator[None]:
    """What the tests of a policy have compiled calls nothing that C libraries differ in;
    `purse.kernels.fastmath` has what it needs.
    """
    yield
    for bound in jit._bound.values():
        loop = bound.dispatcher
        if loop is None:  # it was not called
            continue
        if looked_through.get(loop.__name__) != len(loop.overloads):
            assert not libm_calls(loop), (
                f"{loop.__name__} calls {', '.join(sorted(libm_calls(loop)))} of the C library"
            )
            looked_through[loop.__name__] = len(loop.overloads)


@pytest.fixture(scope="session")
def looked_through() -> dict[str, int]:
    """How many compiled versions of each loop have passed: most are there still when the next
    policy is tested.
    """
    return {}
