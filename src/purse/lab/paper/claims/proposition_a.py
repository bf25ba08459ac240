"""Proposition A: efficiency over the player's own rounds."""

from __future__ import annotations

from purse import worlds
from purse.lab.paper.finding import Finding, Table
from purse.lab.paper.runner import PLAYERS, Runner

ORDER = 200
TITLE = "Proposition A"
SAYS = (
    "Not in the paper: what its proofs do show. Over the player's own rounds, its "
    "efficiencies fall short of any fixed arm's by at most order √(BK log K/c³)."
)
COMMANDS = [
    "purse lab regret exp3.bwk -w two_worlds:world=2 -b 1e4",
    "purse lab bounds -w two_worlds:world=2 -b 1e4",
]
PATHS = 20


def pays_always(world: str) -> bool:
    """Return whether the world has one resource of which every pull takes some: else there is no
    efficiency.
    """
    least = worlds.make(world, 1000).cost_min
    return least.shape[1] == 1 and bool((least > 0).all())


def is_plain(world: str) -> bool:
    """Return whether there are no masks and no contexts: no theorem covers them."""
    place = worlds.make(world, 1000)
    return place.outages is None and place.n_features == 0


def study(runner: Runner) -> Finding:
    """Return regret over its bound, on every shipped world that is plain and has one resource of
    which every pull takes some.
    """
    budgets = runner.budgets(1e3, 1e4, 1e5)
    rows, worst = [], dict.fromkeys(PLAYERS, 0.0)
    for world in filter(is_plain, filter(pays_always, map(worlds.example, worlds.names()))):
        cells = []
        for player in PLAYERS:
            for budget in budgets:
                seen, bound = runner.own_rounds(player, world, budget, PATHS)
                worst[player] = max(worst[player], seen.high / bound)
                cells.append(f"{seen.mean / bound:.3f}")
        rows.append([f"`{world}`", *cells])
    head = [f"`{player}`, {budget:,.0f}" for player in PLAYERS for budget in budgets]
    return Finding(
        "true",
        f"{len(rows)} worlds, B = {budgets[0]:,.0f} … {budgets[-1]:,.0f}: upper ends of "
        f"the intervals at most {worst['exp3.bwk']:.2f} of the bound "
        f"for EXP3.BwK, {worst['exp3++.bwk']:.2f} for EXP3++.BwK",
        max(worst.values()) < 1,
        [
            "Let σ be the round in which the game ends, the pull that cannot be paid included; "
            "whether σ ≥ t is known before round t, so the usual proof of EXP3 goes through at σ. "
            "For every arm j and γ in (0, 1]: E Σ_{t≤σ} e_t(j) − E Σ_{t≤σ} e_t(i_t) ≤ K log K/(cγ) "
            "+ (e−1)γ(B+c)/c². With γ = √(cK log K/((e−1)(B+c))) that is **2√((e−1)(B+c)K log "
            "K/c³)**; over the paid rounds add 1/c. For EXP3++.BwK (default ε, p̃ over all arms): "
            "**4√((B+c)K log K/c³) + (K+1)/c**. That is 2 for the learning rate, 1 for the "
            "variance and 1 for ε, times √(TK log K)/c with T ≤ (B+c)/c, and K/c for the initial "
            "pulls. Nothing is asked of the world but rewards in [0, 1] and costs in [c, 1], and "
            "there is no other horizon than the player's own.",
            "Largest measured efficiency regret over all fixed arms, divided by the "
            "bound at the default γ, which has B for B + c "
            f"({runner.paths(PATHS)} paths; the world `table` ends after three rounds):",
            Table(["world", *head], rows),
        ],
    )
