"""Proposition B: what separates the two efficiency regrets."""

from __future__ import annotations

from purse.lab.paper.finding import Finding, Table
from purse.lab.paper.runner import CHEAP_ARM, FIVE, PLAYERS, WORLD_1, WORLD_2, Runner
from purse.lab.theory.notions import efficiency_sums

ORDER = 210
TITLE = "Proposition B"
SAYS = (
    "Not in the paper: eq. (8) and the regret over the player's own rounds differ by what "
    "i* earns between the ends of the two games."
)
COMMANDS = ["purse lab regret exp3.bwk -w two_worlds:world=2 -b 1e4"]
PLACES = {
    "constant arms (1, 1), (0.05, 0.1)": CHEAP_ARM,
    "`two_worlds`, world 1": WORLD_1,
    "`two_worlds`, world 2": WORLD_2,
    "`same_costs`": "same_costs",
    "five arms": FIVE,
}


def study(runner: Runner) -> Finding:
    """Return the two parts of the left side of eq. (8)."""
    budget = 1e4
    rows, error = [], 0.0
    for label, world in PLACES.items():
        for player in PLAYERS:
            seen = runner.regrets(player, world, budget, 40).evidence
            arm = seen.paper_arm
            own = seen.counterfactual[arm] - seen.efficiency
            between = seen.fixed_efficiency[arm] - seen.counterfactual[arm]
            error = max(error, float(abs(own + between - efficiency_sums(seen)).max()) / budget)
            parts = [part.mean() / budget for part in (efficiency_sums(seen), own, between)]
            rows.append([label, f"`{player}`", *(f"{part:.3f}" for part in parts)])
    head = ["instance", "player", "left side of eq. (8)", "own rounds", "between the two ends"]
    return Finding(
        "true: an identity; eq. (8) holds where that part is small",
        f"between the ends of the two games i* earns {rows[4][4]}·B in world 2 and "
        f"{rows[-2][4]}·B on five arms (EXP3.BwK, B = {budget:,.0f})",
        error < 1e-9,
        [
            "Σ_{t≤T(i*)} e_t(i*) − Σ_{t≤τ} e_t(i_t) = (own-rounds regret against i*) + "
            "Σ_{τ<t≤T(i*)} e_t(i*) − Σ_{T(i*)<t≤τ} e_t(i*). [Proposition A](#proposition-a) bounds "
            "the first part always; the rest is what the proof of Theorem 1 overlooks. If E(T(i*) "
            "− τ)⁺ ≤ D, the sum is at most the bound of Proposition A plus D/c. All divided by B:",
            Table(head, rows),
        ],
    )
