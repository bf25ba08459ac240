"""What the money bought, the last hour and day, and the tickets that alarms are about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from purse.campaign.history import History
from purse.campaign.time_series import LENGTHS, SLOTS
from tests.campaign.test_history import CENT, START, Script, folded, make_terms

HOUR, DAY = LENGTHS["hour"], LENGTHS["day"]


def pulls(n: int, *, after: int, cost: int = CENT) -> Script:
    """Pulls of arm 0 with reward 1 and of arm 1 with reward 0.25, in turn."""
    script = Script()
    for ticket in range(1, n + 1):
        arm = ticket % 2
        script.ask(ticket, [arm], [cost], after=after)
        script.tell(ticket, [arm], [0.25 if arm else 1.0], [cost], [cost])
    return script


def test_the_gain_is_compared_with_one_arm_and_with_all_equally_often() -> None:
    value = folded(pulls(8, after=1000)).as_dict()["value"]
    assert (value["gain"], value["paid"], value["per_unit"]) == (5.0, ["0.08"], pytest.approx(62.5))
    assert (value["best"]["arm"], value["best"]["told"]) == ("a", 4)
    assert value["best"]["gain"] == pytest.approx(8.0)
    assert value["uniform"] == pytest.approx(5.0)


def test_with_a_horizon_others_get_no_more_pulls() -> None:
    script = Script()
    for ticket in range(1, 9):  # the cheap arm gains less in a pull, and more for the money
        arm, cost = ticket % 2, CENT if ticket % 2 else 10 * CENT
        script.ask(ticket, [arm], [cost])
        script.tell(ticket, [arm], [0.5 if arm else 1.0], [cost], [cost])
    value = folded(script, replace(make_terms(), horizon=100)).as_dict()["value"]
    assert (value["best"]["arm"], value["best"]["gain"]) == ("a", pytest.approx(4.4))
    assert (value["gain"], value["uniform"]) == (6.0, pytest.approx(6.0))
    assert folded(script).as_dict()["value"]["best"]["gain"] == pytest.approx(22.0)


def test_overruns_are_paid_and_what_has_no_report_is_not_compared() -> None:
    script = Script()
    script.ask(1, [0], [CENT])
    script.tell(1, [0], [1.0], [3 * CENT], [CENT], overrun=[2 * CENT])
    script.ask(2, [1], [CENT])
    value = folded(script).as_dict()["value"]
    assert (value["paid"], value["best"], value["uniform"]) == (["0.03"], None, None)
    nothing = History(make_terms()).as_dict()["value"]
    assert (nothing["gain"], nothing["per_unit"], nothing["best"]) == (0.0, None, None)


@pytest.mark.parametrize(("span", "length"), list(LENGTHS.items()))
def test_the_last_hour_and_day_are_finer_than_the_whole(span: str, length: int) -> None:
    script = pulls(3000, after=60_000)  # two days
    history, now = folded(script), START + 3000 * 60_000
    series = history.as_dict(now, span)["series"]
    assert series["at"][0] == (now - length) / 1000
    assert series["at"] == sorted(series["at"])
    assert len(series["at"]) <= SLOTS + 3
    made = [sum(arm["pulls"][place] for arm in series["pulls"]) for place in (0, -1)]
    assert 0 <= made[1] - made[0] - length // 60_000 <= length / SLOTS / 60_000  # a slot
    gained = series["gain"][-1] - series["gain"][0]
    assert gained == pytest.approx(0.625 * (made[1] - made[0]), abs=0.5)
    again = History(make_terms())
    assert again.restore(history.checkpoint(""))
    assert again.as_dict(now, span) == history.as_dict(now, span)
    later = history.as_dict(now + 2 * length, span)["series"]
    assert len(later["at"]) == 1, "nothing has happened since"


def test_a_young_campaign_shows_all_of_itself() -> None:
    history, now = folded(pulls(10, after=1000)), START + 20_000
    assert history.as_dict(now, "hour")["series"] == history.as_dict(now)["series"]


def test_the_last_tickets_of_each_kind_of_alarm_are_known() -> None:
    script = pulls(1, after=1000)
    for ticket in range(2, 20):
        script.ask(ticket, [0], [CENT])
        script.tell(ticket, [0], [1.0], [2 * CENT], [CENT], after=1000, overrun=[CENT])
    script.add("conflict", 5, report={})
    script.ask(20, [0], [CENT])
    script.add("expired", 20, units=[CENT])
    found = folded(script).as_dict()["incidents"]
    assert [ticket for _, ticket in found["overrun"]] == list(range(10, 20))
    assert found["conflict"] == [[script.at / 1000, 5]]
    assert found["presumed"] == [[script.at / 1000, 20]]
    assert found["outside-range"] == []
