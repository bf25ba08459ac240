"""Data sets of packages as games: which of K classes is it? What a Fourier map and a log are worth.

An arm is a class; it pays 1 if the row is of its class, and costs from 0.2 for the first to 1 for
the last arm, times a factor of the row between 1/2 and 3/2. In each of `SPLITS` splits half of the
rows, at most 1,000, are a log of arms chosen uniformly, and the others are the game, in
`ORDERS` random orders.
"""

import csv
import io
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import purse
from benchmarks.instance import say
from examples import digit_specialists
from purse.lab import prior_from_log
from purse.lab.theory.contexts import lp_with_contexts, lp_without_contexts
from purse.types import Floats
from research.evidence.context_games import gains

SPLITS, ORDERS, LONGEST_LOG = 8, 2, 1_000
PARTS = (0.1, 0.3)  # of what pulling an arm at random in each round costs
SEEING, MAP = "lin-ucb.price", "fourier:48"
PRICES = [2.0**k for k in range(-4, 8)]  # of money, fixed, in rewards
ALPHA = 0.5  # of LinUCB with such a price


class Rows(NamedTuple):
    """A data set: N rows, F numbers, K arms."""

    features: Floats  # (N, F) from -1 to 1
    rewards: Floats  # (N, K)
    costs: Floats  # (N, K)

    def at(self, rows: Any) -> "Rows":
        """Return some of the rows."""
        return Rows(*(part[rows] for part in self))

    def world(self, map: str | None) -> purse.lab.World:
        """Return the rows in a random order."""
        return purse.worlds.table(*self[1:], shuffle=True, features=self.features, map=map,
                                  horizon=len(self.rewards))  # fmt: skip


def classes(features: Floats, labels: Any) -> Rows:
    """Return the game in which each class is an arm."""
    low, high = features.min(axis=0), features.max(axis=0)
    scaled = 2 * (features - low) / (high - low) - 1
    kinds = np.unique(labels)
    factors = np.random.default_rng(0).uniform(0.5, 1.5, (len(labels), 1))
    return Rows(
        scaled.astype(np.float32).astype(np.float64),
        (np.asarray(labels)[:, None] == kinds).astype(np.float64),
        np.round(factors * np.linspace(0.2, 1, len(kinds)), 6),
    )


def of_sklearn(name: str, **options: Any) -> Rows:
    """Return a data set that scikit-learn has or makes."""
    from sklearn import datasets

    return classes(*getattr(datasets, name)(**{"return_X_y": True, **options}))


def moons() -> Rows:
    """Return two half moons, which no line parts."""
    from sklearn.datasets import make_moons

    return classes(*make_moons(3_000, noise=0.25, random_state=0))


def digits() -> Rows:
    features, rewards, costs = digit_specialists.specialists()
    return Rows((features / 1.5).astype(np.float32).astype(np.float64), rewards, costs.round(6))


def of_river(archive: str) -> str:
    """Return the text of a data set in the package river."""
    package = find_spec("river")
    assert package is not None
    assert package.submodule_search_locations
    folder = Path(package.submodule_search_locations[0])
    with zipfile.ZipFile(folder / "datasets" / archive) as file:
        return file.read(file.namelist()[0]).decode()


def segments() -> Rows:
    """Return segments of pictures: seven classes."""
    first, *rows = csv.reader(io.StringIO(of_river("segment.csv.zip")))
    column = first.index("category")
    numbers = np.array([row[:column] + row[column + 1 :] for row in rows], np.float64)
    return classes(numbers, [row[column] for row in rows])


def bananas() -> Rows:
    """Return two classes in the shape of bananas: two numbers, in which nothing is linear."""
    rows = [line.replace(":", " ").split() for line in of_river("banana.zip").splitlines()]
    rows = [row for row in rows if len(row) == 5]
    return classes(np.array([row[2::2] for row in rows], np.float64), [row[0] for row in rows])


GAMES: dict[str, Callable[[], Rows]] = {
    "breast cancer": lambda: of_sklearn("load_breast_cancer"),
    "wine": lambda: of_sklearn("load_wine"),
    "digits": digits,
    "moons": moons,
    "image segments": segments,
    "bananas": bananas,
}


def measure(names: Iterable[str], n_splits: int) -> list[dict[str, Any]]:
    """Return for each data set the shares of the hindsight optimum, and their standard errors."""
    return [measure_one(name, GAMES[name](), n_splits) for name in names]


def measure_one(name: str, rows: Rows, n_splits: int) -> dict[str, Any]:
    splits: dict[str, list[list[float]]] = {}
    for split in range(n_splits):
        chance = np.random.default_rng(split)
        order = chance.permutation(len(rows.rewards))
        n_log = min(len(order) // 2, LONGEST_LOG)
        log, game = rows.at(order[:n_log]), rows.at(order[n_log:])
        budgets = [round(part * float(game.costs.mean(axis=1).sum()), 6) for part in PARTS]
        best = [lp_with_contexts(game.world(None), budget) for budget in budgets]
        for player, gained in played(log, game, budgets, chance):
            share = [gain / whole for gain, whole in zip(gained, best, strict=True)]
            splits.setdefault(player, []).append(share)
        say(f"{name}: split {split + 1} of {n_splits}")
    shares = {player: np.array(of_splits) for player, of_splits in splits.items()}
    at_best = fixed_prices(shares)
    return {
        "title": name,
        "rounds": len(rows.rewards) - n_log,
        "log": n_log,
        "arms": rows.rewards.shape[1],
        "numbers": rows.features.shape[1] + 1,
        "rows": {player: values.mean(axis=0).tolist() for player, values in at_best.items()},
        "errors": {
            player: (values.std(axis=0, ddof=1) / n_splits**0.5).tolist()
            for player, values in at_best.items()
        },
    }


def played(
    log: Rows, game: Rows, budgets: list[float], chance: np.random.Generator
) -> Iterator[tuple[str, list[float]]]:
    """Yield each player and what it gains with each budget."""
    plain = game.world(None)
    yield "LP without contexts", [lp_without_contexts(plain, budget) for budget in budgets]
    yield "`replan`", mean_gains("replan", plain, budgets)
    arms = chance.integers(0, log.rewards.shape[1], len(log.rewards))
    every_row = np.arange(len(arms))
    names = [f"x{k}" for k in range(log.features.shape[1])]
    logged = pl.DataFrame(log.features, schema=names).with_columns(
        arm=pl.Series(arms), reward=pl.Series(log.rewards[every_row, arms]),
        cost=pl.Series(log.costs[every_row, arms]),
    )  # fmt: skip
    declared = dict.fromkeys(names, (-1, 1))
    with tempfile.TemporaryDirectory() as folder:
        prior = str(Path(folder) / "prior.npz")
        warm = f"{SEEING}:prior={prior!r}"
        for cosines, added in ((None, ""), (MAP, f", `{MAP}`")):
            every = [str(i) for i in range(log.rewards.shape[1])]
            prior_from_log(
                logged, prior, features=declared, map=cosines, arms=every, reward_range=(0, 1)
            )
            world = game.world(cosines)
            yield f"`{SEEING}`{added}", mean_gains(SEEING, world, budgets)
            yield f"`{SEEING}`{added}, warm", mean_gains(warm, world, budgets)
    order = chance.permutation(len(game.rewards))
    for price in PRICES:
        yield f"price {price}", [linucb(game.at(order), budget, price) for budget in budgets]


def mean_gains(policy: str, world: purse.lab.World, budgets: list[float]) -> list[float]:
    """Return the mean gain of a policy with each budget."""
    return [float(gains(policy, world, budget, ORDERS).mean()) for budget in budgets]


def linucb(game: Rows, budget: float, price: float) -> float:
    """Return the gain of LinUCB with a fixed price of money: rewards are r - price c.

    A round passes if no arm is worth it, or the budget cannot pay its cost.
    """
    n_arms, n = game.rewards.shape[1], game.features.shape[1] + 1
    inverse, sums, total = np.tile(np.eye(n), (n_arms, 1, 1)), np.zeros((n_arms, n)), 0.0
    for x, rewards, costs in zip(*game, strict=True):
        numbers = np.append(x, 1.0)
        lean = inverse @ numbers
        width = np.sqrt(lean @ numbers)
        scores = (lean * sums).sum(axis=1) + ALPHA * width
        arm = int(scores.argmax())
        if scores[arm] < 0 or costs[arm] > budget:
            continue
        budget -= costs[arm]
        total += rewards[arm]
        sums[arm] += (rewards[arm] - price * costs[arm]) * numbers
        inverse[arm] -= np.outer(lean[arm], lean[arm]) / (1 + lean[arm] @ numbers)
    return total


def fixed_prices(shares: dict[str, Floats]) -> dict[str, Floats]:
    """Return the shares with three rows for the prices: the best in hindsight for each budget, and
    half and twice that price.
    """
    # (prices, splits, budgets)
    tried = np.stack([shares.pop(f"price {price}") for price in PRICES])
    best, budgets = tried.mean(axis=1).argmax(axis=0), range(tried.shape[2])
    for name, step in (("best fixed price", 0), ("half of it", -1), ("twice it", 1)):
        chosen = np.clip(best + step, 0, len(PRICES) - 1)
        shares[name] = np.stack([tried[chosen[k], :, k] for k in budgets], axis=1)
    return shares
