"""Policy files that a campaign in the storage names. All who may write the storage choose them, and
they are code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from purse.errors import invalid
from purse.live.save_file import is_policy_file
from purse.service.problems import POLICY_FILE, ProblemError


def _shown(policy: str) -> str:
    """Return a policy as readers see it: a file without its folder.

    >>> _shown("/srv/mine.py:beta=1"), shown("exp3++.bwk:beta=1")
    ('mine.py:beta=1', 'exp3++.bwk:beta=1')
    """
    path, colon, options = policy.partition(":")
    return (Path(path).name if is_policy_file(policy) else path) + colon + options


def without_folder(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the status or the terms of a campaign, as readers see them."""
    return {**facts, "policy": _shown(facts["policy"])}


def refuse_file(name: str, policy: str) -> None:
    """Refuse to run the policy of a campaign if it is a file."""
    if is_policy_file(policy):
        raise ProblemError(
            POLICY_FILE,
            f"campaign {name!r} plays the policy file {_shown(policy)!r}, which this service does "
            "not run; start it with --allow-policy-files if the file can be trusted",
        )


def refuse_new_file(policy: Any) -> None:
    """Refuse a policy file in the terms of a new campaign, even if files are allowed: the sender of
    a request must not choose what code the server runs.
    """
    if isinstance(policy, str) and is_policy_file(policy):
        raise invalid("policy", policy, "must be the name of a policy; a server takes no files")
