"""The nouns of the project, one word per concept.

Glossary
--------
arm         one of the K things to spend on, an index from 0
round       one turn of the game, t = 1, 2, ...; one or several plays
play        one arm pulled within a round; m plays a round
resource    what is spent; d of them, each with a budget; money is the usual one
budget      what may be spent of a resource in the whole game
cost        what a pull takes of each resource, between `cost_min` and `cost_max`
reward      what a pull returns, between 0 and 1; their sum is the gain
efficiency  reward per cost: of a pull its own, of an arm that of its means
problem     what a player is told beforehand: K, budget, bounds on costs, horizon
horizon     the number of rounds there are, where that is limited
world       what answers the pulls in a simulation
policy      what chooses the arms
path        one simulated game, or one live one
ticket      permission to pull: the arms, and the probability that each was drawn with
hold        money set apart for a ticket until its report comes
stop rule   what happens when a pull cannot be paid: `exit`, `hold` or `retry`
checkpoint  a point of a path at which its standing is recorded

Letters for sizes, in docs and shapes:
K arms, d resources, m plays, P paths, B budget, T rounds, M checkpoints.
Amounts are int64 units of 1e-9 (see `purse.base.amounts`) wherever a name ends in `units`,
and inside `Problem` and `World`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from purse.base import amounts, html, validation
from purse.errors import InvalidInput, invalid

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Bools = NDArray[np.bool_]

SKIP = -1  # in arms[0]: let the round pass; in arms[k], k > 0: fewer plays, and all later are SKIP
STOP = -2  # in arms[0]: end the game
STOP_RULES = ("exit", "hold", "retry", "fit")  # kernels know a rule by its index
CPU, CUDA = DEVICES = ("cpu", "cuda")  # where a simulation may run


class Now(NamedTuple):
    """What a policy sees of a round; in `update` only key, t and context are defined."""

    key: np.uint64  # of the round's random numbers, see `purse.kernels.random`
    t: int  # the round, from 1
    rounds_left: float  # T - t + 1, this round included, or infinity
    left: Floats  # (d,) what is left, in largest costs
    masked: bool  # whether some arm is not allowed; where it is false nobody fills `allowed`
    allowed: Bools  # (K,) the arms that may be played
    pending: Ints  # (K,) open tickets per arm, filled for policies that say `PENDING = True`
    context: Floats  # (K, p) features; p = 0 for now


class Play(NamedTuple):
    """What a policy writes, and later learns from."""

    arms: Ints  # (m,)
    probs: Floats  # (m,) the probability of each arm under the mask
    rewards: Floats  # (m,)
    costs: Floats  # (m, d) in largest costs


@dataclass(frozen=True, eq=False)
class Problem:
    """What a player knows before the game. Build it with `Problem.of`, which checks and
    converts.
    """

    n_arms: int
    budget: Ints  # (d,) units
    cost_min: Ints  # (K, d) units
    cost_max: Ints  # (K, d) units
    plays: int = 1
    horizon: int | None = None
    costs: Ints | None = None  # (K, d) units: known fixed costs
    caps: Ints | None = None  # (K,) pulls allowed per arm
    stop: str = "exit"  # the stop rule
    n_features: int = 0  # p, the features of a context
    reward_means: Floats | None = None  # (K,) the truth, which only a simulated world can tell
    cost_means: Floats | None = None  # (K, d) likewise, in the user's unit

    @classmethod
    def of(
        cls,
        *,
        n_arms: int,
        budget: Any,
        cost_min: Any,
        cost_max: Any = 1,
        n_resources: int = 1,
        plays: int = 1,
        horizon: int | None = None,
        costs: Any = None,
        caps: Any = None,
        stop: str = "exit",
    ) -> Problem:
        """The problem from numbers in the user's unit: one number, one per arm, or one per arm and
        resource.
        """
        n_arms = validation.integer("n_arms", n_arms, low=1)
        n_resources = validation.integer("n_resources", n_resources, low=1)
        return cls(
            n_arms,
            amounts.budget_array(budget, n_resources),
            amounts.cost_array("cost_min", cost_min, n_arms, n_resources),
            amounts.cost_array("cost_max", cost_max, n_arms, n_resources),
            validation.integer("plays", plays, low=1, high=n_arms),
            None if horizon is None else validation.integer("horizon", horizon, low=1),
            None if costs is None else amounts.cost_array("costs", costs, n_arms, n_resources),
            None if caps is None else cap_array(caps, n_arms),
            validation.choice("stop", stop, STOP_RULES),
        )

    def __post_init__(self) -> None:
        # with a horizon the game ends anyway
        amounts.check_costs(self.cost_min, self.cost_max, free=self.horizon is not None)
        if (
            self.costs is not None
            and ((self.costs < self.cost_min) | (self.costs > self.cost_max)).any()
        ):
            raise invalid(
                "costs",
                (self.costs / amounts.UNIT).ravel().tolist(),
                "must lie between cost_min and cost_max",
            )
        if int(self.cost_max.max()) > amounts.LARGEST // self.plays:
            raise invalid(
                "cost_max",
                amounts.text(self.cost_max.max()),
                f"must be at most {amounts.LARGEST // amounts.UNIT // self.plays:,} for "
                f"{self.plays} plays",
            )

    @property
    def n_resources(self) -> int:
        """The number of resources, d."""
        return len(self.budget)

    @cached_property
    def unit_scale(self) -> Floats:
        """(d,) The part of the resource's largest cost that one unit is. Policies see amounts times
        this: costs in (0, 1].
        """
        return 1 / self.cost_max.max(axis=0)

    @cached_property
    def c_min(self) -> float:
        """The smallest cost that a policy can see; refused where a pull may cost nothing, which
        policies that divide by it cannot play.
        """
        least = float((self.cost_min * self.unit_scale).min())
        if least == 0:
            raise InvalidInput(
                "cost_min=0: this policy needs every pull to cost something of every resource"
            )
        return least

    @cached_property
    def b(self) -> float:
        """The budget as a policy sees it, in largest costs; of several resources the scarcest."""
        return float((self.budget * self.unit_scale).min())

    def known_costs(self, policy: str) -> Floats:
        """(K,) The constant cost of each arm as policies see it, of the first resource; refused
        where the problem does not tell.
        """
        if self.costs is None:
            raise InvalidInput(
                f"{policy} needs to know what each arm costs, and that it does not "
                "change: pass costs=[...], or take a world with fixed costs"
            )
        if (self.costs == 0).any():
            raise invalid(
                "costs",
                (self.costs / amounts.UNIT).ravel().tolist(),
                f"must be positive for {policy}",
            )
        return self.costs[:, 0] * self.unit_scale[0]

    def known_horizon(self, policy: str) -> int:
        """The number of rounds; refused where the problem has no horizon."""
        if self.horizon is None:
            raise InvalidInput(
                f"{policy} needs to know how many rounds there are: pass horizon=..., or "
                "take a world that has one"
            )
        return self.horizon

    def require(self, policy: str, **limits: int) -> None:
        """Refuse, in one line, a problem with more `plays` or `n_resources` than the policy can
        play.
        """
        for name, most in limits.items():
            if getattr(self, name) > most:
                raise InvalidInput(
                    f"{policy} plays problems with {name}={most}, and this one has "
                    f"{name}={getattr(self, name)}"
                )


def cap_array(caps: Any, n_arms: int) -> Ints:
    """(K,) How often each arm may be pulled, from one number or one per arm."""
    given = caps if isinstance(caps, (list, tuple, np.ndarray)) else [caps] * n_arms
    if len(given) != n_arms:
        raise invalid("caps", caps, f"must be one number, or one for each of the {n_arms} arms")
    return np.array([validation.integer("caps", cap, low=0) for cap in given])


class Outages(NamedTuple):
    """Which arms are up, segment by segment; after the last segment the first comes again."""

    up: Bools  # (S, K)
    last: Ints  # (S,) the last round of each segment

    def allowed(self, t: int) -> list[int]:
        """Return the arms that are up in round t."""
        segment = int(np.searchsorted(self.last, (t - 1) % int(self.last[-1]) + 1))
        return np.flatnonzero(self.up[segment]).tolist()


@dataclass(frozen=True, eq=False)
class World:
    """What answers the pulls. `tables` is all that its compiled `draw` reads; `draw=None` is the
    shared one.
    """

    name: str
    tables: Any  # a NamedTuple of arrays
    cost_min: Ints  # (K, d) units
    cost_max: Ints  # (K, d) units
    costs: Ints | None = None  # (K, d) units, where each arm's cost is fixed
    horizon: int | None = None  # rounds that a player knows there are
    n_rounds: int | None = None  # rounds after which the world has nothing more to tell
    reward_means: Floats | None = None  # (K,)
    cost_means: Floats | None = None  # (K, d) in the user's unit
    draw: Callable[..., Any] | None = None
    arms: tuple[str, ...] | None = None  # names of the arms, where they have any
    outages: Outages | None = None  # None: all arms are always up
    # what rewards of 0 and 1 are in the user's unit, in which gains are told
    reward_range: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        amounts.check_costs(self.cost_min, self.cost_max, free=self.horizon is not None)

    @property
    def n_arms(self) -> int:
        """The number of arms, K."""
        return len(self.cost_min)

    @property
    def arm_names(self) -> tuple[str, ...]:
        """The name of each arm; its number where it has none."""
        return self.arms or tuple(map(str, range(self.n_arms)))

    def in_units_of_user(self, gain: Floats, pulls: Ints) -> Floats:
        """Gains (...) of so many pulls of each arm (..., K), from rewards in [0, 1] to the user's
        unit.
        """
        low, high = self.reward_range
        return (
            gain
            if self.reward_range == (0.0, 1.0)
            else low * pulls.sum(axis=-1) + (high - low) * gain
        )

    @property
    def n_resources(self) -> int:
        """The number of resources, d."""
        return int(self.cost_min.shape[1])

    @property
    def efficiencies(self) -> Floats | None:
        """(K,) True mean reward per mean cost, where the means do not change and there is one
        resource.
        """
        if self.reward_means is None or self.cost_means is None or self.n_resources > 1:
            return None
        return self.reward_means / self.cost_means[:, 0]


class Ticket(NamedTuple):
    """Permission to pull. The probability travels with it, so that a late report gets the right
    weight.
    """

    id: int
    t: int
    arms: tuple[int, ...]
    probabilities: tuple[float, ...]
    held_units: tuple[int, ...]  # one per resource

    @property
    def arm(self) -> int:
        """The arm to pull (the first, where a round has several plays; `SKIP` where the round
        passes without a pull).
        """
        return self.arms[0]

    @property
    def skipped(self) -> bool:
        """Whether the round passes without a pull: there is nothing to tell."""
        return self.arms[0] == SKIP

    @property
    def probability(self) -> float:
        """The probability that `arm` was drawn with."""
        return self.probabilities[0]

    @property
    def held(self) -> float:
        """What is held for this ticket of the first resource."""
        return self.held_units[0] / amounts.UNIT


class Trajectory(NamedTuple):
    """The standing of every path at each checkpoint; a path that is over stays where it ended."""

    checkpoints: Floats  # (M,) rounds, or fractions of the budget
    rounds: Ints  # (P, M)
    gain: Floats  # (P, M)
    spent: Floats  # (P, M, d)
    pulls: Ints  # (P, M, K)


@dataclass(frozen=True, eq=False)
class Run:
    """What happened on each path of a simulation."""

    policy: str
    world: str
    budget: Floats  # (d,)
    stop: str
    seed: int
    gain: Floats  # (P,)
    rounds: Ints  # (P,) rounds that were paid for, or skipped
    spent_units: Ints  # (P, d) exact
    pulls: Ints  # (P, K)
    ended: NDArray[np.bool_]  # (P,) the world had no more rounds while there was money left
    # (P,) the sum of reward per cost over the paid pulls, where there is one resource
    efficiency: Floats | None = None
    by_round: Trajectory | None = field(default=None, repr=False)  # at log-spaced rounds
    # at equal fractions of the budget
    by_budget: Trajectory | None = field(default=None, repr=False)

    @property
    def n_paths(self) -> int:
        """The number of paths, P."""
        return len(self.gain)

    @property
    def spent(self) -> Floats:
        """(P, d) What each path spent, in the user's unit."""
        return self.spent_units / amounts.UNIT

    def frame(self) -> pl.DataFrame:
        """A row for each path: gain, rounds, what was spent (an array where there are several
        resources), whether the world ended, pulls of each arm.
        """
        import polars as pl

        spent = self.spent[:, 0] if len(self.budget) == 1 else self.spent
        return pl.DataFrame(
            {
                "path": np.arange(self.n_paths),
                "gain": self.gain,
                "rounds": self.rounds,
                "spent": spent,
                "ended": self.ended,
                "pulls": self.pulls,
            }
        )

    def __str__(self) -> str:
        """A few lines for people."""
        error = self.gain.std(ddof=1) / np.sqrt(self.n_paths) if self.n_paths > 1 else np.nan
        shares = self.pulls.sum(axis=0) / max(1, self.pulls.sum())
        lines = [
            f"{self.policy} on {self.world}: {self.n_paths} paths, budget "
            f"{', '.join(f'{b:g}' for b in self.budget)}, stop={self.stop}, "
            f"seed={self.seed}",
            f"  gain    {self.gain.mean():.6g} (standard error {error:.2g})",
            f"  rounds  {self.rounds.mean():.6g}",
            f"  spent   {', '.join(f'{s:.6g}' for s in self.spent.mean(axis=0))}",
            f"  pulls   {' '.join(f'{share:.1%}' for share in shares[:12])}"
            f"{' ...' if len(shares) > 12 else ''}",
        ]
        if self.ended.any():
            lines.append(
                f"  {int(self.ended.sum())} of {self.n_paths} paths reached the end of "
                "the world before the end of the budget"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The same as a table, for notebooks."""
        title, *lines = str(self).splitlines()
        spent = (
            ["spent"]
            if len(self.budget) == 1
            else [f"spent of resource {number}" for number in range(len(self.budget))]
        )
        parts = {
            "gain": self.gain,
            "rounds": self.rounds,
            **dict(zip(spent, self.spent.T, strict=True)),
        }
        parts |= {f"pulls of arm {arm}": pulls for arm, pulls in enumerate(self.pulls.T[:12])}

        def row(name: str, values: Floats | Ints) -> list[str]:
            error = f"{values.std(ddof=1) / np.sqrt(self.n_paths):.2g}" if self.n_paths > 1 else ""
            return [
                name,
                f"{values.mean():.6g}",
                error,
                f"{values.min():.6g}",
                f"{values.max():.6g}",
            ]

        rows = [row(name, values) for name, values in parts.items()] + [["..."] + [""] * 4] * (
            len(self.pulls.T) > 12
        )
        return html.table(
            ["", "mean", "standard error", "least", "most"], rows, title=title
        ) + html.paragraph(lines[-1].strip() if self.ended.any() else "")
