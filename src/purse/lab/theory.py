"""Optima and bounds that gains are compared with."""

from purse.theory import bounds, coin_bounds, contexts, fluid, knapsack

__all__ = ["bounds", "coin_bounds", "contexts", "fluid", "knapsack"]
