import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import purse
from purse.engine.job import make_policy
from purse.features import Features
from purse.kernels.prior import _read_prior, write_prior
from purse.lab.replay.prior_from_log import prior_from_log
from tests.support import greedy_contexts

GREEDY = str(Path(greedy_contexts.__file__))
N = 40
FEATURES = {"x": (0, 10), "kind": ["p", "q"]}
FACTS: dict[str, Any] = {"n_arms": 2, "budget": 100, "cost_min": 0.5, "cost_max": 2}


def log() -> pl.DataFrame:
    rng = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "arm": rng.choice(["a", "b"], N),
            "reward": rng.uniform(0, 1, N),
            "cost": rng.uniform(0.5, 2, N),
            "x": rng.uniform(0, 10, N),
            "kind": rng.choice(["p", "q"], N),
        }
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("prior") / "prior.npz"
    prior_from_log(log(), path, features=FEATURES, reward_range=(0, 1))
    return path


def problem(**changes: Any) -> purse.lab.Problem:
    return purse.lab.Problem.of(**{**FACTS, "n_features": 3, **changes})


def by_hand(ridge: float = 1.0, part: float = 1.0) -> tuple[Any, Any]:
    """V and the reward's coefficients of arm a, by linear algebra."""
    rows = log().filter(arm="a")
    x = np.array([
        [np.float32(value / 5 - 1), kind == "p", kind == "q", 1.0]
        for value, kind in rows.select("x", "kind").rows()
    ])  # fmt: skip
    gram = x.T @ x
    start = np.array([0, 0, 0, 0.5])
    one = np.eye(4)
    coefficients = np.linalg.solve(one + gram, start + x.T @ rows["reward"].to_numpy())
    return np.linalg.inv(ridge * one + part * gram), coefficients


def test_the_prior_is_the_regression_on_the_rows_in_the_policys_unit(file: Path) -> None:
    prior = _read_prior(file)
    assert prior.digest == sha256(file.read_bytes()).hexdigest()
    assert (prior.arms, prior.per_arm, prior.ridge) == (("a", "b"), False, 1.0)
    started = prior.start(problem(), ridge=1.0)
    inverse, coefficients = by_hand()
    np.testing.assert_allclose(started.inverse[0], inverse, atol=1e-12)
    np.testing.assert_allclose(started.coefficients[0, 0], coefficients, atol=1e-12)
    assert started.reports.sum() == N
    costs = log().filter(arm="a")["cost"].to_numpy() / 2  # in largest costs
    assert started.sums[0, 1] == pytest.approx(costs.sum())
    assert started.tops[0, 1] == pytest.approx(costs.max())
    again = prior_from_log(log(), file.with_name("again.npz"), features=FEATURES,
                           reward_range=(0, 1))  # fmt: skip
    assert again.digest == prior.digest


def test_an_old_log_counts_so_many_reports_at_most(file: Path) -> None:
    prior = _read_prior(file)
    full, some = prior.start(problem(), ridge=2.0), prior.start(problem(), ridge=2.0, most=5)
    n = full.reports[0]
    for started, part in ((full, 1.0), (some, 5 / n)):
        np.testing.assert_allclose(started.inverse[0], by_hand(2.0, part)[0], atol=1e-12)
        assert (started.inverse == started.inverse.transpose(0, 2, 1)).all()
    assert some.reports.tolist() == [5, 5]
    np.testing.assert_allclose(some.sums[0], full.sums[0] * 5 / n)
    np.testing.assert_allclose(some.squares[0], full.squares[0] * 5 / n)
    assert (some.coefficients == full.coefficients).all()
    assert (some.tops == full.tops).all()


def test_a_policy_begins_with_it(file: Path) -> None:
    module, params = make_policy(f"{GREEDY}:prior={str(file)!r},most=7", problem())
    state, expected = (
        module.init(params, problem()),
        _read_prior(file).start(problem(), ridge=1.0, most=7),
    )
    for mine, theirs in zip(state, expected, strict=True):
        assert (mine == theirs).all()


def test_what_does_not_fit_is_refused(file: Path) -> None:
    prior, declared = _read_prior(file), Features.of(FEATURES, n_arms=2)
    other = Features.of({"x": (0, 9)}, n_arms=2)
    prior.check(declared, arms=["b", "new"])
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("was learnt with other features: {'x'", lambda: prior.check(other)),
        ("knows none of the arms c; it knows a, b", lambda: prior.check(declared, arms=["c"])),
        ("most=0: must be a number above 0", lambda: prior.start(problem(), ridge=1.0, most=0)),
    ]
    calls += [
        (f"prior: has {has}", partial(prior.start, problem(**changes), ridge=1.0))
        for has, changes in (
            ("2 arms, and the problem has 3", {"n_arms": 3}),
            ("1 costs, and the problem has 2", {"n_resources": 2, "budget": [1, 1]}),
            ("3 numbers of a context, and the problem has 1", {"n_features": 1}),
        )
    ]
    for message, call in calls:
        with pytest.raises(purse.InvalidInput, match=message):
            call()


@pytest.mark.parametrize(
    ("field", "change", "message"),
    [
        ("inverse", lambda array: -array, "inverse must be positive"),
        ("inverse", lambda array: array + np.arange(4), "inverse must be symmetric"),
        ("inverse", lambda array: array[:, :3, :3], "inverse has shape"),
        ("coefficients", lambda array: array * np.nan, "coefficients must be finite numbers"),
        ("reports", lambda array: array - 1e9, "reports must be at least 0"),
    ],
)
def test_damaged_files_are_refused(
    file: Path, tmp_path: Path, field: str, change: Any, message: str
) -> None:
    prior = _read_prior(file)
    model = prior.model._replace(**{field: change(getattr(prior.model, field))})
    with pytest.raises(purse.InvalidInput, match=f"is a damaged prior: {message}"):
        write_prior(tmp_path / "p.npz", replace(prior, model=model))


def test_other_files_are_refused(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    with pytest.raises(purse.InvalidInput, match=r"cannot read .*No such file"):
        _read_prior(path)
    path.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(purse.InvalidInput, match="is not a prior"):
        _read_prior(path)
    for facts, message in (
        ({"format": 1}, "is not a prior"),  # as a saved policy has
        ({"format": 9, "kind": "prior"}, "has format 9; this version of purse reads"),
    ):
        np.savez(path, facts=np.array(json.dumps(facts)))
        with pytest.raises(purse.InvalidInput, match=message):
            _read_prior(path)
