"""`purse.recommend`: how often the best arm of a world is found, and at what cost."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from purse.base import amounts, validation
from purse.base.optional import check_lab
from purse.base.progress import Progress, progress
from purse.base.text import count, format_digits, join_words
from purse.engine import cpu
from purse.engine.job import Job, make_job
from purse.errors import InvalidInput, invalid
from purse.identification.question import Arm, BestArmQuestion, Decision, read_question
from purse.identification.recommendation import (
    CONFIDENCE,
    RATIO,
    REWARD,
    Criterion,
    check_confidence,
)
from purse.lab.result import Grid, Result
from purse.types import World
from purse.worlds import make

_POLICY = "best-arm"
_SAMPLING = {_POLICY: "lucb", "uniform": "uniform"}  # how arms are chosen: its name, and the option


@dataclass(frozen=True, slots=True)
class _SamplingResult:
    sampling: str
    certain: float  # ended because the answer was certain
    wrong: float  # ended so with a wrong answer
    leader_right: float  # whose leader at the end is right, certain or not
    spent: float  # mean, in the user's unit of the first resource
    pulls: float  # mean


@dataclass(frozen=True, repr=False)
class RecommendationStudy(Result):
    """Recommendations on many simulated paths."""

    world: str
    budget: float
    n_paths: int
    seed: int
    by: Criterion
    cap: float | None
    within: float
    confidence: float
    best: tuple[str, ...]  # the arms that are right answers; empty if no arm keeps to the cap
    results: tuple[_SamplingResult, ...]

    def __getitem__(self, sampling: str) -> _SamplingResult:
        """Return the results of `best-arm` or of `uniform`."""
        results = {result.sampling: result for result in self.results}
        return results[validation.choice("sampling", sampling, list(results))]

    def as_dict(self) -> dict[str, Any]:
        """Return the study as JSON has it."""
        return asdict(self)

    @property
    def title(self) -> str:
        """What was asked, and the truth, in a line."""
        what = "reward" if self.by == REWARD else "reward per cost"
        cap = "" if self.cap is None else f", cap {self.cap:g}"
        within = f", within {self.within:g}" if self.within else ""
        truth = f"best is {join_words(self.best)}" if self.best else "no arm keeps to the cap"
        return (
            f"{self.world}: {count(self.n_paths, 'path')}, budget {self.budget:g}, by {what}{cap}"
            f"{within}, confidence {100 * self.confidence:g}%; {truth}"
        )

    def grids(self) -> Iterator[Grid]:
        """Yield a table with a row for each way to choose arms."""
        head = ["arms chosen by", "certain", "wrong", "leader right", "spent", "pulls"]
        rows = []
        for result in self.results:
            shares = (result.certain, result.wrong, result.leader_right)
            numbers = (format_digits(result.spent), f"{result.pulls:,.0f}")
            rows.append([result.sampling, *(f"{share:.1%}" for share in shares), *numbers])
        yield Grid(head, rows)


def recommend(
    world: str | World,
    budget: Any,
    *,
    by: str = REWARD,
    cap: Any = None,
    confidence: float = CONFIDENCE,
    within: float = 0.0,
    n_paths: int = 100,
    seed: int = 0,
) -> RecommendationStudy:
    """Play policy `best-arm` on `n_paths` independent paths of a world, and uniform sampling with
    the same stopping rule beside it.

    world    a `World`, or text such as "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
    budget   one amount, or one per resource, shape (d,); a path ends without an answer when it is
             spent
    by, cap, confidence, within   as for `Campaign.recommend`; costs are those of the first resource
    seed     the same seed gives the same numbers

    Return how often the answer was certain, how often it was wrong, and what was spent.

    Raise `InvalidInput` when a value is not allowed, or when the means of the world change: then
    no arm is best.
    """
    check_lab("recommend on a world", "numba")
    exact = None if cap is None else amounts.to_units("cap", cap) / amounts.UNIT
    question, confidence = read_question(by, exact, within), check_confidence(confidence)
    n_paths = validation.integer("n_paths", n_paths, low=1)
    world = make(world, budget)
    right = _right_answers(world, question)
    results = []
    with progress(f"{_POLICY} on {world.name}") as shown:
        for name, sampling in _SAMPLING.items():
            job = make_job(
                _spec_of(world, question, confidence, sampling), world, budget, seed=seed
            )
            results.append(_summary(name, job, question, confidence, right, n_paths, shown))
    return RecommendationStudy(
        world.name,
        float(job.problem.budget[0]) / amounts.UNIT,
        n_paths,
        job.game.seed,
        *question,
        confidence,
        tuple(name for name, good in zip(world.arm_names, right, strict=True) if good),
        tuple(results),
    )


def _spec_of(world: World, question: BestArmQuestion, confidence: float, sampling: str) -> str:
    """Return the policy with its options, for rewards in [0, 1]."""
    low, high = world.reward_range
    if low and question.by == RATIO:
        raise invalid("by", RATIO, f"needs a world whose least reward is 0, not {low:g}")
    cap = "" if question.cap is None else f",cap={question.cap!r}"
    within = question.within / (high - low)
    options = f"by={question.by},confidence={confidence!r},within={within!r}{cap}"
    return f"{_POLICY}:{options},sampling={sampling}"


def _right_answers(world: World, question: BestArmQuestion) -> list[bool]:
    """(K,) Whether each arm is a right answer; all False if no arm keeps to the cap."""
    if world.reward_means is None or world.cost_means is None:
        raise InvalidInput(
            f"world {world.name}: its means change, or nobody knows them, so that no arm is best"
        )
    low, high = world.reward_range
    arms = [
        # one report at the mean stands for the truth
        Arm(name, 1, low + (high - low) * float(reward), float(cost[0]), (low, high), (0.0, 0.0))
        for name, reward, cost in zip(
            world.arm_names, world.reward_means, world.cost_means, strict=True
        )
    ]
    arms = [arm._replace(cost_range=(arm.cost_sum, arm.cost_sum)) for arm in arms]
    best = question.leader(arms)
    bar = math.inf if best is None else question.value(best) - question.within
    return [question.keeps_cap(arm) and question.value(arm) >= bar for arm in arms]


def _summary(
    name: str,
    job: Job,
    question: BestArmQuestion,
    confidence: float,
    right: list[bool],
    n_paths: int,
    shown: Progress,
) -> _SamplingResult:
    """Play all paths of a job, and judge their answers."""
    problem, (low, high) = job.problem, job.world.reward_range
    scale = float(problem.unit_scale[0]) * amounts.UNIT
    lowest, highest = (
        (bounds[:, 0] / amounts.UNIT).tolist()
        for bounds in (
            (problem.cost_min, problem.cost_max)
            if problem.costs is None
            else (problem.costs, problem.costs)
        )
    )
    sureness = -math.log1p(-confidence)
    tally = np.zeros((n_paths, 3), np.bool_)  # certain, wrong, whether the leader is right
    results = cpu.empty_results(job, n_paths)
    for path, state in enumerate(_final_states(job, results, shown)):
        arms = [
            Arm(str(i), int(n), low * n + (high - low) * reward, cost / scale, (low, high), ends)
            for i, (n, reward, cost, ends) in enumerate(
                zip(*state, zip(lowest, highest, strict=True), strict=True)
            )
        ]
        decision = Decision(question, arms, len(arms))
        leader = decision.leader
        is_certain = all(holds(sureness, 1.0) for holds in decision.conditions())
        is_right = right[int(leader.name)] if leader is not None else not any(right)
        tally[path] = is_certain, is_certain and not is_right, is_right
    certain, wrong, leader_right = tally.mean(axis=0).tolist()
    spent = float(results.spent[:, 0].mean()) / amounts.UNIT
    pulls = float(results.pulls.sum(axis=1).mean())
    return _SamplingResult(name, certain, wrong, leader_right, spent, pulls)


def _final_states(job: Job, results: Any, shown: Progress) -> Iterator[tuple[list[float], ...]]:
    """Play all paths in blocks, and yield each one's pulls, rewards and costs by arm."""
    loop, size = cpu.warm_up(job, shown), cpu.block_size(job)
    n_paths, halt = len(results.gain), np.zeros(1, np.int64)
    for start in range(0, n_paths, size):
        rows = cpu.slice_paths(results, slice(start, min(start + size, n_paths)))
        states = cpu.play_rows(loop, job, start, rows, np.zeros(1), halt)
        if halt[0]:
            raise cpu.fault_error(job)
        sums = (states.pulls.tolist(), states.rewards.tolist(), states.costs.tolist())
        yield from zip(*sums, strict=True)
        shown.show((start + len(rows.gain)) / n_paths)
