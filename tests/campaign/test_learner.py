"""A learner compiles each step before it is first needed, and says so where that takes long."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from purse.campaign import learner as learner_module
from purse.campaign.campaign import Campaign
from purse.campaign.storage.connect import in_memory
from purse.compiler.jit import direct
from purse.engine import steps


class Impatient:
    """A timer whose time is always up."""

    def __init__(self, seconds: float, say: Any, words: tuple[Any, ...]) -> None:
        self.say, self.words = say, words

    def start(self) -> None:
        self.say(*self.words)

    def cancel(self) -> None: ...


@pytest.fixture
def campaign() -> Campaign:
    return Campaign.create(
        "c", arms={"a": 1, "b": 3}, budget=1_000, policy="uniform", storage=in_memory()
    )


def test_a_step_is_compiled_when_it_is_first_needed(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, change = list[str](), campaign.storage.change

    def compiled(step: Any, *args: Any) -> Any:
        made.append(step.py_func.__name__.partition("_at")[0])
        return direct(step, *args)

    monkeypatch.setattr(steps, "direct", compiled)
    monkeypatch.setattr(
        campaign.storage, "change", lambda *wanted: made.append("locked") or change(*wanted)
    )
    first = campaign.ask()
    assert made == ["ask", "locked"]
    campaign.tell(first, 1, 1)
    assert made == ["ask", "locked", "locked"]
    campaign.ask()
    campaign.ask()
    assert made == ["ask", "locked", "locked", "tell", "locked", "locked"]


def test_what_is_being_compiled_is_logged_after_a_moment(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(learner_module, "Timer", Impatient)
    with caplog.at_level(logging.INFO, learner_module.__name__):
        campaign.ask()
        campaign.ask()
    assert caplog.messages == ["c: compiling uniform, once"] * 2  # to ask, and to tell
