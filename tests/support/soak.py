"""How long the long tests are: short in `make test`, long where PURSE_SOAK is set."""

import os

SOAK = bool(os.environ.get("PURSE_SOAK"))


def scale(short: int, long: int) -> int:
    """The number of examples, races or rounds."""
    return long if SOAK else short
