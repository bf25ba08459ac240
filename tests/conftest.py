"""A real browser for tests: the system's Chromium; which tests need a GPU, and which share a
worker.
"""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

# compiling makes many objects that stay; to look through them less often saves a twentieth
gc.set_threshold(200_000, 20, 20)
ABOUT_EVERY_POLICY = (
    "test_every_policy.py",
    "test_gpu.py",
    "test_simulation.py",
    "test_testing.py",
)
NAMES = ("chromium", "chromium-browser", "google-chrome")
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
    """Say what was left out."""
    if without_gpu():
        terminalreporter.write_line(
            "There is no GPU here: the tests marked gpu did not run; kernels of each "
            "kind were compiled."
        )


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of a file share a worker, and a policy's checks go with its own tests: what they
    compile is compiled once. The many small groups come last.
    """
    if without_gpu():
        items[:] = [item for item in items if item.get_closest_marker("gpu") is None]
    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item)))
    items.sort(key=lambda item: group_of(item).startswith("policies/"))


def group_of(item: pytest.Item) -> str:
    """What shares a worker."""
    given = (
        item.callspec.params
        if hasattr(item, "callspec") and item.path.name in ABOUT_EVERY_POLICY
        else {}
    )
    if policy := given.get("name") or given.get("policy"):
        stem = str(policy).partition(":")[0].replace("+", "p").replace(".", "_").replace("-", "_")
        return f"policies/test_{stem}.py"
    return (
        "paper" if item.path.parent.name == "paper" else f"{item.path.parent.name}/{item.path.name}"
    )


@pytest.fixture(scope="session")
def opened() -> Iterator[Any]:
    """Opens pages: `with opened(path, width=390, dark=True) as (view, complaints)`, with what a
    page complained about or asked the network for.

    One browser serves all tests; where there is none they are left out, and say so, unless
    PURSE_BROWSER=required.
    """
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None and os.environ.get("PURSE_BROWSER") == "required":
        pytest.fail("there is no Chromium, and PURSE_BROWSER=required")
    if found is None:
        pytest.skip("there is no Chromium: the tests in a browser did not run")
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
