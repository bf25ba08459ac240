"""Studies with made-up numbers, and recorded rounds to replay."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from purse.lab.study import summary
from purse.lab.study.manifest import StudyFacts
from purse.lab.study.results import Study

POWERS = {"learns": 0.5, "learns <fast>": 0.25, "uniform": 1.0, "oracle": 0.0}
SCALES = {"learns": 6.0, "learns <fast>": 40.0, "uniform": 0.5, "oracle": 0.0}
RATE = 1.5  # what the best arm gains per unit of the budget
HOLDS = "true where each arm's cost is constant; false in general (`two_worlds`)"
ARMS = {"small": (0.5, 0.02), "big <one>": (0.9, 0.09), "wasteful": (0.3, 0.05)}


def made_up(
    *,
    worlds: Sequence[str] = ("stochastic", "adversarial"),
    policies: Sequence[str] = tuple(POWERS),
    budgets: Sequence[float] = (1e3, 3e3, 1e4, 1e5),
    n_paths: int = 20,
    n_arms: int = 3,
    bare: bool = False,
    unspent: float = 0.0,
    scales: Mapping[str, float] = SCALES,
) -> Study:
    """A study with the frames of a real one: regret is SCALES[policy] B^POWERS[policy], or linear
    if adversarial, up to noise; `bare`: without bounds and references.
    """
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in summary.COLUMNS}
    parts, regrets = [], dict[tuple[str, str], list[Any]]()
    for place, (world, budget, policy) in enumerate(product(worlds, budgets, policies)):
        random, number = np.random.default_rng(place), policies.index(policy)
        hard = world == "adversarial" and policy != "oracle"
        mean = (0.4 + 0.1 * number) * budget if hard else scales[policy] * budget ** POWERS[policy]
        regret = mean * (1 + 0.2 * random.standard_normal(n_paths))
        regret += 0.02 * np.sqrt(budget) * random.standard_normal(n_paths)
        left = random.uniform(0, 1, n_paths) + unspent * budget
        runs = pl.DataFrame(
            {
                "path": np.arange(n_paths),
                "gain": RATE * budget - regret,
                "rounds": np.full(n_paths, int(2 * budget)),
                "used": 1 - left / budget,
                "ended": np.arange(n_paths) < (3 if hard and policy == "uniform" else 0),
                "left": left,
                "regret": regret,
            }
        )
        here = {"world": world, "policy": policy, "budget": budget}
        parts.append(runs.select(*(pl.lit(value).alias(key) for key, value in here.items()), "*"))
        regrets.setdefault((world, policy), []).append(regret)
        rows["table"].append(here | summary._table_row(runs))
        for fraction in np.arange(1, 21) / 20:
            weights = np.exp(2 * number * fraction * np.arange(n_arms) / n_arms)
            rows["shares"] += [
                {**here, "fraction": fraction, "arm": f"arm {arm}", "share": share}
                for arm, share in enumerate(weights / weights.sum())
            ]
    if len(budgets) > 1:
        rows["growth"] = [
            {"world": world, "policy": policy, **summary._growth_row(list(budgets), values)}
            for (world, policy), values in regrets.items()
        ]
    for world, budget in product(worlds, budgets):
        at = {"world": world, "budget": budget}
        hard = world == "adversarial"
        stated = [
            ("learns", "Theorem 1", "at most", 20 * budget**0.5, not hard),
            ("every player", "Lower bound", "at least", 0.3 * budget, hard),
            ("learns <fast>", "Theorem 3", "order", 1.0, True),
            ("learns", "Loose", "at most", 1e9 * budget, True),
            ("uniform", "Vain", "at most", 1.0, False),
        ]
        names = ("policy", "name", "side", "value", "applies")
        said = {"holds": HOLDS, "source": "A paper (2019)"}
        best = f"best arm alone (arm {int(budget > 5e3)})"
        if not bare:
            rows["bounds"] += [at | said | dict(zip(names, row, strict=True)) for row in stated]
            rows["references"] += [
                {**at, "name": best, "gain": 0.9 * RATE * budget},
                {**at, "name": "LP optimum", "gain": RATE * budget},
            ]
        for arm in range(n_arms):
            means = {"reward": 0.1 * (arm + 1), "cost": 0.2, "efficiency": 0.5 * (arm + 1)}
            rest = {"gain": 0.5 * (arm + 1) * budget, "best": arm == n_arms - 1}
            rows["arms"].append({**at, "arm": f"arm {arm}", **means, **rest})
    written = {"adversarial": "two_worlds:world=2"}
    facts = StudyFacts(
        title="Four policies & two worlds",
        command="purse lab run study.toml",
        study='policies = ["learns"]\n',
        worlds={
            world: f"{written.get(world, 'bernoulli:rewards=[.4]')} <{world}>" for world in worlds
        },
        about={policy: {"spec": policy, "says": f"What {policy} is."} for policy in policies},
        policies=list(policies),
        budgets=list(budgets),
        n_paths=n_paths,
        seed=0,
        stop="exit",
        versions={"purse": "0.9", "python": "3.11"},
        machine={"system": "Linux aarch64", "cores": 2},
        shards=["05f012c9-0-20"],
        made="2026-11-15T11:44:37+00:00",
    )
    frames = {name: summary._framed(name, values) for name, values in rows.items()}
    return Study(pl.concat(parts).lazy(), frames, facts)


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


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
    outcomes = {"reward": rewards.astype(float), "cost": costs, "probability": chances[arms]}
    return pl.DataFrame({"arm": [names[arm] for arm in arms], **outcomes})
