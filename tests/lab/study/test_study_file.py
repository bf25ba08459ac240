import re
from pathlib import Path

import pytest

import purse
from purse.lab.study import study_file
from purse.lab.study.plan import Plan
from purse.lab.study.study_file import load
from tests.support.paths import EPSILON_GREEDY

GREEDY = EPSILON_GREEDY.read_text()
PLAIN = """\
# a study with policies, budgets and worlds
title = "Many paths, seed by seed, until the budgets stop"
policies = [
    "uniform",
    "exp3.bwk",
]
budgets = [20, 50.5]
paths = 6
seed = 3
stop = "hold"

[worlds]
"a shop" = "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
plain = "same_costs"
"""


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "study.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def complaint(path: Path) -> str:
    with pytest.raises(purse.InvalidInput) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_study_file_is_a_plan(tmp_path: Path) -> None:
    plan = load(written(tmp_path, PLAIN))
    assert plan.policies == {"uniform": "uniform", "exp3.bwk": "exp3.bwk"}
    assert plan.worlds == {
        "a shop": "bernoulli:rewards=[.9,.6],costs=[.8,.3]",
        "plain": "same_costs",
    }
    assert (plan.budgets, plan.n_paths, plan.seed, plan.stop) == ((20.0, 50.5), 6, 3, "hold")
    assert plan.title == "Many paths, seed by seed, until the budgets stop"


def test_what_is_left_out_has_defaults(tmp_path: Path) -> None:
    plan = load(
        written(tmp_path, 'policies = ["uniform"]\nbudgets = [20]\nworlds.plain = "same_costs"\n')
    )
    assert (plan.title, plan.n_paths, plan.seed, plan.stop) == ("study", 50, 0, "exit")


def test_a_study_file_may_have_a_delay(tmp_path: Path) -> None:
    for line, value in (("", 0), ("delay = 3", 3), ('delay = "geometric:2.5"', "geometric:2.5")):
        plan = load(written(tmp_path, PLAIN.replace("seed = 3", f"seed = 3\n{line}")))
        assert plan.delay.value == value
        assert plan.toml is not None
        assert load(written(tmp_path, plan.toml)).facts == plan.facts


# what stands there | what is written instead | the line that is to blame | the complaint
CHANGES = r"""
paths = 6 | path = 6 | 8 | unknown key 'path'; did you mean 'paths'?
[worlds] | [world] | 12 | unknown key 'world'; did you mean 'worlds'?
"uniform" | "exp3.bw" | 4 | unknown policy 'exp3.bw'; did you mean 'exp3.bwk'?
"exp3.bwk", | "exp3.bwk",\n    "exp3.bw", | 6 | unknown policy 'exp3.bw'; did you mean 'exp3.bwk'?
"uniform" | 'unifrm' | 4 | unknown policy 'unifrm'; did you mean 'uniform'?
"exp3.bwk" | "exp3.bwk:gama=1" | 5 | unknown option of exp3.bwk 'gama'; did you mean 'gamma'?
"exp3.bwk" | "exp3.bwk:gamma=7" | 5 | gamma=7: must be
"uniform" | "uniform:=" | 4 | cannot read 'uniform:='
"uniform" | "kube" | 4 | kube needs to know what each arm costs
"uniform" | "policies/mine.py" | 4 | policy file
costs" | cost" | 14 | unknown world 'same_cost'; did you mean 'same_costs'?
costs=[.8,.3] | costs=[.8,-.3] | 13 | costs
same_costs | bernoulli | 14 | bernoulli needs rewards, costs; write bernoulli:rewards=...,costs=...
"uniform" | 5 | 3 | policies: 5 is not a text; policies must be a list of texts
"same_costs" | 5 | 14 | plain: 5 is not a text; worlds must be a table of texts
seed = 3\nstop = "hold"\n\n[worlds] | [worlds]\nseed = 3 | 10 | seed: 3 is not a text; worlds must
[\n    "uniform",\n    "exp3.bwk",\n] | "uniform" | 3 | policies must be a list of texts
[20, 50.5] | 20 | 7 | budgets must be a list of positive numbers
paths = 6 | paths = 6.5 | 8 | paths must be a whole number from 1 up
seed = 3 | seed = true | 9 | seed must be a whole number from 0 up
"Many paths, seed by seed, until the budgets stop" | 5 | 2 | title must be text
[worlds] | worlds = "same_costs"\n[extra] | 12 | worlds must be a table of texts
[\n    "uniform",\n    "exp3.bwk",\n] | [] | 3 | policies is empty; it must be a list of texts
[20, 50.5] | [] | 7 | budgets is empty; it must be a list of positive numbers
"exp3.bwk" | "uniform" | 3 | policy 'uniform' appears twice
[20, 50.5] | [20, 20.0] | 7 | budget 20.0 appears twice
[20, 50.5] | [20, -50.5] | 7 | budgets=-50.5: must be a number above 0
[20, 50.5] | [20, "50"] | 7 | budgets='50': must be a number above 0
paths = 6 | paths = 0 | 8 | n_paths=0: must be a whole number from 1 up
seed = 3 | seed = -3 | 9 | seed=-3: must be a whole number from 0
stop = "hold" | stop = "wait" | 10 | stop='wait': must be one of 'exit', 'hold', 'retry'
stop = "hold" | stop = "hold"\ndelay = -1 | 11 | delay=-1: must be a whole number of rounds
stop = "hold" | stop = "hold"\ndelay = [3] | 11 | delay must be a whole number of rounds, or text
"""


@pytest.mark.parametrize("change", CHANGES.strip().splitlines())
def test_what_is_wrong_is_said_with_file_and_line(change: str, tmp_path: Path) -> None:
    old, new, line, message = change.replace(r"\n", "\n").split(" | ")
    assert PLAIN.count(old) == 1
    path = written(tmp_path, PLAIN.replace(old, new))
    assert complaint(path).startswith(f"{path}, line {line}: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PLAIN.replace("budgets = [20, 50.5]\n", ""), "missing key: budgets; `purse lab init` wr"),
        ('title = "empty"\n', "missing keys: policies, budgets, worlds; `purse lab init` wr"),
        ('policies = ["uniform",]\nbudgets = [1,,2]\n', r".* \(at line 2, column 14\)"),
        ("seed = 1\nseed = 2\n", r".* \(at line 2, "),
    ],
)
def test_missing_keys_and_what_is_not_toml(text: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    assert re.match(f"{re.escape(str(path))}: {message}", complaint(path))


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    for path, why in {
        tmp_path / "missing.toml": "No such file or directory",
        tmp_path: "Is a directory",
        written(tmp_path, 'title = "Größe"'.encode("latin-1")): "it is not text in UTF-8",
    }.items():
        advice = "`purse lab init` writes an example"
        assert complaint(path) == f"cannot read {str(path)!r}: {why}; {advice}"


def test_lines_end_where_toml_says(tmp_path: Path) -> None:
    """Some characters end a line for Python and not for TOML; and a label is found with its
    escapes, or where a comment has the same word.
    """
    odd = PLAIN.replace("Many paths", "Many\u2028paths\x85").replace("# a study", "# seed = 3")
    path = written(tmp_path, odd.replace("seed = 3\nstop", "seed = -3\nstop"))
    assert complaint(path).startswith(f"{path}, line 9: seed=-3")
    path = written(
        tmp_path, PLAIN.replace('"a shop" = "bernoulli', '"a \\"shop\\" # 1" = "bernouli')
    )
    assert complaint(path).startswith(f"{path}, line 13: unknown world 'bernouli'")


def test_windows_line_ends_are_fine(tmp_path: Path) -> None:
    path = written(tmp_path, PLAIN.replace("\n", "\r\n"))
    assert load(path).facts == load(written(tmp_path, PLAIN)).facts
    path = written(tmp_path, PLAIN.replace("paths = 6", "paths = 0").replace("\n", "\r\n"))
    assert complaint(path).startswith(f"{path}, line 8: n_paths=0")


WORLD_FILE = """
import purse

def mine(cost: float = 0.5):
    return purse.worlds.bernoulli(rewards=[0.5, 0.6], costs=[cost, 0.5])
"""


def test_files_of_ones_own_are_looked_for_beside_the_study_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, greedy = tmp_path / "there", "greedy.py:epsilon=0.2"
    there.mkdir()
    (there / "greedy.py").write_text(GREEDY)
    (there / "mine.py").write_text(WORLD_FILE)
    text = PLAIN.replace("uniform", greedy).replace("same_costs", "mine.py:cost=0.25")
    path = written(there, text)
    monkeypatch.chdir(tmp_path)
    plan = load(path.relative_to(tmp_path))
    assert plan.policies[greedy] == f"{there.resolve()}/{greedy}"
    assert plan.worlds["plain"] == f"{there.resolve()}/mine.py:cost=0.25"
    *_, cell = plan.cells({})
    assert cell.world.cost_max.ravel().tolist() == [250_000_000, 500_000_000]
    assert cell.policies[greedy][0].job.params.epsilon == 0.2


@pytest.mark.parametrize(
    ("source", "old", "message"),
    [
        (GREEDY.replace("NAME =", "NAMES ="), "uniform", "line 4: .* a policy: it has no NAME"),
        ("def other(): ...", "same_costs", "line 14: .* a world: it has no function 'mine'"),
    ],
    ids=["policy", "world"],
)
def test_a_file_of_ones_own_that_is_wrong_is_blamed_on_its_line(
    source: str, old: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(source)
    path = written(tmp_path, PLAIN.replace(old, "mine.py"))
    expected = message.replace(".*", r".*mine\.py is not")
    assert re.match(f"{re.escape(str(path))}, {expected}", complaint(path))


def test_every_budget_is_tried_before_anything_runs(tmp_path: Path) -> None:
    source = WORLD_FILE.replace("mine(cost: float = 0.5)", "picky(budget)")
    (tmp_path / "picky.py").write_text(source.replace("cost, 0.5", "20 / budget, 0.5"))
    text = PLAIN.replace("same_costs", "picky.py").replace("50.5", "1e-30")
    path = written(tmp_path, text)
    assert complaint(path).startswith(f"{path}, line 14: ")


def test_keys_and_kinds_are_those_of_a_plan() -> None:
    assert study_file._KINDS.keys() - {"paths"} == Plan.__annotations__.keys() - {"n_paths"}
