from __future__ import annotations

from purse import worlds
from purse.policies import lin_ts_price
from tests.support.context_rows import share_of_optimum
from tests.support.policies import refuses

NAME = lin_ts_price.NAME


def test_share_of_the_optimum_in_a_linear_world() -> None:
    shares = share_of_optimum(NAME, worlds.function("linear_contexts")(), 0.2)
    assert shares.mean() > 0.965, shares


def test_options_out_of_range_are_refused() -> None:
    refuses(NAME, "scale=0", "ridge=0", fields=("plays",))
