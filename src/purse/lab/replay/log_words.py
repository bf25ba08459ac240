"""The answer of a log in words and tables: of each player and budget the estimate to quote, the
largest first; which player is estimated best, and how sure that is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from purse.base.optional import pl
from purse.base.text import (
    code,
    format_budget,
    format_digits,
    format_gain,
    join_words,
    keep_on_line,
)

if TYPE_CHECKING:
    from purse.lab.data.log import Log
    from purse.lab.replay.bootstrap import Resampled
    from purse.lab.theory.estimate import Estimate

    Gains = Mapping[tuple[str, float, str], Resampled]  # by player, budget and method

FIRST = "snips"  # the method that is quoted, if it answers

THOROUGH = 1_000  # logs from which on nothing is said about more
SHORT = "log too short"
_TOO_SHORT = (
    "`replay` plays each logged row at most once, and a game needs more rows of an arm than there "
    "are; the estimate does not"
)


def methods_of(frame: pl.DataFrame) -> list[str]:
    """Return the methods, in the order in which they were given."""
    return frame["method"].unique(maintain_order=True).to_list()


def budgets_of(frame: pl.DataFrame) -> list[float]:
    """Return the budgets, from the least to the largest."""
    return sorted(frame["budget"].unique())


def quoted(here: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the quoted row of each player with one budget: the largest estimate first."""
    rows = [
        min(part.to_dicts(), key=lambda row: (bool(row["refused"]), row["method"] != FIRST))
        for _, part in here.group_by(["policy"], maintain_order=True)
    ]
    return sorted(
        rows, key=lambda row: (bool(row["refused"]), 0 if row["refused"] else -row["estimate"])
    )


def _why_not(refused: str) -> str:
    """Return the reason of a refusal in two or three words, with which it begins.

    >>> _why_not("log too short: it ends with 3 of the budget left")
    'log too short'
    """
    return refused.partition(":")[0]


def estimate_text(row: Mapping[str, Any]) -> str:
    """Return an estimate with half its interval, or in two or three words why it is refused."""
    return _why_not(row["refused"]) if row["refused"] else _gain_text(row)


def _gain_text(row: Mapping[str, Any]) -> str:
    """Return an estimate with half its interval: the longer half, if the other one is cut off."""
    mean = row["estimate"]
    return format_gain(mean, mean + max(row["high"] - mean, mean - row["low"]))


def grid(here: pl.DataFrame, budget: float) -> list[list[str]]:
    """Return the players with one budget as a table of texts, in about 80 columns."""
    methods = methods_of(here)
    played = {row["policy"]: row for row in here.filter(method="replay").to_dicts()}
    other = "replay" in methods and len(methods) > 1
    head = [f"budget {budget:g}", "estimate ± 95%", *(["replay"] if other else [])]
    lines = [[*head, "rounds", "spent"]]
    for row in quoted(here):
        again = [estimate_text(played[row["policy"]])] if other else []
        spent = "" if row["spent"] is None else format_digits(row["spent"])
        lines.append(
            [row["policy"], estimate_text(row), *again, format_digits(row["rounds"]), spent]
        )
    return lines


def reasons(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a line for each reason of a refusal, with the players that it concerns."""
    who: dict[str, list[str]] = {}
    for row in rows:
        if row["refused"]:
            who.setdefault(row["refused"], []).append(row["policy"])
    return [f"{reason} ({', '.join(dict.fromkeys(players))})" for reason, players in who.items()]


def short_reasons(frame: pl.DataFrame) -> list[str]:
    """Return why nothing is quoted of a player, or why `replay` alone is missing."""
    rows = [row for budget in budgets_of(frame) for row in quoted(frame.filter(budget=budget))]
    told = {(row["policy"], row["budget"]) for row in rows if not row["refused"]}
    alone = any(
        row["refused"].startswith(SHORT)
        for row in frame.filter(method="replay").to_dicts()
        if row["refused"] and (row["policy"], row["budget"]) in told
    )
    return reasons(rows) + ([f"{SHORT}: {_TOO_SHORT}"] if alone else [])


def precision(n: int) -> str:
    """Return how sure intervals from `n` logs that were drawn again are."""
    wide = f"{1.96 / (2 * (n - 1)) ** 0.5:.0%}"
    says = (
        f"The 95% intervals are from {n:,} logs drawn again from this one, so that their widths "
        f"are known to about {wide}."
    )
    return (
        says
        if n >= THOROUGH
        else f"{says} `thorough` (--thorough) draws more, and plays more games."
    )


def findings(estimates: pl.DataFrame, gains: Gains, log: Log) -> dict[str, str]:
    """For each budget what to buy; first of all the reasons to doubt it."""
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
    doubt = f"{'; '.join(doubts)}, so do not rely on this: " if doubts else ""
    texts = {
        budget: _finding(estimates.filter(budget=budget), gains, len(log), steady=not turns)
        for budget in budgets_of(estimates)
    }
    return {
        f"B = {format_budget(budget)}": doubt + text.replace("**", "") if doubt else text
        for budget, text in texts.items()
    }


def _finding(here: pl.DataFrame, gains: Gains, n: int, *, steady: bool = True) -> str:
    """Return which player is estimated best with one budget, and how sure that is.

    n        rows of the log
    steady   whether rewards are alike along the log; else its first rows are no match for the
             players, which are estimated from all of it
    """
    players = quoted(here)
    answered = [row for row in players if not row["refused"]]
    if answered and all(row["rounds"] == 0 for row in answered):
        return "**The budget pays for no pull**: nothing can be bought with it."
    answered.sort(key=lambda row: row["kind"] == "log" and not steady)
    by_kind = {
        kind: [row for row in answered if row["kind"] == kind] for kind in ("policy", "arm", "log")
    }
    silent = [row["policy"] for row in players if row["refused"] and row["kind"] == "policy"]
    says = []
    if answered:
        best = answered[0]
        behind = {row["policy"]: _ahead(gains, best, row) for row in answered[1:]}
        near = {player for player, less in behind.items() if not less.low > 0}
        says.append(_lead(answered, by_kind, near, n))
        if best["kind"] == "policy":
            says.append(f"It pulls {best['pulls']}.")
        for kind, rows in by_kind.items():
            says.append(_against(best, rows, kind, behind, near, n))
    if silent:
        every = len(silent) == sum(row["kind"] == "policy" for row in players) > 1
        who = "any policy" if every else join_words(map(code, silent))
        says.append(f"About {who} this log can tell nothing: every method refuses.")
    answers = here.filter(pl.col("refused").is_null())
    split = [row["policy"] for row in players if _apart(answers.filter(policy=row["policy"]))]
    if split:
        says.append(
            "The methods differ by more than their intervals for "
            f"{join_words(map(code, split))}: a sign that an assumption does not hold."
        )
    return " ".join(sentence for sentence in says if sentence)


def _ahead(gains: Gains, best: Mapping[str, Any], row: Mapping[str, Any]) -> Estimate:
    """Return how much more the best player gains than another, in the same logs drawn again."""
    one, other = (gains[player["policy"], player["budget"], player["method"]]
                  for player in (best, row))  # fmt: skip
    return one.ahead(other)


def _logged(row: Mapping[str, Any], n: int) -> str:
    """Return of which rows the gain of the log itself is."""
    first = f"the first {row['rounds']:,.0f} of its {n:,} rows"
    return f"as logged, {first if row['rounds'] < n else f'its {n:,} rows'} gained"


def _lead(
    answered: list[dict[str, Any]],
    by_kind: Mapping[str, list[dict[str, Any]]],
    near: Collection[str],
    n: int,
) -> str:
    """Return what is estimated best of all."""
    best = answered[0]
    usual = best["method"] == FIRST or best["kind"] == "log"
    amount = f"**{_tight(best)}**" + ("" if usual else f" (by `{best['method']}`)")
    if not by_kind["policy"] and not by_kind["arm"]:
        return f"**This log is too small to tell**: {_logged(best, n)} {amount}."
    if best["estimate"] < 0:
        return f"**Buy nothing**: the least that is lost is {amount}, by {code(best['policy'])}."
    others = [row for row in answered if row is not best]
    players = [row for row in others if row["kind"] != "log"]
    if by_kind["arm"] and players and all(row["policy"] in near for row in players):
        return (
            f"**The log cannot tell what is best**: {code(best['policy'])} has the largest "
            f"estimate, {amount}, and no policy or arm is behind it beyond chance."
        )
    name = _bare(best["policy"])
    if near:  # nothing but the amount is certain
        who = {"arm": f"{name} in every round", "log": "what was done"}.get(best["kind"], name)
        return f"The largest estimate is that of {who}: {amount}."
    if best["kind"] == "arm":
        return f"**Buy {name} in every round**: it is estimated to gain {amount}."
    if best["kind"] == "log":
        return f"**Nothing here beats what was done**: {_logged(best, n)} {amount}."
    if len(answered) == 1:
        return f"{name} is estimated to gain {amount}."
    return f"**{name} is estimated best**: it gains {amount}."


def _against(
    best: Mapping[str, Any],
    rows: list[dict[str, Any]],
    kind: str,
    behind: Mapping[str, Estimate],
    near: Collection[str],
    n: int,
) -> str:
    """Return how the policies, the arms alone or the log itself stand to the best of all."""
    others = [row for row in rows if row is not best]
    if not others:
        return ""
    first = others[0]
    if kind == "log":
        says = _logged(first, n)
        return f"{says[0].upper()}{says[1:]} {_tight(first)}."
    subject = f"The next {kind}"
    if kind != best["kind"]:
        policies = "The policy" if len(rows) == 1 else "The best of the policies"
        subject = "The best arm alone" if kind == "arm" else policies
    less = behind[first["policy"]]
    size = keep_on_line(format_gain(less.mean, less.high))
    says = f"{subject}, {_bare(first['policy'])}, gains {_tight(first)}: {size} less"
    alike = [_bare(row["policy"]) for row in others if row["policy"] in near]
    if alike:
        whom = "what was done" if best["kind"] == "log" else _bare(best["policy"])
        says += f"; this log does not tell {join_words(alike)} from {whom}"
    return f"{says}."


def _bare(player: str) -> str:
    """Return a player as code; an arm alone by its name."""
    return code(player.removeprefix("always "))


def _apart(answers: pl.DataFrame) -> bool:
    """Return whether the intervals of two methods do not overlap."""
    if answers.is_empty():
        return False
    return bool(answers["low"].max() > answers["high"].min())  # type: ignore[operator]


def _tight(row: Mapping[str, Any]) -> str:
    """Return an estimate with half its interval, on one line."""
    return keep_on_line(_gain_text(row))
