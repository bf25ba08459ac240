"""From runs to the frames that tables and figures are made from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from purse.base.optional import pl
from purse.errors import InvalidInput
from purse.lab.study.plan import Cell
from purse.lab.study.store import Store
from purse.lab.theory import bounds, coin_bounds, published_bounds
from purse.lab.theory.bound import problem_of
from purse.lab.theory.contexts import optima
from purse.lab.theory.estimate import estimate
from purse.lab.theory.growth import fit_growth
from purse.lab.theory.notions import against_best_fixed_arm, best_arm
from purse.types import Floats, Ints, World

_GROUPS = 500  # independent means that a bootstrap draws from, at most
_HORIZON = "a horizon"  # in the words of bounds that are about games with one
COLUMNS = {
    "table": "world policy budget n_paths gain gain_low gain_high regret error low high left "
    "rounds ended",
    "shares": "world policy budget fraction arm share",
    "growth": "world policy slope low high shape misfit",
    "bounds": "world policy budget name side value applies holds source",
    "references": "world budget name gain",
    "arms": "world budget arm reward cost efficiency gain best",
}
_TEXTS = {"world", "policy", "arm", "shape", "name", "side", "holds", "source"}
_COUNTS, _FLAGS = {"n_paths", "ended"}, {"applies", "best"}  # the rest are real numbers


def _framed(name: str, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return the rows as the frame of this name; its columns do not depend on them."""
    kinds: dict[str, Any] = dict.fromkeys(_TEXTS, pl.String)
    kinds |= dict.fromkeys(_COUNTS, pl.Int64) | dict.fromkeys(_FLAGS, pl.Boolean)
    schema = {column: kinds.get(column, pl.Float64) for column in COLUMNS[name].split()}
    return pl.DataFrame(list(rows), schema=schema)


def _table_row(runs: pl.DataFrame) -> dict[str, float]:
    """Means over the runs of one policy on one world with one budget, with 95% intervals."""
    gain, regret = (estimate(runs[column].to_numpy()) for column in ("gain", "regret"))
    means = {column: float(runs[column].to_numpy().mean()) for column in ("left", "rounds")}
    return {
        "n_paths": len(runs),
        **{"gain": gain.mean, "gain_low": gain.low, "gain_high": gain.high},
        **{"regret": regret.mean, "error": regret.error, "low": regret.low, "high": regret.high},
        **means,
        "ended": int(runs["ended"].sum()),
    }


def _share_rows(world: World, fractions: Sequence[float], pulls: Ints) -> Iterator[dict[str, Any]]:
    """Yield each arm's share of the pulls in each slice, from pulls (M, K) up to its end."""
    for fraction, slice_pulls in zip(fractions, np.diff(pulls, axis=0, prepend=0), strict=True):
        if slice_pulls.sum():
            parts = (slice_pulls / slice_pulls.sum()).tolist()
            for arm, share in zip(world.arm_names, parts, strict=True):
                yield {"fraction": fraction, "arm": arm, "share": share}


def _in_groups(values: Floats) -> Floats:
    """Return means of neighbouring paths, (G,), as independent as the paths."""
    size = -(-len(values) // _GROUPS)
    return values[: len(values) // size * size].reshape(-1, size).mean(axis=1)


def _growth_row(budgets: Sequence[float], regrets: Sequence[Floats]) -> dict[str, Any]:
    """Return the growth of regret; its shape needs three budgets."""
    order = np.argsort(budgets)
    if not np.mean(regrets, axis=1).any():  # no regret does not grow
        return {"slope": np.nan, "low": np.nan, "high": np.nan, "shape": None, "misfit": None}
    growth = fit_growth(np.array(budgets)[order], np.array(regrets)[order])
    shape = growth.shape if len(budgets) > 2 else None
    numbers = {"slope": growth.slope, "low": growth.low, "high": growth.high}
    return {**numbers, "shape": shape, "misfit": growth.misfits[shape] if shape else None}


def _bound_rows(
    world: World, budget: float, chosen: Sequence[str], stop: str, *, late: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield what is proved about the regret of these policies, or of every player; in the user's
    unit.

    `late` says whether reports come late.
    """
    low, high = world.reward_range
    try:
        problem = problem_of(world, budget)
        stated = (
            *bounds.table(budget=budget, **problem),
            *coin_bounds.table(budget=budget, **problem),
            *published_bounds.table(budget=budget, horizon=world.horizon, **problem),
        )
    except InvalidInput:
        return
    for bound in stated:
        for policy in chosen if bound.policy != "every player" else ["every player"]:
            if bound.policy == policy.partition(":")[0] and bound.value is not None:
                demands = {
                    "the game ends by its budget alone": _HORIZON in bound.holds
                    or (world.horizon is None and world.n_rounds is None),
                    "the stop rule is exit": stop == "exit",
                    "no report comes late": not late,
                    # else a pull more or less is worth something by itself
                    "the worst reward is 0": low == 0,
                    "the policy has no options": policy == bound.policy,
                }
                unmet = [demand for demand, met in demands.items() if not met]
                yield {
                    "policy": policy,
                    "name": bound.name,
                    "side": bound.side,
                    "value": (high - low) * bound.value,
                    "applies": bound.applies and not unmet,
                    "holds": "; and ".join([bound.holds, *unmet]),
                    "source": bound.source,
                }


def _arm_rows(
    world: World, budget: float, alone: Sequence[pl.DataFrame]
) -> Iterator[dict[str, Any]]:
    """Yield each arm's mean reward, cost, efficiency and gain alone; true means if known."""
    best = best_arm(np.array([runs["gain"].to_numpy() for runs in alone]))
    exact = world.reward_range == (0.0, 1.0) and world.efficiencies is not None
    for arm, (name, runs) in enumerate(zip(world.arm_names, alone, strict=True)):
        pulls = max(1, int(runs["pulls"].arr.sum().sum()))
        reward = float(runs["gain"].sum()) / pulls
        cost = float((budget - runs["left"]).sum()) / pulls
        if exact and world.reward_means is not None and world.cost_means is not None:
            reward, cost = float(world.reward_means[arm]), float(world.cost_means[arm, 0])
        yield {
            "arm": name,
            "reward": reward,
            "cost": cost,
            "efficiency": reward / cost if cost else None,
            "gain": float(runs["gain"].to_numpy().mean()),
            "best": arm == best,
        }


def _reference_rows(world: World, budget: float, alone: Floats) -> Iterator[dict[str, Any]]:
    """Yield the gain of the best arm alone (K, P), and the optima for known means."""
    best = best_arm(alone)
    yield {"name": f"best arm alone ({world.arm_names[best]})", "gain": float(alone[best].mean())}
    for name, gain in optima(world, budget).items():
        yield {"name": name, "gain": gain}


def assemble(
    cells: Sequence[Cell], store: Store, scratch: Path | None
) -> tuple[pl.LazyFrame, dict[str, pl.DataFrame]]:
    """Return all runs, with one policy of a cell in memory at a time, and their frames."""
    parts: list[pl.LazyFrame] = []
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in COLUMNS}
    regrets: dict[tuple[str, str], dict[float, Floats]] = defaultdict(dict)
    for cell in cells:
        games = [store.runs(alone) for alone in cell.alone]
        fixed = np.array([runs["gain"].to_numpy() for runs in games])
        here, game = {"world": cell.label, "budget": cell.budget}, (cell.world, cell.budget)
        late = cell.delay.is_late
        for name, own in {
            "bounds": _bound_rows(*game, list(cell.policies), cell.stop, late=late),
            "references": _reference_rows(*game, fixed),
            "arms": _arm_rows(*game, games),
        }.items():
            rows[name] += [{**here, **row} for row in own]
        del games
        for policy, shards in cell.policies.items():
            runs = _label_runs(store.runs(shards), cell, policy, fixed)
            parts.append(_write_part(runs, scratch, len(parts)))
            rows["table"].append({**here, "policy": policy, **_table_row(runs)})
            regrets[cell.label, policy][cell.budget] = _in_groups(runs["regret"].to_numpy())
            if shards[0].job.checkpoints.left.size:
                traces = [store.get(f"{shard.name}-trace") for shard in shards]
                pulls = np.sum([trace["pulls"].to_numpy() for trace in traces], axis=0)
                rows["shares"] += [
                    {**here, "policy": policy, **row}
                    for row in _share_rows(cell.world, traces[0]["fraction"].to_list(), pulls)
                ]
    for (world, policy), by_budget in regrets.items():
        if len(by_budget) > 1:
            grown = _growth_row(list(by_budget), list(by_budget.values()))
            rows["growth"].append({"world": world, "policy": policy, **grown})
    return pl.concat(parts), {name: _framed(name, values) for name, values in rows.items()}


def _write_part(runs: pl.DataFrame, scratch: Path | None, number: int) -> pl.LazyFrame:
    """Return the runs, to be read later: from a file, if there is a folder for it."""
    if scratch is None:
        return runs.lazy()
    path = scratch / f"{number}.parquet"
    runs.write_parquet(path)
    return pl.scan_parquet(path)


def _label_runs(runs: pl.DataFrame, cell: Cell, policy: str, fixed: Floats) -> pl.DataFrame:
    """Return the runs of a policy in a cell with what they belong to, and their regret."""
    return runs.select(
        pl.lit(cell.label).alias("world"),
        pl.lit(policy).alias("policy"),
        pl.lit(cell.budget).alias("budget"),
        pl.exclude("pulls"),
        pl.col("pulls").arr.to_list(),  # worlds differ in their number of arms
        pl.Series("regret", against_best_fixed_arm(runs["gain"].to_numpy(), fixed)),
    )
