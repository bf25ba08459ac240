"""The nouns of the project, one word per concept.

Glossary
--------
The game
arm         one of the K things to spend on, an index from 0
round       one turn of the game, t = 1, 2, ...; one or several plays
play        one arm pulled within a round; m plays a round
resource    what is spent; d of them, each with a budget; money is the usual one
budget      what may be spent of a resource in the whole game
cost        what a pull takes of each resource, between `cost_min` and `cost_max`
reward      what a pull returns, between 0 and 1; their sum is the gain
efficiency  reward per cost: of a pull its own, of an arm that of its means
problem     what a player is told beforehand: K, budget, bounds on costs, horizon, stop rule
horizon     the number of rounds, if it is limited
forecast    about how many rounds are left, told with each ask in place of a horizon
stop rule   what happens when a pull cannot be paid: `exit`, `hold`, `retry` or `fit`
mask        the arms that may be played in a round, `arms` of an ask; no mask: all of them
initial pulls  each arm once, before a policy that wants it makes its first choice

Simulation
world       what answers the pulls in a simulation
outages     the segments of a world in which some arms are down, that is, masked
context     the numbers that are known of a round before its arm is chosen; each is a feature
blind       of a policy: it sees no contexts
policy      what chooses the arms
delay       the rounds by which the report on a pull comes late
state       what a policy has learnt on a path; only its `update` writes it
scratch     a policy's room to work in; nothing in it survives a call
kernel      a compiled function that other compiled functions call
path        one simulated game, or one live one
checkpoint  a point of a path at which its standing is recorded
workspace   the arrays that one path works in
job         everything that decides the numbers of a simulation
shard       a part of a study: some paths of one job, kept in a file
plan        the policies, worlds and budgets of a study

Campaigns
account     one purse for many campaigns
level       a campaign or an account above it: a hold has to fit into each
ticket      permission to pull: the arms, and the probability that each was drawn with
hold        money set apart for a ticket until its report comes
label       what a ticket is for, such as its tenant; money is summed for each
report      the rewards and costs of a ticket
presumed    money of a ticket whose report did not come in time, counted as spent
overrun     the part of a cost above what was held for it
terms       what a campaign was created with
entry       one line of the journal, which only grows and is the truth
fold        the sum of the entries: ledger and learner are folds of the journal
ledger      the balances and tickets of a campaign
balance     of one resource: budget, spent, held, presumed, left
transaction the entries that are written together, and the ledger that they lead to
learner     the policy of a campaign with what the journal has taught it
group commit  operations of several threads in one transaction
recommendation  the arm that is best by the reports so far, and the confidence that it is
confidence  1 less the probability that a recommendation is ever certain and wrong
cost cap    the most that a recommended arm may cost a pull, on average
verdict     what the reports say of an arm: best, may be best, worse, above the cap or not tried

Letters for sizes, in docs and shapes:
K arms, d resources, m plays, P paths, B budget, T rounds, M checkpoints, F features,
C masks that are counted, n = F + 1 numbers of a context with its constant.
Amounts are int64 units of 1e-9 (see `purse.base.amounts`) if a name ends in `units`,
and inside `Problem` and `World`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from purse.base import amounts, html, validation
from purse.base.fork_safety import cached_property
from purse.base.text import count
from purse.errors import InvalidInput, invalid

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Bools = NDArray[np.bool_]

SKIP = -1  # in arms[0]: let the round pass; in arms[k], k > 0: fewer plays, and all later are SKIP
STOP = -2  # in arms[0]: end the game
STOP_RULES = ("exit", "hold", "retry", "fit")  # kernels know a rule by its index
MOST_SHOWN = 20  # rows of a table in a notebook
FORECAST = "forecast"  # as a horizon: each ask tells how many rounds are left
LONGEST = 2**53  # rounds: a float counts no further
# what plays a simulation: machine code on all cores or on a GPU, or plain Python
CPU, CUDA, PYTHON = DEVICES = ("cpu", "cuda", "python")


class Now(NamedTuple):
    """The facts of a round that a policy sees; `update` gets only `key`, `t` and `context`."""

    key: np.uint64  # of the round's random numbers, see `purse.kernels.random`
    t: int  # the round, from 1
    rounds_left: float  # T - t + 1, this round included, or infinity
    left: Floats  # (d,) what is left, in largest costs
    masked: bool  # whether some arm is not allowed; if not, `allowed` is not filled
    allowed: Bools  # (K,) the arms that may be played
    masks: Bools  # (C, K) the masks of earlier rounds, counted for policies that say `SEEN = True`
    seen: Ints  # (C,) the sum of the rounds that had each; 0: no mask is in this row
    pending: Ints  # (K,) open tickets per arm, filled for policies that say `PENDING = True`
    context: Floats  # (A, n) features, the last is 1; A = 1: all arms see the same, else A = K


class Play(NamedTuple):
    """The arms that a policy writes, and the rewards and costs that it learns from."""

    arms: Ints  # (m,)
    probs: Floats  # (m,) the probability of each arm under the mask
    rewards: Floats  # (m,)
    costs: Floats  # (m, d) in largest costs


@dataclass(frozen=True, eq=False)
class Problem:
    """The facts that a player knows before the game; `Problem.of` checks and converts them."""

    n_arms: int
    budget: Ints  # (d,) units
    cost_min: Ints  # (K, d) units
    cost_max: Ints  # (K, d) units
    plays: int = 1
    horizon: int | None = None
    costs: Ints | None = None  # (K, d) units: known fixed costs
    caps: Ints | None = None  # (K,) pulls allowed per arm
    stop: str = "exit"  # the stop rule
    n_features: int = 0  # F, the numbers of a context without the constant
    per_arm: bool = False  # whether each arm has a context of its own
    # whether each ask tells how many rounds are left; the horizon is then `LONGEST`
    forecast: bool = False
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
        horizon: int | str | None = None,
        costs: Any = None,
        caps: Any = None,
        stop: str = "exit",
        n_features: int = 0,
        per_arm: bool = False,
    ) -> "Problem":
        """Return the problem from numbers in the user's unit.

        n_arms, n_resources, plays   K, d and m: at least 1, and m at most K
        budget     one amount, or one per resource, shape (d,)
        cost_min, cost_max, costs    one amount, one per arm (K,), or one per arm and resource (K,
                                     d)
        horizon    the number of rounds; "forecast": each ask tells how many are left; None: no
                   limit
        caps       pulls allowed per arm: one number, or one per arm, shape (K,)
        stop       the stop rule: "exit", "hold", "retry" or "fit"
        n_features, per_arm   the numbers of a context, and whether each arm has one of its own

        Raise `InvalidInput` when a value is not allowed.
        """
        n_arms = validation.integer("n_arms", n_arms, low=1)
        n_resources = validation.integer("n_resources", n_resources, low=1)
        return cls(
            n_arms,
            amounts.budget_array(budget, n_resources),
            amounts.cost_array("cost_min", cost_min, n_arms, n_resources),
            amounts.cost_array("cost_max", cost_max, n_arms, n_resources),
            validation.integer("plays", plays, low=1, high=n_arms),
            _read_horizon(horizon),
            None if costs is None else amounts.cost_array("costs", costs, n_arms, n_resources),
            None if caps is None else cap_array(caps, n_arms),
            validation.choice("stop", stop, STOP_RULES),
            validation.integer("n_features", n_features, low=0),
            per_arm,
            isinstance(horizon, str) and horizon == FORECAST,
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

    @property
    def context_shape(self) -> tuple[int, int]:
        """The shape (A, n) of a context: A is K or 1, and n counts the constant, too."""
        return (self.n_arms if self.per_arm else 1), self.n_features + 1

    @cached_property
    def unit_scale(self) -> Floats:
        """One unit as a part of the resource's largest cost, shape (d,).

        Policies see amounts times this: costs in (0, 1].
        """
        return 1 / self.cost_max.max(axis=0)

    @cached_property
    def c_min(self) -> float:
        """The smallest cost that a policy can see, in largest costs.

        Raise `InvalidInput` when a pull may cost nothing, because a policy that divides by it
        cannot play.
        """
        smallest = float((self.cost_min * self.unit_scale).min())
        if smallest == 0:
            raise InvalidInput(
                "cost_min=0: this policy needs every pull to cost something of every resource"
            )
        return smallest

    @cached_property
    def b(self) -> float:
        """The budget that a policy sees, in largest costs; of several resources the smallest."""
        return float((self.budget * self.unit_scale).min())

    def known_costs(self, policy: str) -> Floats:
        """Return the constant cost of each arm, shape (K,), in largest costs of the first resource.

        Raise `InvalidInput` when the problem has no constant costs, or when one of them is 0.
        """
        if self.costs is None:
            raise InvalidInput(
                f"{policy} needs to know what each arm costs, and that it does not change: pass "
                "costs=[...], or for a campaign a cost_min equal to the most of each arm, or take "
                "a world with fixed costs"
            )
        if (self.costs == 0).any():
            raise invalid(
                "costs",
                (self.costs / amounts.UNIT).ravel().tolist(),
                f"must be positive for {policy}",
            )
        return self.costs[:, 0] * self.unit_scale[0]

    def known_horizon(self, policy: str) -> int:
        """Return the number of rounds, T.

        Raise `InvalidInput` when the problem has no horizon.
        """
        if self.horizon is None:
            raise InvalidInput(
                f"{policy} needs to know how many rounds there are: pass horizon=..., or "
                "take a world that has one"
            )
        return self.horizon

    def require(self, policy: str, **limits: int) -> None:
        """Raise `InvalidInput` when the problem has more plays or resources than `limits` allow."""
        for name, limit in limits.items():
            if getattr(self, name) > limit:
                raise InvalidInput(
                    f"{policy} plays problems with {name}={limit}, and this one has "
                    f"{name}={getattr(self, name)}"
                )


def _read_horizon(horizon: Any) -> int | None:
    """Return a number of rounds; None: no limit."""
    if horizon is None:
        return None
    if isinstance(horizon, str) and horizon == FORECAST:
        return LONGEST
    return validation.integer("horizon", horizon, low=1, high=LONGEST)


def cap_array(caps: Any, n_arms: int) -> Ints:
    """Return how often each arm may be pulled, shape (K,), from one number or one per arm."""
    limits = caps if isinstance(caps, (list, tuple, np.ndarray)) else [caps] * n_arms
    if len(limits) != n_arms:
        raise invalid("caps", caps, f"must be one number, or one for each of the {n_arms} arms")
    return np.array([validation.integer("caps", cap, low=0) for cap in limits])


class Outages(NamedTuple):
    """The arms that are up in each segment; after the last segment the first comes again."""

    up: Bools  # (S, K)
    last: Ints  # (S,) the last round of each segment

    def allowed(self, t: int) -> list[int]:
        """Return the arms that are up in round `t`, counted from 1."""
        segment = int(np.searchsorted(self.last, (t - 1) % int(self.last[-1]) + 1))
        return np.flatnonzero(self.up[segment]).tolist()


@dataclass(frozen=True, eq=False)
class World:
    """The rewards and costs that answer the pulls in a simulation.

    The compiled `draw` reads only `tables`; `draw=None` is the draw that all shipped worlds share.
    """

    name: str
    tables: Any  # a NamedTuple of arrays
    cost_min: Ints  # (K, d) units
    cost_max: Ints  # (K, d) units
    costs: Ints | None = None  # (K, d) units, if each arm's cost is fixed
    horizon: int | None = None  # rounds that a player knows there are
    n_rounds: int | None = None  # rounds after which the world has nothing more to tell
    reward_means: Floats | None = None  # (K,)
    cost_means: Floats | None = None  # (K, d) in the user's unit
    draw: Callable[..., Any] | None = None
    arms: tuple[str, ...] | None = None  # names of the arms, if they have any
    outages: Outages | None = None  # None: all arms are always up
    # what rewards of 0 and 1 are in the user's unit, in which gains are told
    reward_range: tuple[float, float] = (0.0, 1.0)
    n_features: int = 0  # F, the numbers of a context
    per_arm: bool = False  # whether each arm has a context of its own
    # writes the context of a round; None: the one that all shipped worlds share
    view: Callable[..., None] | None = None

    def __post_init__(self) -> None:
        amounts.check_costs(self.cost_min, self.cost_max, free=self.horizon is not None)

    def __repr__(self) -> str:
        ends = self.cost_min.min(), self.cost_max.max()
        low, high = (f"{units / amounts.UNIT:g}" for units in ends)
        costs = low if low == high else f"{low} to {high}"
        resources = f", {self.n_resources} resources" if self.n_resources > 1 else ""
        rounds = f", horizon {self.horizon:,}" if self.horizon is not None else ""
        arms = count(self.n_arms, "arm")
        return f"<World {self.name}: {arms}, costs {costs}{resources}{rounds}>"

    def _repr_html_(self) -> str:
        """Return the arms as a table, for notebooks: with true means if these do not change."""
        resources = range(self.n_resources)
        costs = ["cost"] if self.n_resources == 1 else [f"cost {number}" for number in resources]
        random = self.costs is None
        head = ["arm", "mean reward", *(f"mean {cost}" for cost in costs if random), *costs]
        head += [] if self.efficiencies is None else ["reward per cost"]
        rows = []
        for arm, name in enumerate(self.arm_names[:MOST_SHOWN]):
            reward = "changes" if self.reward_means is None else f"{self.reward_means[arm]:.4g}"
            means = [
                "changes" if self.cost_means is None else f"{self.cost_means[arm, number]:.4g}"
                for number in resources
                if random
            ]
            ends = zip(self.cost_min[arm], self.cost_max[arm], strict=True)
            ranges = [
                " to ".join(dict.fromkeys(f"{units / amounts.UNIT:g}" for units in pair))
                for pair in ends
            ]
            ratio = [] if self.efficiencies is None else [f"{self.efficiencies[arm]:.4g}"]
            rows.append([name, reward, *means, *ranges, *ratio])
        hidden = self.n_arms - len(rows)
        more = f"and {count(hidden, 'more arm')}" if hidden else ""
        return html.table(head, rows, title=repr(self)[1:-1]) + html.paragraph(more)

    @property
    def n_arms(self) -> int:
        """The number of arms, K."""
        return len(self.cost_min)

    @property
    def arm_names(self) -> tuple[str, ...]:
        """The name of each arm; or the number of the arm if it has none."""
        return self.arms or tuple(map(str, range(self.n_arms)))

    def in_units_of_user(self, gain: Floats, pulls: Ints) -> Floats:
        """Return gains in the user's unit from gains of rewards in [0, 1].

        gain    shape (...)
        pulls   the pulls of each arm that made up the gain, shape (..., K)
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
        """The true mean reward per mean cost of each arm, shape (K,).

        It is None if means change from round to round, or if there are several resources.
        """
        if self.reward_means is None or self.cost_means is None or self.n_resources > 1:
            return None
        return self.reward_means / self.cost_means[:, 0]


class Ticket(NamedTuple):
    """The permission to pull the arms of one round.

    It carries the probability of each arm, so that a late report gets the right weight.
    """

    id: int
    t: int
    arms: tuple[int, ...]
    probabilities: tuple[float, ...]
    held_units: tuple[int, ...]  # one per resource

    def __repr__(self) -> str:
        if self.skipped:
            return f"<Ticket {self.id}: round {self.t} passes without a pull>"
        pulls = zip(self.arms, self.probabilities, strict=True)
        arms = " and ".join(f"arm {arm} (probability {chance:.3g})" for arm, chance in pulls)
        held = ", ".join(f"{units / amounts.UNIT:g}" for units in self.held_units)
        return f"<Ticket {self.id}: {arms}, held {held}>"

    @property
    def arm(self) -> int:
        """The arm to pull: the first of several plays, and `SKIP` if there is no pull."""
        return self.arms[0]

    @property
    def skipped(self) -> bool:
        """Whether the round passes without a pull; then there is nothing to tell."""
        return self.arms[0] == SKIP

    @property
    def probability(self) -> float:
        """The probability with which `arm` was drawn."""
        return self.probabilities[0]

    @property
    def held(self) -> float:
        """The amount of the first resource that is held for this ticket."""
        return self.held_units[0] / amounts.UNIT
