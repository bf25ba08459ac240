"""How often `best-arm` is wrong, and what an answer costs: `python -m research.evidence.recommend`.

Seven worlds, 1,000 paths each, in about three minutes of one core. Numbers go to
docs/recommend/measured.json, and the page beside them is written from that file and nothing else:
no number in it is typed.
"""

import math
from typing import Any, NamedTuple

import click
import numpy as np

from benchmarks import record
from benchmarks.instance import say
from benchmarks.tables import markdown_table, number
from purse import worlds
from purse.base import amounts
from purse.cli import execute
from purse.engine import cpu
from purse.engine.job import make_job
from purse.policies import best_arm
from purse.types import Floats, Ints, World
from research.commands import quick_option

PATHS, QUICK_PATHS, SEED = 1_000, 10, 11
CONFIDENCE, LITTLE = 0.95, 0.6  # the default, and one at which mistakes could be seen
ENOUGH = 1e6  # money that never runs out
RIVAL = "replan"
MEASURED = record.DOCS / "recommend" / "measured.json"


class Question(NamedTuple):
    """A world, and which of its arms is asked for."""

    name: str
    world: str
    by: str = "reward"
    cap: float | None = None

    @property
    def options(self) -> str:
        """The question as options of the policy."""
        return f"by={self.by}" + ("" if self.cap is None else f",cap={self.cap}")


QUESTIONS = (
    Question("equal costs", "bernoulli:rewards=[.7,.5,.45,.4],costs=[.5,.5,.5,.5]"),
    Question("cheap but poor arms", "bernoulli:rewards=[.8,.55,.4,.3],costs=[1,.1,.05,.02]"),
    Question("near ties", "bernoulli:rewards=[.58,.5,.48],costs=[.25,.5,.5]"),
    Question(
        "many arms",
        "bernoulli:rewards=[.8,.6,.55,.5,.5,.5,.5,.5,.4,.4,.4,.4,.4,.3,.3,.3,.3,.2,.2,.2],"
        "costs=[.5,.3,.4,.5,.6,.7,.2,.3,.4,.5,.6,.7,.2,.3,.4,.5,.6,.7,.2,.3]",
    ),
    Question(
        "the best ratio is not the best reward",
        "two_point:rewards=[.9,.7,.3],costs=[.8,.3,.3],cost_min=.1",
        by="ratio",
    ),
    Question(
        "the best ratio, costs known", "bernoulli:rewards=[.9,.7,.3],costs=[.8,.3,.3]", by="ratio"
    ),
    Question(
        "the cap excludes the best arm",
        "two_point:rewards=[.9,.7,.4],costs=[.8,.4,.3],cost_min=.1",
        cap=0.6,
    ),
)


def right_arm(question: Question, rewards: Floats, costs: Floats) -> int:
    """Return the arm that answers the question if these (K,) are the means; -1: none."""
    values = rewards / costs if question.by == "ratio" else rewards
    fair = values if question.cap is None else np.where(costs <= question.cap, values, -math.inf)
    return int(fair.argmax()) if np.isfinite(fair).any() else best_arm.NONE


def play(policy: str, world: World, budget: float, n_paths: int) -> tuple[Any, Any, Any]:
    """Return the parameters, the results and the last states of a policy."""
    job = make_job(policy, world, round(budget, 9), seed=SEED)
    return job.params, *cpu.play_block(job, n_paths)


def answers(params: Any, states: Any) -> Ints:
    """Return the answer of `best-arm` on each path, (P,)."""
    paths = range(len(states.pulls))
    return np.array(
        [best_arm.answer(params, type(states)(*(part[j] for part in states))) for j in paths]
    )


def spending(results: Any) -> dict[str, float]:
    """Return the mean money of a path, and its standard error."""
    spent = results.spent[:, 0] / amounts.UNIT
    return {"mean": float(spent.mean()), "error": float(spent.std(ddof=1) / len(spent) ** 0.5)}


def ask(question: Question, n_paths: int = PATHS) -> dict[str, Any]:
    """Return the costs of answers to a question, and how many of them are wrong."""
    world = worlds.make(question.world, ENOUGH)
    costs = np.asarray(world.cost_means)[:, 0]
    right = right_arm(question, np.asarray(world.reward_means), costs)
    row: dict[str, Any] = {
        "name": question.name,
        "world": question.world,
        "options": question.options,
        "right": right,
    }
    for key, options in (
        ("ours", f"confidence={CONFIDENCE}"),
        ("uniform", f"confidence={CONFIDENCE},sampling=uniform"),
        ("little", f"confidence={LITTLE}"),
    ):
        params, results, states = play(
            f"best-arm:{question.options},{options}", world, ENOUGH, n_paths
        )
        arms = answers(params, states)
        row[key] = {
            **spending(results),
            "wrong": float((arms != right).mean()),
            "unsure": float((arms == best_arm.UNSURE).mean()),
        }
    _, results, states = play(RIVAL, world, row["ours"]["mean"], n_paths)
    scale = float(world.cost_max[:, 0].max()) / amounts.UNIT
    means = [
        right_arm(question, of_path[:, 0], np.maximum(of_path[:, 1], 1e-12) * scale)
        for of_path in states.means
    ]
    row["rival"] = {
        "most_pulled_wrong": float((results.pulls.argmax(axis=1) != right).mean()),
        "best_mean_wrong": float((np.array(means) != right).mean()),
    }
    say(f"{question.name}: {row}")
    return row


def allowed(confidence: float, n_paths: int) -> float:
    """Return the share of wrong answers that two standard errors allow."""
    chance = 1 - confidence
    return chance + 2 * math.sqrt(chance * confidence / n_paths)


def percent(share: float) -> str:
    """Return a share with one digit behind the point."""
    return f"{share:.1%}"


def markdown(facts: dict[str, Any]) -> str:
    rows, sure, little, paths = (facts[key] for key in ("rows", "confidence", "little", "paths"))
    saved = [1 - row["ours"]["mean"] / row["uniform"]["mean"] for row in rows]
    wrong, costs = list[list[str]](), list[list[str]]()
    for row, part in zip(rows, saved, strict=True):
        unsure = max(row[key]["unsure"] for key in ("ours", "uniform", "little"))
        shares = (row["ours"]["wrong"], row["little"]["wrong"], unsure)
        wrong.append([row["name"], *map(percent, shares)])
        spent = [
            f"{number(row[key]['mean'])} ± {number(row[key]['error'])}"
            for key in ("ours", "uniform")
        ]
        costs.append([row["name"], *spent, percent(part), number(row["little"]["mean"])])
    parts = [
        "# The best arm, measured",
        f"The policy `best-arm` on {len(rows)} worlds of [measured.json](measured.json), {paths:,} "
        "paths each, with money that never ends the game; `python -m research.evidence.recommend` "
        "measures it.\n"
        f"At a confidence of {sure:.0%}, at most {percent(1 - sure)} of the answers may be wrong, "
        f"{percent(allowed(sure, paths))} with two standard errors; at {little:.0%} the latter is "
        f"{percent(allowed(little, paths))}.",
        markdown_table(
            ["world", f"wrong at {sure:.0%}", f"wrong at {little:.0%}", "no answer"], wrong
        ),
        "## What an answer costs",
        f"Money until the answer is sure at {sure:.0%}, mean and standard error, beside uniform "
        "sampling with the same end.\n"
        f"`best-arm` saves from {percent(min(saved))} to {percent(max(saved))} of it.",
        markdown_table(
            ["world", "`best-arm`", "uniform", "saved", f"`best-arm` at {little:.0%}"], costs
        ),
        f"`{facts['rival']}` with the mean money of `best-arm` as its budget looks for the largest "
        "gain: the arm that it pulls most is wrong on up to "
        f"{percent(max(row['rival']['most_pulled_wrong'] for row in rows))} of the paths of a "
        "world, and nothing says how sure it is.",
    ]
    return "\n\n".join(parts) + "\n"


@click.command()
@quick_option
def main(quick: bool) -> None:
    """Measure, and write numbers and page; of a quick measurement print the page."""
    questions, paths = (QUESTIONS[:1], QUICK_PATHS) if quick else (QUESTIONS, PATHS)
    facts: dict[str, Any] = {
        "paths": paths,
        "confidence": CONFIDENCE,
        "little": LITTLE,
        "rival": RIVAL,
        "rows": [ask(question, paths) for question in questions],
    }
    page = markdown(record.rounded(facts))  # as the file has it
    if quick:
        say(page)
        return
    record.save(MEASURED, facts)
    MEASURED.with_suffix(".md").write_text(page)


if __name__ == "__main__":
    execute(main, "python -m research.evidence.recommend")
