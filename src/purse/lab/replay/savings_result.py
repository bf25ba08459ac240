"""The answer to *What would I have saved?*: its sentence, the choices as a table, and the campaign
that would make known what the log cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

import numpy as np

from purse.base import amounts
from purse.base.optional import pl
from purse.base.text import MISSING, code, count, format_digits, format_gain, join_words, plain
from purse.errors import InvalidInput
from purse.lab.data.log import Log
from purse.lab.replay.block_means import BlockMeans
from purse.lab.replay.log_result import LogFacts
from purse.lab.replay.savings import Savings
from purse.lab.result import Grid, PageResult, Verdict
from purse.types import Floats

QUANTILE = 0.99  # of an arm's costs, which a campaign takes for the most that a pull may cost
_ROWS = ("choice", "kind", "gain", "gain_low", "gain_high", "spent", "saves", "saves_half")
_OUTCOMES: dict[str, Any] = {"less": "best", "nothing": "tied", "cannot tell": "refused"}
_FREQUENCY = (
    "This holds if which arm answered had nothing to do with how hard the request was: if the dear "
    "arm got the hard ones, it is wrong, and nothing in the log can show it."
)


@dataclass(frozen=True, eq=False, repr=False)
class SavingsResult(PageResult):
    """The least money that would have bought nearly as much as a log gained."""

    log: Log  # of a table a row for each round and arm
    means: BlockMeans
    answer: Savings
    plan: Sequence[Any] | None  # a row of `frame()`: the default policy with the money of `answer`
    within: float
    facts: LogFacts

    @property
    def title(self) -> str:
        """The log, in a line."""
        replay = self.facts.replay
        return f"{replay.data}: {replay.rounds:,} rounds of {count(len(replay.arms), 'arm')}"

    @property
    def done(self) -> str:
        """What is compared with: the log, or the arm that a table has as done."""
        table = self.means.share.max() == 1
        return f"always {self.log.arms[int(self.means.share.argmax())]}" if table else "the log"

    @property
    def condition(self) -> str:
        """What an answer rests on, if the log has no probabilities."""
        return _FREQUENCY if self.log.assumed and self.answer.kind != "cannot tell" else ""

    def verdicts(self) -> dict[str, Verdict]:
        """Say what would have been as good for less."""
        answer, n = self.answer, self.facts.replay.rounds
        within = f"within {100 * self.within:.3g}%"
        paid = n * float(self.means.log_cost[0])
        gain, judged = n * float(self.means.log_gain[0]), np.isfinite(self.log.reward)
        unit = "good" if np.isin(self.log.reward[judged], (0, 1)).all() else "gained"
        about = "" if judged.all() else "about "
        amount = f"{gain:,.0f}" if unit == "good" else format_digits(gain)
        says = f"**{self.done.capitalize()}: {about}{amount} {unit} for {self._money(paid)}.** "
        if answer.kind == "less":
            saving, low, high = (f"{100 * part:.0f}" for part in answer.saving)
            money = self._money(paid * (1 - answer.saving[0]))
            says += f"As good ({within}) for less: **{self.choice()}**, {money} ({saving}% less; "
            says += f"95%: {low} to {high}%)."
        elif answer.kind == "nothing":
            says += f"**Nothing is as good** ({within}) and saves more than {answer.most:.0%}."
        else:
            says += f"**This log cannot tell** what is as good for less: {answer.reason}."
            says += self._to_know()
        return {"as good for less": Verdict(_OUTCOMES[answer.kind], says)}

    def answers(self) -> list[str]:
        """Return the sentence, and what it rests on."""
        return [*super().answers(), *filter(None, [self.condition])]

    def choice(self) -> str:
        """Write the arms that the answer is about, with their shares."""
        return "" if self.answer.shares is None else _written(self.answer.shares, self.log.arms)

    def _to_know(self) -> str:
        """Write what it would cost to know whether the choice is as good."""
        if (calls := self.answer.calls) is None or not calls.counts.any():
            return ""
        pairs, how = zip(self.log.arms, calls.counts, strict=True), "`.campaign()` has the terms of"
        if (command := self.facts.command).startswith("purse replay"):
            how = f"`{command} --create NAME` makes"
        return (
            f" To know it of {self.choice()} to ± {100 * calls.points:.2g} points: "
            f"{join_words(f'{n:,.0f} calls of {code(arm)}' for arm, n in pairs if n)}, "
            f"{self._money(calls.price)}; {how} a campaign that buys them."
        )

    def _money(self, amount: float) -> str:
        """Write an amount of money."""
        mark = self.log.currency
        cents = mark and round(amount, 2) >= 1
        return f"{mark}{amount:,.2f}" if cents else f"{mark}{format_digits(amount)}"

    def campaign(self) -> dict[str, Any]:
        """Return the terms of a campaign that buys the calls: each arm that is needed as often as
        the one that is needed most, chosen at random.

        Raise `InvalidInput` if no calls can be named.
        """
        log, calls, (low, high) = self.log, self.answer.calls, self.means.ends
        if calls is None or not calls.counts.any():
            why = self.answer.reason or "it is known well enough"
            raise InvalidInput(f"{log.name}: no calls to buy can be named: {why}")
        needed, each = np.flatnonzero(calls.counts).tolist(), int(calls.counts.max())
        costs = {i: log.cost[log.arm == i, 0] / amounts.UNIT for i in needed}
        most = {log.arms[i]: _rounded_up(np.quantile(costs[i], QUANTILE)) for i in needed}
        budget = each * float(sum(costs[i].mean() for i in needed)) + float(max(most.values()))
        wide = {} if low >= 0 and high <= 1 else {"reward_range": (min(low, 0.0), max(high, 0.0))}
        return {
            "arms": {arm: f"{amount:f}" for arm, amount in most.items()},
            "budget": f"{_rounded_up(budget):f}",
            "horizon": each * len(needed),
            "policy": "uniform",
            **wide,
        }

    def frame(self) -> pl.DataFrame:
        """Return a row for each choice: gain with its 95% interval, what is spent, and the part of
        it that is saved with half its interval, in as many rounds as the log has.
        """
        means, shares, eye = self.means, self.answer.shares, np.eye(len(self.log.arms))
        rows = [(*self._row(self.done, "log", means.share)[:-2], 0.0, 0.0)]
        if self.answer.kind == "less" and shares is not None and shares.max() < 1:
            rows.append(self._row(plain(self.choice()), "mixture", shares))
        rows += [
            self._row(f"always {self.log.arms[i]}", "arm", eye[i])
            for i in np.argsort(-means.cost[0]).tolist()
            if means.ess[i] and means.share[i] < 1
        ]
        return pl.DataFrame([*rows, *filter(None, [self.plan])], _ROWS, orient="row")

    def _row(self, name: str, kind: str, shares: Floats) -> tuple[Any, ...]:
        """Return a row of `frame()`; unseen rows widen the interval of the gain."""
        means, n, log = self.means, self.facts.replay.rounds, kind == "log"
        gain = means.log_gain if log else means.gain @ shares
        paid = means.log_cost if log else means.cost @ shares
        t, jack = means.t, means.error(gain) ** 2
        low, high = (t * np.sqrt(jack + shares**2 @ means.unseen(end)) for end in means.ends)
        saved = 1 - paid / means.log_cost
        ends = n * gain[0], n * (gain[0] - low), n * (gain[0] + high)
        return (name, kind, *map(float, (*ends, n * paid[0], saved[0], t * means.error(saved))))

    def curve(self) -> pl.DataFrame:
        """Return the gain that money buys in as many rounds, with its interval and choice."""
        points, n = self.answer.curve, self.facts.replay.rounds
        if points is None:
            return pl.DataFrame()
        columns = zip(("spent", "gain", "low", "high"), n * points[:, :4].T, strict=True)
        choices = [plain(_written(row, self.log.arms)) for row in points[:, 4:]]
        return pl.DataFrame({**dict(columns), "choice": choices})

    def as_dict(self) -> dict[str, Any]:
        """Return the answer, the choices and the curve, as JSON has them."""
        answer, arms = self.answer, self.log.arms
        parts = [] if answer.shares is None else answer.shares.round(4).tolist()
        counts = [] if answer.calls is None else answer.calls.counts.tolist()
        return {
            "answer": answer.kind,
            "sentence": " ".join(self.answers()),
            "shares": {arm: part for arm, part in zip(arms, parts, strict=False) if part},
            "saving": list(answer.saving) if answer.kind == "less" else None,
            "calls": {arm: int(n) for arm, n in zip(arms, counts, strict=False) if n},
            "price": None if answer.calls is None else answer.calls.price,
            "rows": self.frame().to_dicts(),
            "curve": self.curve().to_dicts(),
        }

    def grids(self) -> Iterator[Grid]:
        """Yield the choices."""
        texts, sample = [], not np.isfinite(self.log.reward).all()
        for name, kind, gain, low, high, spent, saved, half in self.frame().rows():
            certain = kind == "log" and not sample
            gains = format_gain(gain, gain if certain else max(high, 2 * gain - low))
            saves = MISSING if kind == "log" else f"{100 * saved:.0f} ± {100 * half:.0f}%"
            texts.append([name, gains, self._money(spent), saves])
        yield Grid(["choice", "gain ± 95%", "spent", "saves ± 95%"], texts)

    def remarks(self) -> Sequence[str]:
        """Return a line for each note."""
        return self.facts.replay.notes


def _rounded_up(amount: float) -> Decimal:
    """Return an amount rounded up to two digits.

    >>> str(_rounded_up(0.01234))
    '0.013'
    """
    return Context(prec=2, rounding=ROUND_CEILING).create_decimal(Decimal(repr(float(amount))))


def _written(shares: Floats, arms: Sequence[str]) -> str:
    """Write a choice in Markdown.

    >>> _written(np.array([0.0, 1.0]), ["a", "b"]), _written(np.array([0.7, 0.3]), ["a", "b"])
    ('always `b`', '70% `a` and 30% `b`')
    """
    if shares.max() == 1:
        return f"always {code(arms[int(shares.argmax())])}"
    order = [i for i in np.argsort(-shares, kind="stable").tolist() if shares[i] > 0]
    return join_words(f"{shares[i]:.0%} {code(arms[i])}" for i in order)
