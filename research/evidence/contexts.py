"""What contexts are worth, and what each policy gets of it: `python -m research.evidence.contexts`.

All parts take about fifteen minutes on one core; with names of parts it measures these alone. Needs
the group `examples`, and `maps` the package river, too, for two of its data sets. Numbers go to
docs/contexts/shares.json, and the page beside them is written from that file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import purse
from benchmarks import record
from benchmarks.instance import say
from purse.lab.theory.contexts import HINDSIGHT, LINEAR, WITH, WITHOUT, lp_with_contexts, optima
from purse.lab.theory.growth import slope
from purse.types import Floats
from research.evidence import context_games as games
from research.evidence import context_maps, context_page

BLIND = "replan"
POLICIES = (
    "lin-ucb.price",
    "lin-ts.price",
    "lin-ucb.resolve",
    "square-cbwk",
    "lin-cbwk",
    BLIND,
)
CLASSES = "classes.resolve"
PATHS, SEED = 20, 1
HORIZONS = (1_000, 4_000, 16_000, 64_000)
N_WORLDS, WORLD_ROUNDS, WORLD_PATHS = 20, 5_000, 4
MONEY = (30.0, 300.0, 3_000.0)  # budgets where only they end the game


def gains(policy: str, world: purse.lab.World, budget: Any, n_paths: int = PATHS) -> Floats:
    """Return what the policy gains on each path, shape (P,)."""
    run = purse.simulate(
        policy, world, budget, n_paths=n_paths, seed=SEED, stop="retry", n_workers=1
    )
    return np.asarray(run.gain)


def references(game: games.Game, budget: Any) -> dict[str, float]:
    """Return what players gain that know the means."""
    found = optima(game.seen, budget)
    if game.seen.tables.shuffle:  # recorded rows: the mean of a row says all of it
        found[HINDSIGHT] = found.pop(WITH)
    if game.world.n_features == 0:
        del found[LINEAR]
    return found


def shares(game: games.Game, policies: Sequence[str] = POLICIES) -> dict[str, Any]:
    """Return the mean gain of each player with each budget as a share of the game's optimum."""
    budgets, rows, error = game.budgets(), dict[str, list[float]](), 0.0
    known = [references(game, budget) for budget in budgets.values()]
    best = [game.optimum(game.seen, budget) for budget in budgets.values()]
    for name in known[0]:
        rows[name] = [each[name] / whole for each, whole in zip(known, best, strict=True)]
    for policy in policies:
        rows[policy] = []
        for budget, whole in zip(budgets.values(), best, strict=True):
            parts = gains(policy, game.world, budget) / whole
            rows[policy].append(float(parts.mean()))
            error = max(error, float(parts.std(ddof=1)) / PATHS**0.5)
        say(f"{game.title}: {policy} {np.round(rows[policy], 3)}")
    rows = {name: row for name, row in rows.items() if np.ptp([1, *row]) > 0}  # the optimum itself
    return {"title": game.title, "budgets": list(budgets), "rows": rows, "error": error}


def prompts() -> list[dict[str, Any]]:
    """Both files of recorded answers, by features."""
    found = []
    for part in ("test_holdout", "val"):
        for name, game in games.routing(part).items():
            found.append(shares(game, (*POLICIES, CLASSES) if name == "sources" else POLICIES))
    return found


def random_worlds() -> list[dict[str, Any]]:
    """Twenty worlds with drawn sizes, weights and budgets: mean and worst share of the LP."""
    found: dict[str, list[float]] = {}
    for number in range(N_WORLDS):
        chance = np.random.default_rng(1_000 + number)
        arms, features = (int(each) for each in chance.integers(2, 9, 2))
        spec = f"linear_contexts:arms={arms},features={features},seed={number}"
        game = games.synthetic(spec, WORLD_ROUNDS)
        budget = round(float(chance.uniform(0.03, 0.6)) * game.dearest, 9)
        known = optima(game.world, budget)
        for name in (WITHOUT, LINEAR):
            found.setdefault(name, []).append(known[name] / known[WITH])
        for policy in POLICIES:
            got = gains(policy, game.world, budget, WORLD_PATHS).mean() / known[WITH]
            found.setdefault(policy, []).append(float(got))
        say(f"world {number}: K = {arms}, F = {features}")
    return [
        {"player": name, "mean": float(np.mean(row)), "worst": min(row)}
        for name, row in found.items()
    ]


def growth() -> list[dict[str, Any]]:
    """Return regret against the LP with contexts at four horizons, and its exponent."""
    found = []
    for policy in POLICIES:
        regrets = []
        for horizon in HORIZONS:
            game = games.synthetic("linear_contexts", horizon)
            budget = round(0.2 * game.dearest, 9)
            regrets.append(
                lp_with_contexts(game.world, budget) - gains(policy, game.world, budget).mean()
            )
        exponent = slope(np.array(HORIZONS, np.float64), np.array([regrets]))[0]
        found.append({"policy": policy, "regrets": regrets, "exponent": float(exponent)})
        say(f"growth: {policy} {np.round(regrets)} {exponent:.2f}")
    return found


def money_alone() -> dict[str, Any]:
    """Shares of the optimum without a horizon, and no round may pass."""
    world = purse.worlds.linear_contexts(horizon=None)
    rows: dict[str, list[float]] = {}
    for budget in MONEY:
        known = optima(world, budget)
        for name in (WITHOUT, LINEAR):
            rows.setdefault(name, []).append(known[name] / known[WITH])
        for policy in POLICIES:
            share = float(gains(policy, world, budget).mean() / known[WITH])
            rows.setdefault(policy, []).append(share)
        say(f"money alone: {budget:g}")
    return {"title": "money alone", "budgets": [f"{each:,.0f}" for each in MONEY], "rows": rows}


PARTS: dict[str, Callable[[], Any]] = {
    "linear": lambda: shares(games.synthetic("linear_contexts")),
    "logistic": lambda: shares(games.synthetic("logistic_contexts")),
    "digits": lambda: shares(games.digits()),
    "prompts": prompts,
    "worlds": random_worlds,
    "growth": growth,
    "money": money_alone,
    "resources": lambda: shares(games.two_resources()),
    "own": lambda: shares(games.own_contexts()),
    "maps": context_maps.measure,
}


def main() -> None:
    """Measure the parts that are named, or all, and write the page."""
    facts = record.load(record.SHARES) or {}
    for name in sys.argv[1:] or PARTS:
        facts[name] = PARTS[name]()
        record.save(record.SHARES, facts)
    kept = record.load(record.SHARES) or {}  # rounded, as the page shows it
    if set(PARTS) <= set(kept):
        record.SHARES.with_name("measured.md").write_text(context_page.markdown(kept))


if __name__ == "__main__":
    main()
