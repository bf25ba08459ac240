"""Progress of long work: nothing for the first second, then one bar on a terminal, one line in a
notebook that goes away, and plain lines elsewhere, on stderr. It never runs backwards.

A thread shows what was said last: the work itself may import or compile and say nothing meanwhile.
"""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any

from purse.base.html import paragraph

_QUIET_S = 1.0  # seconds before anything is shown
_LINES = (10.0, 30.0, 60.0)  # seconds at which plain lines follow the first; then each minute
_BETWEEN_UPDATES = 0.5  # seconds between two updates in a notebook, or two of the thread


def _in_notebook() -> bool:
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


_WHOLE: "ContextVar[Progress | None]" = ContextVar("WHOLE", default=None)


class Progress:
    """Call `show(fraction)` as often as you like. What is shown never falls.

    outer   the longer work that this one is a part of, which shows it
    """

    def __init__(self, title: str, outer: "Progress | None" = None) -> None:
        self.outer, self.whole = outer, title
        self.began = time.monotonic()
        self.next_line = _QUIET_S  # seconds after the beginning
        self.has_lines = False  # whether a plain line was printed
        self.reached, self.words = 0.0, title
        self.lock = threading.Lock()
        self.closed = threading.Event()
        self.bar: Any = None
        self.task: Any = None
        self.line: Any = None  # in a notebook
        self.part(0.0, 1.0, title)

    def part(self, start: float, length: float, title: str) -> None:
        """Take what `show` is told from now on as fractions of this part of the whole."""
        self.start, self.length, self.title = start, length, title

    def show(self, fraction: float, title: str = "") -> None:
        """Say how far the work has come."""
        done, words = self.start + self.length * fraction, title or self.title
        if self.outer is not None:
            self.outer.show(done, words)
            return
        with self.lock:
            self.reached, self.words = max(self.reached, min(1.0, done)), words
            self._show()

    def keep_showing(self) -> None:
        """Show what was said last, until `close`; the work of another thread."""
        pause = _QUIET_S
        while not self.closed.wait(pause):
            pause = _BETWEEN_UPDATES
            with self.lock:
                self._show()

    def _show(self) -> None:
        took = time.monotonic() - self.began
        if self.closed.is_set() or took < _QUIET_S:
            return
        if sys.stderr.isatty():
            if self.bar is None:
                self._open()
            # without a total the bar moves to and fro, and has no percentage
            total = 1.0 if self.reached else None
            self.bar.update(self.task, completed=self.reached, total=total, description=self.words)
            return
        if took < self.next_line:
            return
        if _in_notebook():
            self.next_line = took + _BETWEEN_UPDATES
            self._tell(self._line())
        else:
            minute = 60 * (took // 60 + 1)
            self.next_line = next((at for at in _LINES if at > took), minute)
            self._print()

    def _tell(self, text: str) -> None:
        """Write the line of a notebook, over the one before."""
        tools = import_module("IPython.display")  # every notebook has it
        shown = tools.HTML(paragraph(text))
        if self.line is None:
            self.line = tools.display(shown, display_id=True)
        else:
            self.line.update(shown)

    @contextmanager
    def busy(self, title: str, usually: str = "") -> Iterator[None]:
        """Say the title while what happens inside lasts; it cannot tell how far it is.

        usually   how long that takes
        """
        before = self.title
        self.show(0.0, f"{title} ({usually})" if usually else title)
        try:
            yield
        finally:
            self.show(0.0, before)

    def _line(self) -> str:
        part = "" if self.words == self.whole else f": {self.words}"
        seconds = f"{time.monotonic() - self.began:.0f} s"
        done = f"{self.reached:.0%} after {seconds}" if self.reached else f"{seconds} so far"
        return f"{self.whole}{part}: {done}"

    def _print(self) -> None:
        print(self._line(), file=sys.stderr, flush=True)
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
        self.closed.set()
        with self.lock:
            if finished and self.has_lines:
                self.reached, self.words = 1.0, self.whole
                self._print()
            if self.line is not None:
                self._tell("")
            if self.bar is not None:
                self.bar.stop()


@contextmanager
def progress(title: str) -> Iterator[Progress]:
    """Yield a `Progress`, as a part of the `whole` if there is one.

    It goes away at the end, also when interrupted.
    """
    shown = Progress(title, _WHOLE.get())
    finished = False
    try:
        if shown.outer is None:
            threading.Thread(target=shown.keep_showing, daemon=True).start()
        yield shown
        finished = True
    finally:
        shown.close(finished=finished)


@contextmanager
def whole(title: str) -> Iterator[Progress]:
    """Yield a `Progress` that shows each `progress` inside as a part of it, see `Progress.part`."""
    with progress(title) as shown:
        before = _WHOLE.set(shown)
        try:
            yield shown
        finally:
            _WHOLE.reset(before)
