"""Bandits with knapsacks: learn which option is worth it before the money runs out.

The public surface is listed in `__init__.pyi`. Each name is loaded when it is first used, so that
importing purse alone loads nothing heavy.
"""

import logging

import lazy_loader

import purse.base.fork_safety  # noqa: F401  (before a thread loads anything)

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

logging.getLogger(__name__).addHandler(logging.NullHandler())
