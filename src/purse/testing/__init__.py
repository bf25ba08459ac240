"""Checks that every policy and world must pass, for modules of your own.

    >>> from purse.testing import check_policy
    >>> check_policy("exp3.bwk")

Each check raises `AssertionError` with a sentence that says what is wrong.
"""

from purse.testing.gpu import check_gpu as check_gpu
from purse.testing.policy import check_policy as check_policy
from purse.testing.world import check_world as check_world
