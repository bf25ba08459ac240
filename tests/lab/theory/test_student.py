from __future__ import annotations

import sys

import pytest
from scipy.special import stdtrit

from purse.errors import MissingExtra
from purse.lab.theory.estimate import t_quantile
from purse.lab.theory.fluid import lp_optimum


@pytest.mark.parametrize("degrees", [*range(1, 30), 99, 100, 999, 100_000])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_it_is_the_quantile_that_scipy_has(degrees: int, level: float) -> None:
    assert t_quantile(degrees, level) == pytest.approx(stdtrit(degrees, 0.5 + level / 2), rel=1e-12)


def test_without_scipy_one_resource_has_an_optimum_and_several_name_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    one = "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
    assert lp_optimum(one, budget=50, horizon=100).value == pytest.approx(72)
    several = "bernoulli:rewards=[.9,.6],costs=[[.8,.1],[.3,.2]]"
    with pytest.raises(MissingExtra, match=r"several resources needs scipy: .*\[lab\]'$"):
        lp_optimum(several, budget=50, horizon=100)
