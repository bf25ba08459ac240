from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purse.errors import InvalidInput
from purse.kernels.tsallis import scale_of, tsallis_weights
from purse.types import Floats

STEADY = settings(deadline=None, derandomize=True, max_examples=200)


def weights_of(eta: float, losses: Floats) -> Floats:
    out = np.full(len(losses), np.nan)
    assert tsallis_weights(eta, losses, out) == pytest.approx(1, abs=1e-13)
    return out


def exact_weights(eta: float, losses: Floats) -> list[Decimal]:
    """4 / (eta (L - x))^2 with x from Newton's method on their sum in 50 digits, held between two
    numbers around it.
    """
    with localcontext() as context:
        context.prec = 50
        rate, loss = Decimal(eta), [Decimal(float(value)) for value in losses]

        def weights(x: Decimal) -> list[Decimal]:
            return [4 / (rate * (value - x)) ** 2 for value in loss]

        x = min(loss) - 2 / rate
        for _ in range(200):
            w = weights(x)
            step = (sum(w) - 1) / (rate * sum((value**3).sqrt() for value in w))
            x -= step
            if abs(step) * rate < Decimal("1e-40"):
                break
        room = Decimal("1e-35") / rate
        assert sum(weights(x - room)) < 1 < sum(weights(x + room))
        return weights(x)


def cases() -> dict[str, tuple[float, Floats]]:
    random = np.random.default_rng(0)
    return {
        "two": (0.3, np.array([1.0, 4.0])),
        "one best": (0.02, np.array([0.0, 5e4, 6e4, 7e4])),
        "ten alike": (0.1, random.random(10)),
        "ten": (0.02, 300 * random.random(10)),
        "negative": (0.04, 500 * random.normal(size=20)),
        "all sizes": (1.0, 10.0 ** random.uniform(-9, 9, 60)),
        "far from zero": (0.5, 1e9 + 100 * random.random(10)),
        "two groups": (0.2, np.where(np.arange(50) % 2, 0.0, 30.0)),
        "many": (0.01, random.exponential(1000, 300)),
        "first round": (4.0, np.array([0.0, 2.0, 0.0])),
    }


@pytest.mark.parametrize("name", cases())
def test_weights_are_those_of_the_exact_root(name: str) -> None:
    eta, losses = cases()[name]
    for got, exact in zip(
        weights_of(eta, losses).tolist(), exact_weights(eta, losses), strict=True
    ):
        assert abs(Decimal(got) - exact) < Decimal("1e-13") * exact


@STEADY
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.floats(1e-4, 4))
def test_weights_sum_to_one_and_differ_as_the_losses_say(losses: list[float], eta: float) -> None:
    array = np.array(losses)
    w = weights_of(eta, array)
    root = 1 / np.sqrt(w)  # (eta / 2) (L - x)
    assert root - root[0] == pytest.approx(0.5 * eta * (array - array[0]), rel=1e-9, abs=1e-9)
    assert (w[np.argsort(array)] == np.sort(w)[::-1]).all()


def test_the_scale_of_the_rate_belongs_to_the_estimator() -> None:
    assert scale_of("iw") == 2
    assert scale_of("rv") == 4
    with pytest.raises(InvalidInput, match=r"^estimator='ix': must be one of 'iw', 'rv'"):
        scale_of("ix")
