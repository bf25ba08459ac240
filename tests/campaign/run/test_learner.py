"""A learner runs as plain Python at once, and as machine code after some seconds of use."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from purse.campaign.campaign import Campaign
from purse.campaign.storage.connect import in_memory
from purse.engine import steps
from tests.support.processes import fresh_process

FIRST = """
import json, sys
import purse
campaign = purse.Campaign.create(
    "c", arms={"a": 1, "b": 3}, budget=1_000, policy="replan", storage="memory:"
)
chosen = []
for _ in range(20):
    ticket = campaign.ask()
    chosen.append([ticket.arm, ticket.probability])
    campaign.tell(ticket, 0.5, 1)
print(json.dumps([chosen, campaign.audit().ok, "numba" in sys.modules]))
"""


def make(policy: str = "uniform") -> Campaign:
    return Campaign.create(
        "c", arms={"a": 1, "b": 3}, budget=10_000, policy=policy, storage=in_memory()
    )


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> dict[Any, steps._StepsOfKind]:
    """The steps of all games of the test; none of an earlier one is compiled."""
    made: dict[Any, steps._StepsOfKind] = {}
    monkeypatch.setattr(steps, "_steps", made)
    return made


def play(campaign: Campaign, rounds: int) -> list[tuple[str | None, float]]:
    chosen = []
    for _ in range(rounds):
        ticket = campaign.ask()
        chosen.append((ticket.arm, ticket.probability))
        campaign.tell(ticket, 0.5, 1)
    return chosen


def test_a_first_ask_imports_no_compiler(tmp_path: Path) -> None:
    _, right, compiler = fresh_process(FIRST, cache=tmp_path)
    assert right
    assert not compiler


def test_steps_are_compiled_in_the_background_after_some_use(
    monkeypatch: pytest.MonkeyPatch, kinds: dict[Any, steps._StepsOfKind]
) -> None:
    campaign = make("exp3.bwk")
    first = play(campaign, 20)
    (kind,) = kinds.values()
    assert kind.ask.machine is kind.tell.machine is None
    monkeypatch.setattr(steps, "_PATIENCE_S", 0.0)
    first += play(campaign, 1)
    assert kind._thread is not None
    kind._thread.join()
    assert kind.ask.machine is not None
    assert kind.tell.machine is not None
    first += play(campaign, 20)
    plain = make("exp3.bwk")
    monkeypatch.setattr(steps, "_steps", {})
    monkeypatch.setattr(steps, "is_installed", lambda package: False)
    assert play(plain, 41) == first
    assert campaign.audit().ok


def test_steps_that_do_not_compile_stay_in_plain_python(
    monkeypatch: pytest.MonkeyPatch,
    kinds: dict[Any, steps._StepsOfKind],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(steps, "_PATIENCE_S", 0.0)
    monkeypatch.setattr(steps._Step, "compile", lambda step: 1 / 0)
    campaign = make()
    play(campaign, 1)
    (kind,) = kinds.values()
    assert kind._thread is not None
    kind._thread.join()
    play(campaign, 3)
    assert caplog.messages == ["steps of uniform stay in plain Python: division by zero"]


def test_without_a_compiler_a_long_journal_says_how_long_it_takes(
    monkeypatch: pytest.MonkeyPatch,
    kinds: dict[Any, steps._StepsOfKind],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(steps, "is_installed", lambda package: False)
    monkeypatch.setattr(steps, "_SAMPLE", 30)
    campaign = make()
    play(campaign, 40)
    assert not caplog.messages
    with caplog.at_level(logging.WARNING):
        assert campaign.audit().ok
    (said,) = caplog.messages
    assert said.startswith("plain Python takes 0.")
    assert said.endswith(
        "s for 30 steps of uniform, numba a hundredth of it: pip install 'purse-bandits[lab]'"
    )
