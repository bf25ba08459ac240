"""The rule of `replan` written out, and a live policy held against it round by round."""

from __future__ import annotations

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
        self.budget, self.horizon = problem.budget * scale, problem.horizon or math.inf
        self.caps = np.full(k, math.inf) if problem.caps is None else problem.caps.astype(float)
        self.weights, self.last, self.taken = np.zeros((3, k))
        self.means, self.spreads, self.tops = np.zeros((3, k, 1 + d))
        self.tops[:, 0] = 1
        self.paid = np.zeros((k, 2 + d))  # reports, rewards and costs
        self.changes, self.began, self.first = 0, 0, list[float]()
        self.guarded = 0  # how often the guard spoke
        self.since: list[list[Floats]] = [[] for _ in range(k)]

    def reports(self, t: int, i: int) -> float:
        """What the reports on an arm count for in round t."""
        rate = (self.changes + 0.15) / t
        faded = self.weights[i] * math.exp(-rate * max(0, t - self.last[i]))
        return max(1.0, faded) if self.weights[i] else 0.0

    def bounds(self, t: int, left: Floats, pending: Floats) -> tuple[Floats, Floats]:
        """u of each arm, and l of each arm and resource, time included where it is limited."""
        k, d = self.most.shape
        upper, lower = np.zeros(k), np.ones((k, len(left)))
        share = math.exp(sum(self.first) / len(self.first)) if self.first else 0.5
        for i in range(k):
            n = self.reports(t, i)
            costs = self.means[i, 1:] if n else share * self.most[i]
            parts = np.maximum(costs, self.least[i]) / left[:d]
            room = max(0.0, self.caps[i] - self.taken[i] - pending[i])
            affordable = min(1 / max([*parts, *1 / left[d:]]), room) / k
            level = 0.5 * math.log(1 + affordable / max(1, n + pending[i]))
            if n:
                v = (self.spreads[i] * n / self.weights[i] + self.tops[i] ** 2 / 4) / (n + 1)
                width = np.sqrt(2 * level * v / (n + 1)) + level * self.tops[i] / (3 * (n + 1))
                upper[i] = min(1, self.means[i, 0] + width[0])
                ratio = np.divide(width[1:], costs, out=np.zeros(d), where=costs > 0)
                low = costs / (1 + ratio)
            else:
                upper[i] = 1 - 1 / (1 + math.sqrt(affordable / (1 + pending[i])))
                high = share * self.most[i]
                low = np.minimum(high, np.sqrt(np.maximum(self.least[i], high / 100) * high))
                low = low / (1 + math.sqrt(level) + level)
            lower[i, :d] = np.maximum(self.least[i], low)
        return upper, lower

    def open_arms(self, left: Floats, pending: Floats) -> Bools:
        """The arms that may be planned with."""
        below = self.taken + pending < self.caps
        fits = below & (self.most <= left[: self.most.shape[1]] * (1 + 1e-12)).all(axis=1)
        return fits if fits.any() else below

    def chances(self, t: int, left: Floats, able: Bools, lp: Any, pending: Floats) -> Floats:
        """The probability of each arm, from a solved program."""
        x, upper, lower = lp.pulls.copy(), lp.gains, lp.uses
        k, total = len(x), x.sum()
        planned, held = x / total, 0.0
        known = np.flatnonzero(able & (self.weights > 0))
        portion = (self.means[:, 1:] / self.budget).max(axis=1)
        safe = int(min(known, key=lambda i: portion[i], default=-1))
        for i in np.flatnonzero(x):
            if safe not in (-1, i) and self.is_risky(t, safe, int(i), left, lower, pending):
                held += planned[i]
                x[safe] += x[i]
                planned[i] = x[i] = 0
                self.guarded += 1
        rate = min(0.25, 0.2 * math.sqrt(k * t) / (t + 1000)) / k
        average = x @ lower / total
        parts = np.divide(average, lower, out=np.ones_like(lower), where=lower > average)
        chances = np.where(able, rate * parts.min(axis=1), 0)
        rest = 1 - chances.sum()
        for i in np.flatnonzero(planned):
            same = able & (upper == upper[i]) & (lower == lower[i]).all(axis=1)
            chances[same] += rest * planned[i] / same.sum()
        chances[safe] += rest * held
        return chances

    def is_risky(
        self, t: int, safe: int, i: int, left: Floats, lower: Floats, pending: Floats
    ) -> bool:
        """Whether the guard plays the safe arm in the place of arm i."""
        d = len(self.budget)
        price = np.maximum(1e-12, self.means[safe, 1:])
        h = left[d] if len(left) > d else math.inf

        def pulls(money: Floats, rounds: float) -> float:
            return float(min(rounds, *money / price))

        tried = self.weights[i] > 0
        cost = self.means[i, 1:] if tried else lower[i, :d]
        places = pulls(left[:d], h) - max(0, pulls(left[:d] - cost, h - 1))
        n = self.weights[[safe, i]] + 1
        rho, hope = ((n - 1) * self.means[[safe, i], 0] + 0.5) / n
        rho = max(0, rho - math.sqrt((self.spreads[safe, 0] + 0.25) / n[0] / n[0]) / 2)
        everything = pulls(self.budget, t - (self.began or t) + h)
        lost, total = self.losses(safe, rho, everything - pulls(left[:d], h), lower, pending)
        no_dearer = not tried and (self.most[i] <= self.most[safe]).all()
        owes = lost[i] > 0 or not tried
        risks = total + rho * places - hope > 0.05 * rho * everything
        return bool(places > 1 + 1e-6 and owes and risks and not no_dearer)

    def losses(
        self, safe: int, rho: float, gone: float, lower: Floats, pending: Floats
    ) -> tuple[Floats, float]:
        """What each arm lost, and the safe one and dearer ones together.

        `gone` of the safe arm's pulls can no longer be had.
        """
        d, timed = len(self.budget), math.isfinite(self.horizon)
        count = self.paid[:, 0]
        each = self.paid / np.maximum(1, count)[:, None]
        each[count == 0, 1], each[count == 0, 2:] = 0.5, lower[count == 0, :d]
        n = count + pending
        places = (each[:, 2:] / np.maximum(1e-12, self.means[safe, 1:])).max(axis=1)
        places = np.maximum(places, 1.0 if timed else 0.0)
        places[safe] = 1
        dearer = places > 1 + 1e-6
        gone -= n[~dearer] @ places[~dearer]
        if (timed or d > 1) and n[dearer].sum() > 0:
            pulls, more = n[dearer].sum(), n[dearer] @ (places[dearer] - 1)
            base = min(1, max(0, gone / pulls))
            places[dearer] = base + min(1, max(0, (gone - pulls) / more)) * (places[dearer] - 1)
        lost = n * (rho * places - each[:, 1])
        return lost, float(lost[dearer].sum() + lost[safe])

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: Any) -> None:
        values, n = np.array([reward, *np.atleast_1d(cost)]), self.reports(t, arm)
        if n:
            self.spreads[arm] *= n / self.weights[arm]
        else:
            self.first += [math.log(c) for c in values[1:] / self.most[arm] if c > 0]
        self.spreads[arm] += n / (n + 1) * (values - self.means[arm]) ** 2
        self.means[arm] = (n * self.means[arm] + values) / (n + 1)
        self.weights[arm] = n + 1
        self.last[arm] = max(self.last[arm], t)
        self.tops[arm] = np.maximum(self.tops[arm], values)
        self.taken[arm] += 1
        self.paid[arm] += [1, *values]
        self.began = self.began or t
        self.since[arm].append(values)
        size = self.differing(arm)
        if size and self.changes >= 8 + math.log(t) ** 2:
            self.since = [[] for _ in self.since]
        elif size:
            kept = np.minimum(2, self.weights)
            kept[arm] = size
            self.spreads *= (kept / np.maximum(1, self.weights))[:, None]
            self.weights = kept
            self.means[arm] = np.mean(self.since[arm][-size:], axis=0)
            self.changes += 1
            self.since = [[] for _ in self.since]

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
        solve_program(lp)  # again: the guard has changed its solution
        able = plain.open_arms(left, pending)
        solve = t < 2 * OFTEN or t % OFTEN == 0
        check_plan(lp, plain.bounds(t, left, pending), left, able, solve=solve)
        # of equally good plans it is the policy's own, and equal are arms that it finds equal
        chances = plain.chances(t, left, able, lp, pending)
        assert np.abs(found - chances).max() < EXACT
        try:
            ticket = live.ask()
        except purse.AskRefused:
            break
        assert ticket.probability == pytest.approx(chances[ticket.arm], abs=EXACT)
        reports.add(ticket)
    return plain
