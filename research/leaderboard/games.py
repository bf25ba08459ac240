"""Suites 1 and 2. The version of a suite changes whenever an instance does.

Suite 1 has long games of every kind. Suite 2 is what users have: little money, costs over decades,
rare rewards, many arms, late reports, outages, change, auctions and an adversary. Its cases with
rare rewards have 400 paths, because fewer show noise; no other takes more than about 200,000 rounds
over all its paths.
"""

import math
from collections.abc import Iterable, Sequence
from random import Random

from research.leaderboard.case import Case

EASY = "bernoulli:rewards=[.42,.5,.4,.3,.6],costs=[.3,.5,.6,.4,.9]"
HARD = "bernoulli:rewards=[.5,.55,.6,.65,.72],costs=[.5,.54,.58,.62,.66]"

LARGE = (
    "atoms:probabilities=[[.98,.02],[.9,.1],[1,0]],"
    "rewards=[[.5,.5],[.9,.9],[.4,.4]],costs=[[.5,20],[.8,9],[.7,.7]]"
)


def write_list(numbers: Iterable[float]) -> str:
    """Return numbers with four digits, as text."""
    return "[" + ",".join(f"{number:.4g}" for number in numbers) + "]"


def grid(low: float, high: float, count: int) -> str:
    """Return numbers at equal distances, as text."""
    return write_list(low + (high - low) * i / (count - 1) for i in range(count))


LONG_GAMES = (
    Case("easy gaps", "constant costs per arm", EASY, 1e4),
    Case("easy gaps, large budget", "constant costs per arm", EASY, 1e5),
    Case("hard gaps", "constant costs per arm", HARD, 3e4),
    Case("two arms", "constant costs per arm", "bernoulli:rewards=[.6,.45],costs=[.5,.5]", 1e4),
    Case("fifty arms", "many arms",
         f"bernoulli:rewards={grid(0.1, 0.9, 50)},costs={grid(0.9, 0.5, 50)}", 2e4),
    Case("random costs", "random costs",
         "two_point:rewards=[.9,.6,.5,.4,.3],costs=[.8,.4,.5,.3,.35],cost_min=.2", 1e4),
    Case("continuous costs", "random costs",
         "beta:rewards=[.7,.5,.6,.4,.3],costs=[.7,.35,.6,.3,.4],concentration=4,cost_min=.1", 1e4),
    Case("misleading ratio", "random costs", "misleading_ratio", 1e4),
    Case("misleading costs", "random costs", "misleading_costs", 1e4),
    Case("small least cost", "costs of very different size",
         "two_point:rewards=[.8,.5,.3],costs=[.6,.2,.3],cost_min=.01", 1e4),
    Case("large costs", "costs of very different size", LARGE, 2e4),
    Case("switching", "means that change",
         "switching:segments=[3000,1000],rewards=[[.8,.5,.2],[.1,.5,.9]],costs=[.5,.5,.5]", 1e4),
    Case("drifting", "means that change",
         "drifting:rounds=8000,rewards=[[.9,.5,.1],[.3,.5,.7]],costs=[.5,.4,.5]", 1e4),
    Case("corrupted", "means that change",
         "corrupted:rewards=[.9,.6,.4],costs=[.8,.3,.25],rounds=3000,fake_rewards=[.1,.1,.9]", 1e4),
    Case("adversarial, world 1", "an adversary", "two_worlds:cost_min=0.5,world=1", 1e4),
    Case("adversarial, world 2", "an adversary", "two_worlds:cost_min=0.5,world=2", 1e4),
    Case("same costs", "an adversary", "same_costs", 1e4),
    Case("routing", "budget and horizon",
         "routing:quality=[.55,.75,.9],prices=[.02,.1,.6],prompts=20000", 4e3),
    Case("routing, little money", "budget and horizon",
         "routing:quality=[.55,.75,.9],prices=[.02,.1,.6],prompts=20000", 1e3),
    Case("pricing", "budget and horizon",
         "pricing:prices=[2,4,6,8],chances=[.8,.6,.4,.15],customers=20000", 6e3),
    Case("ads", "several resources",
         "ad_slots:clicks=[.1,.05,.2],values=[.6,1,.2],prices=[.5,.9,.1],views=20000",
         (300.0, 12000.0)),
)  # fmt: skip

RANDOM = "two_point:rewards=[.9,.6,.5,.4,.3],costs=[.8,.4,.5,.3,.35],cost_min=.2"
SMALL_LEAST = "two_point:rewards=[.8,.5,.3],costs=[.6,.2,.3],cost_min=.01"
MODELS = "routing:quality=[.55,.75,.9],prices=[.02,.1,.6]"
ADS = "ad_slots:clicks=[.1,.05,.2],values=[.6,1,.2],prices=[.5,.9,.1]"
AUCTIONS = (
    "auction:bids=[.04,.08,.16,.32,.64],rivals=[.03,.06,.12,.24,.48],"
    "chances=[.1,.25,.3,.25,.1],conversion=.1,auctions=5000"
)
# what a pull costs over its mean, and how often
LIGHT = ((0.3, 0.2), (0.6, 0.2), (0.9, 0.2), (1.2, 0.2), (2.0, 0.2))
HEAVY = ((0.4, 0.6), (0.8, 0.25), (1.6, 0.1), (5.0, 0.04), (20.0, 0.01))
# how declared bounds are named in a case and in its situation
BOUNDS = {
    "common": ("one bound", "one bound for all arms"),
    "wide": ("wide bounds", "bounds three times too wide"),
}


def write_ten_arms(seed: int, tail: Sequence[tuple[float, float]], *, rising: bool) -> str:
    """Return ten random arms whose mean costs lie between 0.001 and 1, as text of `atoms`.

    Mean costs are log-uniform, and one arm has each end. Arms pay 1 or 0, with means that are
    uniform on [0.05, 0.95] or, if they are `rising`, near 0.1 at cost 0.001 and 0.9 at cost 1.
    """
    chance = Random(seed).random  # the same numbers in every version of Python
    costs = [0.001, *(10 ** (-3 * chance()) for _ in range(8)), 1.0]
    means = [0.05 + 0.9 * chance() for _ in costs]
    if rising:
        means = [0.8 + math.log10(costs[i]) / 4 + means[i] / 6 for i in range(10)]
    probabilities = [
        [part * share for share in (round(mean, 2), 1 - round(mean, 2)) for _, part in tail]
        for mean in means
    ]
    tables: dict[str, Sequence[Sequence[float]]] = {
        "probabilities": probabilities,
        "rewards": [[1] * len(tail) + [0] * len(tail)] * 10,
        "costs": [[cost * times for times, _ in tail] * 2 for cost in costs],
    }
    texts = (f"{name}=[{','.join(map(write_list, rows))}]" for name, rows in tables.items())
    return "atoms:" + ",".join(texts)


def write_hundred_arms(seed: int) -> str:
    """Return a hundred random arms of fixed costs from 0.1 to 1, as text of `bernoulli`."""
    chance = Random(seed).random
    rewards = write_list(chance() for _ in range(100))
    return (
        f"bernoulli:rewards={rewards},costs={write_list(0.1 + 0.9 * chance() for _ in range(100))}"
    )


def with_other_bounds(cases: Sequence[Case]) -> list[Case]:
    """Return the cases, and then each with other declared bounds.

    All arms of `two_point` have the same bounds, so one bound for all would change nothing.
    """
    varied = list(cases)
    for bounds, (label, situation) in BOUNDS.items():
        for case in cases:
            if bounds == "wide" or not case.world.startswith("two_point"):
                name, about = f"{case.name}, {label}", f"{case.situation}, {situation}"
                varied.append(case._replace(name=name, situation=about, bounds=bounds))
    return varied


def with_adversary(name: str, budget: float, n_paths: int, *worlds: str) -> Case:
    """Return a case in which an adversary takes the world that is the player's worst."""
    return Case(name, "an adversary", worlds[0], budget, n_paths, adversary=worlds)


LITTLE, WIDE = "small budgets", "costs over three decades"
# a pull is the dearest one: the largest possible cost
LITTLE_MONEY = (
    Case("easy gaps, 2 pulls", LITTLE, EASY, 1.8, 200),
    Case("easy gaps, 100 pulls", LITTLE, EASY, 90, 100),
    Case("hard gaps, 5 pulls", LITTLE, HARD, 3.3, 200),
    Case("hard gaps, 30 pulls", LITTLE, HARD, 19.8, 100),
    Case("random costs, 10 pulls", LITTLE, RANDOM, 10, 200),
    Case("small least cost, 2 pulls", LITTLE, SMALL_LEAST, 2, 200),
    Case("small least cost, 30 pulls", LITTLE, SMALL_LEAST, 30, 100),
    Case("routing, 5 pulls", LITTLE, f"{MODELS},prompts=22", 4.5, 200),
    Case("routing, 100 pulls", LITTLE, f"{MODELS},prompts=450", 90, 100),
    Case("ads, 30 pulls", LITTLE, f"{ADS},views=1800", (27.0, 1080.0), 100),
)
THREE_DECADES = (
    Case("three models", WIDE,
         "routing:quality=[.5,.7,.9],prices=[.001,.02,.8],prompts=5000", 8, 40),
    Case("ten arms, money", WIDE, write_ten_arms(1, LIGHT, rising=False), 4, 40),
    Case("ten arms, horizon", WIDE, write_ten_arms(2, LIGHT, rising=True), 20, 100,
         horizon=600, stop="retry"),
    Case("ten arms, heavy tails", WIDE, write_ten_arms(3, HEAVY, rising=True), 40, 100,
         horizon=1200, stop="retry"),
)  # fmt: skip
WHAT_USERS_HAVE = (
    *with_other_bounds(LITTLE_MONEY),
    *with_other_bounds(THREE_DECADES),
    Case("rare rewards, money", "rare rewards",
         "bernoulli:rewards=[.002,.02,.01,.005],costs=[.2,.9,.6,.3]", 2000, 400),
    Case("rare rewards, horizon", "rare rewards",
         "bernoulli:rewards=[.002,.005,.012,.02],costs=[.1,.2,.5,1]", 1500, 400, horizon=5000),
    Case("a hundred arms, money", "a hundred arms", write_hundred_arms(9), 300, 40),
    Case("a hundred arms, horizon", "a hundred arms", write_hundred_arms(9), 300, 100,
         horizon=1000),
    Case("easy gaps, 10 rounds late", "late reports", EASY, 500, 100, stop="hold", delay=10),
    Case("easy gaps, 100 rounds late", "late reports", EASY, 500, 100, stop="hold", delay=100),
    Case("routing, 10 rounds late", "late reports", f"{MODELS},prompts=2000", 400, 100,
         stop="hold", delay=10),
    Case("routing, 100 rounds late", "late reports", f"{MODELS},prompts=2000", 400, 100,
         stop="hold", delay=100),
    Case("outages, money", "outages",
         'outages:world="bernoulli:rewards=[.8,.6,.4],costs=[.5,.5,.5]",'
         "up=[[1,1,1],[0,1,1],[1,0,1]],segments=[300,100,100]", 1000, 100),
    Case("outages, routing", "outages",
         f'outages:world="{MODELS},prompts=2000",up=[[1,1,1],[1,0,1],[1,1,0]],'
         "segments=[200,100,100]", 400, 100),
    Case("an arm rises", "means that change",
         "switching:segments=[3000,100000],rewards=[[.2,.5,.2],[.2,.5,.9]],costs=[.5,.5,.5]", 5e3),
    Case("fast switching", "means that change",
         "switching:segments=[400,300],rewards=[[.8,.5,.2],[.1,.5,.9]],costs=[.5,.5,.5]", 5e3),
    Case("costs switch", "means that change",
         "switching:segments=2000,rewards=[[.6,.6,.6],[.6,.6,.6]],costs=[[.3,.6,.9],[.9,.6,.3]]",
         3e3),
    Case("fast drift", "means that change",
         "drifting:rounds=1500,rewards=[[.9,.5,.1],[.1,.5,.9]],costs=[.5,.5,.5]", 5e3),
    Case("auctions, little money", "auctions", AUCTIONS, 200, 40),
    Case("auctions, much money", "auctions", AUCTIONS, 600, 40),
    with_adversary("two worlds, least cost 0.1", 1e3, 20,
                   "two_worlds:cost_min=0.1,world=1", "two_worlds:cost_min=0.1,world=2"),
    with_adversary("two worlds, least cost 0.5", 2e3, 40,
                   "two_worlds:cost_min=0.5,world=1", "two_worlds:cost_min=0.5,world=2"),
    with_adversary("spend or save", 1e3, 20, "spend_or_save:later=0", "spend_or_save:later=1"),
    with_adversary("same costs", 1e3, 40, "same_costs"),
)  # fmt: skip
