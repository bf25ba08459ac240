"""Progress of long work: nothing for the first seconds, then a bar on a terminal and plain lines elsewhere, on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 1.5  # seconds before anything is shown
BETWEEN_LINES = 5.0  # seconds between two plain lines


class Progress:
    """Call `show(fraction)` as often as you like."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.start = self.last = time.monotonic()
        self.bar: Any = None
        self.task: Any = None

    def show(self, fraction: float, title: str | None = None) -> None:
        """Say how far the work has come."""
        self.title = title or self.title
        now = time.monotonic()
        if now - self.start < PATIENCE:
            return
        if sys.stderr.isatty():
            if self.bar is None:
                self._open()
            self.bar.update(self.task, completed=fraction, description=self.title)
        elif now - self.last >= BETWEEN_LINES:
            self.last = now
            print(f"{self.title}: {fraction:.0%} after {now - self.start:.0f} s", file=sys.stderr, flush=True)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self.bar = RichProgress(
            TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True
        )
        self.task = self.bar.add_task(self.title, total=1.0)
        self.bar.start()

    def close(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.stop()


@contextmanager
def progress(title: str) -> Iterator[Progress]:
    """A `Progress` that goes away at the end, also when interrupted."""
    shown = Progress(title)
    try:
        yield shown
    finally:
        shown.close()
