import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from purse.errors import InvalidInput
from purse.lab.figure import Figure, vega_lite_version, write_figures
from purse.lab.page import frames
from purse.lab.page.charts import study as charts
from purse.lab.page.charts.base import (
    _ARMS_DARK,
    _ARMS_LIGHT,
    _BEST,
    _DARK,
    _OTHERS,
    _SHAPES,
    GLYPHS,
    LIGHT,
    _decades,
    arm_colours,
    colours,
    dark_rules,
    shapes,
)
from purse.lab.page.charts.lines import merge_lines
from purse.lab.page.shell import javascript
from purse.lab.study.results import Study
from tests.lab.page.made_up import made_up
from tests.support.lab import checked_spec

PAGE_LIGHT, PAGE_DARK = "#ffffff", "#0f1419"


@pytest.fixture(scope="module")
def specs(figures: list[Figure]) -> dict[str, dict[str, Any]]:
    return {figure.name: checked_spec(figure) for figure in figures}


def drawn(spec: dict[str, Any], panel: int) -> list[pl.DataFrame]:
    """The data of a panel's layers."""
    part = spec["concat"][panel]
    default = part.get("data", spec.get("data"))
    own = dict.fromkeys(layer.get("data", default)["name"] for layer in part.get("layer", [part]))
    return [pl.DataFrame(spec["datasets"][name], infer_schema_length=None) for name in own]


def marks(spec: dict[str, Any], panel: int) -> list[str]:
    return [layer["mark"]["type"] for layer in spec["concat"][panel]["layer"]]


def test_the_figures_are_there_in_order(figures: list[Figure], one_budget: Study) -> None:
    names = ["regret", "gain", "shares", "runs", "growth"]
    assert [figure.name for figure in figures] == names
    assert [figure.name for figure in one_budget.figures()] == names[:-1]
    much = charts.left(made_up(budgets=(5e3,), unspent=0.02))  # else a sentence says it
    assert marks(much.spec, 0) == ["point"]


@pytest.mark.parametrize("name", ["regret", "gain", "growth"])
def test_a_panel_per_world_shows_the_rows_of_the_frame(
    study: Study, specs: dict[str, dict[str, Any]], name: str
) -> None:
    frame = getattr(frames, name)(study)
    for place, world in enumerate(("stochastic", "adversarial")):
        expected = frame.filter(world=world)
        if name == "growth":
            expected = expected.drop_nulls("slope")
        assert specs[name]["concat"][place]["title"] == world
        assert any(
            (shown := data.select(pl.exclude("said"))).equals(expected.select(shown.columns))
            for data in drawn(specs[name], place)
            if data.height == expected.height
        )


def test_regret_is_the_table_and_what_is_zero_up_to_noise_lies_hollow_on_the_floor(
    study: Study, specs: dict[str, dict[str, Any]]
) -> None:
    data = frames.regret(study)
    columns = ["world", "policy", "budget", "regret", "low", "high"]
    assert data.select(columns).equals(study.table().select(columns))
    above = data.filter(pl.col("low") > pl.col("floor"))
    shown = above.select("shown", "shown_low", "shown_high")
    assert shown.rows() == above.select("regret", "low", "high").rows() != []
    oracle = data.filter(policy="oracle")
    assert oracle["below"].all()
    assert (oracle["shown"] == oracle["floor"]).all()
    assert (data["shown_low"] >= data["floor"]).all()
    smallest = data.filter(pl.col("world") == "stochastic", pl.col("low") > 0)["regret"].min()
    assert data.filter(world="stochastic")["floor"][0] == pytest.approx(smallest / 3)
    layers = specs["regret"]["concat"][0]["layer"]
    hollow = [layer["transform"] for layer in layers if layer["mark"].get("fill") == "#FFFFFF"]
    assert hollow == [[{"filter": "datum.below"}]]


def test_an_axis_of_regret_has_at_most_five_decades_below_the_largest() -> None:
    regrets = [1e-9, 1e3, -1.0]
    columns = {"regret": regrets, "low": regrets, "high": regrets}
    rest = {"world": "w", "policy": ["a", "b", "c"], "budget": 10.0, "n_paths": 2}
    tiny: Any = SimpleNamespace(table=lambda: pl.DataFrame(rest | columns))
    found = frames.regret(tiny)
    assert found["floor"].to_list() == [0.01] * 3
    assert found["below"].to_list() == [True, False, True]


def test_a_single_path_has_no_band_and_one_budget_has_rows(
    one_path: Study, one_budget: Study, specs: dict[str, dict[str, Any]]
) -> None:
    assert "area" in marks(specs["regret"], 0)
    for draw in (charts.regret, charts.gain):
        assert "area" not in marks(draw(one_path).spec, 0)
    assert marks(charts.runs(one_path).spec, 0) == ["tick"]
    assert marks(charts.regret(one_budget).spec, 0) == ["rule", "tick", "point"]
    assert marks(charts.gain(one_budget).spec, 0) == ["rule", "rule", "point"]


def test_bounds_are_drawn_where_they_apply_and_not_where_they_are_far(
    study: Study, specs: dict[str, dict[str, Any]]
) -> None:
    found = frames.bounds(study)
    assert set(found.drawn.select("world", "name").rows()) == {
        ("stochastic", "Theorem 1"),
        ("adversarial", "Lower bound"),
    }
    assert set(found.far["name"]) == {"Loose"}
    layers = [layer["encoding"] for panel in specs["regret"]["concat"] for layer in panel["layer"]]
    dashes = [layer for layer in layers if "strokeDash" in layer]
    assert ["field" in dash["color"] for dash in dashes] == [True, False]
    domains = [dash["strokeDash"]["scale"]["domain"] for dash in dashes]
    assert domains == [["a Theorem 1", "b Lower bound"]] * 2
    letters = [layer for layer in layers if layer.get("text", {}).get("field") == "letter"]
    assert ["field" in letter["color"] for letter in letters] == [True, False]
    # where nobody can learn, regret is drawn per unit of budget
    usual, hopeless = (
        {layer["encoding"]["y"]["field"] for layer in panel["layer"]}
        for panel in specs["regret"]["concat"]
    )
    assert usual == {"shown", "shown_low", "value"}
    assert hopeless == {"unit_regret", "unit_low", "unit_value"}


def test_lines_that_coincide_are_one_line_with_both_names() -> None:
    values = {"A": [1.0, 10.0], "B": [1.01, 10.1], "C": [1.0, 20.0]}
    rows = [
        {"world": "w", "policy": policy, "side": "at most", "name": name, "budget": b, "value": v}
        for policy in ("p", "q")
        for name, line in values.items()
        for b, v in zip([1.0, 2.0], line, strict=True)
    ]
    merged = merge_lines(pl.DataFrame(rows), "value")
    assert merged.select("policy", "name", "letter").unique(maintain_order=True).rows() == [
        ("p", "a A and B", "a"),
        ("p", "b C", "b"),
        ("q", "c A and B", "c"),
        ("q", "d C", "d"),
    ]
    assert merged.height == 8
    assert merge_lines(pl.DataFrame(rows).clear(), "value").is_empty()


def test_gain_is_per_unit_of_budget_and_a_part_of_the_best_reference(
    study: Study, one_path: Study
) -> None:
    row = frames.gain(study).row(0, named=True)
    assert row["unit_gain"] == pytest.approx(row["gain"] / 1e3)
    assert row["part"] == pytest.approx(row["gain"] / 1.5e3)
    best = "best arm alone"
    names = set(frames.references(study).select("name", "which").rows())
    assert names == {(best, f"{best} (arm {arm})") for arm in (0, 1)} | {("LP optimum",) * 2}
    assert frames.gain(one_path)["part"].is_null().all()


def test_shares_stack_to_one_over_slices_that_fill_the_budget(study: Study) -> None:
    data = frames.shares(study)
    assert set(data["budget"]) == {1e5}
    for _, part in data.group_by("world", "policy"):
        ends = (pl.col("share").sum(), pl.col("bottom").min(), pl.col("top").max())
        slices = part.group_by("start", "fraction").agg(*ends).sort("start")
        for column, value in (("share", 1.0), ("top", 1.0), ("bottom", 0.0)):
            assert slices[column].to_list() == pytest.approx([value] * 20)
        assert slices["start"].to_list() == [0.0, *slices["fraction"].to_list()[:-1]]


def test_of_many_arms_eight_have_a_colour_and_the_rest_are_together() -> None:
    found = frames.shares(made_up(n_arms=12))
    arms = charts._arms_of(found, "stochastic")
    # the best first, the rest in the order given; made-up policies like late arms
    assert arms == ["arm 11", *(f"arm {arm}" for arm in range(4, 11)), "others"]
    total = found.group_by("world", "policy", "fraction").agg(pl.col("share").sum())["share"]
    assert total.to_list() == pytest.approx([1.0] * len(total))
    colours = arm_colours(arms, "others", "arm 11")
    assert (colours[0], colours[-1]) == (_BEST, _OTHERS)
    assert len(set(colours)) == 9
    assert _BEST not in arm_colours(arms, "others")
    assert charts._arms_of(frames.shares(made_up(n_arms=9)), "stochastic")[-1] == "arm 7"


def test_runs_are_quantiles_of_single_runs_at_the_largest_budget(study: Study) -> None:
    found = frames.runs(study).filter(world="stochastic", policy="uniform").row(0, named=True)
    regrets = study.frame().filter(world="stochastic", policy="uniform", budget=1e5)["regret"]
    extremes = regrets.min(), regrets.median(), regrets.max()
    assert (found["least"], found["median"], found["most"]) == extremes
    assert found["quarter"] == regrets.quantile(0.25, "linear")
    assert frames.single_runs(study).filter(world="stochastic", policy="uniform").height == 20
    assert list(dict.fromkeys(frames.runs(study)["world"])) == ["stochastic", "adversarial"]


def test_many_runs_are_thinned_evenly_by_rank() -> None:
    large = made_up(worlds=("stochastic",), policies=("uniform",), budgets=(5e3,), n_paths=350)
    many, everything = frames.single_runs(large)["regret"], large.frame()["regret"].sort()
    assert len(many) == 100
    assert many.is_sorted()
    assert abs(many.median() - everything.median()) < 0.05 * everything.median()


def test_growth_is_left_out_where_it_could_not_be_fitted(study: Study, one_budget: Study) -> None:
    assert charts.growth(one_budget) is None
    assert frames.growth(study).filter(policy="oracle")["slope"].is_null().all()
    assert set(charts.growth(study).data["policy"]) == {"learns", "learns <fast>", "uniform"}


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (900, 1.1e5, [1e3, 1e4, 1e5]),
        (90, 400, [100, 200]),
        (1e-3, 1e9, [1e-3, 1, 1e3, 1e6, 1e9]),
        (11, 12, []),
    ],
)
def test_ticks_are_round_and_few(low: float, high: float, expected: list[float]) -> None:
    assert _decades(low, high) == expected


def test_colours_are_distinct_and_stand_out_from_their_page() -> None:
    assert len(set(LIGHT)) == len(set(_DARK)) == len(set(_SHAPES)) == 8
    light, dark = luminance(PAGE_LIGHT) + 0.05, luminance(PAGE_DARK) + 0.05
    assert max(map(luminance, LIGHT)) + 0.05 <= light / 3
    assert min(map(luminance, (*_DARK, *_ARMS_DARK))) + 0.05 >= 3 * dark
    assert not {*LIGHT, *_ARMS_LIGHT} & {_BEST} | set(LIGHT) & set(_ARMS_LIGHT)
    assert set(GLYPHS) == set(_SHAPES)
    assert dark_rules().count("stroke:") == 19
    # a colour that comes again has another shape
    policies = [f"p{number}" for number in range(32)]
    assert len(set(zip(colours(policies), shapes(policies), strict=True))) == 32


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_figures_are_exported_the_same_each_time(one_budget: Study, tmp_path: Path) -> None:
    paths = write_figures(one_budget.figures(), tmp_path / "one")
    again = write_figures(one_budget.figures()[:2], tmp_path / "two")
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


def test_a_figure_is_saved_as_wide_as_a_journal_wants_it(study: Study, tmp_path: Path) -> None:
    figure = study.plot("regret")
    for width, millimetres in (("column", 84), ("page", 174), (100, 100)):
        pdf = figure.save(tmp_path / f"{width}.pdf", width=width).read_bytes()
        wide = float(re.findall(rb"MediaBox \[0 0 ([\d.]+) ", pdf)[0])
        assert wide == pytest.approx(millimetres / 25.4 * 72, rel=1e-4)
        png = figure.save(str(tmp_path / f"{width}.PNG"), width=width).read_bytes()
        assert int.from_bytes(png[16:20], "big") == pytest.approx(millimetres / 25.4 * 300, abs=1)
    column, page = (
        figure.save(tmp_path / f"{width}.svg", width=width).read_text()
        for width in ("column", "page")
    )
    boxes = [re.findall(r'viewBox="0 0 ([\d.]+)', svg)[0] for svg in (column, page)]
    assert float(boxes[0]) < float(boxes[1])  # one panel stands below the other
    assert 'width="84mm"' in column
    wrong: list[tuple[str, Any, str]] = [
        ("x.gif", None, r"path='.*x\.gif': must end in \.pdf, \.png or \.svg"),
        ("x.pdf", "wide", "width='wide': must be one of 'column', 'page'"),
        ("x.pdf", 1, "width=1: must"),
    ]
    for path, value, said in wrong:
        with pytest.raises(InvalidInput, match=said):
            figure.save(tmp_path / path, width=value)
    assert not (tmp_path / "x.pdf").exists()


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
    assert versions == [vega_lite_version()]
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert javascript() == "script"
