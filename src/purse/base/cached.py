"""`cached_property` without a lock, as it is from Python 3.12 on: a child process would inherit
the lock of a thread that was computing the property, and wait for it for ever.
"""

from __future__ import annotations

import sys
from functools import cached_property as with_lock

if sys.version_info >= (3, 12):
    cached_property = with_lock
else:

    class cached_property(with_lock):  # type: ignore[type-arg]  # noqa: N801
        """A property that is computed once for each object; by two threads at once, twice."""

        def __get__(self, instance, owner=None):  # type: ignore[no-untyped-def]
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
