import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from purse.base import problem_types
from purse.campaign.campaign import Campaign
from purse.cli.serve import serve
from tests.support.paths import EXAMPLES
from tests.support.service import served, service, token_file
from tests.support.soak import SOAK

FOLDER = EXAMPLES / "typescript"
TOOLS: dict[str, Any] = runpy.run_path(str(FOLDER / "make_types.py"))
STALE = "the API has changed: run npm ci && python make_types.py in examples/typescript"
LOCK = json.loads((FOLDER / "package-lock.json").read_text())


@cache
def printed() -> str:
    done = CliRunner().invoke(serve, ["--openapi"])
    assert done.exit_code == 0, done.output
    return done.stdout


def description() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed())
    return found


def test_the_command_prints_what_the_service_answers() -> None:
    assert description() == service().get("/openapi.json").json()


def test_the_types_are_those_of_the_service() -> None:
    first = TOOLS["TYPES"].read_text().partition("\n")[0]
    assert first == TOOLS["DIGEST"] + TOOLS["digest"](description()), STALE


def test_the_types_name_every_route_and_type() -> None:
    types, described = TOOLS["TYPES"].read_text(), description()
    assert [path for path in described["paths"] if f'\n    "{path}": {{\n' not in types] == []
    for name, schema in described["components"]["schemas"].items():
        body = types.partition(f"\n        {name}: {{\n")[2].partition("\n        };\n")[0]
        fields = re.findall(r"^            (\w+)(\??):", body, re.MULTILINE)
        assert {field for field, _ in fields} == set(schema.get("properties", ()))
        assert {field for field, mark in fields if not mark} == set(schema.get("required", ()))


def test_the_example_compares_types_of_problems_that_there_are() -> None:
    slugs = set(re.findall(r'\.type === "([\w-]+)"', (FOLDER / "spend.ts").read_text()))
    assert slugs == {"campaign-exists", "budget-exhausted"}
    assert slugs <= {kind.slug for kind in problem_types.OF_ERRORS.values()}


def test_the_lock_names_versions_and_hashes_and_no_server() -> None:
    packages = [facts for name, facts in LOCK["packages"].items() if name]
    assert packages
    assert all(facts["integrity"].startswith("sha512-") for facts in packages)
    assert [facts for facts in packages if "resolved" in facts] == []
    wanted = json.loads((FOLDER / "package.json").read_text())
    for kind in ("dependencies", "devDependencies"):
        assert LOCK["packages"][""][kind] == wanted[kind]


@pytest.mark.skipif(not SOAK, reason="installs packages of npm: set PURSE_SOAK")
@pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm: Node is not installed")
def test_the_example_spends_its_budget_and_not_more(tmp_path: Path) -> None:
    folder = tmp_path / "typescript"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("node_modules", "build"))
    run(folder, "npm", "ci", "--no-audit", "--no-fund")
    run(folder, sys.executable, "make_types.py")
    assert (folder / "purse.d.ts").read_text() == TOOLS["TYPES"].read_text(), STALE
    storage = f"sqlite:///{tmp_path / 'purse.db'}"
    tokens, made = token_file(tmp_path)
    with served(storage=storage, tokens=tokens) as server:
        address = {"PURSE_URL": server.url, "PURSE_TOKEN": made["admin"]}
        first = run(folder, "npm", "start", **address)
        again = run(folder, "node", "build/spend.js", **address)
        refused = run(folder, "node", "build/spend.js", PURSE_URL=server.url, fails=True)
    (spent,) = re.findall(r"budget-exhausted: spent ([\d.]+) of 0.5 USD, held 0\n", first)
    assert Decimal("0.49") < Decimal(spent) <= Decimal("0.5")
    assert again == first[first.index("budget-exhausted") :]  # nothing is left to spend
    assert "no-token" in refused
    campaign = Campaign.open("prompts-ts", storage=storage)
    assert campaign.audit().ok
    counts = campaign.status().counts
    assert f"told {counts['told']}, failed {counts['failed']}\n" in first
    campaign.storage.close()


def run(folder: Path, *words: str, fails: bool = False, **variables: str) -> str:
    """What a command prints; it has to end well, or else to fail."""
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert bool(done.returncode) == fails, done.stdout + done.stderr
    return done.stderr if fails else done.stdout
