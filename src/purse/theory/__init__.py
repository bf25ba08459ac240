"""Benchmarks, notions of regret, and theorems as functions."""

from purse.theory import bounds as bounds
from purse.theory import coin_bounds as coin_bounds
from purse.theory import contexts as contexts
from purse.theory import fluid as fluid
from purse.theory import knapsack as knapsack
