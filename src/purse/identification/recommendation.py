"""The answer of `recommend`, live and simulated: the best arm, and the confidence in it.

The service describes these types in its API, and the client builds them from JSON. This module
imports nothing heavy, for the client's sake.
"""

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, cast, get_args

from purse.base import html
from purse.base.plain_validation import choice, number
from purse.base.text import MISSING, align_columns, format_digits, join_words
from purse.errors import invalid

Criterion = Literal["reward", "ratio"]  # what the best arm has the most of
REWARD, RATIO = CRITERIA = get_args(Criterion)
Verdict = Literal["best", "may be best", "worse", "above the cap", "not tried"]
BEST, MAY_BE_BEST, WORSE, ABOVE_CAP, NOT_TRIED = _VERDICTS = get_args(Verdict)
CONFIDENCE = 0.95  # the default
_HEAD = ("arm", "pulls", "reward", "cost", "reward per cost", "verdict")


@dataclass(frozen=True, slots=True)
class MeanBounds:
    """A mean so far, and the bounds between which the true mean lies."""

    mean: Annotated[float | None, "None before the first report."]
    low: Annotated[float | None, "None if nothing is claimed."]
    high: Annotated[float | None, "None if nothing is claimed."]

    def __str__(self) -> str:
        """Return the mean and its bounds in a few words."""
        mean, low, high = (
            MISSING if value is None else format_digits(value)
            for value in (self.mean, self.low, self.high)
        )
        return mean if self.low is None and self.high is None else f"{mean} ({low} to {high})"


@dataclass(frozen=True, slots=True)
class ArmVerdict:
    """The evidence from the reports of one arm."""

    arm: str
    pulls: Annotated[int, "Those whose reward and cost are known."]
    reward: MeanBounds
    cost: Annotated[MeanBounds, "Of a pull. Without bounds if the question is not about costs."]
    ratio: Annotated[MeanBounds, "Mean reward over mean cost, bounded as the cost is."]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The arm that is best, with a confidence."""

    arm: Annotated[str | None, "The leader. None: no report yet, or no arm keeps to the cap."]
    certain: Annotated[bool, "Whether the confidence that was asked for is reached."]
    confidence: Annotated[float, "Now. It is valid whenever and however often one asks."]
    wanted: Annotated[float, "The confidence that was asked for. The bounds have it together."]
    by: Annotated[Criterion, "`reward`, or `ratio`: reward per cost."]
    cap: Annotated[float | None, "The most that the best arm may cost, on average."]
    within: Annotated[float, "By how much the best arm may be missed."]
    resource: Annotated[str, "What costs are counted in."]
    arms: tuple[ArmVerdict, ...]
    more_pulls: Annotated[
        int | None, "How many more it may take, in the same shares, if the means stay."
    ]
    more_cost: Annotated[float | None, "What they may cost."]
    notes: Annotated[tuple[str, ...], "What the answer leaves out or assumes."]

    def as_dict(self) -> dict[str, Any]:
        """Return the recommendation as JSON has it."""
        return asdict(self)

    @property
    def answer(self) -> str:
        """The answer in a sentence."""
        if self.arm is not None and self.certain:
            near = f" or at most {format_digits(self.within)} worse" if self.within else ""
            return f"{self.arm} is best{near} {self.question}, with {self.sureness} confidence"
        if self.arm is not None:
            wanted = f"{100 * self.wanted:.6g}% was asked for"
            sure = f", with {self.sureness} confidence; {wanted}"
            so_far = sure if self.confidence >= 0.001 else " so far"
            return f"not sure yet: {self.arm} leads {self.question}{so_far}{self._others}"
        if self.certain:
            return f"no arm costs at most {self._cap} a pull, with {self.sureness} confidence"
        if self.cap is not None and any(row.pulls for row in self.arms):
            return (
                f"not sure yet: no arm has cost at most {self._cap} a pull so far, which says "
                f"with {self.sureness} confidence that none does{self._others}"
            )
        return "nothing can be said yet: there is no report"

    @property
    def _cap(self) -> str:
        return f"{self.cap:.9g} {self.resource}"

    @property
    def question(self) -> str:
        """The criterion, and the cap if there is one, in words."""
        what = "by reward" if self.by == REWARD else f"by reward per {self.resource}"
        return what + ("" if self.cap is None else f" among arms of at most {self._cap} a pull")

    @property
    def sureness(self) -> str:
        """The confidence as a share, never rounded up.

        99.96% must not look like certainty.
        """
        tenths = int(self.confidence * 1000)
        return "more than 99.9%" if tenths >= 999 else f"{tenths / 10:g}%"

    @property
    def _others(self) -> str:
        """The other arms that may be best."""
        open_arms = [
            row.arm
            for row in self.arms
            if row.verdict in (MAY_BE_BEST, NOT_TRIED) and row.arm != self.arm
        ]
        if not open_arms:
            return ""
        more = len(open_arms) - 5
        shown = join_words([*open_arms[:5], f"{more} more"] if more > 0 else open_arms)
        return f"; {shown} may be best, too" if self.arm is not None else f"; {shown} may"

    @property
    def _forecast(self) -> list[str]:
        if self.more_pulls is None or self.more_cost is None:
            return []
        cost = f"{format_digits(self.more_cost)} {self.resource}"
        return [
            f"about {self.more_pulls:,} more pulls ({cost}) if the means and the arms' shares stay"
        ]

    def _grid(self) -> list[list[str]]:
        return [
            [row.arm, f"{row.pulls:,}", *map(str, (row.reward, row.cost, row.ratio)), row.verdict]
            for row in self.arms
        ]

    def __str__(self) -> str:
        """Return a few lines for people, the answer first."""
        rows = align_columns([_HEAD, *self._grid()], left=(0, 2, 3, 4, 5))
        return "\n".join(
            [
                self.answer,
                *(f"  {line}" for line in self._forecast),
                *("  " + "  ".join(cells).rstrip() for cells in rows),
                *(f"  ! {note}" for note in self.notes),
            ]
        )

    def __repr__(self) -> str:
        """Return the recommendation in a line."""
        return f"<Recommendation: {self.answer}>"

    def _repr_html_(self) -> str:
        """Return the arms as a table under the answer, for notebooks."""
        table = html.table(_HEAD, self._grid(), title=self.answer, texts=(0, 2, 3, 4, 5))
        return table + "".join(map(html.paragraph, (*self._forecast, *self.notes)))


def check_criterion(by: str) -> Criterion:
    """Return the criterion of the best arm; raise `InvalidInput` when it is not allowed."""
    return cast(Criterion, choice("by", by, CRITERIA))


def check_within(within: float) -> float:
    """Return the tolerated error; raise `InvalidInput` when it is negative."""
    return number("within", within, low=0)


def check_confidence(confidence: float) -> float:
    """Return a confidence; raise `InvalidInput` when it is not above 0 and below 1."""
    share = number("confidence", confidence)
    if not 0 < share < 1:
        hint = f"; {share:g}% is {share / 100:g}" if 1 < share < 100 else ""
        raise invalid("confidence", confidence, f"must be above 0 and below 1{hint}")
    return share
