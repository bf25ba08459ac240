"""The programs in `examples/` do what their pages say, and a page with commands can be followed."""

import json
import os
import re
import runpy
import shlex
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purse
from purse.testing import check_policy, check_world
from tests.support.cli import main
from tests.support.paths import EXAMPLES, ROOT
from tests.support.soak import SOAK
from tests.system.test_studies import free_port

OUTAGE = ("story", "compare", "burst", "hour") if SOAK else ("story", "burst")
COMPANY = (ROOT / "docs" / "company.md").read_text()
BLOCK = re.compile(  # of commands, of their output, and of a file, whose name is its caption
    r"```(?:(console|text)|\{code-block\} \w+\n:caption: (\S+)\n)\n(.*?)```", re.DOTALL
)
# dates, ids and what follows from them
VARIES = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC|digest [0-9a-f]{32}")


def test_the_policy_of_the_example_passes_the_checks_and_learns() -> None:
    path = str(EXAMPLES / "epsilon_greedy.py")
    check_policy(path, quick=not SOAK)
    check_policy(f"{path}:epsilon=1", quick=True)
    table = purse.compare(
        [f"{path}:epsilon=0.05", "uniform"], "misleading_ratio", budgets=[1000], n_paths=30
    ).table()
    ours, uniform = table["regret"].to_list()
    assert ours < uniform / 2


def test_worlds_of_ones_own_pass_the_check_and_play() -> None:
    happy = purse.worlds.make(f"{EXAMPLES / 'happy_hour.py'}:discount=0.7", budget=100)
    assert (happy.tables.costs[:, 1, 0, 0] / 1e9).tolist() == pytest.approx(
        [0.5] * 17 + [0.15] * 3 + [0.5] * 4
    )
    check_world(happy)
    noisy = purse.worlds.make(
        f"{EXAMPLES / 'noisy_prices.py'}:rewards=[.5,.6],low=[.1,.5],high=[1,.6]", budget=100
    )
    check_world(noisy)
    # one loop to compile: the best fixed arm, here arm 0, is played for comparison anyway
    assert purse.lab.regrets("fixed:arm=1", noisy, 1000, n_paths=20)["own_rounds"].mean > 0


def test_the_router_spends_its_budget_on_the_cheap_model(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runpy.run_path(str(EXAMPLES / "route_llm_calls.py"), run_name="__main__")
    first, *models = capsys.readouterr().out.splitlines()
    spent = float(first.split("$")[1].split()[0])
    assert 9.95 <= spent <= 10
    counts = [int(line.split()[1]) for line in models]
    assert counts[0] > counts[2]


def write_answers(folder: Path, *rows: tuple[str, float, float]) -> None:
    """Write 100 recorded prompts as the package has them: source, reward of small and of large."""
    data = folder / "pareto_bandit" / "data" / "examples"
    data.mkdir(parents=True)
    (folder / "pareto_bandit" / "__init__.py").touch()
    lines = [
        json.dumps(
            {
                "prompt": "?",
                "source": source,
                "arms": {
                    "a/small": {"reward": small, "cost": 0.001},
                    "b/large": {"reward": large, "cost": 0.1},
                },
            }
        )
        for source, small, large in rows
    ]
    for part in ("test_holdout", "val"):
        (data / f"{part}.jsonl").write_text("\n".join(lines * (100 // len(rows))) + "\n")


def test_recorded_answers_are_replayed_with_every_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_answers(tmp_path, ("chat", 0.5, 1))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "argv", ["llm_routing_replay.py", "uniform"])
    runpy.run_path(str(EXAMPLES / "llm_routing_replay.py"), run_name="__main__")
    head, *lines = capsys.readouterr().out.splitlines()
    assert " ".join(head.split()) == "quality bought with $0.05 $0.1 $0.3 $1 $3 $10 $30"
    found = {line[:48].strip(): line[48:].split() for line in lines}
    assert found["always small (cheapest)"] == ["25", *["50"] * 6]
    large = found["always large (largest reward a pull)"]
    assert large == ["0", "1", "3", "10", "30", "100", "100"]
    assert found["LP optimum"] == ["25", "50", "51", "55", "65", "100", "100"]
    assert "uniform" in found


@pytest.mark.parametrize(
    ("example", "line"),
    [
        (
            "llm_routing_replay.py",
            "the data are in a package that is not installed: pip install paretobandit\n",
        ),
        ("digit_specialists.py", "the digits need scikit-learn: pip install scikit-learn\n"),
    ],
)
def test_without_the_data_one_line_says_what_to_install(
    example: str, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(EXAMPLES / example), run_name="__main__")
    assert stopped.value.code == 2
    assert capsys.readouterr().err == line


def test_a_strategy_costs_all_its_calls_and_is_worth_its_last_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_answers(tmp_path, ("easy", 0.9, 1), ("hard", 0.2, 1))
    monkeypatch.syspath_prepend(tmp_path)
    example = runpy.run_path(str(EXAMPLES / "llm_cascades.py"))
    models = example["answers"]()
    rewards, costs = example["with_strategies"](*models, (1.0, 0.0, True))
    assert rewards[:2].tolist() == [[0.9, 1, 0.9], [0.2, 1, 1]]
    np.testing.assert_allclose(costs[:2], [[0.001, 0.1, 0.002], [0.001, 0.1, 0.102]])
    example["main"].__globals__["POLICY"] = "uniform"  # which nothing is compiled for
    example["main"](n_paths=2)
    found = {line[:36].strip(): line[36:].split() for line in capsys.readouterr().out.splitlines()}
    # $10: a tenth of it buys the large model for all easy prompts, which are worth 0.1 more each
    assert found["best single model"] == ["55", "55", "55", "55", "100"]
    assert float(found["best mixture, exact check, free"][3]) > float(
        found["best mixture of models"][3]
    )


@pytest.mark.skipif(not SOAK, reason="two policies are compiled, with contexts and without")
def test_who_knows_the_source_of_a_prompt_buys_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # the large model is right on code, the small one on chat, and the large one costs more
    write_answers(tmp_path, ("chat", 1, 0), ("code", 0, 1))
    monkeypatch.syspath_prepend(tmp_path)
    example = runpy.run_path(str(EXAMPLES / "llm_routing_replay.py"))
    example["show_contexts"](n_paths=4)
    found = {
        line[:48].strip(): [float(cell) for cell in line[48:].split()]
        for line in capsys.readouterr().out.splitlines()[1:]
    }
    # with $10 all 50 prompts of code can go to the large model, if one knows which they are
    assert found["LP without contexts"][5] == 50
    assert found["best linear policy on sources"][5] == pytest.approx(100, abs=1)
    blind, seeing = found["lin-ucb.price, no features"][5], found["lin-ucb.price, sources"][5]
    assert blind < 60 < 80 < seeing


def test_specialists_are_found_by_their_contexts(capsys: pytest.CaptureFixture[str]) -> None:
    example = runpy.run_path(str(EXAMPLES / "digit_specialists.py"))
    chance = np.random.default_rng(0)
    features = chance.choice([-1.0, 1.0], (200, 2))
    knows = (features > 0).astype(float)  # the first arm where the first feature is positive
    rewards = np.hstack([knows, np.ones((200, 1))])
    costs = np.tile([0.05, 0.05, 0.6], (200, 1))
    show = example["show"]
    policy = "lin-ucb.price" if SOAK else "uniform"  # which sees no contexts, and is compiled
    show.__globals__["POLICIES"] = [policy]
    show(features, rewards, costs, n_paths=4)
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split()[-4:] == ["5%", "10%", "20%", "50%"]
    found = {line[:24].strip(): float(line.split()[-3].replace(",", "")) for line in lines}
    assert found["LP without contexts"] < found["best linear policy"]
    assert (found["LP without contexts"] < found[policy]) == SOAK
    assert found[policy] <= found["best linear policy"]


def test_the_live_router_survives_a_crash_and_stays_within_its_budget(tmp_path: Path) -> None:
    words = [sys.executable, EXAMPLES / "route_llm_calls_live.py", tmp_path / "purse.db"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    killed, ended, late, calls, verdict = done.stdout.splitlines()
    assert (done.stderr, verdict) == ("", "the books agree with the journal")
    dollars = {
        line.split(":")[0]: [Decimal(part) for part in re.findall(r"\$([\d.]+)", line)]
        for line in (killed, ended, late)
    }
    assert 0 < sum(dollars[killed.split(":")[0]]) < Decimal("0.75")
    spent, presumed = dollars[ended.split(":")[0]]
    assert Decimal("0.70") < spent + presumed <= Decimal("0.75")
    after, without_report, left, budget = dollars[late.split(":")[0]]
    assert after > spent
    assert after + without_report + left == budget == Decimal("0.75")
    assert sum(map(int, re.findall(r" (\d+)(?:,|$)", calls))) > 50
    status = purse.Campaign.open("prompts", storage=f"sqlite:///{tmp_path / 'purse.db'}").status()
    assert status.counts["failed"] > 0
    assert status.counts["overruns"] == status.counts["conflicts"] == 0


def test_a_batch_job_that_was_killed_continues_without_a_second_hold(tmp_path: Path) -> None:
    words = [sys.executable, EXAMPLES / "batch_job.py", tmp_path]
    results, until = tmp_path / "results", time.monotonic() + 120
    with subprocess.Popen(
        words, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as first:
        while (
            len(list(results.glob("*.json"))) < 20
            and first.poll() is None
            and time.monotonic() < until
        ):
            time.sleep(0.005)
        if first.poll() is None:
            os.killpg(first.pid, signal.SIGKILL)
    campaign = purse.Campaign.open("batch", storage=f"sqlite:///{tmp_path / 'purse.db'}")
    finished = {ticket.request_id: ticket for ticket in campaign.tickets(["told"])}
    before = {path: path.stat().st_mtime_ns for path in results.glob("*.json")}
    assert 0 < len(finished) <= len(before)
    line = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120).stdout
    assert re.fullmatch(
        r"(\d+) of 120 items are done, \1 tickets; spent \$0\.5\d+ of \$0\.6\n", line
    )
    after = {ticket.request_id: ticket for ticket in campaign.tickets(["told"])}
    assert {item: after[item] for item in finished} == finished
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert campaign.status().counts["held"] == 0
    assert campaign.audit().ok


def lines(text: str) -> list[str]:
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
    for part in OUTAGE:
        example[part]()
    page = (ROOT / "docs" / "traffic.md").read_text()
    story = page.partition("## Ten minutes with an outage")[2].partition("\n## ")[0]
    shown = lines("".join(re.findall(r"^```text\n(.*?)^```$", story, re.M | re.S)))
    printed = lines(capsys.readouterr().out)
    both = [line for line in printed if line in shown]
    assert [line for line in shown if line in printed] == both
    assert both == shown or (not SOAK and len(both) > 10)
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


def test_the_page_of_a_company_can_be_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = COMPANY.replace("8099", str(free_port()))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    said = list[str]()
    for kind, file, block in BLOCK.findall(page):
        if file:
            (tmp_path / file).write_text(block)
        elif kind == "text" and said:
            printed = "".join(said)
            for line in VARIES.sub("...", block).splitlines():
                assert line in printed, (line, printed)
        elif kind == "console":
            said = [
                VARIES.sub("...", done(line[2:], monkeypatch, capsys))
                for line in block.splitlines()
            ]


def done(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command of the page, and return what it printed. Those of purse run in this process:
    each would load it for half a second.
    """
    variables, purse, words = line.rpartition("purse ")
    if not purse:
        return subprocess.run(
            ["bash", "-c", line], stdout=subprocess.PIPE, text=True, timeout=300, check=True
        ).stdout
    with monkeypatch.context() as patch:
        for variable in variables.split():
            patch.setenv(*variable.split("=", 1))
        assert main(patch, *shlex.split(words)) == 0
    return capsys.readouterr().out
