"""The result of a log's replay: estimates with intervals, or why the log cannot tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from purse.base import amounts
from purse.base.optional import pl
from purse.base.text import (
    code,
    format_budget,
    format_digits,
    format_gain,
    join_words,
    keep_on_line,
    plain,
)
from purse.lab.data.log import Log
from purse.lab.replay.bootstrap import Resampled, with_unseen
from purse.lab.replay.references import describe_mixture
from purse.lab.result import Grid, PageResult, Verdict
from purse.lab.study.manifest import Facts, Recording
from purse.lab.theory.estimate import Estimate
from purse.types import Floats

THOROUGH = 1_000  # logs from which on nothing is said about more
GAME = ("rounds", "spent", "less")
_NUMBERS = ("estimate", "error", "low", "high")
_SPENT = ("spent", "spent_low", "spent_high")
_MOST_NAMED, _LEAST_SHARE = 5, 0.01  # of the arms that a player pulls
_LONGER = 1.1  # times the rounds of the log: longer games get a warning


class LogEstimate(NamedTuple):
    """The estimate of a policy's gain with a budget."""

    policy: str  # or the name of a reference
    budget: float
    estimate: Estimate
    ess: float  # effective sample size of the rows behind it
    refused: str | None  # why the log cannot tell
    spent: Estimate  # of the first resource
    rounds: float  # of a game, on average
    kind: str = "policy"  # policy, arm (alone) or log (what it gained itself)
    pulls: Floats = np.zeros(0)  # (K,) of each arm in a game, on average
    gains: Resampled | None = None  # what the estimate is from


@dataclass(frozen=True, kw_only=True)
class LogFacts(Facts):
    """The facts about the replay of a log."""

    replay: Recording
    replicates: int  # logs that were drawn again from it


@dataclass(frozen=True, eq=False, repr=False)
class LogResult(PageResult):
    """The gain that each policy would have had with each budget."""

    log: Log
    estimates: tuple[LogEstimate, ...]
    facts: LogFacts

    @property
    def warnings(self) -> tuple[str, ...]:
        """A line for each reason to doubt all of it."""
        return (*self.log.warnings, *self.long_games())

    def long_games(self) -> list[str]:
        """Return a line if games have more rounds than the log."""
        n = len(self.log)
        longest = max(self.estimates, key=lambda estimate: estimate.rounds)
        if longest.rounds <= _LONGER * n:
            return []
        return [
            f"{self.log.name}: the log has {n:,} rounds, and games of {longest.policy} with a "
            f"budget of {longest.budget:g} have {longest.rounds:,.0f}: such an estimate supposes "
            f"that rounds like these go on; limit them with a horizon of {n}"
        ]

    def frame(self) -> pl.DataFrame:
        """Return a row for each player and budget: estimate, standard error, 95% interval,
        effective sample size, what would be spent of the first resource with its 95% interval;
        where refused, nulls and the reason. Then the rounds of a game, what the player is: a
        policy, an arm alone, or the log itself; and its arms with their parts of the pulls.
        """
        rows = []
        for answer in self.estimates:
            numbers = [None] * len(_NUMBERS) if answer.refused else answer.estimate
            spent = answer.spent
            used = [None] * len(_SPENT) if answer.refused else (spent.mean, spent.low, spent.high)
            who, game = answer[:2], (answer.rounds, answer.kind, self.parts(answer.pulls))
            rows.append((*who, *numbers, answer.ess, answer.refused, *used, *game))
        types: dict[str, Any] = {"policy": pl.String, "budget": pl.Float64}
        types |= dict.fromkeys((*_NUMBERS, "ess"), pl.Float64) | {"refused": pl.String}
        types |= dict.fromkeys((*_SPENT, "rounds"), pl.Float64)
        types |= dict.fromkeys(("kind", "pulls"), pl.String)
        return pl.DataFrame(rows, types, orient="row")

    def parts(self, pulls: Floats) -> str:
        """Return the arms that are pulled most, with their parts of the pulls."""
        total = float(pulls.sum())
        if not total:
            return "nothing"
        shares = pulls / total
        least = max(_LEAST_SHARE, float(np.sort(shares)[-_MOST_NAMED:][0]))
        return describe_mixture(self.log.arms, np.where(shares < least, 0, shares), "others")

    def arms(self) -> pl.DataFrame:
        """Return a row for each arm: rows, effective sample size, weighted means, and sum of
        1/probability over all rounds in which it could be chosen, which should be about 1.

        With several resources there is a column for the mean cost of each, such as `cost_tokens`.
        """
        log = self.log
        total = log.sums(log.weight)
        with np.errstate(invalid="ignore"):
            reward = log.sums(log.weight * log.reward) / total
            costs = {
                "cost" if len(log.resources) == 1 else f"cost_{name}": log.sums(log.weight * units)
                / total
                / amounts.UNIT
                for name, units in zip(log.resources, log.cost.T, strict=True)
            }
        columns = {
            "arm": log.arms,
            "rows": log.rows,
            "ess": log.ess,
            "reward": reward,
            **costs,
            "weight": total / np.maximum(log.chances, 1),
            "doubt": log.doubts,
        }
        return pl.DataFrame(columns).with_columns(pl.col("reward", *costs).fill_nan(None))

    @property
    def title(self) -> str:
        """The log and its games, in a line."""
        horizon = self.log.horizon
        games = "no limit on rounds" if horizon is None else f"games of at most {horizon:,} rounds"
        rounds = f"{len(self.log):,} logged rounds of {len(self.log.arms)} arms"
        return f"{self.log.name}: {rounds}; {games}"

    def as_dict(self) -> dict[str, Any]:
        """Return the rows of `frame()`, as JSON has them."""
        return {"rows": self.frame().to_dicts()}

    def verdicts(self) -> dict[str, Verdict]:
        """For each budget the best player; the reasons to doubt it come first."""
        log, frame = self.log, self.frame()
        turns = [turn.arm for turn in log.turns]
        reasons: dict[str, Sequence[int]] = {
            "The log contradicts its probabilities": log.contradicted.tolist(),
            "Rewards change from the first half of the rows to the second": turns,
        }
        doubts = [
            f"**{reason}** (of {join_words(code(log.arms[arm]) for arm in arms)})"
            for reason, arms in reasons.items()
            if arms
        ]
        verdicts = {}
        for budget in budgets_of(frame):
            players = self.ranked(frame.filter(budget=budget))
            if turns:
                players.sort(key=lambda row: row["kind"] == "log")
            verdict = _verdict(players, len(log))
            if doubts:
                sentence = verdict.sentence.replace("**", "")
                doubted = f"{'; '.join(doubts)}, so do not rely on this: {sentence}"
                verdict = Verdict("refused", doubted)
            verdicts[f"B = {format_budget(budget)}"] = verdict
        return verdicts

    def ranked(self, here: pl.DataFrame) -> list[dict[str, Any]]:
        """Return the row of each player with one budget, the largest estimate first, with
        `less`: how much less it gains than the best, in the same logs drawn again.

        The first rows of a log whose rewards change are no match for players, which are estimated
        from all of it: then the log itself is not the best.
        """
        answers = {(row.policy, row.budget): row for row in self.estimates}
        players = quoted(here)
        first, *_ = sorted(players, key=lambda row: bool(self.log.turns) and row["kind"] == "log")
        best = answers[first["policy"], first["budget"]]
        for row in players:
            own = answers[row["policy"], row["budget"]]
            row["less"] = None
            if best.gains and own.gains and row is not first and not row["refused"]:
                ahead = best.gains.ahead(own.gains)
                row["less"] = with_unseen(ahead, self.log, best.pulls, own.pulls)
        return players

    def grids(self) -> Iterator[Grid]:
        """Yield a table for each budget, the largest estimate first, in about 80 columns."""
        frame = self.frame()
        for budget in budgets_of(frame):
            head = [f"budget {budget:g}", "estimate ± 95%", *GAME]
            rows = [
                [row["policy"], estimate_text(row), *game_texts(row)]
                for row in self.ranked(frame.filter(budget=budget))
            ]
            yield Grid(head, rows)

    def remarks(self) -> list[str]:
        """Return a line for each refusal, the precision, each note and each warning."""
        return [
            *map(plain, self.reasons()),
            plain(precision(self.facts.replicates)),
            *self.log.notes,
            *(f"warning: {line}" for line in self.warnings),
        ]

    def reasons(self) -> list[str]:
        """Return a line for each reason why nothing is said of a player, with the players."""
        who: dict[str, list[str]] = {}
        for row in self.estimates:
            if row.refused:
                who.setdefault(row.refused, []).append(row.policy)
        return [f"{why} ({', '.join(dict.fromkeys(players))})" for why, players in who.items()]


def budgets_of(frame: pl.DataFrame) -> list[float]:
    """Return the budgets, from the least to the largest."""
    return sorted(frame["budget"].unique())


def quoted(here: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of the players with one budget: the largest estimate first."""
    return sorted(
        here.to_dicts(), key=lambda row: (bool(row["refused"]), -(row["estimate"] or 0.0))
    )


def estimate_text(row: Mapping[str, Any]) -> str:
    """Write an estimate with half its interval, or the two or three words with which the reason of
    its refusal begins.

    >>> estimate_text({"refused": "log too short: it ends with 3 of the budget left"})
    'log too short'
    """
    return row["refused"].partition(":")[0] if row["refused"] else _gain_text(row)


def _gain_text(row: Mapping[str, Any]) -> str:
    """Return an estimate with half its interval: the longer half, if the other one is cut off."""
    mean = row["estimate"]
    return format_gain(mean, mean + max(row["high"] - mean, mean - row["low"]))


def game_texts(row: Mapping[str, Any]) -> list[str]:
    """Write the rounds of a game, what it spends, and how much less it gains than the best."""
    spent, less = row["spent"], row["less"]
    return [
        format_digits(row["rounds"]),
        "" if spent is None else format_digits(spent),
        "" if less is None else format_gain(less.mean, less.high),
    ]


def precision(n: int) -> str:
    """Write from how many logs intervals are."""
    more = "" if n >= THOROUGH else "; `thorough` (--thorough) draws more, and plays more games"
    return f"The 95% intervals are from {n:,} logs drawn again from this one{more}."


def _verdict(players: Sequence[Mapping[str, Any]], n: int) -> Verdict:
    """Return who is estimated best of the ranked players with one budget.

    n   rows of the log
    """
    answered = [row for row in players if not row["refused"]]
    if not answered:
        return Verdict("refused", "This log can tell nothing: every player is refused.")
    if all(row["rounds"] == 0 for row in answered):
        says = "**The budget pays for no pull**: nothing can be bought with it."
        return Verdict("refused", says)
    best, *others = answered
    amount = f"**{_tight(best)}**"
    first = f"the first {best['rounds']:,.0f} of its {n:,} rows"
    logged = f"as logged, {first if best['rounds'] < n else f'its {n:,} rows'} gained {amount}"
    if all(row["kind"] == "log" for row in answered):
        return Verdict("refused", f"**This log is too small to tell**: {logged}.")
    name, pulls = _name_of(best), f" and pulls {best['pulls']}" if best["kind"] == "policy" else ""
    if best["estimate"] < 0:
        return Verdict("best", f"**Buy nothing**: the least that is lost is {amount}, by {name}.")
    near = [row for row in others if row["less"] is None or not row["less"].low > 0]
    if near and all(row in near for row in others if row["kind"] != "log"):
        return Verdict(
            "tied",
            f"**The log cannot tell what is best**: {name} has the largest estimate, {amount}"
            f"{pulls and ','}{pulls}, and no policy or arm is behind it beyond chance.",
        )
    if near:  # nothing but the amount is certain
        tied = join_words(map(_name_of, near))
        says = f"**The log does not tell {tied} from {name}**, which has the largest estimate"
        return Verdict("tied", f"{says}: it gains {amount}{pulls}.")
    if best["kind"] == "arm":
        return Verdict("best", f"**Buy {name} in every round**: it is estimated to gain {amount}.")
    if best["kind"] == "log":
        return Verdict("best", f"**Nothing here beats what was done**: {logged}.")
    if not others:
        return Verdict("best", f"{name} is estimated to gain {amount}{pulls}.")
    return Verdict("best", f"**{name} is estimated best**: it gains {amount}{pulls}.")


def _name_of(row: Mapping[str, Any]) -> str:
    """Write a player as code; an arm alone by its name."""
    return "what was done" if row["kind"] == "log" else code(row["policy"].removeprefix("always "))


def _tight(row: Mapping[str, Any]) -> str:
    """Return an estimate with half its interval, on one line."""
    return keep_on_line(_gain_text(row))
