"""The rule of `replan` written out, and a live policy held against it round by round."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import rel_entr

import purse
from purse.kernels.small_lp import solve as solve_program
from purse.types import Bools, Floats, Problem, World
from tests.support.knapsack_learners import Reports
from tests.support.policies import EXACT

CALM = "replan:looks=0,change=0,fade=0"
OFTEN = 20  # in every so manieth round HiGHS solves the program, too


class PlainReplan:
    """The rule with its defaults; what is left and which tickets are open it is told."""

    def __init__(self, problem: Problem) -> None:
        k, d = problem.n_arms, problem.n_resources
        scale = problem.unit_scale
        self.least, self.most = problem.cost_min * scale, problem.cost_max * scale
        self.caps = np.full(k, math.inf) if problem.caps is None else problem.caps.astype(float)
        self.weights, self.taken = np.zeros((2, k))
        self.means, self.variances, self.tops = np.zeros((3, k, 1 + d))
        self.a, self.tau, self.unit = 0.5, 1 / 12, 1.0
        self.guess = self.most / 2  # of what an untried arm costs
        self.changes, self.last = 0, 0
        self.since: list[list[Floats]] = [[] for _ in range(k)]

    def posterior(self, extra: Floats | float = 0) -> tuple[Floats, Floats]:
        """The mean of each arm's mean reward, and the variance if `extra` reports more were in."""
        n = self.weights
        v = (n * self.variances[:, 0] + self.unit**2 / 4) / (n + 1)
        share, later = (m * self.tau / (m * self.tau + v) for m in (n, n + extra))
        return self.a + share * (self.means[:, 0] - self.a), self.tau * (1 - later)

    def bounds(self, left: Floats, pending: Floats) -> tuple[Floats, Floats]:
        """u of each arm, and l of each arm and resource, time included where it is limited."""
        k, d = self.most.shape
        lower, tried = np.ones((k, len(left))), self.weights > 0
        costs = np.where(tried[:, None], self.means[:, 1:], self.guess)
        parts = (np.maximum(costs, self.least) / left[:d]).max(axis=1)
        room = np.maximum(0, self.caps - self.taken - pending)
        parts = np.maximum(parts, max(1 / left[d:], default=0.0))
        affordable = np.minimum(1 / parts, room) / math.sqrt(k)
        level = np.log(1 + affordable / np.maximum(1, self.weights + pending)) / 2
        mean, variance = self.posterior(pending)
        upper = np.clip(mean + np.sqrt(2 * level * variance), 0, self.unit)
        for i in range(k):
            n, cost = self.weights[i], costs[i]
            if tried[i]:
                top = self.tops[i, 1:]
                v = (n * self.variances[i, 1:] + top**2 / 4) / (n + 1)
                width = np.sqrt(2 * level[i] * v / (n + 1)) + level[i] * top / (3 * (n + 1))
                low = cost / (1 + np.divide(width, cost, out=np.zeros(d), where=cost > 0))
            else:
                low = np.minimum(cost, np.sqrt(np.maximum(self.least[i], cost / 100) * cost))
                low = low / (1 + math.sqrt(level[i]) + level[i])
            lower[i, :d] = np.maximum(self.least[i], low)
        return upper, lower

    def open_arms(self, left: Floats, pending: Floats) -> Bools:
        """The arms that may be planned with."""
        below = self.taken + pending < self.caps
        fits = below & (self.most <= left[: self.most.shape[1]] * (1 + 1e-12)).all(axis=1)
        return fits if fits.any() else below

    def chances(self, t: int, left: Floats, able: Bools, lp: Any) -> Floats:
        """The probability of each arm, from a solved program."""
        x, upper, lower = lp.pulls, lp.gains, lp.uses
        k, total = len(x), x.sum()
        rate = min(0.25, 0.05 * math.sqrt(k * t) / (t + 1000)) / k
        parts = (lower / left).max(axis=1)  # of what is left, that a pull takes
        chances = np.where(able, rate / np.maximum(1, total * parts), 0)
        rest = 1 - chances.sum()
        for i in np.flatnonzero(x):
            same = able & (upper == upper[i]) & (lower == lower[i]).all(axis=1)
            chances[same] += rest * x[i] / total / same.sum()
        return chances

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: Any) -> None:
        values, tried = np.array([reward, *np.atleast_1d(cost)]), self.weights > 0
        gap = t - self.last
        settled = 16 * gap > t
        if settled:
            faded = self.weights * t / (t + (self.changes + 0.25) * gap)
            self.weights = np.where(tried, np.maximum(1, faded), 0)
            self.last = t
        n, off = self.weights[arm], values - self.means[arm]
        self.means[arm] += off / (n + 1)
        self.variances[arm] = n / (n + 1) * (self.variances[arm] + off**2 / (n + 1))
        self.weights[arm] = n + 1
        self.tops[arm] = np.maximum(self.tops[arm], values)
        self.taken[arm] += 1
        self.since[arm].append(values)
        size = self.differing(arm)
        if size and self.changes >= 8 + math.log(t) ** 2:
            self.since = [[] for _ in self.since]
        elif size:
            self.weights = np.minimum(2, self.weights)
            self.weights[arm] = size
            self.means[arm] = np.mean(self.since[arm][-size:], axis=0)
            self.changes += 1
            self.since = [[] for _ in self.since]
            settled = True
        if settled or reward > self.unit:
            self.pool()

    def pool(self) -> None:
        """One step of expectation and maximisation on a and tau, in the new unit."""
        tried, top = self.weights > 0, self.tops[:, 0].max()
        if top > 0:
            before, self.unit = self.unit, (tried.sum() * top + 1) / (tried.sum() + 1)
            self.a, self.tau = self.a * self.unit / before, self.tau * (self.unit / before) ** 2
        mean, variance = (numbers[tried] for numbers in self.posterior())
        # an arm's share of tau is what its mean weighs beside others
        weights = (self.tau - variance) / self.tau**2
        rewards = self.means[tried, 0]
        a = (self.unit / 2 / self.tau + weights @ rewards) / (1 / self.tau + weights.sum())
        within = ((mean - self.a) ** 2 + variance).sum()
        self.a, self.tau = a, (self.unit**2 / 12 + within) / (1 + tried.sum())
        alike = np.ptp(self.most, axis=0) == 0
        self.guess = np.where(alike, self.means[tried, 1:].mean(axis=0), self.most / 2)

    def differing(self, arm: int) -> int:
        """The size of the block of reports that differs from all before it; 0 where none does."""
        n, size = len(self.since[arm]), 8
        if n % size:
            return 0
        tops = self.tops[arm]
        seen = np.array(self.since[arm]) / np.where(tops > 0, tops, 1)
        seen = np.stack([seen, 1 - seen])
        while n % size == 0 and 2 * size <= n:
            mean, old, new = (
                part.mean(axis=1) for part in (seen, seen[:, :-size], seen[:, -size:])
            )
            ratio = (n - size) * rel_entr(old, mean) + size * rel_entr(new, mean)
            if (ratio.sum(axis=0) > 1.5 + math.log(n)).any():
                return size
            size *= 2
        return 0


def check_plan(
    lp: Any, bounds: tuple[Floats, Floats], left: Floats, able: Bools, *, solve: bool
) -> None:
    """The program is the rule's, and its solution within the limits and, by HiGHS, the best."""
    upper, lower = bounds
    assert lp.gains == pytest.approx(upper, rel=EXACT)
    assert lp.uses == pytest.approx(lower, rel=EXACT)
    assert (lp.open == able).all()
    assert (lp.pulls @ lower <= left * (1 + 1e-9)).all()
    assert (lp.pulls[able] <= lp.caps[able] * (1 + 1e-9)).all()
    assert not lp.pulls[~able].any()
    if solve:
        most = [(0, cap if a else 0) for cap, a in zip(lp.caps, able, strict=True)]
        rows, ones = (lower / left).T, np.ones(len(left))
        found = linprog(-upper, A_ub=rows, b_ub=ones, bounds=most, method="highs")
        assert upper @ lp.pulls == pytest.approx(-found.fun, rel=1e-9)


def follow_replan(live: purse.Policy, world: World, n_rounds: int, *, out: int = 1) -> PlainReplan:
    """Hold every round against the rule, with up to `out` tickets out that are told in a random
    order; the game may end before.
    """
    plain = PlainReplan(live.problem)
    reports = Reports(live, plain.learn, world, n_rounds, out)
    rounds = [] if live.problem.horizon is None else [live.problem.horizon]
    for t in range(1, n_rounds + 1):
        left = np.array([*live.left_units * live.problem.unit_scale, *(h - t + 1 for h in rounds)])
        left = np.maximum(left, 1e-12)
        arms = [ticket.arm for ticket in live.tickets]
        pending = np.bincount(arms, minlength=live.problem.n_arms).astype(float)
        found, lp = live.probabilities(), live._game.scratch
        solve_program(lp)  # again: chances are written over parts of it
        able = plain.open_arms(left, pending)
        solve = t < 2 * OFTEN or t % OFTEN == 0
        check_plan(lp, plain.bounds(left, pending), left, able, solve=solve)
        # of equally good plans it is the policy's own, and equal are arms that it finds equal
        chances = plain.chances(t, left, able, lp)
        assert np.abs(found - chances).max() < EXACT
        try:
            ticket = live.ask()
        except purse.AskRefused:
            break
        assert ticket.probability == pytest.approx(chances[ticket.arm], abs=EXACT)
        reports.add(ticket)
    return plain
