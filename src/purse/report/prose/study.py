"""What a report says in words, from the numbers: what was run, what came out in each world, and
which theorems are drawn where.

Text is Markdown; names that users give are set as code, which keeps them as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from purse.base.text import (
    count_in_words,
    format_budget,
    format_rough,
    join_words,
    keep_on_line,
    set_minus,
)
from purse.report import frames
from purse.report.charts.base import worlds_of
from purse.theory.notions import estimate

if TYPE_CHECKING:
    import polars as pl

    from purse.report.data import StudyData

EVERY = "every player"
REGRET = (
    "Regret is how much more the best single arm would have gained on the same draws; less "
    "is better."
)


def summary(study: StudyData) -> str:
    """What was run."""
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


def finding(study: StudyData, world: str) -> str:
    """The best policy of a world at its largest budget, whether the next is worse beyond doubt, and
    how the best one's regret grows.
    """
    here = frames.largest(study.table()).filter(world=world)
    best, *others = here.sort("regret", maintain_order=True).to_dicts()
    growing = grows(study, world, best["policy"])
    size = f"B\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{format_budget(best['budget'])}"
    if not others:
        return f"At {size} the regret of {code(best['policy'])} is {measured(best)}{growing}."
    runs = frames.outcomes(study).filter(world=world).sort("path")
    regrets = {
        row["policy"]: runs.filter(policy=row["policy"])["regret"].to_numpy()
        for row in (best, *others)
    }
    paired = {
        row["policy"]: estimate(regrets[row["policy"]] - regrets[best["policy"]]) for row in others
    }
    tied = [policy for policy, difference in paired.items() if not difference.low > 0]
    after = others[0]
    if best["n_paths"] == 1:
        verdict = f"; the next is {code(after['policy'])} with {measured(after)}"
    elif not tied:
        more = paired[after["policy"]]
        verdict = (
            f"; the next, {code(after['policy'])}, has {write_regret(more.mean, more.high)} more "
            "on the same draws, a difference beyond its 95% interval"
        )
    else:
        verdict = tell_ties(tied)
    lead = f"{code(best['policy'])} has the least regret at {size}: {measured(best)}"
    return f"{lead}{verdict}{growing}."


def tell_ties(tied: Sequence[str]) -> str:
    """Say which policies cannot be told from the best one."""
    differences = "a difference" if len(tied) == 1 else "differences"
    return (
        f"; {join_words(map(code, tied))} cannot be told from it: {differences} within the 95% "
        "interval"
    )


def grows(study: StudyData, world: str, policy: str) -> str:
    """How a policy's regret grows with the budget, where that was fitted."""
    fitted = frames.growth(study).filter(world=world, policy=policy)
    row: dict[str, Any] = next(fitted.iter_rows(named=True), {})
    if row.get("slope") is None:
        return ""
    sure = "" if row["low"] is None else f" ({row['low']:.2f} to {row['high']:.2f})"
    shape = "" if row["shape"] is None else f"; of the simple shapes {row['shape']} fits best"
    return (
        f". The regret of {code(policy)} grows with the budget to the power "
        f"{row['slope']:.2f}{sure}{shape}"
    )


def theorems(study: StudyData) -> list[str]:
    """For each bound where it is drawn and where it is not, and why; those that are drawn come
    first.
    """
    known = study.bounds()
    drawn, far = frames.bounds(study)
    worlds = worlds_of(study.table())
    first: list[str] = []
    rest: list[str] = []
    for (name, policy), part in known.group_by(["name", "policy"], maintain_order=True):
        about = "for every player" if policy == EVERY else f"for {code(str(policy))}"
        present, beyond = worlds_with(drawn, name, policy), worlds_with(far, name, policy)
        row = part.row(0, named=True)
        fails = [
            world for world in worlds_of(part) if not part.filter(world=world)["applies"].any()
        ]
        without = [world for world in worlds_of(part) if world not in (*present, *beyond, *fails)]
        order = row["side"] == "order"
        says = [f"**{name}**, {about}, {row['side']}{' of growth' if order else ''}."]
        if present:
            says.append(f"Drawn in {named(present)}.")
        if 0 < len(fails) < len(worlds):
            says.append(f"Drawn nowhere in {named(fails)}: its condition does not hold there.")
        elif fails:
            says.append("Drawn nowhere: its condition does not hold here.")
        if beyond:
            above = f"It lies more than {frames.FAR} times above every regret measured in"
            says.append(f"{above} {named(beyond)}, out of the figure.")
        if without:
            why = ", since it leaves the constant open" if order else ""
            says.append(f"It has no curve in {named(without)}{why}.")
        says.append(f"When it holds: {row['holds']}. Source: {row['source']}.")
        (first if present else rest).append(" ".join(says))
    return first + rest


def ended(study: StudyData) -> list[str]:
    """Say where runs reached the end of their world with money left."""
    return [
        f"In {named([world])} the world ended before the budget did, in runs of {who}."
        for world, who in runs_that_ended(study)
    ]


def runs_that_ended(study: StudyData) -> Iterator[tuple[str, str]]:
    """For each world in which runs reached its end, its name and whose runs they were."""
    import polars as pl

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
    """The worlds in which such a bound is."""
    return worlds_of(bounds.filter(name=name, policy=policy))


def measured(row: dict[str, Any]) -> str:
    """A mean regret with half its interval, where it has one."""
    if row["n_paths"] == 1:
        return set_minus(format_rough(row["regret"]))
    return write_regret(row["regret"], row["high"])


def write_regret(mean: float, high: float) -> str:
    """Write a mean regret with half its interval, on one line."""
    return keep_on_line(f"{set_minus(format_rough(mean))} ± {format_rough(high - mean)}")


def code(name: str) -> str:
    """A name as Markdown code, whatever is in it."""
    return f"`{name}`" if "`" not in name else f"`` {name} ``"


def plain(text: str) -> str:
    """A text without marks of Markdown, for terminals."""
    return text.replace("`", "").replace("**", "").replace("\N{NO-BREAK SPACE}", " ")


def named(worlds: Sequence[str]) -> str:
    """Worlds, as a list in words."""
    return join_words(
        f"*{world}*" if world.replace(" ", "").isalnum() else code(world) for world in worlds
    )
