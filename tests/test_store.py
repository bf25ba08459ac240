from __future__ import annotations

from pathlib import Path

import pytest

import purse
from purse import store

WORLD = purse.environments.bernoulli(rewards=[0.9, 0.6, 0.4], costs=[0.8, 0.3, 0.25])
SMALL = {"budgets": [20, 50], "n_paths": 6, "seed": 3}


def test_finished_parts_are_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = purse.compare(["uniform"], WORLD, **SMALL, folder=tmp_path)
    played = []
    monkeypatch.setattr(store, "play", lambda job, *args, **kwargs: played.append(job.name))
    again = purse.compare(["uniform"], WORLD, **SMALL, folder=tmp_path)
    assert played == []
    assert again.frame().equals(first.frame())


def test_an_interrupted_comparison_continues_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = purse.compare(["uniform"], WORLD, **SMALL)
    real, calls = store.play, []

    def interrupted(job, *args, **kwargs):  # type: ignore[no-untyped-def]
        calls.append(job.name)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return real(job, *args, **kwargs)

    monkeypatch.setattr(store, "play", interrupted)
    with pytest.raises(KeyboardInterrupt):
        purse.compare(["uniform"], WORLD, **SMALL, folder=tmp_path)
    assert purse.compare(["uniform"], WORLD, **SMALL, folder=tmp_path).frame().equals(whole.frame())
    assert len(calls) == 5 + 4


@pytest.mark.parametrize(
    "change", [{"seed": 4}, {"n_paths": 5}, {"stop": "hold"}, {"budgets": [21, 50]}, {"policies": ["exp3.bwk:gamma=0.5"]}, {"world": "misleading_ratio"}]
)
def test_whatever_decides_the_numbers_makes_new_parts(tmp_path: Path, change: dict[str, object]) -> None:
    arguments: dict[str, object] = {"policies": ["exp3.bwk"], "world": WORLD, **SMALL, "folder": tmp_path}
    purse.compare(**arguments)  # type: ignore[arg-type]
    before = len(list(tmp_path.rglob("*.parquet")))
    purse.compare(**{**arguments, **change})  # type: ignore[arg-type]
    assert len(list(tmp_path.rglob("*.parquet"))) > before


def test_a_changed_first_state_makes_new_parts(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    source = (Path(__file__).parent.parent / "examples" / "epsilon_greedy.py").read_text()
    path.write_text(source)
    before = purse.compare(f"{path}", WORLD, **SMALL, folder=tmp_path / "out").frame()
    old = "return EpsilonGreedyState(np.zeros((n_paths, params.n_arms)), np.zeros((n_paths, params.n_arms)))"
    assert old in source
    path.write_text(source.replace(old, old.replace("np.zeros", "np.ones", 1) + "  # hopeful"))
    after = purse.compare(f"{path}", WORLD, **SMALL, folder=tmp_path / "out").frame()
    assert not after.equals(before)
    assert after.equals(purse.compare(f"{path}", WORLD, **SMALL).frame())
