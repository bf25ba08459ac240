from __future__ import annotations

import math

import numpy as np
import pytest

import purse
from purse.engine import cpu
from purse.engine.job import make_job
from purse.kernels import exp3_p as kernel
from purse.policies import exp3_p
from purse.types import Floats
from tests.support.exp3_learners import (
    UNBOUNDED,
    PlainExp3P,
    blind_to_costs,
    play,
    problem,
    random_edges,
    table_regrets,
    two_arms,
    world_of,
)
from tests.support.policies import follows, plays_two_resources, refuses, tell_all


def test_rounds_by_hand() -> None:
    # T = 200: beta = sqrt(ln 40 / 400) = 0.0960323, eta = 0.95 sqrt(ln 2 / 400) = 0.0395463,
    # gamma = 1.05 sqrt(2 ln 2 / 200) = 0.0874182
    play(
        two_arms("exp3.p"),
        ((1, 0.5), 1, 0.4819648),  # G = (beta / 0.5, (1 + beta) / 0.5) = (0.1920646, 2.1920646)
        # G += ((0.5 + beta) / p(0), beta / p(1)) = (1.2366719, 0.1853779)
        ((0.5, 0.8), 0, 0.4914415),
        # G += beta / p = (0.1954094, 0.1888323): the arm that is less likely gains on the other
        ((0, 1), 0, 0.4915008),
    )


@pytest.mark.parametrize(("n_arms", "delta"), [(2, 0.05), (3, 0.001), (10, 0.5)])
@pytest.mark.parametrize("out", [1, 40])
def test_follows_the_formula(n_arms: int, delta: float, out: int) -> None:
    plain = PlainExp3P(n_arms, 10_000, delta)
    follows(f"exp3.p:delta={delta}", plain, world_of(n_arms), 2000, out=out, budget=2000)


def test_follows_the_formula_where_the_learning_rate_is_large() -> None:
    follows("exp3.p", PlainExp3P(3, 60), world_of(3), 60, budget=2000, horizon=60)


def chances_from(params: kernel.Exp3PParams, gains: Floats) -> Floats:
    weights = np.exp(params.eta * (gains - gains.max(axis=-1, keepdims=True)))
    return (1 - params.gamma) * weights / weights.sum(
        axis=-1, keepdims=True
    ) + params.gamma / params.n_arms


def test_weights_that_grow_with_every_report_stay_those_of_the_gains() -> None:
    job = make_job("exp3.p", world_of(10), 5_000)
    _, state = cpu.play_block(job, 8)
    assert job.params.beta < kernel.SMALL
    assert 0 <= state.age.min() < state.age.max() < kernel.RENEW
    assert np.abs(state.chances - chances_from(job.params, state.gains)).max() < 1e-13


def test_a_probability_that_the_rule_never_gives_overflows_nothing() -> None:
    known = problem(n_arms=10, horizon=100_000)
    params = exp3_p.params(known)
    one = exp3_p.init(params, known)
    for prob in (0.1, 1e-9, 0.1):
        kernel.learn_action(params, one, 3, prob, 1.0)
        assert params.eta / prob > 709 or params.eta < prob
        assert one.chances == pytest.approx(chances_from(params, one.gains), abs=1e-13)


def test_plays_uniformly_where_there_are_too_few_rounds_to_learn() -> None:
    assert exp3_p.params(problem(n_arms=3, horizon=14)).gamma == 1  # 4.41 * 3 ln 3 = 14.5
    assert exp3_p.params(problem(n_arms=3, horizon=15)).gamma < 0.5
    live = purse.Policy("exp3.p", n_arms=3, budget=100, cost_min=0.5, horizon=14)
    tell_all(live, *[(1, 0.5)] * 10)
    assert live.probabilities() == pytest.approx([1 / 3] * 3, abs=1e-15)


def test_parameters_as_numbers() -> None:
    params = exp3_p.params(problem(), delta=0.05)
    assert (params.beta, params.eta, params.gamma) == pytest.approx(
        (0.0960323, 0.0395463, 0.0874182), abs=1e-7
    )
    assert exp3_p.params(problem(budget=400, cost_min=2, cost_max=4)) == params
    assert exp3_p.params(problem(horizon=200, budget=7)) == params
    assert exp3_p.params(problem(), delta=1).beta == pytest.approx(math.sqrt(math.log(2) / 400))


def test_regret_is_within_the_bound_on_every_path() -> None:
    # the bound is 3013, which may fail on one path of a hundred
    bound = 5.15 * math.sqrt(20_000 * 3 * math.log(300))
    assert (table_regrets("exp3.p:delta=0.01") < bound).all()


def test_edges_and_refusals() -> None:
    random_edges("exp3.p", horizon=4000)
    blind_to_costs("exp3.p")
    plays_two_resources("exp3.p")
    refuses(
        "exp3.p",
        *("delta=0", "delta=-1", "delta=1.5", "delta=x", "delta=True"),
        allowed="must be a number above 0 and at most 1",
        fields=("plays",),
    )
    with pytest.raises(
        purse.InvalidInput, match=r"^exp3.p needs to know how many rounds there are"
    ):
        exp3_p.params(problem(**UNBOUNDED))
