import json
import re
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

from purse.kernels.prior import _read_prior
from tests.support.campaigns import made
from tests.support.cli import Command, check_mistake, complaint
from tests.support.paths import ROOT


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten replicates of a log instead of hundreds."""
    monkeypatch.setattr("purse.lab.data.question._REPLICATES", 10)


def test_replay_of_a_table_in_either_form(
    command: Command, unpublished: None, tmp_path: Path
) -> None:
    rounds = [
        (t, arm, t % 2 * cost**2, cost) for t in range(40) for arm, cost in (("a", 1), ("b", 3))
    ]
    long = pl.DataFrame(rounds, ["round", "arm", "reward", "cost"], orient="row")
    long.write_ndjson(tmp_path / "long.jsonl")
    long.pivot("arm", index="round", values=["reward", "cost"]).write_csv(tmp_path / "wide.csv")
    answers = [
        json.loads(command(f"replay {name} uniform -b 10 -n 5 --json")[1])["rows"]
        for name in ("wide.csv", "long.jsonl")
    ]
    assert answers[0] == answers[1]
    (folder,) = (tmp_path / "purse-results").glob("wide-*")
    assert "always a (cheapest)" in command(f"lab show {folder.name}")[1]
    assert {"uniform", "always a (cheapest)", "LP optimum", "hindsight optimum"} <= {
        row["player"] for row in answers[0]
    }


def test_features_in_a_table_and_a_warm_start_from_a_log(
    command: Command, unpublished: None, tmp_path: Path
) -> None:
    game = {"reward_a": [1.0, 0.0] * 5, "cost_a": 1.0, "reward_b": [0.0, 1.0] * 5, "cost_b": 1.0}
    table = pl.DataFrame({**game, "x_1": range(10), "x_2": ["p", "q"] * 5})
    table.write_csv(tmp_path / "table.csv")
    (tmp_path / "features.json").write_text('{"x_2": ["q", "p"], "x_1": null}')
    for given, note in (
        (
            "'x_*' --map fourier:3",
            "features: x_1 (0 to 9, the data's own); x_2 (2 classes, the data's own); map "
            "fourier:3,seed=0",
        ),
        ("@features.json", "features: x_2 (2 classes); x_1 (0 to 9, the data's own)"),
    ):
        code, out, _ = command(f"replay table.csv uniform -b 5 -n 2 --features {given}")
        assert code == 0
        words = " ".join(out.split())  # a long line is folded
        assert note in words
        assert "10 rounds are fewer than 10 for each of 2 arms x" in words
        assert {"LP without contexts", "best linear policy", "LP with contexts"} <= {
            line.split("  ")[0] for line in out.splitlines()
        }
    log = pl.DataFrame({"arm": ["a", "b"] * 5, "reward": 1, "cost": 0.5, "x": range(10)})
    log.write_csv(tmp_path / "log.csv")
    code, out, _ = command("replay log.csv --features x --map fourier:4 --save-prior prior.npz")
    assert code == 0
    assert _read_prior(tmp_path / "prior.npz").model.inverse.shape == (2, 6, 6)
    digest = sha256((tmp_path / "prior.npz").read_bytes()).hexdigest()
    assert out == f"prior.npz: 2 arms, SHA-256 {digest}\n"


def test_a_messy_log_is_read_and_said_how(
    command: Command, unpublished: None, tmp_path: Path
) -> None:
    rows = ["Model;clicked ;Dollars;propensity"]
    rows += [f"{'big' if t % 2 else 'tiny'};{'yes' if t % 3 else 'no'};0,5;,5" for t in range(90)]
    rows += ["tiny;;0,5;,5"]
    (tmp_path / "messy.txt").write_text("\n".join(rows))
    words = "replay messy.txt fixed:arm=0 -b 5 -n 4"
    _, _, said = command(words)
    assert "if 'clicked' does, name it: --reward clicked; else bring a column" in said
    words += " --arm model --reward clicked --cost dollars --probability propensity"
    _, _, said = command(words)
    assert "line 92, column 'clicked': is empty; give a number, or drop such rows with" in said
    code, out, _ = command(f"{words} --skip-empty")
    assert code == 0
    for note in (
        "cells are separated by semicolons",
        "column 'Model' is 'model', column 'Dollars' is 'dollars'",
        "1 of 91 rows are left out, since a cell is empty",
        "column 'clicked': true and yes are 1, false and no are 0",
        "columns 'dollars', 'propensity': commas are decimal commas",
    ):
        assert note in out
    assert all(len(line) <= 80 for line in out.splitlines()[:-1])


def test_a_budget_of_two_readings_is_refused_beside_decimal_commas(
    command: Command, unpublished: None, tmp_path: Path
) -> None:
    for name, cost in (("commas", "0,5"), ("points", "0.5")):
        (tmp_path / f"{name}.csv").write_text(
            "arm;reward;cost\n" + f"a;1;{cost}\nb;0;{cost}\n" * 60
        )
    line = "replay {}.csv fixed:arm=0 -n 4 --probability uniform -b {}"
    assert "budgets=5.000: may be 5 or 5000 beside the decimal commas of" in complaint(
        command, line.format("commas", "5.000")
    )
    for name, budget in (("commas", "5"), ("points", "5.000")):
        code, out, _ = command(line.format(name, budget))
        assert (code, "budget 5 " in out) == (0, True)


def test_options_have_folders_of_their_own_and_a_budget_may_have_a_currency(
    command: Command, unpublished: None, tmp_path: Path
) -> None:
    (tmp_path / "log.csv").write_text("ad,clicked,usd,prob\n" + "a,1,1,0.5\nb,0,1,0.5\n" * 40)
    words = "replay log.csv fixed:arm=0 -n 4 --arm ad --reward clicked --cost usd"
    assert "budgets: is missing; policies need one, or" in complaint(command, words)
    words += " --probability prob --budget"
    for given in ("80", "80", "80 --seed 1", "'$8'"):
        assert command(f"{words} {given}")[0] == 0
    assert len(list((tmp_path / "purse-results").iterdir())) == 3
    assert "'0,8x' is not a number" in complaint(command, f"{words} '$0,8x'")


# a cheap arm that is as good, and one that is not
LOG = "model,cost_usd,reward\n" + "big,0.02,1\nsmall,0.002,1\nbig,0.02,1\nlocal,0.001,0\n" * 500


def test_without_a_budget_the_first_line_says_what_would_have_been_saved(
    command: Command, unpublished: None, tmp_path: Path
) -> None:
    (tmp_path / "log.csv").write_text(LOG)
    code, out, _ = command("replay log.csv")
    assert code == 0
    title, *lines = out.splitlines()
    assert title == "log.csv: 2,000 rounds of 3 arms"
    assert " ".join(lines[:2]) == (
        "The log: 1,500 good for $21.50. As good (within 2%) for less: 75% small and 25% local, "
        "$3.50 (84% less; 95%: 84 to 84%)."
    )
    assert lines[2].startswith("This holds if which arm answered had nothing to do with how hard")
    rows = [line.split("  ")[0] for line in lines]
    assert {"the log", "always big", "always small", "always local", "replan"} <= set(rows)
    answer = json.loads(command("replay log.csv --within 1% --json")[1])
    assert answer["shares"] == {"local": 0.25, "small": 0.75}
    assert [row["kind"] for row in answer["rows"]] == ["log", "mixture", *["arm"] * 3, "policy"]
    assert len(answer["curve"]) == 21
    assert "within=0.6: must be a number at least 0 and at most 0.5" in complaint(
        command, "replay log.csv --within 60%"
    )


def test_what_cannot_be_told_has_a_price_and_a_campaign_that_buys_it(
    command: Command, unpublished: None, tmp_path: Path
) -> None:
    (tmp_path / "log.csv").write_text("\n".join(LOG.splitlines()[:100]))
    code, out, _ = command("replay log.csv")
    words = " ".join(out.split())
    assert code == 0
    assert "This log cannot tell what is as good for less: no arm that is cheaper" in words
    assert "To know it of always local to ± 5 points: " in words
    assert "`purse replay log.csv --create NAME`".replace("`", "") in words
    code, out, _ = command("replay log.csv --create know")
    assert code == 0
    assert "know: a campaign of " in out
    assert "each arm as likely; a call costs at most what 99% of them cost: big 0.02" in out
    asked = json.loads(command("campaign ask know --json")[1])
    assert asked["tickets"][0]["arm"] in ("big", "small", "local")
    (tmp_path / "long.csv").write_text(LOG)
    assert "create='x': goes without a budget" in complaint(
        command, "replay long.csv fixed:arm=0 --create x --budget 1 --cost cost_usd --arm model "
        "--probability frequency -n 2"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,cost,reward\n" + "a,1,1\n" * 9, "has one arm, 'a': there is nothing to compare"),
        ("model,cost,reward\n" + "a,0,1\nb,0,1\n" * 9, "every cost is 0, so there is nothing"),
        ("model,cost,reward\na,1,1\nb,-1,1\n", "line 3, column 'cost': -1.0 must be a number at"),
        ("model,cost,reward\na,1,1\nb,1\n", "line 3: must have 3 cells, as the header has, and"),
        ("model,cost,reward\na,$1,1\nb,1,1\n", "line 2, column 'cost': '$1' must be a number"),
        ("", "log.csv is empty"),
        ("model,cost,reward\n", "log.csv has no rows"),
    ],
)
def test_logs_that_cannot_be_asked(
    text: str, message: str, command: Command, tmp_path: Path
) -> None:
    (tmp_path / "log.csv").write_text(text)
    check_mistake(command, tmp_path, "replay log.csv", message)


def test_a_log_in_another_encoding(command: Command, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes("model,cost,reward\nGröße,1,1\n".encode("latin-1"))
    assert "line 2: byte 0xf6 is not UTF-8" in complaint(command, "replay log.csv")


def test_a_log_comes_through_standard_input(
    command: Command, unpublished: None, tmp_path: Path
) -> None:
    text = "arm\treward\tcost\n" + "a\t1\t1\nb\t0\t1\n" * 40
    line = "replay - fixed:arm=0 -b 5 -n 4 --probability uniform --json"
    code, out, _ = command(line, stdin=text)
    assert code == 0
    rows = json.loads(out)["rows"]
    assert rows[0]["estimate"] == pytest.approx(5)
    assert list((tmp_path / "purse-results").glob("stdin-*"))


def test_replay_of_a_campaign(command: Command, unpublished: None, tmp_path: Path) -> None:
    campaign = made(budget=100, cost_min=1, seed=1)
    for ticket in campaign.ask_many(100):
        campaign.tell(ticket, 1.0, 1)
    campaign.export(tmp_path / "export.jsonl")
    code, out, _ = command("replay export.jsonl fixed:arm=0 uniform -n 4")
    assert code == 0
    assert "export.jsonl: 100 logged rounds of 2 arms" in out
    assert "the campaign itself earned 100 with uniform, from 100 tickets with a reward" in out
    rows = json.loads(command("replay export.jsonl uniform -n 4 --budget 7 --json")[1])["rows"]
    assert [(row["budget"], row["estimate"]) for row in rows] == [(7, 7)]


def test_a_campaign_without_chances_says_what_to_change(command: Command, tmp_path: Path) -> None:
    campaign = made(budget=100, policy="fixed:arm=0")
    for ticket in campaign.ask_many(50):
        campaign.tell(ticket, 1.0, 1)
    campaign.export(tmp_path / "export.jsonl")
    code, out, said = command("replay export.jsonl uniform")
    assert (code, out, len(said.splitlines())) == (2, "", 1)
    assert said.endswith("create the campaign with explore=0.05\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("replay log.csv --cost size", "log.csv has no column 'size'"),
        ("replay nowhere.csv -b 1", "nowhere.csv"),
        ("replay netiher.csv", "cannot be read: No such file or directory; did you mean 'neither"),
        ("compare mine.py", "policy file 'mine.py' does not exist; did you mean 'mime.py'?"),
        ("replay neither.csv -b 1", "neither.csv has no column 'arm', 'reward', 'cost', nor"),
        ("replay log.csv -b 1 exp3.bkw", "did you mean 'exp3.bwk'?"),
        ("replay log.csv -b 1 --features x_*", "features: no column of log.csv fits 'x_*'"),
        ("replay log.csv -b 1 --features @no.json", "cannot read 'no.json'"),
        ("replay log.csv -b 1 --per-arm", "per_arm=True: needs features"),
        ("replay log.csv --features size --save-prior p.npz", "log.csv has no column 'size'"),
        ("replay nan.csv -b 1", "nan.csv, line 3, column 'reward'"),
        (
            "replay money.csv -b 1 --probability uniform",
            "money.csv, line 2, column 'cost': '$0.10' must be a number at least 0; write the "
            "number alone, such as 0.5, 0,5 or 1,234.50, without a currency or %",
        ),
    ],
)
def test_mistakes(words: str, message: str, command: Command, tmp_path: Path) -> None:
    for name, reward in (("log", "0.5"), ("nan", "NaN")):
        rows = ("arm,reward,cost,probability", "a,1,0.1,0.5", f"b,{reward},0.2,0.5")
        (tmp_path / f"{name}.csv").write_text("\n".join(rows))
    (tmp_path / "money.csv").write_text("arm,reward,cost\na,1,$0.10\nb,0,1\n")
    (tmp_path / "neither.csv").write_text("x,y\n1,0.1\n")
    (tmp_path / "mime.py").touch()
    check_mistake(command, tmp_path, words, message)


def test_the_page_makes_the_file_and_shows_how_it_is_read(command: Command) -> None:
    """The page *Your CSV in five minutes*."""
    page = (ROOT / "docs" / "your-csv.md").read_text()
    (script,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(script, "make_log.py", "exec"), {})
    shown = r"^\$ purse (replay [^\n]*)\n(.*?)```"
    (words, said), *_ = re.findall(shown, page, re.DOTALL | re.MULTILINE)
    code, out, _ = command(words)
    assert code == 0
    head = said.partition("…")[0].splitlines()
    assert out.splitlines()[: len(head)] == head


def test_the_page_on_savings_shows_what_the_commands_print(command: Command) -> None:
    """The page *What would I have saved?*, with the files that it makes."""
    page = (ROOT / "docs" / "savings.md").read_text()
    (script,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(script, "make_files.py", "exec"), {})
    shown = re.findall(
        r"^\$ purse (replay [^\n]*)\n(.*?)(?=^…|^```|^\$)", page, re.DOTALL | re.MULTILINE
    )
    assert len(shown) == 4
    for words, text in shown:
        _, out, said = command(words)
        assert (out or said).startswith(text.partition("Results and figures")[0].rstrip())
