"""A live policy as a file: a zip of NumPy arrays and one JSON text, versioned, without pickle."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

from purse.errors import InvalidInput, PurseError
from purse.live import Policy, Round
from purse.types import Problem, Ticket

FORMAT = 1
_PLAIN = ("name", "seed", "stop", "t", "gain", "over", "_spent", "_held", "_next_id")


def save(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Write to a temporary file beside the target and rename, so that a crash leaves the old file or the new one."""
    problem = {
        name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(policy.problem).items() if name in Problem.__dataclass_fields__
    }
    facts: dict[str, Any] = {"format": FORMAT, "problem": problem, **{name: getattr(policy, name) for name in _PLAIN}}
    facts["open"] = list(policy._open.values())
    facts["again"] = list(policy._again)
    target = Path(path)
    try:
        handle, scratch = tempfile.mkstemp(dir=target.parent or ".", prefix=target.name)
    except OSError as error:
        raise PurseError(f"cannot write {str(target)!r}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, facts=np.array(json.dumps(facts)), **{f"state_{name}": array for name, array in policy._state._asdict().items()})
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, target)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike[str]) -> Policy:
    """Read what `save` wrote."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        facts = json.loads(str(arrays.pop("facts")))
    except FileNotFoundError:
        raise InvalidInput(f"{str(path)!r} does not exist") from None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InvalidInput(f"{str(path)!r} is not a saved policy: {error}") from None
    if facts.get("format") != FORMAT:
        raise InvalidInput(f"{str(path)!r} has format {facts.get('format')!r}; this version of purse reads format {FORMAT}")
    known: dict[str, Any] = {name: np.array(value) if isinstance(value, list) else value for name, value in facts["problem"].items()}
    problem = Problem(**known)
    policy = Policy.__new__(Policy)
    policy._begin(
        facts["name"],
        problem,
        facts["seed"],
        facts["stop"],
    )
    for name in _PLAIN:
        setattr(policy, name, facts[name])
    fresh = policy._state._asdict()
    saved = {name.removeprefix("state_"): array for name, array in arrays.items()}
    if {name: array.shape for name, array in fresh.items()} != {name: array.shape for name, array in saved.items()}:
        raise InvalidInput(f"{str(path)!r} holds a state of {facts['name']} that this version of the policy does not have")
    policy._state = type(policy._state)(**saved)
    policy._open = {entry[0][0]: (Ticket(entry[0][0], entry[0][1], *map(tuple, entry[0][2:])), tuple(entry[1])) for entry in facts["open"]}
    policy._again = deque(Round(entry[0], *map(tuple, entry[1:])) for entry in facts["again"])
    return policy
