import io
import re
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from purse.base.progress import _QUIET_S, Progress, progress, whole

Replace = Callable[[io.StringIO], io.StringIO]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    now = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr("purse.base.progress.time", SimpleNamespace(monotonic=lambda: now.seconds))
    monkeypatch.setattr(Progress, "keep_showing", lambda shown: None)
    return now


@pytest.fixture
def stderr(monkeypatch: pytest.MonkeyPatch) -> Replace:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("TTY_COMPATIBLE", "TTY_INTERACTIVE", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def replace(stream: io.StringIO) -> io.StringIO:
        monkeypatch.setattr("sys.stderr", stream)
        return stream

    return replace


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_quick_work_shows_nothing(
    kind: type[io.StringIO], clock: SimpleNamespace, stderr: Replace
) -> None:
    out = stderr(kind())
    with progress("work") as shown:
        for _ in range(10):
            shown.show(0.5)
            clock.seconds += _QUIET_S / 11
    assert out.getvalue() == ""


def test_a_notebook_has_one_line_that_goes_away(
    clock: SimpleNamespace, stderr: Replace, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    line = SimpleNamespace(update=told.append)

    def display(shown: str, display_id: bool) -> SimpleNamespace:
        told.append(shown)
        return line

    shell = SimpleNamespace(kernel=None)
    fake = SimpleNamespace(get_ipython=lambda: shell, HTML=str, display=display)
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "IPython.display", fake)
    out = stderr(io.StringIO())
    with progress("work") as shown:
        for second in range(4):
            clock.seconds = 100.0 + second
            shown.show(second / 4)
    lines = [f"<p>work: {25 * second}% after {second} s</p>" for second in (1, 2, 3)]
    assert told == [*lines, ""]
    assert out.getvalue() == ""


def test_plain_lines_elsewhere_than_on_a_terminal(clock: SimpleNamespace, stderr: Replace) -> None:
    out = stderr(io.StringIO())
    with progress("work") as shown:
        for second in range(200):
            clock.seconds = 100.0 + second
            shown.show(second / 1000)
    assert [line.rpartition("after ")[2] for line in out.getvalue().splitlines()] == [
        *("1 s", "10 s", "30 s", "60 s", "120 s", "180 s", "199 s")
    ]
    assert "work: 3% after 30 s\n" in out.getvalue()


def test_it_never_runs_backwards_and_does_not_finish_what_was_interrupted(
    clock: SimpleNamespace, stderr: Replace
) -> None:
    out = stderr(io.StringIO())

    def work() -> None:
        with progress("work") as shown:
            shown.show(0.5)
            clock.seconds += 5
            shown.show(0.2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert out.getvalue() == "work: 50% after 5 s\n"


def test_lines_keep_their_distance_and_speak_of_parts(
    clock: SimpleNamespace, stderr: Replace
) -> None:
    out = stderr(io.StringIO())
    shown = Progress("work")
    clock.seconds += 10
    shown.part(0.0, 0.5, "first part")
    shown.show(0.2)
    clock.seconds += 19.9
    shown.part(0.5, 0.5, "second part")
    shown.show(0.2)
    clock.seconds += 0.1
    shown.show(0.4)
    assert out.getvalue().splitlines() == [
        "work: first part: 10% after 10 s",
        "work: second part: 70% after 30 s",
    ]


def test_it_speaks_by_itself_if_the_work_says_nothing(
    monkeypatch: pytest.MonkeyPatch, stderr: Replace
) -> None:
    out = stderr(io.StringIO())
    monkeypatch.setattr("purse.base.progress._QUIET_S", 0.01)
    with whole("work"), progress("part") as shown, shown.busy("compiling", "usually 5 s"):
        for _ in range(200):
            if out.getvalue():
                break
            time.sleep(0.05)
    first, *_, last = out.getvalue().splitlines()
    assert re.fullmatch(r"work: (compiling \(usually 5 s\): )?\d+ s so far", first)
    assert re.fullmatch(r"work: 100% after \d+ s", last)


def test_a_bar_on_a_terminal_that_goes_away(clock: SimpleNamespace, stderr: Replace) -> None:
    out = stderr(Terminal())
    with progress("work") as shown:
        clock.seconds += _QUIET_S
        shown.part(0.0, 1.0, "first part")
        shown.show(0.5)
        shown.bar.refresh()
        during = out.getvalue()
        shown.show(0.75)
        shown.bar.refresh()
    assert "first part" in during
    assert "50%" in during
    assert "75%" in out.getvalue()
    assert out.getvalue().endswith("\x1b[2K")
    assert shown.bar.finished is False
    assert shown.bar.live.is_started is False


def test_the_bar_goes_away_when_work_is_interrupted(
    clock: SimpleNamespace, stderr: Replace
) -> None:
    stderr(Terminal())

    def work() -> None:
        with progress("work") as shown:
            bars.append(shown)
            clock.seconds += _QUIET_S
            shown.show(0.5)
            raise KeyboardInterrupt

    bars: list[Progress] = []
    with pytest.raises(KeyboardInterrupt):
        work()
    assert bars[0].bar.live.is_started is False


def test_a_bar_that_would_open_late_stays_away(clock: SimpleNamespace, stderr: Replace) -> None:
    stderr(Terminal())
    shown = Progress("work")
    shown.close()
    clock.seconds += 2 * _QUIET_S
    shown.show(0.5)
    assert shown.bar is None
