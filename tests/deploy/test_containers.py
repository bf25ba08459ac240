"""What a release is built from, and the container file, the compose file and the unit of systemd:
what they name is there, and fits the service.
"""

import re
import shlex
import shutil
import socket
import subprocess
import sys
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

import click
import psycopg
import pytest
import yaml

from purse.campaign.storage.connect import in_memory
from purse.cli.serve import _TOKENS, serve
from purse.service.auth import is_public
from purse.service.server import _SHUTDOWN_TIMEOUT_S
from tests.support.deployment import (
    DEPLOY,
    health_command,
    instruction,
    instructions,
    read_yaml,
    service_command,
    settings_of,
)
from tests.support.paths import ROOT
from tests.support.service import served

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
COMPOSE: dict[str, Any] = read_yaml("compose.yaml")
SERVICES: dict[str, Any] = COMPOSE["services"]
SECRET = re.compile(r"\$\{(\w+):\?[^}]+\}")  # refused in one line where it is not set
DIGEST = "@sha256:[0-9a-f]{64}"  # an image cannot change under its tag
# of the images; what they read is on their pages
FOREIGN = {
    "postgres": {"POSTGRES_USER", "POSTGRES_PASSWORD"},
    "grafana": {"GF_SECURITY_ADMIN_PASSWORD"},
}


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
    assert settings.tokens == _TOKENS
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
    (version,) = re.findall(rf"^python:(3\.\d+)-slim{DIGEST}$", image)
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
    assert targets["wheel"] == {"packages": ["src/purse"]}


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


def mounts() -> list[tuple[str, str, str]]:
    """Service, source and target of all mounts."""
    return [
        (name, *mount.split(":")[:2])
        for name, service in SERVICES.items()
        for mount in service.get("volumes", ())
    ]


def test_files_that_are_mounted_exist_and_volumes_are_declared() -> None:
    files = [source for _, source, _ in mounts() if source.startswith(".")]
    assert len(files) == 5
    assert [name for name in files if not (DEPLOY / name).is_file()] == []
    volumes = [source for _, source, _ in mounts() if not source.startswith(".")]
    assert sorted(volumes) == sorted(COMPOSE["volumes"])
    read_only = [mount for each in SERVICES.values() for mount in each.get("volumes", ())]
    assert all(mount.endswith(":ro") for mount in read_only if mount.startswith("."))
    # what the service writes it may write
    assert SERVICES["purse"]["read_only"] is True
    targets = {target for name, _, target in mounts() if name == "purse"}
    assert targets == {instruction("VOLUME")}


def test_images_are_built_from_the_container_file_or_name_their_version() -> None:
    build = SERVICES["purse"]["build"]
    context = (DEPLOY / build["context"]).resolve()
    assert context == ROOT
    assert (context / build["dockerfile"]).is_file()
    assert "command" not in SERVICES["purse"]  # the container file's
    for name in ("postgres", "prometheus", "grafana"):
        assert re.fullmatch(rf"(\w+/)?\w+:v?\d+(\.\d+)*{DIGEST}", SERVICES[name]["image"])
    for service in SERVICES.values():
        assert set(service.get("depends_on", ())) <= set(SERVICES)
        assert set(service.get("secrets", ())) <= set(COMPOSE["secrets"])
    assert SERVICES["purse"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert "healthcheck" in SERVICES["postgres"]


def test_ports_are_this_machines_own_and_those_that_the_images_listen_on() -> None:
    ports = {name: service.get("ports", []) for name, service in SERVICES.items()}
    assert ports == {
        "purse": [f"127.0.0.1:{instruction('EXPOSE')}:{instruction('EXPOSE')}"],
        "postgres": [],
        "prometheus": ["127.0.0.1:9090:9090"],
        "grafana": ["127.0.0.1:3000:3000"],
    }


def test_the_variables_of_the_service_are_read_by_purse_or_by_libpq() -> None:
    (own,) = (each.envvar for each in serve.params if each.name == "storage")
    libpq = {each.envvar.decode() for each in psycopg.pq.Conninfo.get_defaults() if each.envvar}
    given = set(SERVICES["purse"]["environment"])
    assert given == {own, "PGPASSWORD"}
    assert given - {own} <= libpq
    for name, known in FOREIGN.items():
        assert set(SERVICES[name]["environment"]) == known
    # the storage is the other service's database, with the same password
    environment = SERVICES["purse"]["environment"]
    parts = psycopg.conninfo.conninfo_to_dict(environment["PURSE_STORAGE"])
    user = SERVICES["postgres"]["environment"]["POSTGRES_USER"]
    # without POSTGRES_DB the image makes a database of the user's name
    assert parts == {"user": user, "dbname": user, "host": "postgres"}
    password = SERVICES["postgres"]["environment"]["POSTGRES_PASSWORD"]
    assert environment["PGPASSWORD"] == password


def test_no_password_stands_in_the_file() -> None:
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if "PASSWORD" in name:
                assert SECRET.fullmatch(value), name
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert "deploy/.env" in ignored
    for secret in COMPOSE["secrets"].values():
        assert f"deploy/{PurePosixPath(secret['file']).name}" in ignored


def unit() -> dict[str, list[str]]:
    """The section on the service of the unit; a key may come more than once."""
    section = (DEPLOY / "purse.service").read_text().split("[Service]\n")[1].split("\n\n")[0]
    values: dict[str, list[str]] = {}
    for line in section.splitlines():
        if not line.startswith("#"):
            key, _, value = line.partition("=")
            values.setdefault(key, []).append(value)
    return values


def test_the_unit_starts_purse_with_folders_that_it_may_write() -> None:
    """With the rest of the disk and all homes protected."""
    (command,) = unit()["ExecStart"]
    program, verb, *words = shlex.split(command)
    assert (program.endswith("/bin/purse"), verb) == (True, "serve")
    assert str(serve.make_context("serve", words).params["tokens"]) == "/etc/purse/tokens"
    # open requests get their time to finish
    assert int(SERVICES["purse"]["stop_grace_period"].removesuffix("s")) > _SHUTDOWN_TIMEOUT_S
    assert int(*unit()["TimeoutStopSec"]) > _SHUTDOWN_TIMEOUT_S
    assert unit()["ProtectSystem"] == ["strict"]
    variables = dict(line.split("=", 1) for line in unit()["Environment"])
    (own,) = (each.envvar for each in serve.params if each.name == "storage")
    assert variables == {
        own: f"sqlite:////var/lib/{unit()['StateDirectory'][0]}/purse.db",
        "NUMBA_CACHE_DIR": f"/var/cache/{unit()['CacheDirectory'][0]}",
    }


def test_the_checks_run_on_every_python_that_the_package_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [text.rpartition(":: ")[2] for text in project["classifiers"]]
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    matrix = workflow["jobs"]["checks"]["strategy"]["matrix"]["python"]
    assert matrix == [version for version in named if re.fullmatch(r"3\.\d+", version)]


def test_actions_are_named_by_what_they_are_and_not_by_a_tag_that_may_move() -> None:
    for path in sorted((ROOT / ".github/workflows").iterdir()):
        uses = re.findall(r"uses: (.*)", path.read_text())
        assert uses
        for action in uses:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", action), action


def test_the_first_steps_of_other_systems_succeed_here() -> None:
    steps = [sys.executable, ROOT / ".ci/first_steps"]
    done = subprocess.run(steps, capture_output=True, text=True, check=True)
    assert "2 told" in done.stdout
    assert "exp3++.bwk" in done.stdout


def test_what_is_built_names_addresses_and_has_no_relative_link(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "README.md", ".ci/say_where"):
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, target)
    address = "https://host.invalid/owner/purse"
    subprocess.run([sys.executable, tmp_path / ".ci/say_where", address, "v1.2.3"], check=True)
    urls = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]["urls"]
    links = re.findall(r"\]\(([^)\s]+)", (tmp_path / "README.md").read_text())
    assert len(links) > 5
    assert not [link for link in links if not link.startswith(("https://", "http://", "#"))]
    for link in (*urls.values(), *links):
        kind, _, path = link.removeprefix(address).partition("/v1.2.3/")
        if kind in ("/blob", "/raw", "/tree"):
            assert (ROOT / path.partition("#")[0]).exists(), link


def test_a_version_of_the_changelog_fits_on_a_page() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text().splitlines()
    starts = [place for place, line in enumerate(lines) if line.startswith("## ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        assert end - start <= 60
    assert max(map(len, lines)) <= 140
