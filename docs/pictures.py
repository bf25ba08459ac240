"""The pictures of the concepts page, drawn from real games."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

import purse
from purse.engine.draws import draws
from purse.report.figure import COLOURS, STYLE

WORLD = "bernoulli:rewards=[.42,.5,.4],costs=[.3,.5,.6]"


def draw(folder: Path) -> None:
    """Draw all pictures into the folder."""
    folder.mkdir(exist_ok=True)
    for name, (size, picture) in PICTURES.items():
        with rc_context(STYLE):
            figure = Figure(figsize=size, layout="constrained")
            picture(figure)
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})


def play(policy: str, budget: float, seed: int = 0) -> list[tuple[int, float, float, float]]:
    """A live game on the world: for each round the arm, its cost, what is left after it, and what
    was held for it.
    """
    world = purse.worlds.make("two_point:rewards=[.6,.5,.3],costs=[.7,.4,.3],cost_min=.2", budget)
    player = purse.Policy(policy, n_arms=3, budget=budget, cost_min=0.2, cost_max=1, seed=seed)
    rewards, costs = draws(world, 200, seed=seed)
    story: list[tuple[int, float, float, float]] = []
    while True:
        try:
            ticket = player.ask()
        except purse.AskRefused:
            return story
        cost = costs[ticket.t - 1, ticket.arm, 0] / 1e9
        if not player.tell(ticket, float(rewards[ticket.t - 1, ticket.arm]), cost):
            return story
        story.append((ticket.arm, cost, player.left, ticket.held))


def the_game(figure: Any) -> None:
    """What is left of a budget, pull by pull."""
    axes = figure.subplots()
    story = play("exp3++.price", 20)
    arms, costs, left, _ = (np.array(column) for column in zip(*story, strict=True))
    rounds = np.arange(1, len(story) + 1)
    for arm in range(3):
        mine = arms == arm
        axes.bar(
            rounds[mine],
            costs[mine],
            bottom=left[mine],
            color=COLOURS[arm],
            width=0.8,
            label=f"arm {arm}",
        )
    axes.step(
        np.r_[0.5, rounds + 0.5], np.r_[20, left], where="post", color="#555555", linewidth=0.8
    )
    axes.set_ylim(0, 21)
    axes.set_xlabel("round t")
    axes.set_ylabel("budget left")
    axes.legend(frameon=False, title="a pull of cost 0.2 or 1, and what is left after it")


def stop_rules(figure: Any) -> None:
    """The end of the same game under the three rules."""
    for axes, rule in zip(
        figure.subplots(1, 3, sharey=True), ("exit", "hold", "retry"), strict=True
    ):
        run = purse.simulate(
            "uniform",
            "two_point:rewards=[.6,.5,.3],costs=[.7,.4,.3],cost_min=.2",
            20.1,
            n_paths=2000,
            stop=rule,
            seed=1,
        )
        left = 20.1 - run.spent[:, 0]
        values, counts = np.unique(left.round(3), return_counts=True)
        axes.bar(values, counts / run.n_paths, width=0.08, color=COLOURS[0])
        axes.set_title(f"stop={rule!r}: {left.mean():.2f} left on average")
        axes.set_xlabel("budget left at the end")
        axes.set_ylabel("part of 2,000 games" if rule == "exit" else "")
        axes.set_xlim(-0.05, 1.05)


def efficiency(figure: Any) -> None:
    """Arms by mean cost and mean reward, with lines of equal efficiency; and a pair that
    misleads.
    """
    plane, bars = figure.subplots(1, 2)
    world = purse.worlds.make("bernoulli:rewards=[.42,.5,.4,.3,.6],costs=[.3,.5,.6,.4,.9]", 1)
    assert world.reward_means is not None
    assert world.cost_means is not None
    assert world.efficiencies is not None
    reach = np.linspace(0, 1, 2)
    for arm, (reward, cost, each) in enumerate(
        zip(world.reward_means, world.cost_means[:, 0], world.efficiencies, strict=True)
    ):
        plane.plot(reach, each * reach, color=COLOURS[arm], linewidth=0.8, linestyle=":")
        plane.plot(cost, reward, "o", color=COLOURS[arm], markersize=8)
        plane.annotate(
            f"e = {each:.2f}",
            (cost, reward),
            textcoords="offset points",
            xytext=(7, -11),
            fontsize=9,
        )
    plane.set(
        xlim=(0, 1),
        ylim=(0, 0.8),
        xlabel="mean cost ρ",
        ylabel="mean reward μ",
        title="the steepest line is the best arm",
    )
    pairs = {
        "μ/ρ: what a budget buys": (0.5 / 0.55, 1.2),
        "E[r/c]: what averages show": (2.75, 1.2),
    }
    for number, (label, values) in enumerate(pairs.items()):
        bars.bar(
            np.arange(2) + 0.4 * number, values, width=0.38, color=COLOURS[number], label=label
        )
    bars.set_xticks(np.arange(2) + 0.2, ["arm 0: costs 0.1 or 1", "arm 1: costs 0.5"])
    bars.set(title="misleading_ratio: the two disagree", ylabel="reward per cost")
    bars.legend(frameon=False)


def regret(figure: Any) -> None:
    """Gain against what was spent: the policy, the best arm alone, and the gap at the end."""
    axes = figure.subplots()
    budget, paths, ends = 3_000, 50, []
    for number, (label, policy) in enumerate(
        (
            ("the best arm alone", "fixed:arm=0"),
            ("exp3++.price", "exp3++.price"),
            ("uniform", "uniform"),
        )
    ):
        run = purse.simulate(policy, WORLD, budget, n_paths=paths, seed=0, checkpoints=60)
        assert run.by_budget is not None
        spent, gain = run.by_budget.spent[:, :, 0].mean(axis=0), run.by_budget.gain.mean(axis=0)
        axes.plot(
            np.r_[0, spent], np.r_[0, gain], color=COLOURS[number], label=label, linewidth=1.8
        )
        ends.append(float(gain[-1]))
    for number in (1, 2):
        x = budget * (1.24 - 0.11 * number)
        axes.annotate(
            "",
            (x, ends[number]),
            (x, ends[0]),
            arrowprops={"arrowstyle": "<->", "color": COLOURS[number]},
        )
        axes.annotate(
            f"regret {ends[0] - ends[number]:,.0f}",
            (x, (ends[0] + ends[number]) / 2),
            textcoords="offset points",
            xytext=(6, -3),
            color=COLOURS[number],
        )
    axes.set_xlim(0, budget * 1.28)
    axes.set(xlabel="budget spent", ylabel="gain (mean of 50 games)")
    axes.legend(frameon=False)


PICTURES: dict[str, tuple[tuple[float, float], Callable[[Any], None]]] = {
    "the-game": ((8.5, 3.6), the_game),
    "stop-rules": ((10.5, 3.4), stop_rules),
    "efficiency": ((10.5, 3.9), efficiency),
    "regret": ((8.5, 4.2), regret),
}
