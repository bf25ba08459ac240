"""The base alone: budgets without the packages of any extra, and one line for what needs one."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from purse.base.optional import _LAB as CHECKED
from tests.support.paths import ROOT

# markupsafe and llvmlite come with jinja2 and numba
LAB = ("altair", "jinja2", "llvmlite", "markupsafe", "numba", "polars", "scipy", "vl_convert")
SERVE = ("httptools", "prometheus_client", "starlette", "uvicorn", "uvloop")
OTHERS = ("genai_prices", "gymnasium", "httpx2", "joblib", "litellm", "numba_cuda", "pandas",
          "psycopg", "pyarrow", "pydantic_ai", "ray")  # fmt: skip
EXTRAS = (*LAB, *SERVE, *OTHERS)
MISSING = next(name for name in CHECKED if name in EXTRAS)  # what the lab misses first
WORDS = f"{MISSING}: pip install 'purse-bandits[lab]'"

BUDGETS = r"""
import asyncio
import purse

at = {"storage": "sqlite:///purse.db"}
purse.Account.create("company", budget=100, resources=["USD"], **at)
terms = {"budget": 40, "resources": ["USD"], "account": "company", **at}
arms = {"small": "0.01", "large": "0.05"}
purse.Account.create("team", every="month", carry="all", **terms)
plain = purse.Campaign.create("plain", policy="replan", arms=arms, **{**terms, "account": "team"})
seeing = purse.Campaign.create("seeing", policy="lin-ucb.price", cost_min="0.001", arms=arms,
    features={"length": (0, 8000), "source": ("chat", "api")}, explore=0.1, alerts=["1%"], **terms)
for turn in range(30):
    plain.tell(plain.ask(labels={"tenant": "acme"}), 0.5, "0.002")
    context = {"length": 100 * turn, "source": "chat"}
    seeing.tell(seeing.ask(context=context, arms=["small", "large"][: turn + 1]), 1, "0.008")
with plain.spending() as call:
    call.tell(reward=1, cost="0.01")
plain.probabilities(), seeing.probabilities(context=[5, "api"])
plain.recommend()
plain.certificate()
for campaign in (plain, seeing):
    assert not campaign.audit().findings
    campaign.export(f"{campaign.name}.jsonl")
    copy = purse.Campaign.restore(f"{campaign.name}.jsonl", name=f"{campaign.name}-copy", **at)
    print(*str(copy.status()).splitlines()[:2], sep="\n")
assert not purse.Account.open("company", **at).audit().findings

async def awaited():
    async with await purse.AsyncCampaign.open("plain", **at) as campaign:
        return await campaign.tell(await campaign.ask(), 1, "0.01")

asyncio.run(awaited())
"""


def test_the_packages_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = " ".join(project["dependencies"])
    assert not [name for name in EXTRAS if name.replace("_", "-") in needed]
    brought = " ".join(project["optional-dependencies"]["lab"]).replace("-", "_")
    assert {name for name in LAB if name not in brought} <= {"llvmlite", "markupsafe"}
    brought = " ".join(project["optional-dependencies"]["serve"]).replace("-", "_")
    assert all(name in brought for name in SERVE)


def test_make_installs_what_there_is() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    installed = set(re.findall(r"\$\(STAMP\)-(\w+)", (ROOT / "Makefile").read_text()))
    assert {"lab", "test"} < installed
    assert installed - {"lab"} <= set(project["dependency-groups"])
    groups = (each for group in project["dependency-groups"].values() for each in group)
    own = [each for each in groups if isinstance(each, str) and each.startswith("purse-bandits")]
    named = {extra for each in own for extra in each.partition("[")[2].rstrip("]").split(",")}
    assert named == set(project["project"]["optional-dependencies"])


def test_campaigns_with_contexts_and_accounts_need_the_base_alone(tmp_path: Path) -> None:
    assert printed(BUDGETS, tmp_path) == [
        "plain-copy: running, replan, round 31",
        "  USD: spent 0.07 of 40, held 0, presumed 0, left 39.93",
        "seeing-copy: running, lin-ucb.price, round 30",
        "  USD: spent 0.24 of 40, held 0, presumed 0, left 39.76",
    ]


def test_command_lines_need_the_base_alone(tmp_path: Path) -> None:
    (tmp_path / "webhooks.toml").write_text(
        "[finance]\naddress = 'https://example.org'\nsecret_env = 'PATH'\ncampaigns = ['none']\n"
    )
    lines = [
        "--help",
        "account new team --budget 50",
        "campaign new p --account team --budget 9 --arm a=1 --arm b=2 --policy replan",
        "campaign ask p",
        "campaign tell p 1 --reward 1 --cost 1",
        "campaign status p",
        "campaign probabilities p",
        "campaign tickets p",
        "campaign audit p --full",
        "campaign export p --out p.jsonl",
        "campaign restore p.jsonl --name q",
        "campaign list",
        "account status team --json",
        "policies",
        "policies replan",
        "token new ops --role admin",
        "token list",
        "lab worlds",
        "lab bounds --arms 10 --budget 1e4 --cost-min .1",
        "serve --grafana",
    ]
    for line, (code, *_) in zip(lines, commands(lines, tmp_path), strict=True):
        assert (line, code) == (line, "0")


def test_what_needs_an_extra_says_so_in_one_line(tmp_path: Path) -> None:
    commands_say = {
        "compare uniform": f"compare needs {WORDS}",
        "replay none.csv --budget 5": f"replay needs {WORDS}",
        "lab run none.toml": f"lab run needs {WORDS}",
        "lab simulate uniform -w misleading_ratio -b 10": f"simulate needs {WORDS}",
        "recommend -w misleading_ratio -b 10": f"recommend on a world needs {WORDS}",
        "warm": f"warm needs {WORDS}",
        "lab regret uniform -w misleading_ratio -b 10": f"regrets needs {WORDS}",
        "serve": "serve needs uvicorn: pip install 'purse-bandits[serve]'",
        "serve --openapi": "serve needs starlette: pip install 'purse-bandits[serve]'",
        "campaign list --storage postgresql://localhost/purse": "a campaign in PostgreSQL needs "
        "psycopg: pip install 'purse-bandits[postgres]'",
    }
    python_says = {
        "purse.compare()": f"compare needs {WORDS}",
        "purse.replay('none.csv', budgets=5)": f"replay needs {WORDS}",
        "purse.simulate('uniform', 'misleading_ratio', 10)": f"simulate needs {WORDS}",
        "purse.recommend('misleading_ratio', 10)": f"recommend on a world needs {WORDS}",
        "purse.lab.warm()": f"warm needs {WORDS}",
        "check_policy('uniform')": f"check_policy needs {WORDS}",
        "purse.lab.theory.knapsack.dynamic_optimum('misleading_ratio', 5)": "compiling needs "
        "numba: pip install 'purse-bandits[lab]'",
        "purse.lab.regrets('uniform', 'misleading_ratio', 10)": f"regrets needs {WORDS}",
        "purse.lab.prior_from_log('none.csv', 'prior.npz')": f"prior_from_log needs {WORDS}",
        "purse.lab.Study.load('none')": "a study needs polars: pip install 'purse-bandits[lab]'",
        "purse.worlds.beta(rewards=[0.5], costs=[0.5], concentration=4, cost_min=0.1)": "the world "
        "beta needs scipy: pip install 'purse-bandits[lab]'",
    }
    code = f"""
import purse
from purse.testing import check_policy
from tests.system.test_base import run
for line in {list(commands_say)!r}:
    run(line)
for line in {list(python_says)!r}:
    try:
        eval(line)
    except purse.errors.MissingExtra as error:
        print(error)
"""
    expected = [json.dumps(["2", f"purse: {words}"]) for words in commands_say.values()]
    assert printed(code, tmp_path) == [*expected, *python_says.values()]
    assert list(tmp_path.iterdir()) == []


def test_the_service_needs_no_lab(tmp_path: Path) -> None:
    code = """
from tests.support.service import running
with running(policy="replan") as client:
    for turn in range(3):
        (ticket,) = client.post("/campaigns/prompts/asks", json={}).json()["tickets"]
        report = {"ticket": ticket["id"], "reward": 1, "cost": "0.01"}
        client.post("/campaigns/prompts/tells", json={"reports": [report]})
    for path in ("/", "/overview", "/campaigns/prompts", "/campaigns/prompts/picture",
                 "/campaigns/prompts/recommendation", "/campaigns/prompts/certificate", "/metrics",
                 "/openapi.json"):
        print(client.get(path).status_code, path)
"""
    allowed = ("joblib", "pandas", "pyarrow")  # what the client of the tests may look for
    lines = printed(code, tmp_path, [*LAB, *(name for name in OTHERS if name not in allowed)])
    assert [line for line in lines if not line.startswith("200")] == []


def printed(code: str, folder: Path, hidden: Sequence[str] = EXTRAS) -> list[str]:
    """Run Python code in a process of its own, in a folder, without packages; return the lines that
    it prints.
    """
    begin = f"import sys\nsys.modules |= dict.fromkeys({tuple(hidden)!r})\n"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", begin + code],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def commands(lines: Sequence[str], folder: Path) -> list[list[str]]:
    """Run command lines one after the other in one such process; return for each its exit code and
    the lines that it prints.
    """
    code = f"from tests.system.test_base import run\nfor line in {list(lines)!r}:\n    run(line)"
    return [json.loads(each) for each in printed(code, folder)]


def run(line: str) -> None:
    """Run a command line in this process, and print its exit code and its lines as JSON."""
    from purse.cli import main

    sys.argv, out, code = ["purse", *shlex.split(line)], StringIO(), None
    try:
        with redirect_stdout(out), redirect_stderr(out):
            main()
    except SystemExit as end:
        code = end.code
    print(json.dumps([str(code), *out.getvalue().splitlines()]))
