"""Progress of long work: nothing for the first seconds, then one bar on a terminal, one line in a
notebook that goes away, and plain lines elsewhere, on stderr. It never runs backwards.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any

from purse.base.html import paragraph

QUIET_S = 1.0  # seconds before anything is shown
BETWEEN_LINES = 5.0  # seconds between two plain lines
BETWEEN_UPDATES = 0.5  # seconds between two updates of the line in a notebook


def in_notebook() -> bool:
    """Return whether the process is the kernel of a notebook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


WHOLE: ContextVar[Progress | None] = ContextVar("WHOLE", default=None)


class Progress:
    """Call `show(fraction)` as often as you like. What is shown never falls.

    outer   the longer work that this one is a part of, which shows it
    """

    def __init__(self, title: str, outer: Progress | None = None) -> None:
        self.outer, self.whole = outer, title
        self.began = time.monotonic()
        self.last_line = self.began + QUIET_S - BETWEEN_LINES
        self.has_lines = False  # whether a plain line was printed
        self.reached = 0.0
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
        if self.outer is not None:
            self.outer.show(done, words)
            return
        with self.lock:
            self.reached = done = max(self.reached, min(1.0, done))
            if self.closed or now - self.began < QUIET_S:
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
            part = "" if words == self.whole else f": {words}"
            if notebook:
                self._tell(self._line(f"{self.whole}{part}", done))
            else:
                self._print(f"{self.whole}{part}", done)

    def _tell(self, text: str) -> None:
        """Write the line of a notebook, over the one before."""
        tools = import_module("IPython.display")  # every notebook has it
        shown = tools.HTML(paragraph(text))
        if self.line is None:
            self.line = tools.display(shown, display_id=True)
        else:
            self.line.update(shown)

    @contextmanager
    def busy(self, title: str) -> Iterator[None]:
        """Say the title if what happens inside takes long; it cannot tell how far it is."""
        over = threading.Event()

        def speak() -> None:
            while not over.wait(QUIET_S + 0.1):
                self.show(0.0, title)

        speaker = threading.Thread(target=speak, daemon=True)
        speaker.start()
        try:
            yield
        finally:
            over.set()
            speaker.join()

    def _line(self, words: str, done: float) -> str:
        return f"{words}: {done:.0%} after {time.monotonic() - self.began:.0f} s"

    def _print(self, words: str, done: float) -> None:
        print(self._line(words, done), file=sys.stderr, flush=True)
        self.has_lines = True

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

    def close(self, *, finished: bool = False) -> None:
        """Take the bar or the line away; the last of several lines says that all is done."""
        with self.lock:
            self.closed = True
            if finished and self.has_lines:
                self._print(self.whole, 1.0)
            if self.line is not None:
                self._tell("")
            if self.bar is not None:
                self.bar.stop()


@contextmanager
def progress(title: str) -> Iterator[Progress]:
    """Yield a `Progress`, as a part of the `whole` if there is one.

    It goes away at the end, also when interrupted.
    """
    shown = Progress(title, WHOLE.get())
    finished = False
    try:
        yield shown
        finished = True
    finally:
        shown.close(finished=finished)


@contextmanager
def whole(title: str) -> Iterator[Progress]:
    """Yield a `Progress` that shows each `progress` inside as a part of it, see `Progress.part`."""
    with progress(title) as shown:
        before = WHOLE.set(shown)
        try:
            yield shown
        finally:
            WHOLE.reset(before)
