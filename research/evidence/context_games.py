"""The games of `research.evidence.contexts`: worlds with contexts, recorded answers, and
specialists; and features of a prompt without a model of language.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import purse
from examples import digit_specialists, llm_routing_replay
from purse import worlds
from purse.base import amounts
from purse.lab.theory.contexts import ContextTable, lp_with_contexts, lp_without_contexts
from purse.types import Floats, World
from purse.worlds._contexts import middles
from purse.worlds._tables import bernoulli_atoms, make_world

PARTS = (0.05, 0.1, 0.2, 0.5)  # of what the dearest arm costs in all rounds
MORE_PARTS = (0.02, 0.035, *PARTS)
CALLS = (2, 7)  # largest costs of the dearest arm: hardly any money
DIRECTIONS = 16  # of the words of a prompt
FURTHEST = 3.0  # standard deviations at which a feature is cut off
Optimum = Callable[..., float]


class Game(NamedTuple):
    """A world, what its dearest arm costs in all rounds, and the optimum that shares are of."""

    title: str
    world: World
    dearest: float
    optimum: Optimum
    informed: World  # with features, where the game itself hides them
    parts: tuple[float, ...] = PARTS
    second: tuple[float, ...] = ()  # the budgets of further resources

    def budgets(self) -> dict[str, tuple[float, ...]]:
        """Each budget under its name, shape (d,)."""
        largest = float(self.world.cost_max[:, 0].max()) / amounts.UNIT
        named = {f"{count} calls": count * largest for count in CALLS}
        named |= {f"{100 * part:.3g}%": part * self.dearest for part in self.parts}
        return {name: (round(budget, 9), *self.second) for name, budget in named.items()}


def gains(policy: str, world: World, budget: Any, n_paths: int) -> Floats:
    """Return the gain of the policy on each path, shape (P,)."""
    how: dict[str, Any] = {"seed": 1, "stop": "retry", "n_workers": 1}
    return np.asarray(purse.simulate(policy, world, budget, n_paths=n_paths, **how).gain)


def synthetic(spec: str, horizon: int = 10_000) -> Game:
    """Return a world of purse's own; shares are of the LP with contexts."""
    world = worlds.make(f"{spec}{',' if ':' in spec else ':'}horizon={horizon}", 1)
    means = ContextTable.of(world).costs.mean(axis=0)[:, 0]
    dearest = float(means.max()) * horizon
    return Game(spec.partition(":")[0], world, dearest, lp_with_contexts, world)


def routing(part: str) -> dict[str, Game]:
    """Return one file of recorded answers, by features; fits use the other file."""
    other = {"test_holdout": "val", "val": "test_holdout"}[part]
    data, others = llm_routing_replay.records(part), llm_routing_replay.records(other)
    sources = llm_routing_replay.one_hot(
        [record["source"] for record in data], sorted({record["source"] for record in others})
    )
    words = text_features(
        [record["prompt"] for record in others], [record["prompt"] for record in data]
    )
    costs = np.array([[answer["cost"] for answer in row["arms"].values()] for row in data])
    dearest = float(costs.sum(axis=0).max())
    blind, sourced, text = (
        llm_routing_replay.world_of(data, features) for features in (None, sources, words)
    )
    games = {}
    for name, world in (("no features", blind), ("sources", sourced), ("text", text)):
        title, shown = f"{name}, {len(data):,} prompts", sourced if world is blind else world
        games[name] = Game(title, world, dearest, lp_without_contexts, shown, MORE_PARTS)
    return games


def shape_of(text: str) -> list[float]:
    """Return eight numbers: how long the text is, and which signs stand in it."""
    words, characters = len(text.split()), len(text)
    return [
        float(np.log1p(characters)),
        float(np.log1p(words)),
        10 * sum(character.isdigit() for character in text) / (1 + characters),
        text.count(",") / (1 + words),
        *(float(mark in text) for mark in ("\n", "(A)", "?")),
        float("def " in text or "function" in text),
    ]


def text_features(fitted_on: Sequence[str], prompts: Sequence[str]) -> Floats:
    """Return the features of prompts, shape (N, 24): their shapes, and the words that they have.

    Everything is fitted on other prompts, as which they are standardised; no reward is looked at.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    counts = TfidfVectorizer(sublinear_tf=True, min_df=3, ngram_range=(1, 2), max_features=20_000)
    directions = TruncatedSVD(DIRECTIONS, random_state=0).fit(counts.fit_transform(fitted_on))

    def summarise(texts: Sequence[str]) -> Floats:
        words = directions.transform(counts.transform(texts))
        return np.hstack([words, [shape_of(text) for text in texts]])

    others = summarise(fitted_on)
    centred = (summarise(prompts) - others.mean(axis=0)) / (others.std(axis=0) + 1e-9)
    return np.clip(centred, -FURTHEST, FURTHEST)


def digits() -> Game:
    """Specialists on digits, each picture three times; shares are of the LP without contexts."""
    features, rewards, costs = digit_specialists.specialists()
    world = digit_specialists.repeated(features, rewards, costs)
    dearest = float(costs.sum(axis=0).max()) * digit_specialists.TIMES
    return Game("digits", world, dearest, lp_without_contexts, world)


def two_resources(rows: int = 1024, horizon: int = 10_000) -> Game:
    """Money and time: the features tell how much an arm takes of each; shares are of the LP with
    contexts.
    """
    base = synthetic(f"linear_contexts:rows={rows}", horizon)
    table, factors = ContextTable.of(base.world), middles(0.5, 1.5)
    features = table.features[:, 0, :-1]
    hours = 0.5 + 0.15 * features[:, :1] + np.linspace(0.1, -0.1, 5) * (1 + features[:, 1:2])
    costs = np.stack([table.costs[:, :, 0], hours], axis=2)
    units = np.rint(costs[..., None] * factors * amounts.UNIT).astype(np.int64)  # (N, K, d, C)
    atoms = [bernoulli_atoms(table.rewards, units[..., level]) for level in range(len(factors))]
    chances, rewards, prices = (
        np.concatenate([atom[which] for atom in atoms], axis=2) for which in range(3)
    )
    last = np.arange(1, rows + 1)
    world = make_world(
        "two_resources", chances / len(factors), rewards, prices,
        last=last, sample=True, features=features, horizon=horizon,
    )  # fmt: skip
    dearest = float(costs[..., 0].mean(axis=0).max()) * horizon
    second = (0.35 * horizon,)
    return Game("two resources", world, dearest, lp_with_contexts, world, second=second)
