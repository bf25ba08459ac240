"""Policies that play a script, for the tests of the engine."""

from __future__ import annotations

from typing import Any

from tests.support.paths import SCRIPTED


def scripted(script: Any, **options: Any) -> str:
    """The policy that plays the rows of a script in turn."""
    given = {"script": script, **options}
    return f"{SCRIPTED}:" + ",".join(f"{name}={value}" for name, value in given.items())
