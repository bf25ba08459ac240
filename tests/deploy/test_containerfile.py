from __future__ import annotations

import re
import socket
import subprocess
import sys
import tomllib

import click
import pytest

from purse.campaign.storage.connect import in_memory
from purse.cli.serve import TOKENS
from purse.service.auth import is_public
from tests.support.deployment import (
    health_command,
    instruction,
    instructions,
    service_command,
    settings_of,
)
from tests.support.paths import ROOT
from tests.support.server import served

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_command_starts_a_service_that_can_be_reached_and_needs_tokens() -> None:
    settings = settings_of(service_command())
    assert settings.host == "0.0.0.0"
    assert settings.port == int(instruction("EXPOSE"))
    assert settings.log == "json"
    with pytest.raises(click.UsageError):  # a word that the command line does not know is seen
        settings_of([*service_command(), "--hosts", "::"])


def test_tokens_and_the_file_of_campaigns_lie_in_the_volume() -> None:
    settings = settings_of(service_command())
    # relative to the working folder, as is what `purse token` writes
    assert settings.tokens == TOKENS
    assert settings.storage == "sqlite:///purse.db"
    folders = [rest for word, rest in instructions() if word in ("WORKDIR", "VOLUME")][1:]
    assert folders == ["/var/lib/purse"] * 2
    (user,) = (rest for word, rest in instructions() if word == "RUN" and "useradd" in rest)
    assert "--home-dir /var/lib/purse " in user
    # a number, so that an engine can see that it is not root
    assert f"--uid {int(instruction('USER'))} " in user
    assert int(instruction("USER")) > 0


def test_the_extras_and_the_version_of_python_are_the_projects() -> None:
    (install,) = (rest for word, rest in instructions() if word == "RUN" and "install" in rest)
    (extras,) = re.findall(r'"\.\[(.*)\]"', install)
    assert (
        set(extras.split(","))
        == {"postgres", "serve"}
        <= set(PROJECT["project"]["optional-dependencies"])
    )
    images = {rest.split()[0] for word, rest in instructions() if word == "FROM"}
    (image,) = images
    (version,) = re.findall(r"^python:(3\.\d+)-slim$", image)
    assert f"Programming Language :: Python :: {version}" in PROJECT["project"]["classifiers"]


def test_what_is_copied_is_what_a_wheel_needs_and_is_not_ignored() -> None:
    copied = {
        name
        for word, rest in instructions()
        if word == "COPY" and not rest.startswith("--from")
        for name in rest.split()[:-1]
    }
    project = PROJECT["project"]
    needed = {"pyproject.toml", project["readme"], *project["license-files"], "src"}
    assert copied == needed
    first, *others = [
        line
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    assert first == "*"
    assert {line[1:] for line in others if line.startswith("!")} == needed
    assert all((ROOT / name).exists() for name in needed)
    targets = PROJECT["tool"]["hatch"]["build"]["targets"]
    assert targets == {"wheel": {"packages": ["src/purse"]}}


def test_the_health_check_sees_whether_a_server_lives() -> None:
    python, *words = health_command()
    assert python == "python"
    (address,) = re.findall(r"http://127\.0\.0\.1:\d+/\w+", " ".join(words))
    assert f":{instruction('EXPOSE')}/" in address

    def check(port: int) -> int:
        aimed = [word.replace(f":{instruction('EXPOSE')}/", f":{port}/") for word in words]
        done = subprocess.run([sys.executable, "-I", *aimed], capture_output=True, check=False)
        return done.returncode

    with served(storage=in_memory()) as server:
        assert check(server.port) == 0
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert check(port) != 0
    (path,) = re.findall(r"127\.0\.0\.1:\d+(/\w+)", instruction("HEALTHCHECK"))
    assert is_public(path)  # it needs no token
