"""Logs as people have them, whose truth is known: four arms or twenty, the first the dearest.

The name of a kind says what is rare or alike in it; ", dear" has 70% of the rows at the dearest
arm. The truth of a log are the mean gain and cost of each arm over all requests, and over the
requests that the arm got: what the log itself gained on average.
"""

from typing import Any, NamedTuple

import numpy as np

from purse.types import Floats, Ints

QUALITY = np.array([0.80, 0.795, 0.60, 0.70])
PRICE = np.array([10.0, 3.0, 1.0, 2.0])
EVEN, DEAR = np.full(4, 0.25), np.array([0.7, 0.1, 0.1, 0.1])
# means of the table in docs/llm-routing.md, prices in thousandths of a dollar
LLM = np.array([0.932, 0.923, 0.793]), np.array([15.2, 0.527, 0.0286])
TWENTY = np.linspace(0.80, 0.55, 20), np.geomspace(10, 1, 20)
_SLOPES = {"contexts": np.linspace(1, -1, 4), "hard": np.array([1, 0.3, -1, -0.3])}
_SESSION, _AT_A_TIME = 10, 50  # rows of a session, and sessions that are mixed
_DAYS, _DAY = 40, 0.15


class KnownLog(NamedTuple):
    """A log of n rows and K arms, with its truth."""

    arm: Ints  # (n,)
    reward: Floats  # (n,)
    cost: Floats  # (n,)
    probability: Floats | None  # (n,)
    session: Ints | None  # (n,)
    gain: Floats  # (K,) true means over all requests
    price: Floats  # (K,)
    logged_gain: Floats  # (K,) true means over those that the arm got


class _Setting(NamedTuple):
    """What all kinds have: who answers, how well and how dearly."""

    shares: Floats
    quality: Floats
    price: Floats


def make(kind: str, n: int, rng: np.random.Generator) -> KnownLog:
    """Return a log of n rows of this kind."""
    name, _, logger = kind.partition(", ")
    setting = _setting(name, DEAR if logger == "dear" else EVEN)
    if name in ("contexts", "hard", "hard known"):
        return _seeing(name, n, setting, rng)
    arm = rng.choice(len(setting.shares), n, p=setting.shares)
    if name.startswith(("bursts", "sticky")):
        return _sessions(name, n, arm, setting, rng)
    size, u, gain, reward = _sizes(n, rng), rng.random(n), setting.quality, None
    if name == "days":
        good = _DAY * rng.choice([-1, 1], (_DAYS, 4))
        reward = u < (gain + good)[np.arange(n) * _DAYS // n, arm]
    elif name == "rare loss":
        chance = 0.004 * np.array([1, 2, 4, 3])
        reward, gain = np.where(u < chance[arm], -40.0, 1.0), 1 - 41 * chance
    elif name == "revenue":
        chance = 0.06 * np.array([4, 3, 1, 2])
        reward = np.where(u < chance[arm], np.exp(1.5 * rng.normal(size=n)), 0.0)
        gain = chance * np.exp(1.5**2 / 2)
    elif name == "constant":  # the second arm always returns .79
        gain = np.array([0.80, 0.79, 0.60, 0.70])
        reward = np.where(arm == 1, 0.79, u < setting.quality[arm])
    elif name == "sorted":
        arm = np.sort(arm)
    elif name == "migrated":
        arm = np.where(np.arange(n) < n // 2, 0, 1)
    elif name == "drift":  # all arms become better, by .15 from the first row to the last
        u = u - 0.15 * (np.arange(n) / n - 0.5)
    paid: Any = (u < gain[arm]) if reward is None else reward
    cost = setting.price[arm] * size
    return KnownLog(arm, paid * 1.0, cost, None, None, gain, setting.price, gain)


def _setting(name: str, shares: Floats) -> _Setting:
    """Return the arms of a kind."""
    mostly = shares is DEAR
    if name == "llm":
        return _Setting(np.array([0.5, 0.25, 0.25]), *LLM)
    if name.startswith("20 arms"):
        quality, price = TWENTY
        worse = name == "20 arms just worse"
        if worse:
            quality = np.r_[0.80, np.full(19, 0.80 * 0.9447)]
        even = np.r_[0.62, np.full(19, 0.02)] if worse or mostly else np.full(20, 0.05)
        return _Setting(even, quality, price)
    if name == "just worse":  # each cheaper arm gains .965 of what the log gains
        return _Setting(DEAR, 0.8 * np.array([1, 0.9507, 0.9507, 0.9507]), PRICE)
    if name == "nothing":  # nearly all rows are of the right arm
        few = np.array([0.02, 0.94, 0.02, 0.02])
        return _Setting(few, np.array([0.8, 0.795, 0.2, 0.3]), PRICE)
    if name == "equal":
        return _Setting(shares, np.full(4, 0.8), PRICE)
    return _Setting(shares, QUALITY / 80 if name == "rare success" else QUALITY, PRICE)


def _sizes(n: int, rng: np.random.Generator) -> Floats:
    """(n,) Tokens of requests, 1 on average."""
    return np.exp(0.8 * rng.normal(size=n) - 0.32)


def _sessions(
    name: str, n: int, arm: Ints, setting: _Setting, rng: np.random.Generator
) -> KnownLog:
    """Return sessions of ten equal draws; sticky ones stay at one arm, mixed ones overlap, and a
    column names them if the kind says so.
    """
    session = np.arange(n) // _SESSION
    if "mixed" in name:
        group = np.repeat(np.arange(_AT_A_TIME), _SESSION)
        parts = -(-n // len(group))
        mixed = [rng.permutation(group) + _AT_A_TIME * part for part in range(parts)]
        session = np.concatenate(mixed)[:n]
    u, size = rng.random(n)[session], _sizes(n, rng)[session]
    arm = arm[session] if name.startswith("sticky") else arm
    reward: Any = (u < setting.quality[arm]) * 1.0
    cost = setting.price[arm] * size
    column = session if "column" in name else None
    return KnownLog(
        arm, reward, cost, None, column, setting.quality, setting.price, setting.quality
    )


def _seeing(name: str, n: int, setting: _Setting, rng: np.random.Generator) -> KnownLog:
    """Return a log whose logger looks at the request: at a context that says which arm is good, or
    at how hard it is. Its probabilities are known, but for the kind "hard".
    """
    slope = _SLOPES[name.partition(" ")[0]]
    moves = 0.2 * slope if name == "contexts" else np.full(4, -0.15)

    def choose(x: Floats) -> Floats:
        chances: Floats = 0.1 + np.exp(2 * x[:, None] * slope)
        return chances / chances.sum(axis=1, keepdims=True)

    x = rng.uniform(-1, 1, n)
    table, u = choose(x), rng.random(n)
    arm = (rng.random(n)[:, None] > table.cumsum(axis=1)[:, :-1]).sum(axis=1)
    reward = (u < setting.quality[arm] + moves[arm] * x) * 1.0
    grid = np.linspace(-1, 1, 2_001)
    chances: Any = choose(grid)
    logged = (chances * (setting.quality + moves * grid[:, None])).sum(axis=0) / chances.sum(axis=0)
    known = None if name == "hard" else table[np.arange(n), arm]
    cost = setting.price[arm] * _sizes(n, rng)
    return KnownLog(arm, reward, cost, known, None, setting.quality, setting.price, logged)
