"""Lets a process that a test starts run on the same core as the test."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3]))

import tests.support.core  # noqa: F401
