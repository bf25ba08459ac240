"""From a study to the frames that its figures draw: one tidy frame for each figure, which is also
what its CSV holds.
"""

from __future__ import annotations

from typing import NamedTuple

from purse.base.optional import pl
from purse.lab.study.results import Study, largest

KEYS = ["world", "policy", "budget"]
OTHERS = "others"
MOST_ARMS = 8  # with a colour of their own
MOST_RUNS = 100  # drawn one by one
_DECADES = 5  # of regret that an axis shows at most
MUCH_LEFT = 0.01  # part of the budget: what is left below it needs no figure
FAR = 100  # a bound that is this many times above all measured values would squeeze its panel
QUANTILES = {
    "least": 0.0,
    "low": 0.05,
    "quarter": 0.25,
    "median": 0.5,
    "three_quarters": 0.75,
    "high": 0.95,
    "most": 1.0,
}


class _Bounds(NamedTuple):
    """The bounds that are drawn, and those that apply but lie too far above the figure."""

    drawn: pl.DataFrame
    far: pl.DataFrame


def regret(study: Study) -> pl.DataFrame:
    """Mean regret with its interval, and where a logarithmic axis shows them: what is not above the
    world's `floor` is drawn on it.

    The floor is a third of the smallest regret that is above zero beyond doubt, and five decades
    below the largest: what is zero up to noise must not stretch the axis.
    """
    sure = (
        pl.col("regret").filter(pl.col("low").fill_null(pl.col("regret")) > 0).min().over("world")
    )
    positive = pl.col("regret").filter(pl.col("regret") > 0).min().over("world")
    return (
        study.table()
        .select(*KEYS, "n_paths", "regret", pl.col("low", "high").fill_nan(None))
        .with_columns(
            pl.max_horizontal(
                (pl.coalesce(sure, positive) / 3).fill_null(1.0),
                pl.col("regret").max().over("world") / 10**_DECADES,
            ).alias("floor")
        )
        .with_columns(
            (pl.col("regret") <= pl.col("floor")).alias("below"),
            pl.max_horizontal("regret", "floor").alias("shown"),
            *(
                pl.when(pl.col(end).is_not_null())
                .then(pl.max_horizontal(end, "floor"))
                .alias(f"shown_{end}")
                for end in ("low", "high")
            ),
            (pl.col("regret", "low", "high") / pl.col("budget")).name.prefix("unit_"),
        )
    )


def bounds(study: Study) -> _Bounds:
    """Return the bounds that apply and have a value, per world and budget."""
    limits = study.table().group_by("world").agg((FAR * pl.col("regret").max()).alias("limit"))
    valid = (
        study.bounds()
        .filter(pl.col("applies"), pl.col("side") != "order", pl.col("value") > 0)
        .join(limits, on="world", maintain_order="left")
    )
    chosen = [*KEYS, "name", "side", "value"]
    line = ["world", "policy", "name"]
    far = valid.filter((pl.col("value").min() > pl.col("limit").first()).over(line))
    drawn = valid.join(far, on=line, how="anti", maintain_order="left")
    return _Bounds(drawn.select(chosen), far.select(chosen))


def gain(study: Study) -> pl.DataFrame:
    """Mean gain with its interval, per unit of the budget and of the best reference, too."""
    best = study.references().group_by("world", "budget").agg(pl.col("gain").max().alias("best"))
    return (
        study.table()
        .select(*KEYS, "n_paths", "gain", pl.col("gain_low", "gain_high").fill_nan(None))
        .join(best, on=["world", "budget"], how="left", maintain_order="left")
        .with_columns(
            (pl.col("gain", "gain_low", "gain_high") / pl.col("budget")).name.prefix("unit_"),
            (pl.col("gain") / pl.col("best")).alias("part"),
        )
        .drop("best")
    )


def references(study: Study) -> pl.DataFrame:
    """Return the gains of references, per unit of the budget too."""
    kind = pl.col("name").str.replace(r" \(.*\)$", "")
    unit_gain = (pl.col("gain") / pl.col("budget")).alias("unit_gain")
    return study.references().select("world", "budget", kind, "gain", unit_gain, which="name")


def left(study: Study) -> pl.DataFrame:
    """Return the part that was left of the budget, and how many runs reached their world's end."""
    part = (pl.col("left") / pl.col("budget")).alias("part")
    return study.table().select(*KEYS, "n_paths", "left", part, "rounds", "ended")


def _best_arms(study: Study) -> dict[str, str]:
    """For each world the arm that gains most alone with the largest budget, if it is known."""
    best = largest(study.arms()).filter(pl.col("best"))
    return dict(best.select("world", "arm").rows())


def shares(study: Study) -> pl.DataFrame:
    """Return which arms the largest budget went through, slice by slice: a world's most pulled arms
    by name, the rest together; stacked from `bottom` to `top`, the `best` arm at the bottom.
    """
    best = pl.DataFrame(
        list(_best_arms(study).items()), {"world": pl.String, "arm": pl.String}, orient="row"
    ).with_columns(best=pl.lit(True))
    last = largest(study.shares().filter(pl.col("share").is_finite()))
    starts = (
        last.select(*KEYS, "fraction")
        .unique()
        .sort(*KEYS, "fraction")
        .with_columns(pl.col("fraction").shift(1).over(KEYS).fill_null(0.0).alias("start"))
    )
    # arms keep the order in which they were given
    first = pl.int_range(pl.len()).min().over("world", "arm")
    ranked = (
        last.with_columns(first.alias("position"))
        .group_by("world", "arm")
        .agg(pl.col("share").sum(), pl.col("position").first())
    )
    rank = pl.col("share").rank("ordinal", descending=True).over("world", order_by="position")
    crowded = pl.len().over("world") > MOST_ARMS + 1
    ranked = (
        ranked.join(best, on=["world", "arm"], how="left", maintain_order="left")
        .with_columns(pl.col("best").fill_null(value=False))
        .select(
            "world",
            "arm",
            "best",
            pl.when("best").then(-1).otherwise("position").alias("position"),
            (crowded & (rank > MOST_ARMS) & ~pl.col("best")).alias("rest"),
        )
    )
    return (
        last.join(ranked, on=["world", "arm"], maintain_order="left")
        .with_columns(
            pl.when("rest").then(pl.lit(OTHERS)).otherwise("arm").alias("arm"),
            pl.when("rest").then(pl.lit(last.height)).otherwise("position").alias("position"),
        )
        .group_by(*KEYS, "fraction", "arm", maintain_order=True)
        .agg(pl.col("share").sum(), pl.col("position", "best").first())
        .sort(*KEYS, "fraction", "position", maintain_order=True)
        .join(starts, on=[*KEYS, "fraction"], maintain_order="left")
        .with_columns(pl.col("share").cum_sum().over(*KEYS, "fraction").alias("top"))
        .with_columns((pl.col("top") - pl.col("share")).alias("bottom"))
        .select(*KEYS, "start", "fraction", "arm", "best", "share", "bottom", "top")
    )


def _outcomes(study: Study) -> pl.DataFrame:
    """Return the outcome of every run with its world's largest budget."""
    last = largest(study.table()).select("world", "budget").unique(maintain_order=True).rows()
    chosen = pl.any_horizontal(
        [(pl.col("world") == world) & (pl.col("budget") == budget) for world, budget in last]
    )
    return study.lazy().filter(chosen).select(*KEYS, "path", study.outcome).collect()


def runs(study: Study) -> pl.DataFrame:
    """Return how the outcomes of single runs spread at the largest budget: quantiles."""
    value = pl.col(study.outcome)
    spread = [value.quantile(part, "linear").alias(name) for name, part in QUANTILES.items()]
    return (
        _outcomes(study)
        .group_by(KEYS, maintain_order=True)
        .agg(pl.len().alias("n_paths"), value.mean().alias("mean"), *spread)
    )


def single_runs(study: Study) -> pl.DataFrame:
    """Return the runs that are drawn one by one: all, or some, evenly by rank."""
    rank, n = pl.int_range(pl.len()).over(KEYS), pl.len().over(KEYS)
    chosen = (n <= MOST_RUNS) | ((rank * MOST_RUNS) // n > ((rank - 1) * MOST_RUNS) // n)
    return _outcomes(study).sort(*KEYS, study.outcome, maintain_order=True).filter(chosen)


def growth(study: Study) -> pl.DataFrame:
    """Return the fitted slopes and shapes; empty with a single budget."""
    return study.growth().with_columns(pl.col("slope", "low", "high", "misfit").fill_nan(None))
