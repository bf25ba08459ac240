"""The files of the folder `deploy`, as tests read them."""

import json
import re
import shlex
from dataclasses import fields
from typing import Any

import yaml

from purse.cli.serve import serve
from purse.service.settings import Settings
from tests.support.paths import ROOT

DEPLOY = ROOT / "deploy"
PAGE = ROOT / "docs" / "operations.md"


def read_yaml(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text())


def instructions() -> list[tuple[str, str]]:
    """The container file: each instruction with what follows it."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Containerfile").read_text(), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    parts = [line.partition(" ") for line in lines if line]
    return [(word, rest.strip()) for word, _, rest in parts]


def instruction(word: str) -> str:
    """What follows an instruction that there is once, in the last stage."""
    (found,) = [rest for name, rest in instructions() if name == word]
    return found


def service_command() -> list[str]:
    assert json.loads(instruction("ENTRYPOINT")) == ["purse"]
    words: list[str] = json.loads(instruction("CMD"))
    return words


def settings_of(words: list[str]) -> Settings:
    """What the service is started with; the command line refuses words that it does not know."""
    assert words[0] == "serve"
    given = serve.make_context("serve", words[1:]).params
    known = {each.name for each in fields(Settings)}
    return Settings(
        **{name: each for name, each in given.items() if name in known and each is not None}
    )


def health_command() -> list[str]:
    words: list[str] = json.loads(instruction("HEALTHCHECK").partition("CMD ")[2])
    return words


def commands(page: str) -> list[list[str]]:
    """The words of each command in a page's blocks of console."""
    blocks = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    lines = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    return [shlex.split(line, comments=True) for line in lines]
