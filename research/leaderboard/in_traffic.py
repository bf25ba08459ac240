"""Suite "traffic", what campaigns meet: reports that come late, requests that allow only some arms,
and a number of requests that is not known. Its version changes whenever an instance does.

Each case is played with its arms in this order and reversed, so that no policy gains by the place
of the best arm. Cases with rare rewards have 400 paths; no other takes more than about 200,000
rounds over all its paths.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from research.leaderboard.case import Case
from research.leaderboard.games import write_list

LATE, LATE_RARE = "late reports", "late reports, rare rewards"
KINDS, LASTING = "requests that allow some arms", "outages that last, mixes that change"
TOLD = "a number of requests that is told"
UNTOLD = "a number of requests that is not told"
FEWER = "half as many requests as are told"
Arms = tuple[Sequence[float], Sequence[float]]  # mean rewards, and costs
Mix = Mapping[str, Sequence[float]]  # the arms of a kind of request -> how often it comes, by part

TEN: Arms = ([0.2] * 9 + [0.6], [0.5] * 10)
BEST_IS_DEAR: Arms = ([0.2] * 9 + [0.6], [0.3] * 9 + [0.5])
BEST_IS_CHEAP: Arms = ([0.42, 0.5, 0.4, 0.3, 0.6], [0.3, 0.5, 0.6, 0.4, 0.9])
RARE: Arms = ([0.002 * arm for arm in range(1, 11)], [0.5] * 10)
THREE: Arms = ([0.5, 0.6, 0.8], [0.02, 0.5, 1])
FIVE: Arms = ([0.35, 0.5, 0.65, 0.8, 0.9], [0.01, 0.05, 0.15, 0.4, 1])
SIX: Arms = ([0.3, 0.4, 0.5, 0.6, 0.7, 0.85], [0.01, 0.03, 0.1, 0.25, 0.5, 1])

DELAYS = (63, 500, "geometric:500")
ROUNDS, ASKS = 4000, 2500
ONE_DEAR = {"111": [1], "001": [1]}
NO_CHEAP = {"111": [1], "011": [1]}
ONE_OF_THREE = {"100": [1], "010": [1], "001": [1]}
NESTED = {"111111": [4], "011111": [3], "000111": [2], "000001": [1]}
PAIRS = {"111111": [1], "110000": [1], "001100": [1], "000011": [1]}
TWO_DEAR = {"111111": [2], "000011": [5], "101010": [2], "010101": [1]}
# every arm is there in 60% of the requests, whatever the others are; at least one always is
EACH = {mask: [1.5 ** mask.count("1")] for mask in map("".join, product("10", repeat=6))}
del EACH["000000"]
MORE_DEAR = {"111": [9, 3], "001": [1, 7]}  # in the second half


def write_world(arms: Arms, rounds: int, mix: Mix, more: str) -> str:
    """Return arms of fixed costs, and requests if there are any, as text."""
    world = f"bernoulli:rewards={write_list(arms[0])},costs={write_list(arms[1])}"
    if rounds:
        world = f'requests:world="{world}",rounds={rounds}{more}'
    if mix:
        kinds = ",".join(f"[{','.join(mask)}]" for mask in mix)
        parts = ",".join(map(write_list, zip(*mix.values(), strict=True)))
        world += f",kinds=[{kinds}],shares=[{parts}]"
    return world


def both_orders(
    name: str, arms: Arms, *, rounds: int = 0, mix: Mix | None = None, more: str = "", **terms: Any
) -> Iterator[Case]:
    """Yield a case with its arms in this order, and reversed.

    rounds   the number of requests; 0: only money ends the game
    mix      of kinds of requests; None: each allows all arms
    more     other options of `requests`
    told     the rest of the case
    """
    for label, step in ((name, 1), (f"{name}, reversed", -1)):
        turned = {mask[::step]: shares for mask, shares in (mix or {}).items()}
        world = write_world((arms[0][::step], arms[1][::step]), rounds, turned, more)
        yield Case(label, world=world, **terms)


def late(name: str, arms: Arms, budget: float, delays: Sequence[int | str]) -> Iterator[Case]:
    """Yield cases in which reports come late."""
    about, n_paths = (LATE_RARE, 400) if arms is RARE else (LATE, 40)
    terms: dict[str, Any] = {"situation": about, "budget": budget, "n_paths": n_paths}
    for delay in delays:
        yield from both_orders(f"{name}, {delay} late", arms, stop="hold", delay=delay, **terms)


def masked(
    name: str, arms: Arms, mix: Mix, budgets: Sequence[float], run: int = 1
) -> Iterator[Case]:
    """Yield cases with kinds of requests, for each budget."""
    lasting = run > 1 or mix is MORE_DEAR
    terms: dict[str, Any] = {"situation": LASTING if lasting else KINDS, "stop": "retry"}
    for budget in budgets:
        yield from both_orders(
            f"{name}, budget {budget:,.0f}",
            arms,
            rounds=ROUNDS,
            mix=mix,
            more=f",run={run}" if run > 1 else "",
            budget=budget,
            n_paths=40,
            **terms,
        )


def counted(
    situation: str, label: str, more: str = "", horizon: int | None = None
) -> Iterator[Case]:
    """Yield cases with a number of requests, and money for parts of the bill of the dearest arm."""
    for part in (0.05, 0.2, 0.5):
        yield from both_orders(
            f"{part:.0%}, {label}",
            FIVE,
            rounds=ASKS,
            more=more,
            situation=situation,
            budget=part * ASKS,
            n_paths=40,
            horizon=horizon,
            stop="retry",
        )


CASES = (
    *late("one good in ten", TEN, 1000, DELAYS),
    *late("the dearest is the best", BEST_IS_DEAR, 1000, DELAYS),
    *late("the cheapest is the best", BEST_IS_CHEAP, 500, (100,)),
    *late("rare rewards", RARE, 1000, DELAYS[1:]),
    *masked("half allow only the dear one", THREE, ONE_DEAR, (60, 300, 1500)),
    *masked("half do not allow the cheap one", THREE, NO_CHEAP, (300,)),
    *masked("each allows one of three", THREE, ONE_OF_THREE, (300,)),
    *masked("nested kinds", SIX, NESTED, (100, 500)),
    *masked("pairs", SIX, PAIRS, (100, 500)),
    *masked("half allow two dear ones", SIX, TWO_DEAR, (100, 500)),
    *masked("each arm in 60%", SIX, EACH, (100, 500)),
    *masked("outages of 200 rounds", THREE, ONE_DEAR, (60, 300), run=200),
    *masked("more dear ones later", THREE, MORE_DEAR, (60, 300)),
    *counted(TOLD, "told"),
    *counted(UNTOLD, "not told", ",told=False"),
    *counted(FEWER, "twice as many told", horizon=2 * ASKS),
)
