from __future__ import annotations

import math

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine import cpu
from purse.engine.job import make_job, make_policy
from purse.kernels import exp3_p as kernel
from purse.policies import exp3_p
from purse.testing import check_policy
from purse.types import Floats, Problem, World
from tests.support.policies import EXACT, frequency_surprise, largest_deviation, make_live, tell_all


class PlainExp3P:
    """The rule with its sums of estimated gains; `scale` other than None is c_min of the version
    that looks at costs.
    """

    def __init__(
        self, n_arms: int, rounds: int, delta: float = 0.05, scale: float | None = None
    ) -> None:
        self.n_arms, self.scale, self.gains = n_arms, scale, np.zeros(n_arms)
        self.beta = math.sqrt(math.log(n_arms / delta) / (n_arms * rounds))
        self.eta = 0.95 * math.sqrt(math.log(n_arms) / (n_arms * rounds))
        self.gamma = 1.05 * math.sqrt(n_arms * math.log(n_arms) / rounds)

    def probabilities(self, t: int) -> Floats:
        if self.gamma > 0.5:
            return np.full(self.n_arms, 1 / self.n_arms)
        weights = np.exp(self.eta * (self.gains - self.gains.max()))
        return (1 - self.gamma) * weights / weights.sum() + self.gamma / self.n_arms

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        chances = self.probabilities(t)
        chances[arm] = probability
        gain = reward if self.scale is None else self.scale * reward / cost
        self.gains += (gain * (np.arange(self.n_arms) == arm) + self.beta) / chances


def problem(**changes: object) -> Problem:
    return Problem.of(**{"n_arms": 2, "budget": 100, "cost_min": 0.5, **changes})


def world_of(n_arms: int) -> World:
    return worlds.function("two_point")(
        np.linspace(0.95, 0.3, n_arms), np.linspace(0.35, 0.9, n_arms), cost_min=0.2
    )


def test_rounds_by_hand() -> None:
    live = purse.Policy("exp3.p", n_arms=2, budget=100, cost_min=0.5, seed=0)
    # T = 200: beta = sqrt(ln 40 / 400) = 0.0960323, eta = 0.95 sqrt(ln 2 / 400) = 0.0395463, gamma
    # = 1.05 sqrt(2 ln 2 / 200) = 0.0874182
    beta, eta, g = (
        math.sqrt(math.log(40) / 400),
        0.95 * math.sqrt(math.log(2) / 400),
        1.05 * math.sqrt(2 * math.log(2) / 200),
    )
    assert live.probabilities().tolist() == [0.5, 0.5]

    assert tell_all(live, (1, 0.5)) == [1]
    gain0, gain1 = beta / 0.5, (1 + beta) / 0.5  # 0.1920646, 2.1920646
    p0 = (1 - g) / (1 + math.exp(eta * (gain1 - gain0))) + g / 2  # 0.4819648
    assert p0 == pytest.approx(0.4819648, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (0.5, 0.8)) == [0]
    gain0, gain1 = gain0 + (0.5 + beta) / p0, gain1 + beta / (1 - p0)  # + 1.2366719, + 0.1853779
    p0 = (1 - g) / (1 + math.exp(eta * (gain1 - gain0))) + g / 2  # 0.4914415
    assert p0 == pytest.approx(0.4914415, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (0, 1)) == [0]
    # + 0.1954094, + 0.1888323: the arm that is less likely gains on the other
    gain0, gain1 = gain0 + beta / p0, gain1 + beta / (1 - p0)
    p0 = (1 - g) / (1 + math.exp(eta * (gain1 - gain0))) + g / 2  # 0.4915008
    assert p0 == pytest.approx(0.4915008, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)


@pytest.mark.parametrize(("n_arms", "delta"), [(2, 0.05), (3, 0.001), (10, 0.5)])
@pytest.mark.parametrize("out", [1, 40])
def test_follows_the_formula(n_arms: int, delta: float, out: int) -> None:
    world = world_of(n_arms)
    live = make_live(world, f"exp3.p:delta={delta}", budget=2000)
    assert largest_deviation(live, PlainExp3P(n_arms, 10_000, delta), world, 2000, out=out) < EXACT


def test_follows_the_formula_where_the_learning_rate_is_large() -> None:
    live = make_live(world_of(3), "exp3.p", budget=2000, horizon=60)
    assert largest_deviation(live, PlainExp3P(3, 60), world_of(3), 60) < EXACT


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


def test_is_blind_to_costs() -> None:
    cheap, dear = (
        purse.Policy("exp3.p", n_arms=3, budget=1000, cost_min=0.5, seed=5) for _ in range(2)
    )
    rewards = np.random.default_rng(0).random(300)
    assert tell_all(cheap, *[(r, 0.5) for r in rewards]) == tell_all(
        dear, *[(r, 1.0) for r in rewards]
    )
    assert (cheap.probabilities() == dear.probabilities()).all()


def test_regret_is_within_the_bound_on_every_path() -> None:
    rewards = 1.0 * (np.random.default_rng(0).random((20_000, 3)) < [0.3, 0.8, 0.3])
    run = purse.simulate(
        "exp3.p:delta=0.01", worlds.function("table")(rewards, [1, 1, 1]), 20_000, n_paths=20
    )
    # the bound is 3013, which may fail on one path of a hundred; chance alone loses some 6700
    assert (run.rounds == 20_000).all()
    assert (rewards[:, 1].sum() - run.gain < 5.15 * math.sqrt(20_000 * 3 * math.log(300))).all()


def test_arms_come_as_often_as_their_probabilities_say() -> None:
    world = world_of(5)
    assert frequency_surprise(make_live(world, "exp3.p", horizon=3000), world, 3000) < 4


def test_plays_several_resources() -> None:
    check_policy("exp3.p", worlds.function("bernoulli")([0.9, 0.4], [[0.5, 1], [1, 0.5]]))


def test_one_arm() -> None:
    live = purse.Policy("exp3.p", n_arms=1, budget=10, cost_min=0.5)
    assert tell_all(live, (1, 0.5), (0, 1), (1, 0.5)) == [0, 0, 0]
    assert live.probabilities().tolist() == [1.0]


@pytest.mark.parametrize("delta", [0, -1, 1.5, "x", True])
def test_refuses_a_delta_that_is_none(delta: object) -> None:
    with pytest.raises(
        purse.InvalidInput, match=r"^delta=.*: must be a number above 0 and at most 1"
    ):
        purse.Policy(f"exp3.p:delta={delta}", n_arms=2, budget=10, cost_min=0.5)


def test_refuses_several_plays_and_an_unknown_number_of_rounds() -> None:
    with pytest.raises(
        purse.InvalidInput, match=r"^exp3.p plays problems with plays=1, and this one has plays=2$"
    ):
        make_policy("exp3.p", problem(plays=2))
    with pytest.raises(
        purse.InvalidInput, match=r"^exp3.p needs to know how many rounds there are"
    ):
        exp3_p.params(problem(budget=[10, 10], cost_min=[[0.5, 0], [0, 0.5]], n_resources=2))
