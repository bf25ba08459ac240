"""The example of an outage prints what its page says, and fails no more often than it promises."""

from __future__ import annotations

import re
import runpy
from typing import Any

import pytest

from tests.support.paths import EXAMPLES, ROOT

EXAMPLE = str(EXAMPLES / "provider_outage.py")


def lines(text: str) -> list[str]:
    """The lines that are not empty."""
    return [line for line in text.splitlines() if line]


def test_the_page_shows_what_the_example_prints(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(EXAMPLE, run_name="__main__")
    page = (ROOT / "docs" / "outage.md").read_text()
    shown = "".join(re.findall(r"^```text\n(.*?)^```$", page, re.M | re.S))
    assert lines(shown) == lines(capsys.readouterr().out)


def test_an_outage_costs_the_calls_in_flight_and_one_probe_for_each_cooldown() -> None:
    traffic: Any = runpy.run_path(EXAMPLE)["Traffic"]()
    traffic.run()
    lengths = [each.length for each in traffic.cooldowns]
    assert lengths == [2**number for number in range(len(lengths))]
    begin, end = traffic.outage
    probes = [at for at, model in traffic.calls if model == "medium" and begin <= at < end]
    assert len(probes) == len(lengths) - 1
    assert traffic.recovered - end < lengths[-1] + 5, "a cool-down, the next ask and the call"
    status = traffic.campaign.status()
    assert status.counts["failed"] == len(traffic.failures)
    assert status.cooling == ()
    assert traffic.campaign.audit().ok
