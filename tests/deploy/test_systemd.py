from __future__ import annotations

import shlex

from purse.cli.serve import serve
from purse.service.server import SHUTDOWN_TIMEOUT_S
from tests.support.deployment import DEPLOY


def unit() -> dict[str, list[str]]:
    """The section on the service; a key may come more than once."""
    section = (DEPLOY / "purse.service").read_text().split("[Service]\n")[1].split("\n\n")[0]
    found: dict[str, list[str]] = {}
    for line in section.splitlines():
        if not line.startswith("#"):
            key, _, value = line.partition("=")
            found.setdefault(key, []).append(value)
    return found


def test_the_command_of_the_unit_is_one_that_purse_takes() -> None:
    (command,) = unit()["ExecStart"]
    program, verb, *words = shlex.split(command)
    assert program.endswith("/bin/purse")
    assert verb == "serve"
    assert str(serve.make_context("serve", words).params["tokens"]) == "/etc/purse/tokens"


def test_open_requests_get_their_time_to_finish() -> None:
    assert int(*unit()["TimeoutStopSec"]) > SHUTDOWN_TIMEOUT_S


def test_what_the_service_writes_lies_in_folders_that_it_may_write() -> None:
    """With the rest of the disk and all homes protected."""
    found = unit()
    assert found["ProtectSystem"] == ["strict"]
    variables = dict(line.split("=", 1) for line in found["Environment"])
    (own,) = (each.envvar for each in serve.params if each.envvar)
    assert variables == {
        own: f"sqlite:////var/lib/{found['StateDirectory'][0]}/purse.db",
        "NUMBA_CACHE_DIR": f"/var/cache/{found['CacheDirectory'][0]}",
    }
