"""Rules for all machine code of the policies: few pieces, and the same bits on every machine."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

from purse import policies
from purse.compiler import jit
from purse.engine import cpu, steps
from tests.support.policies import libm_calls
from tests.support.soak import SOAK

MOST_PIECES = 5  # per policy
MORE = {"uniform": 12}


@pytest.fixture(scope="module", autouse=True)
def _steps_stay_in_plain_python() -> Iterator[None]:
    """Compile no step because the machine is slow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "_PATIENCE_S", math.inf)
        yield


def count_pieces() -> Counter[tuple[object, object]]:
    """How many pieces of machine code this process has of each pair of kernels."""
    pieces = Counter[tuple[object, object]]()
    for (_, choose, update, *_), loop in cpu._loops.items():
        pieces[choose, update] += len(loop.by_kind)
    for (choose, update, *_), kind in steps._steps.items():
        compiled = [step for step in (kind.ask, kind.tell, kind.look) if step and step.machine]
        pieces[choose, update] += len(compiled)
    return pieces


@pytest.fixture(scope="module", autouse=True)
def _few_pieces_per_policy() -> Iterator[None]:
    """The tests of a policy share its machine code: one shape, one set of options."""
    before = count_pieces()  # of tests elsewhere that this process ran
    yield
    pieces = count_pieces() - before
    names = defaultdict(list)
    for name in policies.names():
        module = policies.load(name)
        names[module.choose, module.update].append(name)
    for kernels, sharing in names.items():
        most = sum(MORE.get(name, MOST_PIECES) for name in sharing)
        assert SOAK or pieces[kernels] <= most, f"{sharing}: {pieces[kernels]} pieces"


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
