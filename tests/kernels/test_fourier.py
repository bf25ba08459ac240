import math
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purse
from purse.features import Features, Waves
from purse.kernels.fourier import _REACH, _SIZE, _cosine, as_seen, mapped
from purse.lab.theory.contexts import _fit
from purse.worlds.table import table
from tests.support.campaigns import FEATURES, SEES


def test_cosines_are_right_far_out_and_the_same_everywhere() -> None:
    turns = np.concatenate([np.linspace(-2, 2, 4001), np.array([1e6 + 1 / 3, 0.25, 0.5])])
    np.testing.assert_allclose(_cosine(turns), np.cos(math.tau * turns), atol=2e-9)
    known = mapped(np.linspace(-1, 1, 12).reshape(4, 3), Waves(5, 7))
    assert sha256(known.tobytes()).hexdigest()[:16] == "3900cbdbfb7ddede"


def test_products_of_cosines_are_the_kernel_of_the_paper() -> None:
    """Over many cosines their mean product is half that of a Gaussian in the distance."""
    rng = np.random.default_rng(1)
    rows, waves = rng.uniform(-1, 1, (6, 3)), Waves(4_000, 3)
    cosines = mapped(rows, waves)[:, 3:] / _SIZE
    products = cosines[:, None] * cosines
    apart = ((rows[:, None] - rows) ** 2).sum(axis=2)
    expected = np.exp(-(_REACH**2) * apart / 6) / 2
    errors = products.std(axis=2) / math.sqrt(waves.size)
    assert (np.abs(products.mean(axis=2) - expected) < 4.5 * errors).all()


def test_what_a_policy_sees_are_the_numbers_and_then_their_cosines() -> None:
    features = Features.of(FEATURES, n_arms=2, per_arm=True, map="fourier:6,seed=4")
    assert (features.n_columns, features.n_seen, features.map) == (2, 8, "fourier:6,seed=4")
    kept = np.array(features.encode([[812, 0.5], [9000, -1]])).reshape(2, 2)
    seen = as_seen(features, kept)
    assert (seen[:, :2] == kept).all()
    assert (np.abs(seen[:, 2:]) <= _SIZE).all()
    assert (seen == seen.astype(np.float32)).all(), "as a journal and a world have them"
    assert (seen[:1] == as_seen(features, kept[:1])).all()
    # more cosines leave the first as they are; another seed has others
    more = mapped(kept, Waves(9, 4))
    assert (more[:, :8] == seen).all()
    assert (mapped(kept, Waves(6, 5))[:, 2:] != seen[:, 2:]).all()


def test_a_circle_is_linear_in_the_cosines() -> None:
    rows = np.random.default_rng(2).uniform(-1, 1, (600, 2))
    inside = ((rows**2).sum(axis=1) < 0.6).astype(float)[:, None]
    explained = {}
    for name, waves in (("plain", None), ("mapped", "fourier:48")):
        world = table(inside, [[1]] * 600, features=rows.astype(np.float32), map=waves)
        errors = _fit(world.tables.features, inside, 1.0) - inside
        explained[name] = 1 - float((errors**2).mean()) / float(inside.var())
    assert explained["plain"] < 0.02
    assert explained["mapped"] > 0.5


def test_a_policy_is_saved_with_its_map_and_goes_on(tmp_path: Path) -> None:
    facts: dict[str, Any] = {"n_arms": 3, "budget": 50, "cost_min": 0.1, "features": FEATURES}
    live, rng = purse.Policy(SEES, **facts, map="fourier:4"), np.random.default_rng(3)
    contexts = np.stack([rng.uniform(0, 8000, 40), rng.uniform(-2, 2, 40)], axis=1).tolist()
    tickets = [live.ask(context=context) for context in contexts[:20]]
    for ticket in tickets[::2]:
        live.tell(ticket, 0.5, 0.3)
    live.save(tmp_path / "policy.npz")
    again = purse.Policy.load(tmp_path / "policy.npz", allow_policy_file=True)
    for policy in (live, again):
        for ticket in tickets[1::2]:
            policy.tell(ticket, 1.0, 0.2)
    assert again.state.coefficients.tobytes() == live.state.coefficients.tobytes()
    for context in contexts[20:]:
        assert again.ask(context=context) == live.ask(context=context)


@pytest.mark.parametrize(
    "given", ["fourier", "fourier:0", "fourier:257", "sine:4", "fourier:4,seed=-1", 48]
)
def test_maps_that_are_refused(given: Any) -> None:
    with pytest.raises(purse.InvalidInput, match=r"map=.*must be fourier:N or fourier:N,seed=S"):
        Features.of(2, n_arms=2, map=given)


def test_a_map_needs_features_and_counts_among_their_numbers() -> None:
    for call in (
        lambda: Features.of(None, n_arms=2, map="fourier:4"),
        lambda: table([[1, 0]], [1, 1], map="fourier:4"),
    ):
        with pytest.raises(purse.InvalidInput, match="map='fourier:4': needs features"):
            call()
    with pytest.raises(purse.InvalidInput, match="features=260: must be at most 256 numbers"):
        Features.of(5, n_arms=2, map="fourier:255")
