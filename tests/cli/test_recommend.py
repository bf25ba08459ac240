"""`purse recommend` of a campaign and of a world, and its mistakes."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import purse
from purse import Campaign, InvalidInput
from purse.base import exit_codes
from tests.support.campaigns import refusal
from tests.support.cli import WORLD, Command, complaint
from tests.support.paths import ROOT
from tests.support.service import PROMPTS

STORAGE = "--storage sqlite:///purse.db"
THREE = "bernoulli:rewards=[.55,.85,.6],costs=[.2,.6,.9]"


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """A campaign with four reports of each arm, which are just enough."""
    monkeypatch.chdir(tmp_path)
    made = Campaign.create(**PROMPTS, storage="sqlite:///purse.db")
    for arm, reward in (("small", 1), ("large", 0)) * 4:
        made.tell(made.ask(arms=[arm]), reward, "0.001")
    return made


def test_of_a_campaign(command: Command, campaign: Campaign) -> None:
    code, out, err = command(f"recommend prompts {STORAGE} --confidence 0.9")
    assert (code, err) == (exit_codes.OK, "")
    assert out.startswith("small is best by reward, with 94.")
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


def test_a_file_is_for_replay(command: Command, tmp_path: Path) -> None:
    (tmp_path / "eval.csv").write_text("reward_a\n1\n")
    for storage in ("", f"{STORAGE} "):
        said = complaint(command, f"recommend {storage}eval.csv")
        assert "eval.csv: is a file and no campaign; for the rows of a file: purse replay" in said


def test_a_world_whose_means_change_has_no_best_arm(command: Command) -> None:
    changing = purse.worlds.example("switching")
    code, _, err = command("recommend -b 10 -w", changing)
    assert (code, "nobody knows them, so that no arm is best" in err) == (exit_codes.MISTAKE, True)


def test_what_the_page_prints_is_what_is_printed(command: Command) -> None:
    page = (ROOT / "docs" / "recommend.md").read_text()
    line, printed = re.findall(r"\$ purse (recommend -w.*)\n((?:.+\n)+)```", page)[0]
    code, out, _ = command(line)
    assert (code, out) == (exit_codes.OK, printed)
    facts = json.loads(command(f"{line} --json")[1])
    study = purse.recommend(THREE, 500, n_paths=200)
    assert facts == json.loads(json.dumps(study.as_dict()))
    assert (study.best, study["best-arm"].wrong, study["uniform"].wrong) == (("1",), 0, 0)
    assert study["best-arm"].spent < study["uniform"].spent
    assert repr(study).startswith(f"<RecommendationStudy of {THREE}: 200 paths, budget 500")
    assert study._repr_html_().startswith("<p>bernoulli:")
    assert shlex.split(line)[2] == study.world


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ({"by": "ratio"}, ("0",)),
        ({"cap": "0.5"}, ("0",)),
        ({"cap": 0.1}, ()),
        ({"within": 0.4}, ("0", "1", "2")),
    ],
)
def test_the_truth_is_what_the_answers_are_held_against(
    question: dict[str, Any], best: tuple[str, ...]
) -> None:
    study = purse.recommend(THREE, 2000, n_paths=20, seed=3, **question)
    assert study.best == best
    for each in study.results:
        assert (each.certain, each.wrong, each.leader_right) == (1, 0, 1)


def test_where_the_budget_is_too_small_nothing_is_certain() -> None:
    study = purse.recommend(THREE, 10, n_paths=20)
    assert [each.certain for each in study.results] == [0, 0]
    assert all(0 < each.leader_right < 1 for each in study.results)
    assert all(each.spent <= 10 for each in study.results)
    assert refusal(InvalidInput, study.__getitem__, "greedy").startswith("sampling='greedy'")
