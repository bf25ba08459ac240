"""A log of rounds, one pull each: which arm, what it returned and cost, and the probability that it
was chosen with.

With p_t the probability of the logged arm i_t given all that the logging policy looked at, the
weights w_t = 1/p_t make the rows of an arm represent all rounds, whatever the choice was based on:
E[1{i_t = i} w_t f(r_t, c_t)] = E[f(r(i), c(i))] (Horvitz and Thompson 1952).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from purse.base import amounts, validation
from purse.errors import InvalidInput, invalid, listed
from purse.lab.data.columns import ASSUMED, currency_of
from purse.lab.data.features import Contexts, read_contexts
from purse.lab.data.question import Question
from purse.lab.data.source import Source
from purse.lab.data.table import cost_units
from purse.types import Floats, Ints, Outages, World

# standard errors between stated probabilities and frequencies that are no chance any more
DOUBT = 5.0
_CHANGE = 4.0  # the same between the means of an arm's first and second half
LEAST_ESS = 30.0  # effective rows of an arm, below which a policy that plays it is refused


class _Turn(NamedTuple):
    """An arm whose mean reward changes along the log."""

    arm: int
    early: float  # the mean in the first half of its rows
    late: float
    apart: float  # standard errors


@dataclass(frozen=True, eq=False)
class Log:
    """The rows as arrays, and what a player is told of arms, costs and rewards."""

    name: str
    arms: tuple[str, ...]
    arm: Ints  # (n,)
    reward: Floats  # (n,) in the user's unit; of a sample, NaN where nobody judged
    cost: Ints  # (n, d) units
    weight: Floats  # (n,) 1/p
    cost_min: Ints  # (K, d) units
    cost_max: Ints  # (K, d) units
    reward_range: tuple[float, float]
    horizon: int | None
    resources: tuple[str, ...] = ("cost",)  # (d,)
    rounds: Floats | None = None  # (K,) in which each arm could be chosen; None: all n
    outages: Outages | None = None  # the arms that may be chosen in each round; None: all
    notes: tuple[str, ...] = ()  # what a reader of estimates has to know
    contexts: Contexts | None = None
    assumed: str = ""  # what is taken for the probabilities, where the log has none
    origin: str = "frame"  # the data, as a command names it
    budget: tuple[float, ...] = ()  # of the campaign that wrote the log, top-ups included
    session: Ints | None = None  # (n,) the number of each row's session
    currency: str = ""  # before an amount of costs
    size: Floats | None = None  # (n,) the tokens of each request, NaN where nobody counted
    declared: tuple[float, float] | None = None  # the range of rewards, if somebody said it

    def __len__(self) -> int:
        return len(self.arm)

    @property
    def ends(self) -> tuple[float, float]:
        """The worst and the best reward that there may be: as declared, else as logged; if all are
        the same, that and zero.
        """
        low, high = float(np.nanmin(self.reward)), float(np.nanmax(self.reward))
        return self.declared or ((low, high) if low < high else self.reward_range)

    @property
    def chances(self) -> Floats:
        """(K,) The rounds in which each arm could be chosen."""
        return np.full(len(self.arms), float(len(self))) if self.rounds is None else self.rounds

    @property
    def inside(self) -> Floats:
        """(n,) The rewards as policies see them, from 0 to 1."""
        low, high = self.reward_range
        return np.clip((self.reward - low) / (high - low), 0, 1)

    def sums(self, values: Floats | Ints) -> Floats:
        """(K,) The sum of one value per row over the rows of each arm."""
        sums = np.bincount(self.arm, values, minlength=len(self.arms))
        return sums.astype(np.float64, copy=False)

    def means(self, counts: Ints | int = 1) -> Floats:
        """(K,) The mean reward of each arm by its weights, if rows count so often; 0 without rows.

        counts   (n,), or the same for each row
        """
        weights = counts * self.weight
        total, above = self.sums(weights), self.sums(weights * self.reward)
        return np.divide(above, total, out=np.zeros(len(total)), where=total > 0)

    @property
    def rows(self) -> Ints:
        """(K,) How often each arm was logged."""
        return np.bincount(self.arm, minlength=len(self.arms))

    @property
    def ess(self) -> Floats:
        """(K,) Effective sample size of each arm, (sum w)^2 / sum w^2; 0 without rows."""
        squares = self.sums(self.weight**2)
        return np.divide(
            self.sums(self.weight) ** 2, squares, out=np.zeros(len(squares)), where=squares > 0
        )

    @property
    def doubts(self) -> Floats:
        """(K,) How many standard errors (sum w)/n of each arm is from 1, which it is on average
        if the probabilities are right; n are the rounds in which it could be chosen.

        1{i_t = i} w_t has mean 1 and variance E[1/p] - 1, which sum w^2 / sum w - 1 estimates. 0
        for arms that were never logged.
        """
        total, n = self.sums(self.weight), np.maximum(self.chances, 1)
        squares, ones = self.sums(self.weight**2), np.ones(len(total))
        spread = np.divide(squares, total, out=ones, where=total > 0) - 1
        apart = np.where(total > 0, total / n - 1, 0.0)
        apart[np.abs(apart) < 1e-9] = 0.0  # rounding, where an arm was always chosen
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(apart == 0, 0.0, apart / np.sqrt(np.maximum(spread, 0) / n))

    @property
    def warnings(self) -> tuple[str, ...]:
        """A line about missing probabilities, and one for each arm that contradicts its own."""
        means = self.sums(self.weight) / np.maximum(self.chances, 1)
        lines = (
            f"{self.name}: the probabilities of arm {self.arms[i]!r} contradict how often it was "
            f"chosen: sum of 1/probability is {means[i]:.3g} times the rows and should be 1, "
            f"{abs(self.doubts[i]):.3g} standard errors apart; every estimate rests on them"
            for i in self.contradicted
        )
        turns = (
            f"{self.name}: the mean reward of arm {self.arms[turn.arm]!r} is {turn.early:.3g} in "
            f"the first half of its rows and {turn.late:.3g} in the second, {turn.apart:.3g} "
            "standard errors apart; every estimate supposes that rounds are alike"
            for turn in self.turns
        )
        return (*([f"{self.name}: {self.assumed}"] if self.assumed else []), *lines, *turns)

    @property
    def turns(self) -> list[_Turn]:
        """The arms whose mean rewards early and late are no chance any more."""
        turns = []
        rows_of = np.split(np.argsort(self.arm, kind="stable"), np.cumsum(self.rows)[:-1])
        for arm in np.flatnonzero(self.ess >= LEAST_ESS).tolist():
            weights, rewards = self.weight[rows_of[arm]], self.reward[rows_of[arm]]
            mean, half = np.average(rewards, weights=weights), len(rewards) // 2
            means, variance = list[float](), 0.0
            for part in (slice(half), slice(half, None)):
                w, r = weights[part], rewards[part]
                means.append(float(np.average(r, weights=w)))
                variance += float((w**2 * (r - mean) ** 2).sum() / w.sum() ** 2)
            apart = abs(means[1] - means[0])
            if apart > _CHANGE * variance**0.5:
                turns.append(_Turn(arm, means[0], means[1], apart / variance**0.5))
        return turns

    @property
    def contradicted(self) -> Ints:
        """The arms whose probabilities the rows contradict."""
        return np.flatnonzero(np.abs(self.doubts) > DOUBT)

    def as_world(self, tables: Any, draw: Any, **more: Any) -> World:
        """Return a world with these tables that declares what the log declares."""
        low, high = self.cost_min, self.cost_max
        if self.contexts is not None:
            features = self.contexts.features
            more |= {"n_features": features.n_seen, "per_arm": features.per_arm}
        return World(
            self.name,
            tables,
            low,
            high,
            costs=low if (low == high).all() else None,
            horizon=self.horizon,
            draw=draw,
            arms=self.arms,
            outages=self.outages,
            reward_range=self.reward_range,
            **more,
        )

    def filled(self) -> tuple[Ints, Floats, Ints]:
        """Arm, reward from 0 to 1 and costs of each row; then, for each arm that was never logged,
        a row that no policy may pull, so that a world can be made.
        """
        missing = np.flatnonzero(self.rows == 0)
        return (
            np.concatenate([self.arm, missing]),
            np.concatenate([self.inside, np.zeros(len(missing))]),
            np.concatenate([self.cost, self.cost_max[missing]]),
        )


def too_little(log: Log, pulls: Ints | Floats, ess: Floats) -> str | None:
    """Return why the log cannot tell what these pulls gain, or None: it has too few rows of an arm
    that is pulled.

    pulls, ess   (K,) how often each was pulled, and its effective sample size
    """
    for arm in np.flatnonzero((pulls > 0) & (ess < LEAST_ESS)):
        name = repr(log.arms[arm])
        if not log.rows[arm]:
            return f"arm not logged: plays arm {name}, which was never logged"
        return (
            f"too few rows: plays arm {name}, whose effective sample size is {ess[arm]:.3g}, below "
            f"{LEAST_ESS:g}"
        )
    return None


def read_log(source: Source, question: Question) -> Log:
    """Return the log in the columns of the source that a question names; without a horizon games
    have as many rounds as the log.

    Without probabilities (None) all rows have weight 1, and nothing can be estimated; "uniform"
    and "frequency" are no columns, see `_assume`.
    """
    labels, number_of_row = source.numbered(question.arm)
    judged = question.reward != source.sample
    rewards = source.numbers(question.reward, truth=True, optional=not judged)
    units = cost_units(source, question.cost)
    horizon = len(rewards) if question.horizon is None else question.limit
    names = _in_order(labels) if question.arms is None else _distinct(question.arms)
    index = {name: i for i, name in enumerate(names)}
    arm = np.array([index.get(label, -1) for label in labels])[number_of_row]
    if (bad := np.flatnonzero(arm < 0)).size:
        row, allowed = int(bad[0]), f"must be one of the arms {listed(names)}"
        raise source.refuse(row, question.arm, labels[number_of_row[row]], allowed)
    weights, assumed = np.ones(len(rewards)), ""
    if question.probability in ASSUMED and question.probability not in source.frame.columns:
        weights, assumed = _assume(question.probability, arm, names)
    elif question.probability is not None:
        weights = 1 / source.numbers(question.probability, above=0, high=1)
    if horizon is None and (bad := np.flatnonzero(units == 0)).size:
        allowed = "must be above 0 if there is no horizon"
        raise source.refuse(int(bad[0]), question.cost, 0, allowed)
    lowest = _bound_array("cost_min", question.cost_min, units, arm, len(names))
    highest = _bound_array("cost_max", question.cost_max, units, arm, len(names))
    for bound, side, beyond in ((lowest, "at least", -1), (highest, "at most", 1)):
        if (bad := np.flatnonzero((units - bound[arm]) * beyond > 0)).size:
            row = int(bad[0])
            allowed = f"must be {side} {amounts.text(bound[arm[row]])}, as is declared"
            raise source.refuse(row, question.cost, float(units[row] / amounts.UNIT), allowed)
    low, high = _declared_range(question.reward_range, rewards)
    if (bad := np.flatnonzero((rewards < low) | (rewards > high))).size:
        allowed = f"must lie between {low:g} and {high:g}, as is declared"
        raise source.refuse(int(bad[0]), question.reward, float(rewards[bad[0]]), allowed)
    used = question.arm, question.reward, question.cost, question.probability
    contexts, notes = read_contexts(source, question, names, used), source.notes
    if contexts is not None:
        notes = [*notes, contexts.note, *contexts.hints(horizon, len(names))]
    return Log(
        source.path.name,
        names,
        arm,
        rewards,
        units[:, None],
        weights,
        lowest[:, None],
        highest[:, None],
        (low, high),
        horizon,
        notes=tuple(notes),
        contexts=contexts,
        assumed=assumed,
        origin=source.name,
        session=None if question.block is None else source.groups(question.block),
        declared=None if question.reward_range is None else (low, high),
        size=source.numbers(source.size, low=0, optional=True) if source.size else None,
        currency=source.currency or currency_of(question.cost),
    )


def _assume(probability: str, arm: Ints, names: Sequence[str]) -> tuple[Floats, str]:
    """(n,) The weights of rows without probabilities, and what they suppose.

    probability   "uniform": every arm was as likely; "frequency": as likely as it is often there

    Raise `InvalidInput` if the rows contradict "uniform": "frequency" supposes less, so that
    nothing is lost.
    """
    rows, has = np.bincount(arm, minlength=len(names)), "has no probabilities"
    if probability == "uniform":
        apart = _unevenness(rows)
        if abs(apart[worst := int(np.abs(apart).argmax())]) > DOUBT:
            raise invalid(
                "probability",
                probability,
                f"arm {names[worst]!r} has {rows[worst] / len(arm):.1%} of the rows, "
                f"{abs(apart[worst]):.3g} standard errors from 1/{len(names)}; probability "
                "(--probability) frequency takes each arm's share",
            )
        return np.full(len(arm), float(len(names))), (
            f"{has}; every arm is taken to have had 1/{len(names)} in each round (--probability "
            "uniform), and every estimate rests on that"
        )
    return len(arm) / rows[arm], (
        f"{has}; each arm's share of the rows is taken for them (--probability frequency). That is "
        "right only if the choice of an arm had nothing to do with the round it was made in: if "
        "the dear arm got the hard rounds, the estimates are wrong, and nothing here can show it"
    )


def _unevenness(rows: Ints) -> Floats:
    """(K,) How many standard errors the share of each arm's rows is from 1/K."""
    n, k = rows.sum(), len(rows)
    return (rows * k / n - 1) / np.sqrt(max(k - 1, 1) / n)


def _in_order(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the arms that occur: by number if all are whole numbers, else by alphabet."""
    names = set(labels)
    by_number = all(label.isdecimal() for label in names)
    return tuple(sorted(names, key=int) if by_number else sorted(names))


def _distinct(arms: Sequence[str]) -> tuple[str, ...]:
    """Return the arms as they were declared."""
    names = tuple(str(name) for name in arms)
    if isinstance(arms, str) or not names or len(set(names)) < len(names):
        raise invalid("arms", arms, "must be the names of all arms, each once")
    return names


def _bound_array(field: str, declared: Any, units: Ints, arm: Ints, n_arms: int) -> Ints:
    """(K,) The least or the most that each arm may cost: as declared, else as logged."""
    if declared is not None:
        return amounts.cost_array(field, declared, n_arms, 1)[:, 0]
    lowest = field == "cost_min"
    bound = np.full(n_arms, amounts.LARGEST if lowest else -1)
    (np.minimum if lowest else np.maximum).at(bound, arm, units)
    logged = np.bincount(arm, minlength=n_arms) > 0
    return np.where(logged, bound, units.min() if lowest else units.max())


def _declared_range(declared: tuple[float, float] | None, rewards: Floats) -> tuple[float, float]:
    """Return the declared range of rewards; None: from the least to the largest reward, and to
    zero, which is what a round without a pull is worth.
    """
    if declared is None:
        low, high = min(0.0, float(np.nanmin(rewards))), max(0.0, float(np.nanmax(rewards)))
        if not math.isfinite(high - low):
            raise InvalidInput(f"rewards from {low:g} to {high:g} span more than a number can hold")
        return (low, high) if low < high else (0.0, 1.0)
    low, high = (validation.number("reward_range", end) for end in declared)
    if not low < high:
        raise invalid("reward_range", declared, "must be two numbers, the first below the second")
    return low, high
