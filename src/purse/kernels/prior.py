"""A warm start: what a regression has learnt from a log, in a file that a policy begins with.

The file holds a `Regression`, with rewards from 0 to 1 and costs in the user's unit, and what it is
about: the arms, the features with their ranges, classes and map, the ridge. Its SHA-256 stands for
it in the terms of a campaign.

An old log must not drown what is new. With at most m reports of an arm, where the log has N > m,

    f = m / N,   V = (ridge I + f sum x x')^-1,   reports, sums and squares times f

and coefficients as they are: what the log says, as sure as m of its reports.
"""

import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from purse.base import amounts, spec, validation
from purse.base.array_file import DAMAGE, read_arrays, write_arrays
from purse.errors import InvalidInput, invalid, shorten
from purse.features import Features
from purse.kernels.regression import Regression, new_regression
from purse.types import Floats, Problem

_FORMAT = 1
_LARGEST = 1 << 26  # bytes of a file


@dataclass(frozen=True, eq=False)
class Prior:
    """The knowledge from a log. K arms, n numbers of a context, S = 1 + d signals."""

    model: Regression  # rewards from 0 to 1, costs in the user's unit
    arms: tuple[str, ...]  # (K,)
    features: Mapping[str, Any]  # as `Features.as_dict` returns them
    per_arm: bool
    ridge: float
    reward_range: tuple[float, float]  # what rewards of 0 and 1 are in the user's unit
    map: str | None = None  # of the features
    digest: str = ""  # SHA-256 of the file

    def check(self, features: Features, *, arms: Sequence[str] | None = None) -> None:
        """Raise `InvalidInput` if the features differ, or no arm is in the prior.

        arms   their names; None: they have none, and must be as many as the prior's
        """
        declared = features.as_dict()
        if declared != self.features or (features.per_arm != self.per_arm and declared):
            whose = " of each arm" if self.per_arm else ""
            raise InvalidInput(
                f"prior: was learnt with other features{whose}: "
                f"{shorten(repr(dict(self.features)))}; declare the same, with the same ranges"
            )
        if features.map != self.map:
            raise InvalidInput(
                f"prior: was learnt with map={self.map!r}, and the features have {features.map!r}"
            )
        if arms is not None and not set(arms) & set(self.arms):
            raise InvalidInput(
                f"prior: knows none of the arms {shorten(', '.join(arms))}; it knows "
                f"{shorten(', '.join(self.arms))}"
            )

    def start(self, problem: Problem, *, ridge: float, most: float | None = None) -> Regression:
        """Return the regression that a policy begins with, its costs in largest costs.

        ridge   of the policy
        most    reports of each arm that the prior may count; None: all of them

        Raise `InvalidInput` if arms, resources or numbers of a context differ.
        """
        n_arms, n_signals, n_numbers = self.model.coefficients.shape
        wanted = problem.n_arms, 1 + problem.n_resources, problem.context_shape[1]
        for word, mine, theirs in zip(
            ("arms", "costs", "numbers of a context"),
            (n_arms, n_signals - 1, n_numbers - 1),
            (wanted[0], wanted[1] - 1, wanted[2] - 1),
            strict=True,
        ):
            if mine != theirs:
                raise InvalidInput(f"prior: has {mine} {word}, and the problem has {theirs}")
        limit = np.inf if most is None else validation.number("prior_most", most, above=0)
        scale = np.concatenate([[1.0], problem.unit_scale * amounts.UNIT])
        model = self.model
        parts = np.minimum(1.0, limit / np.maximum(model.reports, 1.0))
        inverse = model.inverse.copy()
        for i in range(n_arms):
            if parts[i] < 1 or ridge != self.ridge:
                inverse[i] = _weakened(model.inverse[i], parts[i], self.ridge, ridge)
        return Regression(
            inverse,
            model.coefficients * scale[:, None],
            model.squares * scale**2 * parts[:, None],
            model.sums * scale * parts[:, None],
            model.tops * scale,
            model.reports * parts,
        )


def start_of(
    problem: Problem, prior: str | None, digest: str | None, most: float | None, ridge: float
) -> Regression:
    """Return the regression that a policy begins with, from its options.

    prior    the path of a file; None: nothing is known
    digest   the SHA-256 that the file must have; None: any

    Raise `InvalidInput` when the file cannot be read, is another one, or does not fit.
    """
    if prior is None:
        if digest is not None or most is not None:
            raise InvalidInput("prior: is missing; prior_hash and prior_most are about it")
        _, n = problem.context_shape
        return new_regression(problem.n_arms, 1 + problem.n_resources, n, ridge)
    if not isinstance(prior, str):
        raise invalid("prior", prior, "must be the path of a file")
    learnt = _read_prior(prior)
    if digest not in (None, learnt.digest):
        raise InvalidInput(
            f"prior: {prior!r} is not the file that it was: its SHA-256 is {learnt.digest}, "
            f"not {digest}"
        )
    return learnt.start(problem, ridge=ridge, most=most)


def pin_prior(policy: str, features: Features, arms: Sequence[str]) -> str:
    """Return a policy with the hash of its prior and the full path, if it has a prior.

    Raise `InvalidInput` when the prior has other features, or other arms or another order.
    """
    name, options = spec.parse(policy)
    if not isinstance(options.get("prior"), str):
        return policy
    path = Path(options["prior"]).resolve()
    learnt = _read_prior(path)
    learnt.check(features, arms=arms)
    if learnt.arms != tuple(arms):
        raise InvalidInput(
            f"prior: has the arms {shorten(', '.join(learnt.arms))}; they must be those of the "
            f"campaign in the same order: {shorten(', '.join(arms))}"
        )
    options |= {"prior": str(path), "prior_hash": options.get("prior_hash") or learnt.digest}
    return f"{name}:{','.join(f'{key}={value!r}' for key, value in options.items())}"


def _weakened(inverse: Floats, part: float, ridge: float, other: float) -> Floats:
    """Return the inverse, (n, n), if a part of the reports counts, with another ridge."""
    eye = np.eye(len(inverse))
    weaker = np.linalg.inv(other * eye + part * (np.linalg.inv(inverse) - ridge * eye))
    return (weaker + weaker.T) / 2  # symmetric to the bit


def write_prior(path: str | os.PathLike[str], prior: Prior) -> Prior:
    """Write the file, and return the prior as it is read from there."""
    facts = {
        "format": _FORMAT,
        "kind": "prior",
        "arms": list(prior.arms),
        "features": dict(prior.features),
        "per_arm": prior.per_arm,
        **({"map": prior.map} if prior.map else {}),
        "ridge": prior.ridge,
        "reward_range": list(prior.reward_range),
    }
    write_arrays(path, facts, prior.model._asdict())
    return _read_prior(path)


def _read_prior(path: str | os.PathLike[str]) -> Prior:
    """Return the prior that a file holds.

    Raise `InvalidInput` when the file cannot be read, holds something else, or is damaged.
    """
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise InvalidInput(f"cannot read {name!r}: {error.strerror}") from None
    if len(content) > _LARGEST:
        raise InvalidInput(f"{name!r} is larger than {_LARGEST:,} bytes: it is not a prior")
    facts, arrays = read_arrays(io.BytesIO(content), name, "a prior")
    if facts.get("kind") != "prior":
        raise InvalidInput(f"{name!r} is not a prior")
    if facts["format"] != _FORMAT:
        raise InvalidInput(
            f"{name!r} has format {shorten(repr(facts['format']))}; this version of purse reads "
            f"format {_FORMAT}"
        )
    try:
        model = Regression(*(arrays[field].astype(np.float64) for field in Regression._fields))
        low, high = facts["reward_range"]
        prior = Prior(
            model,
            tuple(map(str, facts["arms"])),
            facts["features"],
            bool(facts["per_arm"]),
            validation.number("ridge", facts["ridge"], above=0),
            (float(low), float(high)),
            facts.get("map"),
            sha256(content).hexdigest(),
        )
        _check_known(prior)
    except (InvalidInput, *DAMAGE) as error:
        raise InvalidInput(f"{name!r} is a damaged prior: {shorten(str(error))}") from None
    return prior


def _check_known(prior: Prior) -> None:
    """Raise `ValueError` when arrays do not fit, or hold what no reports can lead to."""
    model, n_arms = prior.model, len(prior.arms)
    features = Features.of(prior.features, n_arms=n_arms, per_arm=prior.per_arm, map=prior.map)
    n_signals = model.coefficients.shape[1]
    expected = new_regression(n_arms, n_signals, features.n_seen + 1, prior.ridge)
    for field, array, other in zip(Regression._fields, model, expected, strict=True):
        if array.shape != other.shape:
            raise ValueError(f"{field} has shape {array.shape} instead of {other.shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"{field} must be finite numbers")
    if n_signals < 2 or len(set(prior.arms)) < n_arms:
        raise ValueError("it has no cost, or an arm twice")
    for field in ("squares", "sums", "tops", "reports"):
        if (getattr(model, field) < 0).any():
            raise ValueError(f"{field} must be at least 0")
    if (model.inverse != model.inverse.transpose(0, 2, 1)).any():
        raise ValueError("inverse must be symmetric")
    if (np.linalg.eigvalsh(model.inverse) <= 0).any():
        raise ValueError("inverse must be positive")
