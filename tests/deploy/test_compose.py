"""The compose file and the unit of systemd: what they name is there, and fits the service."""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath
from typing import Any

import psycopg

from purse.cli.serve import serve
from purse.service.server import SHUTDOWN_TIMEOUT_S
from tests.support.deployment import DEPLOY, instruction, read_yaml
from tests.support.paths import ROOT

COMPOSE: dict[str, Any] = read_yaml("compose.yaml")
SERVICES: dict[str, Any] = COMPOSE["services"]
SECRET = re.compile(r"\$\{(\w+):\?[^}]+\}")  # refused in one line where it is not set
# of the images; what they read is on their pages
FOREIGN = {
    "postgres": {"POSTGRES_USER", "POSTGRES_PASSWORD"},
    "grafana": {"GF_SECURITY_ADMIN_PASSWORD"},
}


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
        assert re.fullmatch(r"(\w+/)?\w+:v?\d+(\.\d+)*", SERVICES[name]["image"])
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
    (own,) = (each.envvar for each in serve.params if each.envvar)
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
    assert int(SERVICES["purse"]["stop_grace_period"].removesuffix("s")) > SHUTDOWN_TIMEOUT_S
    assert int(*unit()["TimeoutStopSec"]) > SHUTDOWN_TIMEOUT_S
    assert unit()["ProtectSystem"] == ["strict"]
    variables = dict(line.split("=", 1) for line in unit()["Environment"])
    (own,) = (each.envvar for each in serve.params if each.envvar)
    assert variables == {
        own: f"sqlite:////var/lib/{unit()['StateDirectory'][0]}/purse.db",
        "NUMBA_CACHE_DIR": f"/var/cache/{unit()['CacheDirectory'][0]}",
    }
