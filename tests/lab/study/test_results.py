"""Studies in folders: what is kept, found again and refused, and the manifest."""

import json
import re
import sys
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import purse
from purse import worlds as known_worlds
from purse.lab.study import compare, manifest, shard, study_file, summary
from purse.lab.study.manifest import _MANIFEST, Recording, StudyFacts, TableFacts
from purse.lab.study.plan import _CHECKPOINTS
from purse.lab.study.results import Study
from purse.lab.study.shard import Frames, JobSpec, Shard
from tests.lab.page.made_up import made_up
from tests.support.lab import contents
from tests.support.paths import EPSILON_GREEDY

WORLD = purse.worlds.bernoulli(rewards=[0.9, 0.6, 0.4], costs=[0.8, 0.3, 0.25])
SMALL: dict[str, Any] = {"budgets": [20, 50], "n_paths": 6, "seed": 3}
TEXT = "bernoulli:rewards=[.9,.6,.4],costs=[.8,.3,.25]"
FRAMES = ("frame", "table", "shares", "growth", "bounds", "references")
BOTH = ["fixed:arm=1", "uniform"]
Played = tuple[str, float, int, int]


def same(one: Study, other: Study) -> bool:
    return all(getattr(one, name)().equals(getattr(other, name)()) for name in FRAMES)


def interrupted(*args: Any) -> Any:
    raise KeyboardInterrupt


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[Played]:
    """The shards that are played from now on: policy, budget, first path, number of paths."""
    seen: list[Played] = []
    real = shard.play_shard

    def play(shard: Shard, *args: Any) -> Frames:
        budget = float(shard.job.problem.budget[0]) / 1e9
        seen.append((shard.job.name, budget, shard.first, shard.n_paths))
        return real(shard, *args)

    monkeypatch.setattr("purse.lab.study.executors.play_shard", play)
    return seen


def test_a_study_in_a_folder_is_the_one_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = purse.compare(BOTH, TEXT, **SMALL, folder=tmp_path)
    assert same(kept, purse.compare(BOTH, TEXT, **SMALL))
    assert same(kept, Study.load(tmp_path))
    assert isinstance(kept.lazy(), pl.LazyFrame)
    assert kept.lazy().collect().equals(kept.frame())
    assert Study.load(str(tmp_path)).facts == kept.facts
    assert kept.to_pandas().equals(kept.frame().to_pandas())
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(purse.errors.MissingExtra, match=r"to_pandas needs pandas: pip install"):
        kept.to_pandas()
    frames = {f"{name}.parquet" for name in ("results", *summary.COLUMNS)}
    assert {path.name for path in tmp_path.iterdir()} == {"manifest.json", "shards", *frames}
    (tmp_path / "arms.parquet").unlink()  # another version might have none
    with pytest.raises(purse.InvalidInput, match=r"no file 'arms\.parquet'; make the study again"):
        Study.load(tmp_path)


def test_results_in_pieces_have_the_same_bytes(tmp_path: Path) -> None:
    """Also when they lie in other shards: a study that has grown is the study that it has
    become.
    """
    at_once, grown = tmp_path / "at once", tmp_path / "grown"
    purse.compare(BOTH, TEXT, budgets=[20, 50], n_paths=6, folder=at_once)
    purse.compare(["uniform"], TEXT, budgets=[50], n_paths=2, folder=grown)
    purse.compare(BOTH[::-1], TEXT, budgets=[50, 20], n_paths=4, folder=grown)
    purse.compare(BOTH, TEXT, budgets=[20, 50], n_paths=6, folder=grown)
    assert contents(at_once).items() <= contents(grown).items()


ARMS = [f"fixed:arm={arm}" for arm in range(3)]


@pytest.mark.parametrize(
    ("change", "names", "budgets"),
    [
        ({"title": "Another"}, [], []),
        ({"policies": "uniform"}, [], []),
        ({"policies": ["fixed:arm=1", "uniform"]}, ["fixed:arm=1"], [20, 50]),
        ({"budgets": [20, 30]}, ["uniform", *ARMS], [30]),
        ({"world": {"two": TEXT, "names": known_worlds.make(TEXT, 20)}}, [], []),
        ({"stop": "retry"}, ["uniform"], [20, 50]),
        ({"n_workers": 1}, [], []),
        ({"seed": 4}, ["uniform", *ARMS], [20, 50]),
    ],
    ids=lambda change: "-".join(change) if isinstance(change, dict) else "",
)
def test_after_a_change_only_what_is_new_is_played(
    change: dict[str, Any],
    names: list[str],
    budgets: list[float],
    tmp_path: Path,
    played: list[Played],
) -> None:
    """A policy that is an arm alone is played once more, for the shares of its pulls."""
    arguments: dict[str, Any] = {"policies": ["uniform"], "world": TEXT, **SMALL}
    purse.compare(**arguments, folder=tmp_path)
    before = contents(tmp_path)
    assert len(played) == 2 * (1 + 3)
    played.clear()
    changed = purse.compare(**{**arguments, **change}, folder=tmp_path)
    assert change.keys() != {"n_workers"} or contents(tmp_path) == before
    new = {(name, budget, 0, 6) for name in names for budget in budgets}
    assert set(played) == new
    assert len(played) == len(new)
    assert same(changed, purse.compare(**{**arguments, **change}))


def test_an_interrupted_study_is_refused_until_it_has_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, played: list[Played]
) -> None:
    real, calls = shard.play_shard, count()

    def interrupted_from_the_fifth(shard: Shard, *args: Any) -> Frames:
        # and at all that follow: the thread may go on before the main thread hears of it
        return interrupted() if next(calls) >= 4 else real(shard, *args)

    with monkeypatch.context() as patched:
        patched.setattr("purse.lab.study.executors.play_shard", interrupted_from_the_fifth)
        with pytest.raises(KeyboardInterrupt):
            purse.compare(["uniform"], TEXT, **SMALL, n_workers=1, folder=tmp_path)
    with pytest.raises(
        purse.PurseError,
        match=r"is not finished: 4 of 8 shards are there \(\d+\.\d MB\); run it again to continue",
    ):
        Study.load(tmp_path)
    assert not (tmp_path / "results.parquet").exists()
    continued = purse.compare(["uniform"], TEXT, **SMALL, n_workers=1, folder=tmp_path)
    assert len(played) == 4
    assert same(continued, purse.compare(["uniform"], TEXT, **SMALL))
    assert same(continued, Study.load(tmp_path))


def test_a_changed_and_interrupted_study_is_not_taken_for_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    purse.compare(["uniform"], TEXT, **SMALL, folder=tmp_path)
    monkeypatch.setattr("purse.lab.study.executors.play_shard", interrupted)
    with pytest.raises(KeyboardInterrupt):
        purse.compare(["uniform", "fixed:arm=1"], TEXT, **SMALL, folder=tmp_path)
    with pytest.raises(purse.PurseError, match="8 of 10 shards are there"):
        Study.load(tmp_path)


def test_work_that_ends_while_results_are_put_together_leaves_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary, "_growth_row", interrupted)
    with pytest.raises(KeyboardInterrupt):
        purse.compare(["uniform"], TEXT, **SMALL, folder=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"manifest.json", "shards"}
    assert manifest.standing(tmp_path).startswith("8 of 8 shards")


def test_a_changed_policy_file_is_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Uniform plays in its place: a policy of one's own takes seconds to compile."""
    real, names = shard.play_shard, list[str]()

    def play(shard: Shard, *args: Any) -> Frames:
        names.append(shard.job.name)
        stand_in = JobSpec(
            "uniform", WORLD, 20, 3, "exit", _CHECKPOINTS if "mine" in names[-1] else 0
        )
        return real(shard._replace(job=stand_in.make()), *args)

    monkeypatch.setattr("purse.engine.cpu.warm_up", lambda *_: None)
    monkeypatch.setattr("purse.lab.study.executors.play_shard", play)
    path, source = tmp_path / "mine.py", EPSILON_GREEDY.read_text()
    assert "np.zeros(" in source
    changed = source.replace("np.zeros(", "np.ones(", 1)  # it hopes
    for text, new in ((source, [str(path), *ARMS]), (source, []), (changed, [str(path)])):
        path.write_text(text)
        purse.compare(f"{path}", WORLD, budgets=20, n_paths=6, seed=3, folder=tmp_path / "out")
        assert sorted(names) == sorted(new)
        names.clear()


def test_the_study_file_in_the_manifest_makes_the_same_study(
    tmp_path: Path, played: list[Played]
) -> None:
    policies = ["fixed:arm=1", "uniform"]
    first = purse.compare(policies, {'a "shop"': TEXT}, **SMALL, folder=tmp_path, title="Größe")
    plan = study_file.parse(manifest.study(tmp_path), tmp_path)
    assert plan.title == "Größe"
    played.clear()
    assert same(first, compare.run(plan, folder=tmp_path))
    assert played == []


def test_the_manifest_says_what_was_made_and_with_what(tmp_path: Path) -> None:
    made = purse.compare(["uniform"], {"shop": WORLD}, **SMALL, folder=tmp_path, title="Shopping")
    facts = json.loads((tmp_path / "manifest.json").read_text())
    assert facts == made.facts.to_json()
    assert (facts["title"], facts["worlds"]) == ("Shopping", {"shop": "bernoulli"})
    assert len(facts["shards"]) == 2 * (1 + 3)
    assert all((tmp_path / "shards" / f"{name}.parquet").is_file() for name in facts["shards"])
    assert facts["study"] is None
    message = "has policies or worlds that were not given as text"
    with pytest.raises(purse.InvalidInput, match=message):
        manifest.study(tmp_path)


def test_a_comparison_and_a_measurement_share_the_arms_alone(
    tmp_path: Path, played: list[Played]
) -> None:
    purse.compare(["uniform"], TEXT, **SMALL, folder=tmp_path)
    played.clear()
    found = purse.lab.regrets("uniform", TEXT, 50, n_paths=6, seed=3, folder=tmp_path)
    assert played == [("uniform", 50, 0, 6)]  # without counting pulls at parts of the budget
    assert np.isfinite([each.mean for each in found.estimates.values()]).all()


FACTS = made_up(policies=("uniform",)).facts
REPLAY = {"kind": "table", "data": "t.csv", "rounds": 60, "horizon": 50, "arms": ["a", "b"]}
STORED: dict[str, Any] = {
    "title": "Größe ≥ 1 😀",
    "budgets": [0.1, 1e17],
    "shards": ["a-0-8", "a-8-8", "b-0-8"],
    "made": None,
}


@pytest.mark.parametrize("text", [None, "{", "[1, 2]", '{"made": null}', b"\xff"], ids=repr)
def test_a_folder_without_a_manifest_of_ours_is_refused(
    text: str | bytes | None, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / "manifest.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(
        purse.InvalidInput,
        match=rf"^{re.escape(repr(str(tmp_path)))} holds no study: it has no manifest\.json that "
        r"can be read; `purse lab run",
    ) as caught:
        manifest.load(tmp_path)
    assert "\n" not in str(caught.value)


def test_how_far_a_study_has_come(tmp_path: Path) -> None:
    manifest.save(tmp_path, STORED)
    assert manifest.progress_of(tmp_path) == (0, 3, 0)
    assert manifest.standing(tmp_path) == "0 of 3 shards are there (0.0 MB)"
    (tmp_path / "shards").mkdir()
    for name, size in {
        "a-0-8.parquet": 1_000_000,
        "b-0-8.parquet": 500_000,
        "b-0-8-trace.parquet": 7,
        "old-0-8.parquet": 7,
        ".a-8-8.parquet.0123": 7,
    }.items():
        (tmp_path / "shards" / name).write_bytes(bytes(size))
    # a study that is running renames files: a name may be gone when its size is asked for
    (tmp_path / "shards" / ".a-0-8.parquet.0123").symlink_to("gone")
    assert manifest.progress_of(tmp_path) == (2, 3, 1_500_000)
    assert manifest.standing(tmp_path) == "2 of 3 shards are there (1.5 MB)"


def test_the_surroundings_are_versions_and_the_machine() -> None:
    found = manifest.surroundings()
    assert found["versions"]["purse"] == purse.__version__
    assert found["versions"]["numpy"] == np.__version__
    assert found["versions"].keys() == {"purse", "python", "numba", "numpy", "polars", "scipy"}
    assert found["machine"]["cores"] >= 1
    assert json.loads(json.dumps(found)) == found
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", manifest.now())


@pytest.fixture
def stored() -> dict[str, Any]:
    return json.loads(json.dumps(FACTS.to_json()))


def test_facts_are_stored_and_read_again_in_the_order_of_a_manifest(
    stored: dict[str, Any], tmp_path: Path
) -> None:
    for facts, kind in ((stored, StudyFacts), ({**stored, "replay": REPLAY}, TableFacts)):
        manifest.save(tmp_path, {**facts, "title": "Größe ≥ 1 😀", "delay": "geometric:3"})
        assert "Größe ≥ 1 😀" in (tmp_path / "manifest.json").read_text(encoding="utf-8")
        loaded = manifest.load(tmp_path)
        read = StudyFacts.from_json({**loaded, "of a later version": 1})
        assert type(read) is kind
        assert (read.title, read.delay) == ("Größe ≥ 1 😀", "geometric:3")
        assert list(read.to_json().items()) == [
            (name, loaded[name]) for name in _MANIFEST if name in loaded
        ]
    assert isinstance(read, TableFacts)
    assert read.replay == Recording("table", "t.csv", 60, 50, ["a", "b"])
    del stored["delay"]
    with pytest.raises(
        purse.InvalidInput,
        match="another version of purse made this study: its manifest has no 'delay'; make the",
    ):
        StudyFacts.from_json(stored)
