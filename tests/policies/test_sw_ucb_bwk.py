from __future__ import annotations

import math

import numpy as np
import pytest

import purse
from purse import worlds
from purse.base import amounts
from purse.engine.draws import draws
from purse.kernels.concave_hull import best_mixture
from purse.policies import sw_ucb_bwk
from purse.testing import check_policy
from purse.types import Floats, Problem, Ticket, World
from tests.support.policies import make_live, refuses

# the policy's sums are whole numbers of 2^-40, and the shares divide by differences of costs
NEAR = 1e-9


class Plain:
    """The formula written out: all reports are kept, and those of the last w rounds are added up
    anew in every round.
    """

    def __init__(self, n_arms: int, c_rad: float, pace: float, window: int) -> None:
        self.n_arms, self.c_rad, self.pace, self.window = n_arms, c_rad, pace, window
        self.reports: list[tuple[int, int, float, float]] = []

    def shares(self, t: int) -> Floats:
        upper, lower = np.ones(self.n_arms), np.zeros(self.n_arms)
        self.reports = [report for report in self.reports if report[0] >= t - self.window]
        for i in range(self.n_arms):
            mine = [(reward, cost) for _, arm, reward, cost in self.reports if arm == i]
            if mine:
                # exact sums, so that ties are ties
                reward, cost = (math.fsum(each) / len(mine) for each in zip(*mine, strict=True))
                width = math.sqrt(self.c_rad / (len(mine) + 1))
                upper[i], lower[i] = min(1.0, reward + width), max(0.0, cost - width)
        out = np.zeros(self.n_arms)
        best_mixture(self.pace, lower, upper, out)
        return out

    def learn(self, t: int, arm: int, reward: float, cost: float) -> None:
        self.reports.append((t, arm, reward, cost))


def ask(live: purse.Policy) -> tuple[Ticket, Floats]:
    """The ticket of the next round, and the shares that it was drawn from: those in the scratch
    where the choice wrote them, else those of the state.
    """
    fresh = live._game.scratch.shares
    fresh[:] = np.nan
    ticket = live.ask()
    return ticket, live.state.shares if np.isnan(fresh).all() else fresh


def deviation(
    live: purse.Policy, plain: Plain, world: World, n_rounds: int, *, out: int = 1
) -> tuple[float, int]:
    """The largest difference of shares in any round, and how many rounds were skipped."""
    rewards, costs = draws(world, n_rounds)
    order = np.random.default_rng(0)
    waiting: list[Ticket] = []
    worst, skipped = 0.0, 0
    for t in range(1, n_rounds + 1):
        chances, wanted = live.probabilities(), plain.shares(t)
        every = 1.0 if live.problem.horizon else wanted.sum()
        ticket, shares = ask(live)
        worst = max(worst, *np.abs(shares - wanted), *np.abs(chances - wanted / every))
        skipped += ticket.skipped
        waiting += [] if ticket.skipped else [ticket]
        while len(waiting) >= (out if out == 1 else order.integers(1, out + 1)):
            ticket = waiting.pop(order.integers(len(waiting)))
            i, units = ticket.arm, int(costs[ticket.t - 1, ticket.arm, 0])
            assert live.tell(ticket, float(rewards[ticket.t - 1, i]), units / amounts.UNIT)
            plain.learn(
                ticket.t,
                i,
                float(rewards[ticket.t - 1, i]),
                units * float(live.problem.unit_scale[0]),
            )
    return worst, skipped


def test_rounds_by_hand() -> None:
    live = purse.Policy(
        "sw-ucb-bwk:c_rad=0.02,window=2",
        n_arms=2,
        budget=40,
        cost_min=0.1,
        horizon=100,
        seed=7,
        stop="exit",
    )
    shares = live.state.shares
    assert shares.tolist() == [0.5, 0.5]
    first = live.ask()
    assert first.arm == 0
    live.tell(first, 0.25, 0.25)
    # sqrt(0.02 / 2) = 0.1: u_0 = 0.35, l_0 = 0.15; arm 1 still costs nothing and pays 1
    assert shares.tolist() == [0, 1]
    live.tell(live.ask(), 0.8, 0.95)
    # u_1 = 0.9, l_1 = 0.85; the pace is 0.4, between 0.15 and 0.85: arm 1 gets 0.25 / 0.7
    assert shares == pytest.approx([0.45 / 0.7, 0.25 / 0.7])
    third = live.ask()
    assert (third.arm, third.probability) == (0, shares[0])
    live.tell(third, 1, 0.45)
    # round 1 has left the window of rounds 2 and 3: u_0 = 1, l_0 = 0.35; arm 1 costs more and pays
    # less
    assert shares.tolist() == [1, 0]
    live.tell(live.ask(), 0, 0.35)
    # round 2 has left, and with it all that was known of arm 1
    assert shares.tolist() == [0, 1]


def test_skipped_rounds_let_the_window_move() -> None:
    live = purse.Policy(
        "sw-ucb-bwk:c_rad=0.02,window=3",
        n_arms=1,
        budget=10,
        cost_min=0.1,
        horizon=100,
        seed=1,
        stop="exit",
    )
    live.tell(live.ask(), 1, 1)
    # l = 0.9 and the pace is 0.1: x = 1/9, until round 1 has left the window, from round 5 on
    assert live.state.shares == pytest.approx([1 / 9])
    tickets = [live.ask() for _ in range(3)]
    assert [ticket.skipped for ticket in tickets] == [True] * 3
    assert live.ask().probability == 1


@pytest.mark.parametrize(
    ("window", "out"), [(7, 1), (150, 1), (150, 40), (30, 40), (3000, 5), (1, 1)]
)
@pytest.mark.parametrize("horizon", [30_000, None])
def test_follows_the_formula(window: int, out: int, horizon: int | None) -> None:
    world = worlds.function("two_point")(
        [0.3, 0.95, 0.5, 0.45], [0.3, 0.9, 0.6, 0.35], cost_min=0.2
    )
    live = make_live(
        world,
        f"sw-ucb-bwk:c_rad=0.4,window={window}",
        budget=4500 if horizon else 6000,
        horizon=horizon,
    )
    worst, skipped = deviation(
        live, Plain(4, 0.4, 0.15 if horizon else 0.2, window), world, 1500, out=out
    )
    assert worst < NEAR
    assert skipped > 300 if horizon and window >= 150 else horizon or skipped == 0


def test_a_report_that_comes_too_late_is_not_learnt_from() -> None:
    live = purse.Policy(
        "sw-ucb-bwk:window=3", n_arms=2, budget=40, cost_min=0.1, horizon=100, stop="exit"
    )
    tickets = [live.ask() for _ in range(4)]
    live.tell(tickets[3], 1, 1)
    live.tell(tickets[0], 1, 1)
    assert live.state.pulls.sum() == 1
    live.tell(tickets[1], 1, 1)
    assert live.state.pulls.sum() == 2


def test_asking_twice_changes_nothing() -> None:
    world = worlds.function("two_point")([0.3, 0.9], [0.3, 0.9], cost_min=0.2)
    rewards, costs = draws(world, 400)
    ends = []
    for looks in (1, 3):
        live = purse.Policy(
            "sw-ucb-bwk:window=20,c_rad=0.5",
            n_arms=2,
            budget=120,
            cost_min=0.2,
            horizon=400,
            stop="exit",
        )
        for _ in range(400):
            for _ in range(looks - 1):
                live._peek()
            ticket = live.ask()
            if not ticket.skipped:
                live.tell(
                    ticket,
                    float(rewards[ticket.t - 1, ticket.arm]),
                    int(costs[ticket.t - 1, ticket.arm, 0]) / amounts.UNIT,
                )
            if live.over:
                break
        ends.append((live.t, [array.tobytes() for array in live.state]))
    assert ends[0] == ends[1]


def test_defaults() -> None:
    known = sw_ucb_bwk.params(Problem.of(n_arms=8, budget=500, cost_min=0.5, horizon=1000))
    assert known == pytest.approx((2 * math.log(12 * 8 * 1000**3), 0.5, True, 200))
    assert sw_ucb_bwk.params(Problem.of(n_arms=8, budget=500, cost_min=0.5)) == pytest.approx(
        (2 * math.log(12 * 8 * 1000**3), 0.5, False, 200)
    )
    assert sw_ucb_bwk.params(Problem.of(n_arms=8, budget=3, cost_min=0.5)).window == 6
    assert (
        sw_ucb_bwk.params(Problem.of(n_arms=8, budget=1e9, cost_min=0.001)).window
        == sw_ucb_bwk.LONGEST
    )


def test_forgets_what_is_no_longer_true() -> None:
    world = worlds.make("switching:segments=[1500],rewards=[[.9,.1],[.1,.9]],costs=[.5,.5]", 3000)
    window, never = (
        purse.simulate(policy, world, 3000, n_paths=10).gain
        for policy in ("sw-ucb-bwk:window=300,c_rad=0.5", "ucb-bwk:c_rad=0.5")
    )
    assert window.min() > never.max()


@pytest.mark.parametrize("options", ["window=9,c_rad=0.2", "window=120"])
def test_passes_the_checks_with_a_horizon(options: str) -> None:
    check_policy(f"sw-ucb-bwk:{options}", horizon=150)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("window=0", r"window=0: must be a whole number from 1 to 400"),
        ("window=401", r"window=401: must be a whole number from 1 to 400"),
        ("window=2.5", r"window=2.5: must be a whole number from 1 to 400"),
        ("c_rad=0", r"c_rad=0: must be a number above 0"),
        ("c_rad=x", r"c_rad='x': must be 'theory' or a positive number"),
    ],
)
def test_options_are_checked(option: str, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=message):
        purse.Policy(f"sw-ucb-bwk:{option}", n_arms=2, budget=100, cost_min=0.5, horizon=400)


def test_refuses_several_plays_and_resources() -> None:
    refuses("sw-ucb-bwk")
