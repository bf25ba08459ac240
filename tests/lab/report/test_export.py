from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from purse.lab.report.charts.export import javascript, version, write_figures
from purse.lab.report.study_page import figures_of


def test_figures_are_exported_the_same_each_time(one_budget: Any, tmp_path: Path) -> None:
    paths = write_figures(figures_of(one_budget), tmp_path / "one")
    again = write_figures(figures_of(one_budget)[:2], tmp_path / "two")
    names = ["regret", "gain", "shares", "runs"]
    assert [path.name for path in paths] == [
        f"{name}.{kind}" for name in names for kind in ("png", "svg", "csv")
    ]
    assert len(again) == 2 * 3
    for path, other in zip(paths, again, strict=False):
        assert path.read_bytes() == other.read_bytes()
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    assert ">learns</text>" in paths[1].read_text(encoding="utf-8")
    table = paths[2].read_text(encoding="utf-8")
    assert table.startswith("world,policy,budget,n_paths,regret,low,high")


def test_the_script_of_the_charts_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "purse").mkdir()
    versions = []
    import vl_convert

    def bundle(vl_version: str) -> str:
        versions.append(vl_version)
        return "script"

    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    assert [javascript(), javascript()] == ["script", "script"]
    assert versions == [version()]
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert javascript() == "script"
