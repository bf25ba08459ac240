from __future__ import annotations

import re

import pytest

from purse.service import dashboard
from tests.support.service import HERE, TestClient, problem

FILES = sorted(dashboard.load())


@pytest.mark.parametrize("name", FILES)
def test_files_come_with_their_type_and_a_strict_policy(untouched: TestClient, name: str) -> None:
    answer = untouched.get(f"/dashboard/{name}")
    kind = {
        "html": "text/html",
        "css": "text/css",
        "js": "text/javascript",
        "svg": "image/svg+xml",
    }[name.rpartition(".")[2]]
    assert answer.headers["Content-Type"].partition(";")[0] == kind
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    again = untouched.get(f"/dashboard/{name}", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert not re.search(r"https?://(?!www\.w3\.org/)", answer.text), "nothing comes from elsewhere"


def test_the_page_is_public_and_names_only_files_that_exist(untouched: TestClient) -> None:
    page = untouched.get("/")
    assert page.headers["Content-Type"].startswith("text/html")
    assert "Content-Security-Policy" in page.headers
    assert not re.search(r"\sstyle=|<style|\son\w+=|<script(?![^>]*\ssrc=)", page.text), (
        "the policy would refuse what is written in the page itself"
    )
    named = set(re.findall(r'(?:src|href)="dashboard/([^"]+)"', page.text))
    for name in FILES:
        if name.endswith(".js"):
            named |= set(re.findall(r'from "\./([^"]+)"', untouched.get(f"/dashboard/{name}").text))
    assert named == {name for name in FILES if name != dashboard.INDEX}
    for other in ("nothing.js", "..%2Ffeed.py", "%2e%2e/views.py", "__init__.py"):
        problem(untouched.get(f"{HERE}/dashboard/{other}"), 404, "no-such-path")
