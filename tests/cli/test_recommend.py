"""`purse recommend` of a campaign, and its mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import purse
from purse import Campaign
from purse.base import exit_codes
from purse.cli import complete
from tests.support.cli import WORLD, Command, complaint
from tests.support.service import PROMPTS

STORAGE = "--storage sqlite:///purse.db"


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """A campaign with eight reports of each arm, which are just enough."""
    monkeypatch.chdir(tmp_path)
    made = Campaign.create(**PROMPTS, storage="sqlite:///purse.db")
    for arm, reward in (("small", 1), ("large", 0)) * 8:
        made.tell(made.ask(arms=[arm]), reward, "0.001")
    return made


def test_of_a_campaign(command: Command, campaign: Campaign) -> None:
    code, out, err = command(f"recommend prompts {STORAGE} --confidence 0.9")
    assert (code, err) == (exit_codes.OK, "")
    assert out.startswith("small is best by reward, with 95.")
    assert out == f"{campaign.recommend(confidence=0.9)}\n"
    code, out, _ = command(f"recommend prompts {STORAGE} --by ratio --cap 0.02 --within 3 --json")
    found = campaign.recommend("ratio", cap="0.02", within=3)
    assert json.loads(out) == json.loads(json.dumps(found.as_dict()))
    assert code == exit_codes.UNSURE == 8
    code, out, _ = command(f"recommend prompts {STORAGE} --confidence 0.99 --resource USD")
    assert (code, out[:35]) == (exit_codes.UNSURE, "not sure yet: small leads by reward")


MISTAKES = [
    ("", "recommend: name a campaign, or a world with --world"),
    (f"prompts -w {WORLD} -b 10", "recommend prompts: name a campaign or --world, not both"),
    ("prompts -b 10", "--budget is for --world, and a campaign is named"),
    ("prompts -n 10", "--paths is for --world, and a campaign is named"),
    (f"-w {WORLD}", "--budget is missing: the budget of each simulated path"),
    (f"-w {WORLD} -b 10 --resource USD", "--resource is for campaigns"),
    (f"-w {WORLD} -b -10", "budget=-10.0: must be positive"),
    (f"-w {WORLD} -b 10 -n 0", "n_paths=0: must be a whole number from 1 up"),
    (f"-w {WORLD} -b 10 --cap -1", "cap=-1.0: must be a number above 0"),
    (f"-w {WORLD} -b 10 --confidence 95", "confidence=95: must be above 0 and below 1"),
    (f"-w {WORLD} -b 10 --by cost", "by='cost': must be one of 'reward', 'ratio'"),
    ("-w outages -b 10", "outages"),
    ("promts", "did you mean 'prompts'?"),
]


def test_mistakes_are_one_line(command: Command, campaign: Campaign) -> None:
    for words, message in MISTAKES:
        assert message in complaint(command, f"recommend {STORAGE} {words}")


def test_a_world_whose_means_change_has_no_best_arm(command: Command) -> None:
    changing = purse.worlds.example("switching")
    code, _, err = command("recommend -b 10 -w", changing)
    assert (code, "nobody knows them, so that no arm is best" in err) == (exit_codes.MISTAKE, True)


def test_the_tab_key_knows_what_an_arm_is_best_by() -> None:
    nothing: Any = None
    assert complete.criteria(nothing, nothing, "ra") == ["ratio"]
