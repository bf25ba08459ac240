"""One file per policy, found by its name: `exp3++.bwk` is `exp3pp_bwk.py`. Nothing is registered by
hand.
"""

import json
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from purse.base.catalog import Groups, as_catalog
from purse.base.spec import load_module
from purse.base.text import first_paragraph
from purse.errors import InvalidInput, PolicyFileRefused, invalid, unknown

as_catalog(__name__)
# whether policy files, which are code, are run for what happens in this context
runs_files = ContextVar("runs_files", default=True)
DEFAULT = "replan"  # the policy of a campaign that names none
# by what they are for, in the order in which a newcomer meets them
GROUPS: Groups = {
    "For most uses": ("replan", "primal-dual-bwk"),
    "Contexts": (
        "lin-ucb.price",
        "lin-ts.price",
        "lin-ucb.resolve",
        "classes.resolve",
        "square-cbwk",
        "lin-cbwk",
    ),
    "Money alone, rewards and costs at random": (
        "budgeted-thompson",
        "omega-ucb",
        "c-ucb",
        "i-ucb",
        "m-ucb",
        "mrcb",
        "b-greedy",
        "budget-ucb",
        "ucb-bv1",
        "ucb-bv2",
        "ucb-sc",
        "epsilon-first",
        "bounded-epsilon-first",
    ),
    "Which arm is best, with confidence": ("best-arm",),
    "Known costs, or a limit on the pulls of each arm": ("kube", "fractional-kube", "b-kube"),
    "Several plays a round": ("ucb-mb", "exp3.m.b", "semi-bwk"),
    "A budget and a horizon, or several resources": (
        "ucb-bwk",
        "balanced-exploration",
        "sw-ucb-bwk",
        "lagrange-bwk",
        "bobw-primal-dual",
        "exp3++.prices",
        "exp3++.ada-prices",
    ),
    "An adversary": (
        "exp3.bwk",
        "exp3++.bwk",
        "exp3++.price",
        "exp3.p.bwk",
        "exp3-ix.bwk",
        "tsallis-inf.bwk",
        "tsallis-inf.price",
        "tsallis-inf.coin",
    ),
    "Blind to costs: what ignoring them loses": (
        "exp3",
        "exp3++",
        "exp3.p",
        "exp3-ix",
        "tsallis-inf",
        "sao",
        "delayed-sapo",
        "elimination-race",
    ),
    "Yardsticks": ("uniform", "fixed", "oracle"),
}
_FOLDER = Path(__file__).parent
DOMINATED = _FOLDER / "dominated.json"  # by the leaderboard, which writes it
_PARTS = ("NAME", "params", "init", "choose", "update")


def names() -> list[str]:
    """Return the names of all policies that purse ships."""
    return sorted(
        import_module(f"{__name__}.{info.name}").NAME for info in iter_modules([str(_FOLDER)])
    )


def describe() -> dict[str, str]:
    """Return the first paragraph of each policy's docstring, by its name."""
    return {name: first_paragraph(load(name).__doc__) for name in names()}


def source(policy: str | ModuleType) -> str:
    """Return the source that the rule of a policy was checked against: its paper, or one that
    reports it; "from memory" if nothing could be read; or "ours".

    policy   its name, with or without options, or its module
    """
    module = load(policy.partition(":")[0] if isinstance(policy, str) else policy)
    return str(getattr(module, "SOURCE", "ours"))


def dominated() -> dict[str, str]:
    """Return {policy: one that the leaderboard finds no worse in any situation, and better}."""
    by_policy: dict[str, str] = json.loads(DOMINATED.read_text(encoding="utf-8"))
    return by_policy


def load(name: str | ModuleType) -> ModuleType:
    """Return the policy's module, from its name, from the path of a file that ends in `.py`, or a
    module that is loaded already.

    Raise `PolicyFileRefused` if it is a file and `runs_files` says no.
    """
    if isinstance(name, ModuleType):
        module = name
    elif isinstance(name, type):
        raise InvalidInput(
            f"policy {name.__name__} is a class, which only `simulate`, `compare` and "
            "`check_policy` play: nobody can look into its state; write it as kernels"
        )
    elif not isinstance(name, str):
        raise invalid("policy", name, "must be a name, the path of a policy file or a module")
    elif name.endswith(".py"):
        if not runs_files.get():
            raise PolicyFileRefused(
                f"the policy file {Path(name).name!r} is not run by this service; start it with "
                "--allow-policy-files if the file can be trusted"
            )
        module = load_module("policy", Path(name))
    else:
        stem = name.replace("+", "p").replace(".", "_").replace("-", "_")
        # a file system refuses to look for a longer name
        there = len(stem) <= 100 and (_FOLDER / f"{stem}.py").is_file()
        module = import_module(f"{__name__}.{stem}") if there else ModuleType(stem)
        if getattr(module, "NAME", None) != name:
            if name in (shipped := names()):
                raise InvalidInput(f"policy {name!r} lies in a file of another name, not {stem}.py")
            raise unknown("policy", name, shipped)
    if missing := [part for part in _PARTS if not hasattr(module, part)]:
        raise InvalidInput(
            f"{getattr(module, '__file__', module)} is not a policy: it has no {', '.join(missing)}"
        )
    return module
