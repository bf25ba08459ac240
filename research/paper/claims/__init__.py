"""The claims of the paper and our own, in the order of their pages."""

from research.paper.claims import (
    adversarial,
    coin,
    default,
    equations,
    players,
    propositions,
    readings,
    stochastic,
)

PAPER = (
    equations.greedy_rule,
    equations.regret_stochastic,
    equations.regret_adversarial,
    equations.stop_rule,
    equations.efficiency_sum,
    adversarial.theorem1,
    adversarial.theorem2,
    stochastic.class_g,
    stochastic.theorem3,
    readings.delta_binds,
    adversarial.theorem4,
    readings.mixing,
    adversarial.theorem5,
    readings.readings,
)
OWN = (
    propositions.proposition_a,
    propositions.proposition_b,
    propositions.proposition_c,
    coin.every_table,
    coin.random_costs,
    coin.fixed_arm,
    coin.gaps,
    players.every_player,
    coin.price,
    players.guarantee_costs,
    default.no_looks,
)
CLAIMS = PAPER + OWN
