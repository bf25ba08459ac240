import math

import numpy as np
import pytest

import purse
from purse import worlds
from purse.policies import delayed_sapo, sao
from purse.policies.delayed_sapo import begin_phase, eliminate, in_order, share
from purse.types import Problem
from tests.policies.test_sao import PlainSao
from tests.support.policies import follows, plays_two_resources
from tests.support.soak import scale


class PlainSapo(PlainSao):
    """The rule as it is written, and after the switch EXP3.P as after SAO's."""

    def __init__(self, n_arms: int, rounds: int, log: float, phase: float, regret: float) -> None:
        self.k, self.rounds, self.log, self.phase = n_arms, rounds, log, phase
        self.most = regret * math.sqrt(n_arms * rounds * log)
        self.n, self.lost, self.least, self.why = 0, 0.0, 1.0, ""
        self.weighted, self.pulls, self.sums = np.zeros((3, n_arms))
        self.low, self.high = np.zeros(n_arms), np.ones(n_arms)
        self.out: dict[int, dict[str, float]] = {}  # the eliminated arms
        self.p = np.full(n_arms, 1 / n_arms)
        self.phases = self.switched = 0
        self.delta = 1 / rounds

    def radius(self, i: int) -> float:
        return min(1.0, math.sqrt(2 * self.log / self.pulls[i]))

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        if self.switched:
            super().learn(t, arm, probability, reward, cost)
            return
        loss = 1 - reward
        self.n += 1
        self.lost += loss
        self.weighted[arm] += loss / probability
        for i, of in self.out.items():
            of["S"] += loss / probability if i == arm else 0.0
        if arm not in self.out:
            self.pulls[arm] += 1
            self.sums[arm] += loss
            self.least = min(self.least, self.sums[arm] / self.pulls[arm] + self.radius(arm))
        self.why = self.test()
        if self.why:
            self.switch()
            return
        left = 1 - sum(of["p"] for of in self.out.values())
        self.p = np.array(
            [
                self.out[i]["p"] if i in self.out else left / (self.k - len(self.out))
                for i in range(self.k)
            ]
        )

    def test(self) -> str:
        if self.lost - self.n * self.least > self.most:
            return "losses"
        v = min(1.0, math.sqrt(2 * self.k * self.log / self.n))
        for i in range(self.k):
            if i in self.out:
                if self.step(self.out[i], self.sums[i] / self.pulls[i]):
                    return "errors"
                continue
            y = self.weighted[i] / self.n
            if v < 1 and not self.low[i] - v <= y <= self.high[i] + v:
                return "means"
            if v < 1:
                self.low[i], self.high[i] = max(self.low[i], y - v), min(self.high[i], y + v)
            if self.pulls[i] and self.sums[i] / self.pulls[i] - 9 * self.radius(i) > self.least:
                p, gap = 0.5 / self.k + self.pulls[i] / 2 / self.rounds, 8 * self.radius(i)
                first = self.phase / (p * gap**2)
                self.out[i] = {"p": p, "p1": p, "D": gap, "M": first, "M1": first}
                self.out[i].update(s=0, S=0, errors=0)
        return "none is active" if len(self.out) == self.k else ""

    def step(self, of: dict[str, float], mean: float) -> bool:
        of["s"] += 1
        if of["s"] * mean - of["S"] >= of["D"] * of["M"] / 4:
            of["errors"] += 1
            of.update(p=min(of["p1"], 2 * of["p"]), M=max(of["M1"], of["M"] / 2), s=0, S=0)
        elif of["s"] >= math.floor(of["M"]):
            of.update(p=of["p"] / 2, M=2 * of["M"], s=0, S=0)
            self.phases += 1
        return of["errors"] >= 3 * self.log


RULE = "delayed-sapo:log={},phase={},regret={}"


@pytest.mark.parametrize(
    ("before", "after", "rounds", "told", "out", "why"),
    [
        ([0.95, 0.3, 0.05], [0.95, 0.3, 0.05], 10**6, (1, 20, 272), 1, ""),
        ([0.95, 0.3, 0.05], [0.95, 0.3, 0.05], 10**6, (1, 20, 272), 30, ""),
        ([1, 0], [0.95, 1], 600, (1, 5, 272), 1, "errors"),
        ([1, 0.9], [0, 0.1], 200, (2, 20, 272), 1, "means"),
        ([1, 1], [0.2, 0.2], 600, (1, 20, 0.01), 1, "losses"),
    ],
)
def test_follows_the_formula(
    before: list[float],
    after: list[float],
    rounds: int,
    told: tuple[float, float, float],
    out: int,
    why: str,
) -> None:
    world = worlds.function("switching")(
        segments=[rounds, 10**6], rewards=[before, after], costs=[0.5] * len(before)
    )
    plain = PlainSapo(len(before), 4000, *told)
    follows(RULE.format(*told), plain, world, scale(2000, 3000), out=out, budget=2000)
    assert plain.why == why
    if not why:
        assert sorted(plain.out) == [1, 2]
        assert plain.phases >= 2


def of_two_arms(**options: float) -> tuple[delayed_sapo.SapoParams, delayed_sapo.SapoState]:
    problem = Problem.of(n_arms=2, budget=500, cost_min=0.5)
    known = delayed_sapo.params(problem, log=1, phase=20, **options)
    return known, delayed_sapo.init(known, problem)


def test_an_elimination_and_its_phases_by_hand() -> None:
    known, state = of_two_arms()
    # T = 1,000, and the arm lost each of 200 pulls: w = sqrt(2 / 200) = .1
    state.pulls[:], state.losses[:], state.sums[:] = 200, (0, 200), 7.0
    eliminate(known, state, 1)
    assert (state.gaps[1], state.first[1], state.looks[1]) == pytest.approx((0.8, 0.35, 0.35))
    assert state.lengths[1] == pytest.approx(20 / (0.35 * 0.64))  # 89.3
    assert state.sums.tolist() == [7, 0]
    share(state, 1)
    assert state.chances == pytest.approx([0.65, 0.35])
    state.memo[:] = 400, 0, 200, 0.1
    state.gains[:], state.low[:], state.high[:] = 0.0, 0, 1
    # 17 rounds without a loss of it are no error yet: 17 < .8 * 89.3 / 4 = 17.86; 18 are
    for rounds, chance, length, errors in ((17, 0.35, 89.3, 0), (1, 0.35, 89.3, 1)):
        for _ in range(rounds):
            assert in_order(known, state)
        assert (state.looks[1], state.lengths[1]) == pytest.approx((chance, length), abs=0.02)
        assert (state.ages[1], state.errors[1]) == (17 * (errors == 0), errors)
    # a phase of 89 rounds in which it loses as before
    for _ in range(89):
        state.sums[1] += 1
        assert in_order(known, state)
    assert (state.looks[1], state.ages[1]) == (pytest.approx(0.175), 0)
    assert state.lengths[1] == pytest.approx(40 / (0.35 * 0.64))
    assert state.chances == pytest.approx([0.825, 0.175])
    begin_phase(known, state, 1, True)
    begin_phase(known, state, 1, True)
    assert (state.looks[1], state.errors[1]) == (pytest.approx(0.35), 3)
    assert state.lengths[1] == pytest.approx(20 / (0.35 * 0.64))
    # 3 L errors are one too many: the next round that tests it switches
    state.ages[1] = 88
    assert not in_order(known, state)


def test_each_test_by_hand() -> None:
    known, state = of_two_arms(regret=1)
    assert known.most == pytest.approx(math.sqrt(2000))
    state.memo[:] = 100, 0, 64.7, 0.2  # 64.7 - 20 = 44.7 is no more than sqrt(2000) = 44.72
    state.gains[:] = 40, 24.7
    assert in_order(known, state)
    state.memo[2] = 64.8
    assert not in_order(known, state)
    # v = sqrt(4 / 100) = .2: y = .4 has left [.6, .8] by .2, and .39 by more
    state.memo[2], state.low[0], state.high[0] = 0, 0.6, 0.8
    state.gains[0] = 40.0000001
    assert in_order(known, state)
    state.low[0], state.high[0], state.gains[0] = 0.6, 0.8, 39
    assert not in_order(known, state)


def test_no_arm_may_be_left_without_an_active_one() -> None:
    known, state = of_two_arms()
    state.pulls[:], state.losses[:], state.floors[:] = 500, 500, 0.5
    state.memo[:] = 1000, 0, 0, 0.1
    assert not in_order(known, state)


def test_theorys_constants() -> None:
    problem = Problem.of(n_arms=2, budget=500, cost_min=0.5)
    known = delayed_sapo.params(problem)
    assert (known.log, known.phase) == (math.log(1000), 1280)
    assert known.most == pytest.approx(272 * math.sqrt(2 * 1000 * math.log(1000)))
    assert delayed_sapo.params(problem, log=2).log == 2
    plays_two_resources("delayed-sapo")


def gain_of(policy: str, world: str, budget: float) -> float:
    run = purse.simulate(policy, world, budget, n_paths=2, seed=2, device="python")
    return float(run.gain.mean())


@pytest.mark.parametrize(
    ("world", "budget", "other", "least", "most"),
    [
        # the arms change places half-way: it is the sooner to notice
        ("switching:segments=[1500,9999],rewards=[[.9,.1],[.1,.9]],costs=[.5,.5]", 1500,
         "sao:beta=1.5", 1.1, 1.5),
        # its looks cost, if nothing ever changes; blind to costs, it pays for the dear arm
        ("bernoulli:rewards=[.9,.1,.1],costs=[.5,.5,.5]", 1000, "exp3.p", 0.8, 0.98),
        ("bernoulli:rewards=[.9,.6],costs=[.9,.1]", 100, "ucb-bwk:c_rad=.25", 0.2, 0.8),
    ],
)  # fmt: skip
def test_where_it_wins_and_where_it_loses(
    world: str, budget: float, other: str, least: float, most: float
) -> None:
    mine = gain_of(RULE.format(1, 20, 272), world, budget)
    assert least < mine / gain_of(other, world, budget) < most


def test_it_shares_its_second_half_with_sao() -> None:
    assert delayed_sapo.choose is sao.choose
    assert delayed_sapo.probabilities is sao.probabilities
