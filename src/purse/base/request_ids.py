"""The names of requests. With a name of its own, a request that is sent again after a lost
connection has no second effect.
"""

from __future__ import annotations

import os
import time

from purse.errors import invalid


def request_of(given: str | None) -> str:
    """Return the name of a request, or a new one. Raise `InvalidInput` if it is not one."""
    if given is None:  # neighbours in time are neighbours in an index, too
        return f"{time.time_ns():016x}{os.urandom(8).hex()}"
    if not isinstance(given, str) or not 1 <= len(given) <= 200 or not given.isprintable():
        raise invalid("request_id", given, "must be text of 1 to 200 printable characters")
    return given
