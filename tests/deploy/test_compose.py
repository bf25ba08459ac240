from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

import psycopg
import pytest

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


def test_the_image_is_built_from_the_container_file() -> None:
    build = SERVICES["purse"]["build"]
    context = (DEPLOY / build["context"]).resolve()
    assert context == ROOT
    assert (context / build["dockerfile"]).is_file()
    assert "command" not in SERVICES["purse"]  # the container file's


def test_what_services_name_is_there() -> None:
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


def test_no_password_stands_in_the_file() -> None:
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if "PASSWORD" in name:
                assert SECRET.fullmatch(value), name
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert "deploy/.env" in ignored
    for secret in COMPOSE["secrets"].values():
        assert f"deploy/{PurePosixPath(secret['file']).name}" in ignored


def test_the_storage_is_the_other_services_database_with_the_same_password() -> None:
    environment = SERVICES["purse"]["environment"]
    parts = psycopg.conninfo.conninfo_to_dict(environment["PURSE_STORAGE"])
    user = SERVICES["postgres"]["environment"]["POSTGRES_USER"]
    # without POSTGRES_DB the image makes a database of the user's name
    assert parts == {"user": user, "dbname": user, "host": "postgres"}
    password = SERVICES["postgres"]["environment"]["POSTGRES_PASSWORD"]
    assert environment["PGPASSWORD"] == password


def test_open_requests_get_their_time_to_finish() -> None:
    assert int(SERVICES["purse"]["stop_grace_period"].removesuffix("s")) > SHUTDOWN_TIMEOUT_S


def test_what_the_service_writes_it_may_write() -> None:
    purse = SERVICES["purse"]
    assert purse["read_only"] is True
    targets = {target for name, _, target in mounts() if name == "purse"}
    assert targets == {instruction("VOLUME")}


@pytest.mark.parametrize("name", ["postgres", "prometheus", "grafana"])
def test_images_name_their_version(name: str) -> None:
    assert re.fullmatch(r"(\w+/)?\w+:v?\d+(\.\d+)*", SERVICES[name]["image"])
