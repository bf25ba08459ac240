"""How surprising frequencies are."""

from __future__ import annotations

import numpy as np

BAND = 4.5  # standard errors


def excess(counts: np.ndarray) -> float:
    """How many standard errors chi-square lies from what equally likely cells give."""
    expected = counts.sum() / counts.size
    freedom = counts.size - 1
    return float((((counts - expected) ** 2).sum() / expected - freedom) / np.sqrt(2 * freedom))
