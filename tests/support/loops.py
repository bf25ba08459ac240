"""Coroutines in tests."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def in_loop(work: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns. It runs in a thread of its own: the tests in a browser leave an
    event loop in this one.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
