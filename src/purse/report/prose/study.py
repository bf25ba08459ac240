"""What a report says in words, from the numbers: what was run, what came out in each world, and
which theorems are drawn where.

Text is Markdown; names that users give are set as code, which keeps them as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from purse.report import frames
from purse.report.charts.base import worlds_of
from purse.report.standings import money
from purse.theory.notions import brief, estimate

if TYPE_CHECKING:
    import polars as pl

    from purse.report.data import StudyData

EVERY = "every player"
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
REGRET = (
    "Regret is how much more the best single arm would have gained on the same draws; less "
    "is better."
)


def summary(study: StudyData) -> str:
    """What was run."""
    facts, table = study.facts, study.table()
    policies, worlds, budgets = (
        table["policy"].n_unique(),
        table["world"].n_unique(),
        sorted(table["budget"].unique()),
    )
    spans = (
        f"a budget of {money(budgets[0])}"
        if len(budgets) == 1
        else f"{counted(len(budgets), 'budget')} from {money(budgets[0])} to {money(budgets[-1])}"
    )
    many = facts["n_paths"] > 1
    return (
        f"{counted(policies, 'policy', 'policies').capitalize()} on "
        f"{counted(worlds, 'world')} with {spans}, "
        f"{counted(facts['n_paths'], 'run')}"
        f"{' each' if policies * worlds * len(budgets) > 1 else ''}: "
        f"{counted(int(table['n_paths'].sum()), 'game')} in all, "
        f"where every policy meets the same draws (seed {facts['seed']}, stop rule "
        f"{facts['stop']}). {REGRET}"
        + (
            ""
            if many
            else " One run tells nothing about chance: there are no intervals on this page."
        )
    )


def finding(study: StudyData, world: str) -> str:
    """The best policy of a world at its largest budget, whether the next is worse beyond doubt, and
    how the best one's regret grows.
    """
    import polars as pl

    at = (
        frames.largest(study.table())
        .filter(pl.col("world") == world)
        .sort("regret", maintain_order=True)
        .to_dicts()
    )
    best, budget = at[0], at[0]["budget"]
    lead = (
        f"{code(best['policy'])} has the least regret at "
        f"B\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{money(budget)}: {measured(best)}"
        if len(at) > 1
        else f"At B\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{money(budget)} the regret of "
        f"{code(best['policy'])} is {measured(best)}"
    )
    if len(at) == 1:
        return f"{lead}{grows(study, world, best['policy'])}."
    runs = frames.outcomes(study).filter(pl.col("world") == world).sort("path")
    regrets = {
        row["policy"]: runs.filter(pl.col("policy") == row["policy"])["regret"].to_numpy()
        for row in at
    }
    paired = {
        row["policy"]: estimate(regrets[row["policy"]] - regrets[best["policy"]]) for row in at[1:]
    }
    tied = [policy for policy, difference in paired.items() if not difference.low > 0]
    after = at[1]
    if best["n_paths"] == 1:
        verdict = f"; the next is {code(after['policy'])} with {measured(after)}"
    elif not tied:
        more = paired[after["policy"]]
        verdict = (
            f"; the next, {code(after['policy'])}, has {within(more.mean, more.high)} more on "
            "the same draws, a difference beyond its 95% interval"
        )
    else:
        verdict = (
            f"; {listed(map(code, tied))} cannot be told from it: "
            f"{'a difference' if len(tied) == 1 else 'differences'} within the 95% interval"
        )
    return f"{lead}{verdict}{grows(study, world, best['policy'])}."


def grows(study: StudyData, world: str, policy: str) -> str:
    """How a policy's regret grows with the budget, where that was fitted."""
    import polars as pl

    fitted = frames.growth(study)
    row: dict[str, Any] = next(
        fitted.filter(pl.col("world") == world, pl.col("policy") == policy).iter_rows(named=True),
        {},
    )
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
        shown, beyond = worlds_with(drawn, name, policy), worlds_with(far, name, policy)
        row = part.row(0, named=True)
        fails = [
            world for world in worlds_of(part) if not part.filter(world=world)["applies"].any()
        ]
        without = [world for world in worlds_of(part) if world not in (*shown, *beyond, *fails)]
        says = [
            f"**{name}**, {about}, {row['side']}{' of growth' if row['side'] == 'order' else ''}."
        ]
        says += [f"Drawn in {named(shown)}."] if shown else []
        where = (
            f"nowhere in {named(fails)}: its condition does not hold there"
            if 0 < len(fails) < len(worlds)
            else "nowhere: its condition does not hold here"
        )
        says += [f"Drawn {where}."] if fails else []
        says += (
            [
                f"It lies more than {frames.FAR} times above every regret measured in "
                f"{named(beyond)}, out of the figure."
            ]
            if beyond
            else []
        )
        says += (
            [
                f"It has no curve in {named(without)}"
                f"{', since it leaves the constant open' if row['side'] == 'order' else ''}."
            ]
            if without
            else []
        )
        (first if shown else rest).append(
            " ".join([*says, f"When it holds: {row['holds']}. Source: {row['source']}."])
        )
    return first + rest


def ended(study: StudyData) -> list[str]:
    """Where runs reached the end of their world with money left."""
    import polars as pl

    remarks = []
    for (world,), part in (
        frames.left(study).filter(pl.col("ended") > 0).group_by(["world"], maintain_order=True)
    ):
        who = listed(
            f"{code(str(policy))} ({int(rows['ended'].sum()):,} of {int(rows['n_paths'].sum()):,})"
            for (policy,), rows in part.group_by(["policy"], maintain_order=True)
        )
        what = (
            "The rounds ended"
            if "replay" in study.facts
            else f"In {named([str(world)])} the world ended"
        )
        remarks.append(f"{what} before the budget did, in runs of {who}.")
    return remarks


def worlds_with(bounds: pl.DataFrame, name: object, policy: object) -> list[str]:
    """The worlds in which such a bound is."""
    return worlds_of(bounds.filter(name=name, policy=policy))


def measured(row: dict[str, Any]) -> str:
    """A mean regret with half its interval, where it has one."""
    return signed(row["regret"]) if row["n_paths"] == 1 else within(row["regret"], row["high"])


def within(mean: float, high: float) -> str:
    """A mean with half its interval, on one line."""
    return f"{signed(mean)}\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{brief(high - mean)}"


def signed(number: float) -> str:
    """A number with a minus sign that looks like one."""
    return brief(number).replace("-", "−")


def counted(number: int, one: str, several: str | None = None) -> str:
    """A number of things: one run, 50 runs."""
    return (
        f"{WORDS[number] if number < len(WORDS) else f'{number:,}'} "
        f"{one if number == 1 else several or one + 's'}"
    )


def code(name: str) -> str:
    """A name as Markdown code, whatever is in it."""
    return f"`{name}`" if "`" not in name else f"`` {name} ``"


def named(worlds: Sequence[str]) -> str:
    """Worlds, as a list in words."""
    return listed(
        f"*{world}*" if world.replace(" ", "").isalnum() else code(world) for world in worlds
    )


def listed(parts: Iterable[str]) -> str:
    """A, B and C."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
