"""Studies with made-up numbers, and recorded rounds to replay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from purse.lab.report.data import StudyFacts
from purse.lab.report.study_page import figures_of, html
from purse.lab.study import summary

POWERS = {"learns": 0.5, "learns <fast>": 0.25, "uniform": 1.0, "oracle": 0.0}
SCALES = {"learns": 6.0, "learns <fast>": 40.0, "uniform": 0.5, "oracle": 0.0}
RATE = 1.5  # what the best arm gains per unit of the budget
WRITTEN = {"adversarial": "two_worlds:world=2"}
HOLDS = "true where each arm's cost is constant; false in general (`two_worlds`)"

ARMS = {"small": (0.5, 0.02), "big <one>": (0.9, 0.09), "wasteful": (0.3, 0.05)}


def once(make: Callable[[MadeUp], pl.DataFrame]) -> Callable[[MadeUp], pl.DataFrame]:
    """Make a frame of a study once: a page asks for it two dozen times."""

    @wraps(make)
    def kept(study: MadeUp) -> pl.DataFrame:
        if make.__name__ not in study.made:
            study.made[make.__name__] = make(study)
        return study.made[make.__name__]

    return kept


@dataclass(eq=False)
class MadeUp:
    """A study with the frames of a real one and made-up numbers: regret is SCALES[policy]
    B^POWERS[policy], or linear where adversarial, up to noise.
    """

    worlds: Sequence[str] = ("stochastic", "adversarial")
    policies: Sequence[str] = tuple(POWERS)
    budgets: Sequence[float] = (1e3, 3e3, 1e4, 1e5)
    n_paths: int = 20
    n_arms: int = 3
    with_bounds: bool = True
    with_references: bool = True
    unspent: float = 0.0
    scales: Mapping[str, float] = field(default_factory=lambda: SCALES)
    facts: StudyFacts = field(init=False)
    made: dict[str, pl.DataFrame] = field(init=False, default_factory=dict)
    outcome: ClassVar[str] = "regret"

    def __post_init__(self) -> None:
        self.facts = StudyFacts(
            title="Four policies & two worlds",
            command="purse lab run study.toml",
            study='policies = ["learns"]\n',
            worlds={
                world: f"{WRITTEN.get(world, 'bernoulli:rewards=[.4]')} <{world}>"
                for world in self.worlds
            },
            about={
                policy: {"spec": policy, "says": f"What {policy} is."} for policy in self.policies
            },
            policies=list(self.policies),
            budgets=list(self.budgets),
            n_paths=self.n_paths,
            seed=0,
            stop="exit",
            versions={"purse": "0.9", "python": "3.11"},
            machine={"system": "Linux aarch64", "cores": 2},
            shards=["05f012c9-0-20"],
            made="2026-11-15T11:44:37+00:00",
        )

    def cells(self) -> Iterator[tuple[int, dict[str, Any]]]:
        cells = product(self.worlds, self.budgets, self.policies)
        for place, (world, budget, policy) in enumerate(cells):
            yield place, {"world": world, "policy": policy, "budget": budget}

    def runs(self, place: int, world: str, policy: str, budget: float) -> pl.DataFrame:
        random = np.random.default_rng(place)
        hard = world == "adversarial" and policy != "oracle"
        mean = self.scales[policy] * budget ** POWERS[policy]
        if hard:
            mean = (0.4 + 0.1 * self.policies.index(policy)) * budget
        regret = mean * (1 + 0.2 * random.standard_normal(self.n_paths))
        regret += 0.02 * np.sqrt(budget) * random.standard_normal(self.n_paths)
        left = random.uniform(0, 1, self.n_paths) + self.unspent * budget
        ended = np.arange(self.n_paths) < (3 if hard and policy == "uniform" else 0)
        numbers = {
            "gain": RATE * budget - regret,
            "rounds": np.full(self.n_paths, int(2 * budget)),
            "used": 1 - left / budget,
            "ended": ended,
            "left": left,
        }
        return pl.DataFrame({"path": np.arange(self.n_paths), **numbers, "regret": regret})

    @once
    def frame(self) -> pl.DataFrame:
        return pl.concat(
            self.runs(place, **cell).select(
                *(pl.lit(value).alias(name) for name, value in cell.items()), pl.all()
            )
            for place, cell in self.cells()
        )

    def lazy(self) -> pl.LazyFrame:
        return self.frame().lazy()

    @once
    def table(self) -> pl.DataFrame:
        rows = ((cell, self.runs(place, **cell)) for place, cell in self.cells())
        return summary.framed("table", [{**cell, **summary.table_row(runs)} for cell, runs in rows])

    @once
    def shares(self) -> pl.DataFrame:
        rows = []
        for _, cell in self.cells():
            slope = 2 * self.policies.index(cell["policy"])
            for fraction in np.arange(1, 21) / 20:
                weights = np.exp(slope * fraction * np.arange(self.n_arms) / self.n_arms)
                rows += [
                    {**cell, "fraction": fraction, "arm": f"arm {arm}", "share": share}
                    for arm, share in enumerate(weights / weights.sum())
                ]
        return summary.framed("shares", rows)

    @once
    def bounds(self) -> pl.DataFrame:
        rows: list[dict[str, Any]] = []
        names = ("policy", "name", "side", "value", "applies")
        for world, budget in product(self.worlds, self.budgets if self.with_bounds else ()):
            here = {"world": world, "budget": budget, "holds": HOLDS, "source": "A paper (2019)"}
            hard = world == "adversarial"
            stated: list[tuple[str, str, str, float, bool]] = [
                ("learns", "Theorem 1", "at most", 20 * budget**0.5, not hard),
                ("every player", "Lower bound", "at least", 0.3 * budget, hard),
                ("learns <fast>", "Theorem 3", "order", 1.0, True),
                ("learns", "Loose", "at most", 1e9 * budget, True),
                ("uniform", "Vain", "at most", 1.0, False),
            ]
            rows += [{**here, **dict(zip(names, bound, strict=True))} for bound in stated]
        return summary.framed("bounds", rows)

    @once
    def growth(self) -> pl.DataFrame:
        rows = []
        for world, policy in product(self.worlds, self.policies if len(self.budgets) > 1 else ()):
            regrets = [
                self.runs(place, **cell)["regret"].to_numpy()
                for place, cell in self.cells()
                if (cell["world"], cell["policy"]) == (world, policy)
            ]
            growth = summary.growth_row(list(self.budgets), regrets)
            rows.append({"world": world, "policy": policy, **growth})
        return summary.framed("growth", rows)

    @once
    def references(self) -> pl.DataFrame:
        rows: list[dict[str, Any]] = []
        for world, budget in product(self.worlds, self.budgets if self.with_references else ()):
            here = {"world": world, "budget": budget}
            best = f"best arm alone (arm {int(budget > 5e3)})"
            rows.append({**here, "name": best, "gain": 0.9 * RATE * budget})
            rows.append({**here, "name": "LP optimum", "gain": RATE * budget})
        return summary.framed("references", rows)

    @once
    def arms(self) -> pl.DataFrame:
        rows: list[dict[str, Any]] = []
        for world, budget in product(self.worlds, self.budgets):
            for arm in range(self.n_arms):
                means = {"reward": 0.1 * (arm + 1), "cost": 0.2, "efficiency": 0.5 * (arm + 1)}
                rest = {"gain": 0.5 * (arm + 1) * budget, "best": arm == self.n_arms - 1}
                here = {"world": world, "budget": budget, "arm": f"arm {arm}"}
                rows.append({**here, **means, **rest})
        return summary.framed("arms", rows)


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def page_of(study: Any) -> str:
    return html(study, figures_of(study))


def save_page(study: Any, path: Path) -> Path:
    path.write_text(page_of(study), encoding="utf-8")
    return path


def recorded_table(n_rounds: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    rows = [
        (t, arm, float(rng.random() < reward), round(cost * rng.uniform(0.5, 1.5), 4))
        for t in range(n_rounds)
        for arm, (reward, cost) in ARMS.items()
    ]
    return pl.DataFrame(rows, ["round", "arm", "reward", "cost"], orient="row")


def recorded_log(n: int = 600) -> pl.DataFrame:
    rng, names, chances = np.random.default_rng(1), list(ARMS), np.array([0.6, 0.38, 0.02])
    arms = rng.choice(3, n, p=chances)
    rewards = rng.random(n) < np.array([reward for reward, _ in ARMS.values()])[arms]
    costs = np.array([cost for _, cost in ARMS.values()])[arms]
    return pl.DataFrame(
        {
            "arm": [names[arm] for arm in arms],
            "reward": rewards.astype(float),
            "cost": costs,
            "probability": chances[arms],
        }
    )
