"""Suite 1, long games of every kind. Its version changes whenever an instance does."""

from __future__ import annotations

from research.leaderboard.case import Case

EASY = "bernoulli:rewards=[.42,.5,.4,.3,.6],costs=[.3,.5,.6,.4,.9]"
HARD = "bernoulli:rewards=[.5,.55,.6,.65,.72],costs=[.5,.54,.58,.62,.66]"

LARGE = (
    "atoms:probabilities=[[.98,.02],[.9,.1],[1,0]],"
    "rewards=[[.5,.5],[.9,.9],[.4,.4]],costs=[[.5,20],[.8,9],[.7,.7]]"
)


def grid(low: float, high: float, count: int) -> str:
    """Return numbers at equal distances, as text."""
    return "[" + ",".join(f"{low + (high - low) * i / (count - 1):.4g}" for i in range(count)) + "]"


CASES = (
    Case("easy gaps", "constant costs per arm", EASY, 1e4),
    Case("easy gaps, large budget", "constant costs per arm", EASY, 1e5),
    Case("hard gaps", "constant costs per arm", HARD, 3e4),
    Case("two arms", "constant costs per arm", "bernoulli:rewards=[.6,.45],costs=[.5,.5]", 1e4),
    Case("fifty arms", "many arms",
         f"bernoulli:rewards={grid(0.1, 0.9, 50)},costs={grid(0.9, 0.5, 50)}", 2e4),
    Case("random costs", "random costs",
         "two_point:rewards=[.9,.6,.5,.4,.3],costs=[.8,.4,.5,.3,.35],cost_min=.2", 1e4),
    Case("continuous costs", "random costs",
         "beta:rewards=[.7,.5,.6,.4,.3],costs=[.7,.35,.6,.3,.4],concentration=4,cost_min=.1", 1e4),
    Case("misleading ratio", "random costs", "misleading_ratio", 1e4),
    Case("misleading costs", "random costs", "misleading_costs", 1e4),
    Case("small least cost", "costs of very different size",
         "two_point:rewards=[.8,.5,.3],costs=[.6,.2,.3],cost_min=.01", 1e4),
    Case("large costs", "costs of very different size", LARGE, 2e4),
    Case("switching", "means that change",
         "switching:segments=[3000,1000],rewards=[[.8,.5,.2],[.1,.5,.9]],costs=[.5,.5,.5]", 1e4),
    Case("drifting", "means that change",
         "drifting:rounds=8000,rewards=[[.9,.5,.1],[.3,.5,.7]],costs=[.5,.4,.5]", 1e4),
    Case("corrupted", "means that change",
         "corrupted:rewards=[.9,.6,.4],costs=[.8,.3,.25],rounds=3000,fake_rewards=[.1,.1,.9]", 1e4),
    Case("adversarial, world 1", "an adversary", "two_worlds:cost_min=0.5,world=1", 1e4),
    Case("adversarial, world 2", "an adversary", "two_worlds:cost_min=0.5,world=2", 1e4),
    Case("same costs", "an adversary", "same_costs", 1e4),
    Case("routing", "budget and horizon",
         "routing:quality=[.55,.75,.9],prices=[.02,.1,.6],prompts=20000", 4e3),
    Case("routing, little money", "budget and horizon",
         "routing:quality=[.55,.75,.9],prices=[.02,.1,.6],prompts=20000", 1e3),
    Case("pricing", "budget and horizon",
         "pricing:prices=[2,4,6,8],chances=[.8,.6,.4,.15],customers=20000", 6e3),
    Case("ads", "several resources",
         "ad_slots:clicks=[.1,.05,.2],values=[.6,1,.2],prices=[.5,.9,.1],views=20000",
         (300.0, 12000.0)),
)  # fmt: skip
