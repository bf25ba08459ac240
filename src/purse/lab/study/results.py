"""A finished study: its data, its verdicts, and its tables as text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from purse import worlds
from purse.base.optional import check_lab, needs, pl
from purse.base.text import (
    MISSING,
    code,
    count_in_words,
    format_budget,
    format_mean,
    format_rough,
    keep_on_line,
    set_minus,
)
from purse.errors import InvalidInput, PurseError
from purse.lab.result import Grid, PageResult, Verdict, name_tied
from purse.lab.study import manifest, standings, summary
from purse.lab.study.manifest import StudyFacts, TableFacts
from purse.lab.theory.contexts import LINEAR, WITH, WITHOUT
from purse.lab.theory.estimate import Estimate, estimate

OPTIMA = (WITHOUT, LINEAR)  # beside the LP with contexts
RESULTS = "results.parquet"
ROW_GROUP = 1 << 17  # rows of the results that are read at once


@dataclass(frozen=True, eq=False, repr=False)
class Study(PageResult):
    """The results of a comparison of policies: its runs, the frames made from them, and the facts
    about it.

    The runs are read when a method needs them.
    """

    outcome: ClassVar[str] = "regret"  # what single runs are measured by

    data: pl.LazyFrame
    frames: Mapping[str, pl.DataFrame]
    facts: StudyFacts

    @staticmethod
    def load(folder: str | os.PathLike[str]) -> Study:
        """Return the finished study in a folder; for the replay of a table it is a `TableStudy`.

        Raise `PurseError` when the study is not finished, and `InvalidInput` when the folder holds
        none that this version of purse has made.
        """
        check_lab("a study", "polars")
        target, stored = Path(folder), manifest.load(Path(folder))
        if stored["made"] is None:
            raise PurseError(
                f"the study in {str(target)!r} is not finished: "
                f"{manifest.standing(target)}; run it again to continue"
            )
        facts, files = StudyFacts.from_json(stored), [f"{name}.parquet" for name in summary.COLUMNS]
        if missing := [name for name in (RESULTS, *files) if not (target / name).is_file()]:
            raise InvalidInput(
                f"the study in {str(target)!r} has no file {missing[0]!r}; make the study again"
            )
        frames = {name: pl.read_parquet(target / f"{name}.parquet") for name in summary.COLUMNS}
        runs = pl.scan_parquet(target / RESULTS)
        if isinstance(facts, TableFacts):
            return TableStudy(runs, frames, facts)
        return Study(runs, frames, facts)

    def lazy(self) -> pl.LazyFrame:
        """Return the runs of `frame()` as a lazy frame, for results that do not fit into memory."""
        return self.data

    def frame(self) -> pl.DataFrame:
        """Return a row per world, budget, policy and path.

        Its columns are gain, rounds, the part of the budget that was used, and regret.
        """
        return self.data.collect()

    def to_pandas(self) -> Any:
        """Return the rows of `frame()` for pandas.

        Raise `MissingExtra` when the extra `pandas` is not installed.
        """
        with needs("to_pandas", "pandas"):
            return self.frame().to_pandas()

    def table(self) -> pl.DataFrame:
        """Return a row per world, budget and policy.

        Its columns are mean gain and mean regret with 95% intervals, the rest of the budget, and
        rounds.
        """
        return self.frames["table"]

    def shares(self) -> pl.DataFrame:
        """Return each arm's share of the pulls: a row per arm and slice of the budget.

        The rows are grouped by world, budget and policy.
        """
        return self.frames["shares"]

    def growth(self) -> pl.DataFrame:
        """Return the growth of regret with the budget: a row per world and policy.

        Its columns are the slope of log regret against log budget, and the shape that fits best.
        """
        return self.frames["growth"]

    def bounds(self) -> pl.DataFrame:
        """Return the bounds on each policy's regret: a row per world, budget, policy and theorem.

        Its columns are the value of the bound and whether it applies there.
        """
        return self.frames["bounds"]

    def references(self) -> pl.DataFrame:
        """Return the gains of the yardsticks: a row per world, budget and yardstick."""
        return self.frames["references"]

    def arms(self) -> pl.DataFrame:
        """Return the arms: a row per world, budget and arm.

        Its columns are the mean reward and cost of a pull, reward per cost, what the arm gains
        alone, and whether it is the best arm alone.
        """
        return self.frames["arms"]

    @property
    def title(self) -> str:
        """The title, and how much was played."""
        facts = self.facts
        parts = [
            count_in_words(len(facts.policies), "policy", "policies"),
            count_in_words(len(facts.worlds), "world"),
            count_in_words(len(facts.budgets), "budget"),
            count_in_words(facts.n_paths, "path"),
        ]
        return f"{facts.title}: {', '.join(parts)}"

    def verdicts(self) -> dict[str, Verdict]:
        """For each world the policy with the least regret at the largest budget."""
        beside = differences(self)
        return {world: _verdict(self, world, beside) for world in self.facts.worlds}

    def grids(self) -> Iterator[Grid]:
        """Yield the tables of regrets, and for worlds with contexts those of gains.

        A table has the name of its world as its title, a row per policy and a column per budget.
        """
        for (world,), part in self.table().group_by(["world"], maintain_order=True):
            budgets = sorted(part["budget"].unique())
            what = "regret, mean ± 95%" if self.facts.n_paths > 1 else "regret"
            head = [what, *(f"B = {budget:g}" for budget in budgets)]
            rows = _policy_rows(part, lambda row: format_mean(row["regret"], row["high"]))
            yield Grid(head, rows, str(world))
        yield from self.optimum_grids()

    def optimum_grids(self) -> Iterator[Grid]:
        """Yield a table of gains for each world with contexts.

        A table has a row per policy and reference and a column per budget: the regret against the
        LP with contexts, and the share of it.
        """
        for (world,), part in self.table().group_by(["world"], maintain_order=True):
            optima = self.references().filter(world=world)
            if WITH not in optima["name"]:
                continue
            gains = {(row["name"], row["budget"]): row["gain"] for row in optima.to_dicts()}
            budgets = sorted(part["budget"].unique())
            head = ["regret (share) against the LP with contexts"]
            head += [f"B = {format_budget(budget)}" for budget in budgets]
            rows = _policy_rows(part, partial(_against_optimum, gains))
            for name in OPTIMA:
                if name in optima["name"]:
                    pairs = ((gains[WITH, budget], gains[name, budget]) for budget in budgets)
                    rows.append([name, *(_against(whole, part, part) for whole, part in pairs)])
            yield Grid(head, rows, str(world))

    def remarks(self) -> list[str]:
        """Return a line if paths reached the end of their world with money left."""
        ended, paths = (int(self.table()[column].sum()) for column in ("ended", "n_paths"))
        end = "reached the end of their world before the end of the budget"
        return [f"{ended} of {paths} paths {end}"] if ended else []

    def as_dict(self) -> dict[str, Any]:
        """Return the worlds and the rows of `table()`, as JSON has them."""
        return {"worlds": self.facts.worlds, "rows": self.table().to_dicts()}

    def _repr_html_(self) -> str:
        """Return the first figure and the tables, for notebooks."""
        return self.plot()._repr_html_() + super()._repr_html_()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Return the forms for notebooks, and for terminals.

        No notebook knows every version of Vega-Lite, so the figure is a picture.
        """
        return {"text/html": self._repr_html_(), "text/plain": str(self)}


@dataclass(frozen=True, eq=False, repr=False)
class TableStudy(Study):
    """The replay of a full table: a study of one world, whose report shows gains before regrets."""

    outcome: ClassVar[str] = "gain"

    facts: TableFacts

    @property
    def lp_name(self) -> str:
        """The name of the reference for shares."""
        return standings.LP_OF[bool(self.facts.replay.features)]

    def standings(self) -> pl.DataFrame:
        """Return a row for each budget and player: gain with its 95% interval, spent and more."""
        return standings.standings(self.data, self.table(), self.references())

    def ranked(self) -> Iterator[tuple[float, list[dict[str, Any]], dict[str, Estimate]]]:
        """Yield each budget with its players, the largest gain first, and how much less policies
        gain than the best of them, if there are several orders.
        """
        for budget, players in standings.ranked(self.standings()).items():
            several = self.facts.n_paths > 1
            runs = self.data.filter(pl.col("budget") == budget)
            yield budget, players, standings.behind_best(runs, players) if several else {}

    def verdicts(self) -> dict[str, Verdict]:
        """For each budget who gains most."""
        verdicts = {}
        for budget, players, behind in self.ranked():
            best = next(row["player"] for row in players if row["kind"] == "policy")
            row = self.table().filter(budget=budget, policy=best).row(0, named=True)
            ends = (row["low"], row["high"]) if self.facts.n_paths > 1 else (row["regret"],) * 2
            regret = Estimate(row["regret"], row["error"], *ends)
            verdicts[f"B = {format_budget(budget)}"] = standings.verdict(
                players, behind, regret, self.facts.replay.rounds, self.lp_name
            )
        return verdicts

    def grids(self) -> Iterator[Grid]:
        """Yield a table of gains for each budget, the largest gain first."""
        for budget, players, behind in self.ranked():
            yield standings.grid(budget, players, behind)

    def remarks(self) -> list[str]:
        """Return a line for each lead, and one on the intervals."""
        return [*self.leads(), *([standings.ORDERS] if self.facts.n_paths > 1 else [])]

    def leads(self) -> list[str]:
        """Return a line on the best arm and the mixture of each budget: its lead over its rival."""
        return [line for _, players, _ in self.ranked() for line in standings.leads(players)]


def largest(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of each world's largest budget."""
    return frame.filter(pl.col("budget") == pl.col("budget").max().over("world"))


def differences(study: Study) -> pl.DataFrame:
    """Return a row for each world, budget and policy: its regret less the least mean regret there,
    path by path, with a 95% interval; `tied` if that interval does not lie above zero. With one
    path only the least is `tied`.
    """
    kinds = {"world": pl.String, "budget": pl.Float64, "policy": pl.String, "tied": pl.Boolean}
    numbers = dict.fromkeys(("more", "low", "high"), pl.Float64)
    return pl.DataFrame(list(_cell_rows(study)), schema={**kinds, **numbers})


def _cell_rows(study: Study) -> Iterator[dict[str, Any]]:
    """Yield the rows, cell by cell: no more than the regrets of one cell are in memory."""
    for (world, budget), part in study.table().group_by(["world", "budget"], maintain_order=True):
        best = part.sort("regret", maintain_order=True)["policy"][0]
        here = (pl.col("world") == world) & (pl.col("budget") == budget)
        runs = study.lazy().filter(here).select("policy", "path", "regret").collect()
        regrets = {
            policy: runs.filter(policy=policy).sort("path")["regret"].to_numpy()
            for policy in part["policy"]
        }
        for policy, values in regrets.items():
            more = estimate(values - regrets[best])
            tied = policy == best or (len(values) > 1 and not more.low > 0)
            numbers = {"more": more.mean, "low": more.low, "high": more.high}
            yield {"world": world, "budget": budget, "policy": policy, "tied": tied, **numbers}


def _verdict(study: Study, world: str, beside: pl.DataFrame) -> Verdict:
    """Return the verdict on a world at its largest budget; no winner if no policy can learn.
    `beside` are the `differences` of the study.
    """
    here = largest(study.table()).filter(world=world)
    best, *others = here.sort("regret", maintain_order=True).to_dicts()
    size = f"B\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{format_budget(best['budget'])}"
    if why := worlds.hopeless(study.facts.worlds.get(world, "")):
        shares = _range_of_shares(study, here, size)
        return Verdict("refused", f"Nobody learns here, and nobody can: {why}.{shares}")
    name, amount = code(best["policy"]), format_regret(best)
    growth = _growth_of(study, world, best["policy"])
    if not others:
        return Verdict("best", f"At {size} the regret of {name} is {amount}{growth}.")
    rows = {row["policy"]: row for row in largest(beside).filter(world=world).to_dicts()}
    tied = [row["policy"] for row in others if rows[row["policy"]]["tied"]]
    second = others[0]
    if best["n_paths"] == 1:
        comparison = f"; the next is {code(second['policy'])} with {format_regret(second)}"
    elif tied:
        comparison = name_tied(tied, "runs")
    else:
        more = _format_half(rows[second["policy"]]["more"], rows[second["policy"]]["high"])
        comparison = (
            f"; the next, {code(second['policy'])}, has {more} more on the same draws, a "
            "difference beyond its 95% interval"
        )
    lead = f"{name} has the least regret at {size}: {amount}"
    if best["regret"] < 0 and not best["high"] >= 0:
        lead += ", that is, it gains more than any single arm"
    return Verdict("tied" if tied else "best", f"{lead}{comparison}{growth}.")


def _range_of_shares(study: Study, here: pl.DataFrame, size: str) -> str:
    """Return the largest and the smallest share of the optimum, without a winner."""
    optima = study.references().group_by("world", "budget").agg(best=pl.col("gain").max())
    joined = here.join(optima, ["world", "budget"], maintain_order="left").drop_nulls("best")
    rows = joined.sort("gain", descending=True, maintain_order=True)
    shares = [f"{row['gain'] / row['best']:.1%} ({code(row['policy'])})" for row in rows.to_dicts()]
    if not shares:
        return ""
    span = shares[0] if len(shares) == 1 else f"between {shares[-1]} and {shares[0]}"
    return f" At {size} the policies gain {span} of the optimum; that ranks nobody."


def _growth_of(study: Study, world: str, policy: str) -> str:
    row: dict[str, Any] = next(
        study.growth().filter(world=world, policy=policy).fill_nan(None).iter_rows(named=True), {}
    )
    if row.get("slope") is None:
        return ""
    ends = "" if row["low"] is None else f" ({row['low']:.2f} to {row['high']:.2f})"
    power = f"{row['slope']:.2f}{ends}"
    return f"; the regret of {code(policy)} grows about like the budget to the power {power}"


def format_regret(row: Mapping[str, Any]) -> str:
    """Write a mean regret with half its interval, if it has one."""
    if row["n_paths"] == 1:
        return set_minus(format_rough(row["regret"]))
    return _format_half(row["regret"], row["high"])


def _format_half(mean: float, high: float) -> str:
    """Write a mean regret with half its interval, on one line."""
    return keep_on_line(f"{set_minus(format_rough(mean))} ± {format_rough(high - mean)}")


def _policy_rows(part: pl.DataFrame, write: Callable[[dict[str, Any]], str]) -> list[list[str]]:
    """Return the rows of a grid: a policy, and its cell for each budget of the table, sorted."""
    budgets = sorted(part["budget"].unique())
    grid = []
    for (policy,), rows in part.group_by(["policy"], maintain_order=True):
        cells = {row["budget"]: write(row) for row in rows.iter_rows(named=True)}
        grid.append([str(policy), *(cells.get(budget, MISSING) for budget in budgets)])
    return grid


def _against_optimum(gains: Mapping[tuple[str, float], float], row: dict[str, Any]) -> str:
    """Write the regret of a row of the table against the LP with contexts."""
    return _against(gains[WITH, row["budget"]], row["gain"], row["gain_high"])


def _against(optimum: float, gain: float, high: float) -> str:
    """Write the regret of a gain with its interval, and its share of the optimum.

    >>> _against(1000, 950, 960), _against(1000, 729, 729), _against(1, 1 + 1e-15, 1)
    ('50 ± 10 (95.0%)', '271 (72.9%)', '0 (100.0%)')
    """
    regret = round(optimum - gain, 9) + 0.0  # no rounding error is a regret, and no zero negative
    text = format_mean(regret, regret + (high - gain) if high > gain else float("nan"))
    return f"{text} ({gain / optimum:.1%})" if optimum > 0 else text
