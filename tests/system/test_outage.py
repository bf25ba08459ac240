"""The example of an outage prints what its page says, and fails no more often than it promises."""

from __future__ import annotations

import re
import runpy
from typing import Any

import pytest

from tests.support.paths import EXAMPLES, ROOT
from tests.support.soak import SOAK

PARTS = ("story", "compare", "burst", "hour") if SOAK else ("story", "burst")


def lines(text: str) -> list[str]:
    """The lines that are not empty."""
    return [line for line in text.splitlines() if line]


def test_an_outage_costs_the_calls_in_flight_and_one_probe_for_each_cooldown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = runpy.run_path(str(EXAMPLES / "provider_outage.py"))
    plain: Any = example["Traffic"]
    played: list[Any] = []

    def traffic(**options: Any) -> Any:
        played.append(plain(**options))
        return played[-1]

    monkeypatch.setitem(example["story"].__globals__, "Traffic", traffic)
    for part in PARTS:
        example[part]()
    page = (ROOT / "docs" / "outage.md").read_text()
    shown = lines("".join(re.findall(r"^```text\n(.*?)^```$", page, re.M | re.S)))
    printed = lines(capsys.readouterr().out)
    assert [line for line in shown if line in printed] == printed
    assert printed == shown or not SOAK
    check_story(played[0])


def check_story(traffic: Any) -> None:
    lengths = [cooldown.length for cooldown in traffic.cooldowns]
    assert lengths == [2**number for number in range(len(lengths))]
    begin, end = traffic.outage
    probes = [at for at, model in traffic.calls if model == "medium" and begin <= at < end]
    assert len(probes) == len(lengths) - 1
    assert traffic.recovered - end < lengths[-1] + 5, "a cool-down, the next ask and the call"
    status = traffic.campaign.status()
    assert status.counts["failed"] == len(traffic.failures)
    assert status.cooling == ()
    assert traffic.campaign.audit().ok
