"""Figures drawn in a process of their own, while this one writes the page: the renderer uses one
core.

What the process cannot do, this one does itself, so nothing depends on it but time.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.util import find_spec
from subprocess import Popen
from typing import Any, Self

from purse.base.processes import start_helper, usable_cores
from purse.report.charts.export import Drawn, draw, version

HELPER = "from purse.report.charts.drawn_aside import help_out; help_out()"
SMALLEST: dict[str, Any] = {"mark": "bar", "data": {"values": []}}


class FigureHelper:
    """A process that draws figures; it starts at once, so that the renderer is ready when they
    come.
    """

    def __init__(self) -> None:
        self._process: Popen[bytes] | None = None
        self._answer: Future[tuple[bytes, bytes]] | None = None
        if usable_cores() > 1 and find_spec("vl_convert"):
            try:
                self._process = start_helper(HELPER)
            except OSError:
                return
            self._thread = ThreadPoolExecutor(1)

    def begin(self, specs: Sequence[dict[str, Any]]) -> None:
        """Let the process draw these charts."""
        if self._process is not None:
            sent = pickle.dumps((list(specs), version()))
            self._answer = self._thread.submit(self._process.communicate, sent)

    def drawn(self) -> list[Drawn] | None:
        """Wait for the charts, and return them in order; None where the process has failed."""
        if self._process is None or self._answer is None:
            return None
        found, _ = self._answer.result()
        return None if self._process.returncode else [Drawn(*each) for each in pickle.loads(found)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._thread.shutdown()
            self._process.communicate()


def help_out() -> None:
    """Draw what comes in; all that the process does."""
    import vl_convert

    vl_convert.vegalite_to_svg(SMALLEST)  # the renderer takes most of a second to start
    specs, known = pickle.load(sys.stdin.buffer)
    sys.stdout.buffer.write(pickle.dumps([tuple(draw(spec, known)) for spec in specs]))
