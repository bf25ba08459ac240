"""The words of a report, from the numbers: what was run, and what came out in each world.

Text is Markdown; names that users give are set as code, which keeps them as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from purse import worlds
from purse.base.optional import pl
from purse.base.text import (
    code,
    count_in_words,
    format_budget,
    format_rough,
    join_words,
    keep_on_line,
    set_minus,
)
from purse.lab.replay.table_words import tell_ties
from purse.lab.report import frames
from purse.lab.report.charts.base import worlds_of

if TYPE_CHECKING:
    from purse.lab.study.results import Study

EVERY = "every player"
REGRET = (
    "Regret is how much more the best single arm would have gained on the same draws; less "
    "is better."
)


def summary(study: Study) -> str:
    """Return what was run."""
    facts, table = study.facts, study.table()
    policies, worlds = table["policy"].n_unique(), table["world"].n_unique()
    budgets = sorted(table["budget"].unique())
    least, most = format_budget(budgets[0]), format_budget(budgets[-1])
    spans = f"a budget of {least}"
    if len(budgets) > 1:
        spans = f"{count_in_words(len(budgets), 'budget')} from {least} to {most}"
    late = f", delay {facts.delay}" if facts.delay else ""
    says = (
        f"{count_in_words(policies, 'policy', 'policies').capitalize()} on "
        f"{count_in_words(worlds, 'world')} with {spans}, "
        f"{count_in_words(facts.n_paths, 'run')}"
        f"{' each' if policies * worlds * len(budgets) > 1 else ''}: "
        f"{count_in_words(int(table['n_paths'].sum()), 'game')} in all, where every policy meets "
        f"the same draws (seed {facts.seed}, stop rule {facts.stop}{late}). {REGRET}"
    )
    if facts.n_paths == 1:
        says += " One run tells nothing about chance: there are no intervals on this page."
    return says


def finding(study: Study, world: str, beside: pl.DataFrame) -> str:
    """Return the best policy of a world at its largest budget, whether the next is worse beyond
    doubt, and how the best one's regret grows; no winner if no policy can learn. `beside` are the
    `differences` of the study.
    """
    here = frames.largest(study.table()).filter(world=world)
    best, *others = here.sort("regret", maintain_order=True).to_dicts()
    size = f"B\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{format_budget(best['budget'])}"
    if why := worlds.hopeless(study.facts.worlds.get(world, "")):
        return f"Nobody learns here, and nobody can: {why}. {_range_of_shares(study, world, size)}"
    growing = _grows(study, world, best["policy"])
    if not others:
        return f"At {size} the regret of {code(best['policy'])} is {measured(best)}{growing}."
    rows = frames.largest(beside).filter(world=world).iter_rows(named=True)
    next_to = {row["policy"]: row for row in rows}
    tied = [row["policy"] for row in others if next_to[row["policy"]]["tied"]]
    after = others[0]
    if best["n_paths"] == 1:
        verdict = f"; the next is {code(after['policy'])} with {measured(after)}"
    elif not tied:
        more = next_to[after["policy"]]
        verdict = (
            f"; the next, {code(after['policy'])}, has {_write_regret(more['more'], more['high'])} "
            "more on the same draws, a difference beyond its 95% interval"
        )
    else:
        verdict = tell_ties(tied)
    lead = f"{code(best['policy'])} has the least regret at {size}: {measured(best)}"
    if best["regret"] < 0 and not best["high"] >= 0:
        lead += ", that is, it gains more than any single arm"
    return f"{lead}{verdict}{growing}."


def _range_of_shares(study: Study, world: str, size: str) -> str:
    """Return the largest and the smallest share of the optimum, without a winner."""
    here = frames.largest(frames.gain(study)).filter(world=world).drop_nulls("part")
    if here.is_empty():
        return ""
    rows = here.sort("part", descending=True, maintain_order=True).to_dicts()
    shares = [f"{row['part']:.1%} ({code(row['policy'])})" for row in (rows[0], rows[-1])]
    gained = shares[0] if len(rows) == 1 else f"between {shares[1]} and {shares[0]}"
    return f"At {size} the policies gain {gained} of the optimum; that ranks nobody."


def _grows(study: Study, world: str, policy: str) -> str:
    """Return how a policy's regret grows with the budget, if that was fitted."""
    fitted = frames.growth(study).filter(world=world, policy=policy)
    row: dict[str, Any] = next(fitted.iter_rows(named=True), {})
    if row.get("slope") is None:
        return ""
    sure = "" if row["low"] is None else f" ({row['low']:.2f} to {row['high']:.2f})"
    return (
        f". The regret of {code(policy)} grows about like the budget to the power "
        f"{row['slope']:.2f}{sure}"
    )


def left_over(study: Study) -> str:
    """Return how much of the budget was left at most, in a sentence."""
    most = float(frames.left(study)["part"].max())  # type: ignore[arg-type]
    amount = f"At most {100 * most:.2g}%" if most > 0 else "Nothing"
    return f"{amount} of the budget was left on average, whatever the policy, world and budget."


def ended(study: Study) -> list[str]:
    """Say where runs reached the end of their world with money left."""
    return [
        f"In {named([world])} the world ended before the budget did, in runs of {who}."
        for world, who in runs_that_ended(study)
    ]


def runs_that_ended(study: Study) -> Iterator[tuple[str, str]]:
    """For each world in which runs reached its end, its name and whose runs they were."""
    for (world,), part in (
        frames.left(study).filter(pl.col("ended") > 0).group_by(["world"], maintain_order=True)
    ):
        yield (
            str(world),
            join_words(
                f"{code(str(policy))} "
                f"({int(rows['ended'].sum()):,} of {int(rows['n_paths'].sum()):,})"
                for (policy,), rows in part.group_by(["policy"], maintain_order=True)
            ),
        )


def worlds_with(bounds: pl.DataFrame, name: object, policy: object) -> list[str]:
    """Return the worlds in which such a bound is."""
    return worlds_of(bounds.filter(name=name, policy=policy))


def measured(row: dict[str, Any]) -> str:
    """Return a mean regret with half its interval, if it has one."""
    if row["n_paths"] == 1:
        return set_minus(format_rough(row["regret"]))
    return _write_regret(row["regret"], row["high"])


def _write_regret(mean: float, high: float) -> str:
    """Write a mean regret with half its interval, on one line."""
    return keep_on_line(f"{set_minus(format_rough(mean))} ± {format_rough(high - mean)}")


def named(worlds: Sequence[str]) -> str:
    """Worlds, as a list in words."""
    return join_words(
        f"*{world}*" if world.replace(" ", "").isalnum() else code(world) for world in worlds
    )
