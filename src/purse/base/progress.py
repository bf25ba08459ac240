"""Progress of long work: nothing for the first seconds, then a bar on a terminal, one line in a
notebook that goes away, and plain lines elsewhere, on stderr.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from purse.base.html import paragraph

QUIET_S = 1.5  # seconds before anything is shown
BETWEEN_LINES = 5.0  # seconds between two plain lines
BETWEEN_UPDATES = 0.5  # seconds between two updates of the line in a notebook


def in_notebook() -> bool:
    """Whether the process is the kernel of a notebook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


class Progress:
    """Call `show(fraction)` as often as you like."""

    def __init__(self, title: str) -> None:
        self.began = time.monotonic()
        self.last_line = self.began + QUIET_S - BETWEEN_LINES
        self.lock = threading.Lock()
        self.closed = False
        self.bar: Any = None
        self.task: Any = None
        self.line: Any = None  # in a notebook
        self.part(0.0, 1.0, title)

    def part(self, start: float, length: float, title: str) -> None:
        """Take what `show` is told from now on as fractions of this part of the whole."""
        self.start, self.length, self.title = start, length, title

    def show(self, fraction: float, title: str = "") -> None:
        """Say how far the work has come."""
        now = time.monotonic()
        done, words = self.start + self.length * fraction, title or self.title
        if now - self.began < QUIET_S:
            return
        with self.lock:
            if self.closed:
                return
            if sys.stderr.isatty():
                if self.bar is None:
                    self._open()
                self.bar.update(self.task, completed=done, description=words)
                return
            notebook = in_notebook()
            if now - self.last_line < (BETWEEN_UPDATES if notebook else BETWEEN_LINES):
                return
            self.last_line = now
            text = f"{words}: {done:.0%} after {now - self.began:.0f} s"
            if notebook:
                self._tell(text)
            else:
                print(text, file=sys.stderr, flush=True)

    def _tell(self, text: str) -> None:
        """Write the line of a notebook, over the one before."""
        tools = import_module("IPython.display")  # it is there where there is a notebook
        shown = tools.HTML(paragraph(text))
        if self.line is None:
            self.line = tools.display(shown, display_id=True)
        else:
            self.line.update(shown)

    @contextmanager
    def busy(self, title: str) -> Iterator[None]:
        """Say the title if what happens inside takes long; it cannot tell how far it is."""
        timer = threading.Timer(QUIET_S + 0.1, self.show, (0.0, title))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
        )
        self.bar = RichProgress(
            *columns,
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self.task = self.bar.add_task(self.title, total=1.0)
        self.bar.start()

    def close(self) -> None:
        """Take the bar away, or the line."""
        with self.lock:
            self.closed = True
            if self.line is not None:
                self._tell("")
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
