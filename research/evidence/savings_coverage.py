"""`python -m research.evidence.savings_coverage`: how often the answer to *What would I have
saved?* is true, on logs whose truth is known; a line of a Markdown table for each kind of log.

In % of what is answered: *saving*, the true saving lies in the interval; *as good*, the named
choice truly gains 97% of what the log gains on average, at least. Of all logs: *answered*, and
*wrong*, answered with what is not as good. *width* is that of the interval, in points.

`--examples` prints one log of each of ten kinds: what is named, the true saving, and the estimate.
`--replay` measures the intervals of `purse replay --budget` in the same logs, of uniform play and
of each arm alone: how many are answered, and how many of these hold the truth.
"""

import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import NamedTuple

import click
import numpy as np
import polars as pl

from benchmarks.instance import say
from purse.base.text import write_markdown_table
from purse.base.validation import usable_cores
from purse.cli import execute
from purse.cli.options import option
from purse.lab.data.log import Log
from purse.lab.data.question import WITHIN, Question
from purse.lab.data.rounds import open_rounds
from purse.lab.replay.block_means import BlockMeans
from purse.lab.replay.off_policy import estimate
from purse.lab.replay.savings import find_savings
from purse.types import Floats
from research.commands import quick_option
from research.evidence.known_logs import KnownLog, make

LOGS, QUICK_LOGS = 500, 4
FIRST = 2_000  # the first seed: nothing was chosen with these
KINDS = [
    ("plain", 2_000), ("plain", 50_000), ("plain, dear", 2_000), ("plain, dear", 20_000),
    ("plain", 300), ("equal", 2_000), ("nothing", 20_000), ("just worse", 2_000),
    ("just worse", 20_000), ("rare success", 2_000), ("rare success", 50_000),
    ("rare loss", 2_000), ("rare loss, dear", 2_000), ("rare loss", 50_000),
    ("rare loss, dear", 50_000), ("revenue", 2_000), ("revenue", 50_000), ("contexts", 2_000),
    ("contexts", 50_000), ("days", 2_000), ("days, dear", 2_000), ("days", 50_000),
    ("bursts", 2_000), ("bursts", 50_000), ("bursts, dear", 20_000), ("bursts column", 2_000),
    ("bursts column", 50_000), ("bursts mixed", 2_000), ("bursts mixed column", 2_000),
    ("sticky", 2_000), ("sticky", 50_000), ("sticky column", 2_000), ("sticky column", 50_000),
    ("sticky mixed", 2_000), ("sticky mixed", 50_000), ("sticky mixed column", 2_000),
    ("sticky mixed column", 50_000), ("sticky, dear", 2_000), ("sticky, dear", 20_000),
    ("sticky mixed, dear", 20_000), ("constant", 2_000), ("constant", 50_000),
    ("constant, dear", 2_000), ("20 arms", 2_000), ("20 arms", 20_000), ("20 arms", 50_000),
    ("20 arms, dear", 20_000), ("20 arms just worse", 20_000), ("drift", 2_000),
    ("sorted", 2_000), ("migrated", 2_000), ("hard", 2_000), ("hard known", 2_000),
]  # fmt: skip
REPLAYED = [
    (kind, n)
    for n in (2_000, 50_000)
    for kind in ("plain", "rare success", "rare loss", "revenue", "days", "bursts",
                 "bursts column", "sticky column", "constant", "contexts", "20 arms")
]  # fmt: skip
EXAMPLES = [
    ("llm", 1_824), ("plain", 2_000), ("plain, dear", 20_000), ("days", 2_000), ("bursts", 2_000),
    ("constant", 2_000), ("20 arms", 20_000), ("rare loss", 50_000), ("just worse", 20_000),
    ("equal", 2_000),
]  # fmt: skip
_CHUNK = 25  # logs that a process takes at a time
_GOOD = 1.5 * WITHIN  # what a choice may truly lack


class Case(NamedTuple):
    """Some logs of a kind."""

    kind: str
    n: int
    numbers: range

    def logs(self) -> list[KnownLog]:
        """Return the logs."""
        return [
            make(self.kind, self.n, np.random.default_rng([FIRST + number, self.n, len(self.kind)]))
            for number in self.numbers
        ]


def ask(case: Case) -> Floats:
    """Return (logs, 7) answered, saving inside, as good, wrong, width, saving, possible."""
    rows = [_ask(log) for log in case.logs()]
    return np.array(rows)


def _ask(log: KnownLog) -> tuple[float, ...]:
    n_arms = len(log.gain)
    means = BlockMeans.of(
        log.arm,
        log.reward,
        log.cost,
        n_arms=n_arms,
        weight=None if log.probability is None else 1 / log.probability,
        session=log.session,
    )
    answer = find_savings(means)
    gain, money = means.share @ log.logged_gain, means.share @ log.price
    every = _mixtures(n_arms)
    could = float((1 - every @ log.price / money)[every @ log.gain >= (1 - WITHIN) * gain].max())
    if answer.kind != "less" or answer.shares is None:
        return (0, np.nan, np.nan, 0, np.nan, np.nan, could)
    saving, low, high = answer.saving
    good = float(log.gain @ answer.shares >= (1 - _GOOD) * gain)
    inside = float(low <= 1 - log.price @ answer.shares / money <= high)
    return (1, inside, good, 1 - good, high - low, saving, could)


def _mixtures(n_arms: int) -> Floats:
    """(P, K) The shares of one or two arms, in steps of 5%."""
    eye, parts = np.eye(n_arms), np.linspace(0, 1, 21)[:, None]
    return np.vstack(
        [parts * eye[i] + (1 - parts) * eye[j] for i in range(n_arms) for j in range(i + 1)]
    )


def example(kind: str, n: int) -> list[str]:
    """Return what is said about one log of a kind, beside the truth."""
    (log,) = Case(kind, n, range(1)).logs()
    means = BlockMeans.of(log.arm, log.reward, log.cost, n_arms=len(log.gain))
    answer, share = find_savings(means), means.share
    if answer.kind != "less" or answer.shares is None:
        return [kind, f"{n:,}", answer.kind, "", "", ""]
    saving = 1 - log.price @ answer.shares / (share @ log.price)
    named = " + ".join(f"{part:.0%} a{arm}" for arm, part in enumerate(answer.shares) if part)
    part = log.gain @ answer.shares / (share @ log.logged_gain)
    said = f"{answer.saving[0]:.1%} ({answer.saving[1]:.1%} to {answer.saving[2]:.1%})"
    return [kind, f"{n:,}", named, f"{saving:.1%}", said, f"{part:.1%}"]


def replay(case: Case) -> Floats:
    """Return (players, 3) answered, held the truth, width: of uniform play and each arm."""
    rows = []
    for number, log in zip(case.numbers, case.logs(), strict=True):
        rows += _replay(log, number)
    return np.array(rows)


def _replay(known: KnownLog, number: int) -> list[tuple[float, ...]]:
    n, n_arms = len(known.arm), len(known.gain)
    data = {"arm": known.arm, "reward": known.reward, "cost": 1.0}
    data |= {"probability": 1 / n_arms if known.probability is None else known.probability}
    players = ["uniform", *(f"fixed:arm={arm}" for arm in range(n_arms))]
    session = None if known.session is None else "session"
    data |= {} if session is None else {session: known.session}
    question = Question(policies=players, budgets=n, seed=number, block=session)
    log = open_rounds(pl.DataFrame(data), question)
    assert isinstance(log, Log)
    answers = estimate(log, question).estimates
    truths = [known.gain.mean(), *known.gain]
    rows: list[tuple[float, ...]] = []
    for answer, truth in zip(answers, truths, strict=True):
        _, _, low, high = answer.estimate
        told = answer.refused is None
        inside = float(low <= n * truth <= high) if told else np.nan
        rows.append((float(told), inside, (high - low) / (n * truth) if told else np.nan))
    return rows


def measure(kinds: Sequence[tuple[str, int]], logs: int, *, replayed: bool) -> str:
    """Return the table as Markdown; all cores work at it."""
    cases = [
        Case(kind, n, range(start, min(start + _CHUNK, logs)))
        for (kind, n), start in product(kinds, range(0, logs, _CHUNK))
    ]
    parts: dict[tuple[str, int], list[Floats]] = {}
    with ProcessPoolExecutor(usable_cores()) as pool:
        for case, part in zip(cases, pool.map(replay if replayed else ask, cases), strict=True):
            parts.setdefault((case.kind, case.n), []).append(part)
            if case.numbers.stop == logs:
                say(f"{case.kind}, {case.n:,} rows")
    rows = []
    for (kind, n), chunks in parts.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # nothing was answered
            means = np.nanmean(np.concatenate(chunks), axis=0)
        cells = ["" if np.isnan(mean) else f"{100 * mean:.1f}" for mean in means]
        rows.append([kind, f"{n:,}", *cells])
    head = ["answered", "saving", "as good", "wrong", "width", "saves", "could"]
    head = ["kind", "rows", *(["answered", "holds", "width"] if replayed else head)]
    return write_markdown_table(head, rows, right=range(1, len(head)))


@click.command()
@click.argument("logs", type=int, required=False)
@option("--replay replayed", "Measure the intervals of a replay with a budget.", is_flag=True)
@option("--examples", "Print one log of each of ten kinds.", is_flag=True)
@option("--kind", "A kind of log; repeat it for several [default: all].", multiple=True)
@quick_option
def main(
    logs: int | None, replayed: bool, examples: bool, kind: tuple[str, ...], quick: bool
) -> None:
    """Print how often the answer is true, in so many logs of each kind."""
    if examples:
        head = ["kind", "rows", "named", "true saving", "estimate (95%)", "truly gains"]
        rows = [example(*entry) for entry in EXAMPLES]
        click.echo(write_markdown_table(head, rows, right=(1, 3, 4, 5)))
        return
    kinds = [entry for entry in (REPLAYED if replayed else KINDS) if not kind or entry[0] in kind]
    if quick:
        kinds = kinds[:2]
    click.echo(measure(kinds, QUICK_LOGS if quick else logs or LOGS, replayed=replayed))


if __name__ == "__main__":
    execute(main, "python -m research.evidence.savings_coverage")
