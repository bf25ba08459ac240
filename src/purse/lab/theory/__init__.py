"""Optima, notions of regret, and theorems as functions."""

from purse.lab.theory import bounds, coin_bounds, contexts, fluid, knapsack

__all__ = ["bounds", "coin_bounds", "contexts", "fluid", "knapsack"]
