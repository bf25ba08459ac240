"""One transcript of all verbs, with refusals: what to do, and what is said of it.

A step names an object, a verb and what the verb is given. Whoever plays it, the answers are the
same: results with their types, times and digests, errors with their words.
"""

import itertools
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from purse.campaign.storage.storage import Storage
from purse.errors import PurseError
from tests.support.storages import START

HOUR = 3600


class Step(NamedTuple):
    of: str  # the name of a campaign or of an account; "Campaign" or "Account": a class method
    verb: str
    given: tuple[Any, ...] = ()
    named: dict[str, Any] = {}  # noqa: RUF012 - nobody changes it

    def __repr__(self) -> str:
        said = [*map(repr, self.given), *(f"{key}={value!r}" for key, value in self.named.items())]
        return f"{self.of}.{self.verb}({', '.join(said)})"


def on(of: str, *calls: tuple[Any, ...]) -> list[Step]:
    """Steps on one object: each is a verb with what it is given, named values last."""
    steps = []
    for verb, *given in calls:
        named = given.pop() if given and isinstance(given[-1], Named) else {}
        steps.append(Step(of, verb, tuple(given), dict(named)))
    return steps


class Named(dict[str, Any]):
    """Values given by name."""


def by(**named: Any) -> Named:
    return Named(named)


NEW: dict[str, Any] = {
    "arms": {"small": "0.01", "large": "0.05"},
    "budget": "2",
    "policy": "uniform",
    "seed": 7,
}
TEAM = {"budget": 50, "account": "company", "every": "day", "carry": "all"}
ROOM = {"capacity": 7, "cost_ceiling": "0.1"}
HOT = {"cooldown": 60, "horizon": 9, "skip": False, "resources": ["USD"], "alerts": ["50%"]}
LATE = {"reward_within": 60, "missing_reward": -1, "reward_range": (-1, 1)}
BAD: list[dict[str, Any]] = [
    {"arms": {}},
    {"arms": {"small": "0.01", "large": "-1"}},
    {"arms": ["small", "large"]},
    {"budget": -1},
    {"budget": "x"},
    {"budget": math.nan},
    {"budget": [1, 2]},
    {"cost_min": "0.02"},
    {"cost_min": {"smal": "0.001", "large": "0.001"}},
    {"resources": []},
    {"resources": ["USD", "USD"]},
    {"horizon": 0},
    {"horizon": "x"},
    {"policy": "uniformm"},
    {"policy": "uniform:x=1"},
    {"policy": 3},
    {"seed": "x"},
    {"seed": -1},
    {"expires_after": 0},
    {"expires_after": math.nan},
    {"cooldown": -1},
    {"reward_within": 0},
    {"missing_reward": 0.5},
    {"reward_within": 60, "missing_reward": 2},
    {"reward_range": [1, 0]},
    {"reward_range": [1]},
    {"explore": 2},
    {"capacity": 1},
    {"cost_ceiling": "0.001", "capacity": 3},
    {"features": -1},
    {"features": {"length": [1, 0]}},
    {"features": 2, "map": "fourier:0"},
    {"map": "fourier:48"},
    {"account": "none"},
    {"account": "a/b"},
    {"every": "fortnight"},
    {"every": "day", "time_zone": "Mars"},
    {"time_zone": "Europe/Berlin"},
    {"carry": "some"},
    {"until": "soon"},
    {"skip": True},
    {"skip": "x"},
    {"alerts": ["800%"]},
    {"alerts": "80%"},
    {"exist_ok": "yes"},
]
STRANGE = ("medium", "a/b", "..", "é=1, 2%")  # names of arms

STEPS: list[Step] = [
    *on(
        "Account",
        ("create", "company", by(budget="100", resources=["USD"], alerts=["80%", "overrun"])),
        ("create", "team", by(**TEAM)),
        ("create", "team", by(**TEAM, exist_ok=True)),
        ("create", "team", by(budget=50)),
        ("create", "team", by(budget=51, account="company", exist_ok=True)),
        ("create", "deep", by(budget=1, account="team")),
        ("create", "b", by(budget=1, account="none")),
        ("create", "b", by(budget=1, account="company", resources=["EUR"])),
        ("create", "b", by(budget=-1)),
        ("create", "b c", by(budget=1)),
        ("create", "b", by(budget=1, alerts=["expired"])),
        ("names",),
        ("open", "compny"),
    ),
    *on(
        "Campaign",
        ("create", "prompts", by(**NEW, **ROOM, account="team", cooldown=None)),
        ("create", "hot", by(**NEW, **HOT)),
        ("create", "late", by(**NEW, **LATE, explore=0.05)),
        ("create", "seen", by(**NEW, features={"länge": (0, 8000), "kind": ["a", "b"]})),
        (
            "create",
            "two",
            by(
                arms={"small": ["0.01", 100], "large": {"USD": "0.05", "tokens": 500}},
                budget={"USD": 2, "tokens": 9000},
                resources=["USD", "tokens"],
                policy="uniform",
                every="6h",
                expires_after=None,
            ),
        ),
        ("create", "prompts", by(**NEW)),
        ("create", "prompts", by(**NEW, exist_ok=True)),
        ("create", "", by(**NEW)),
        ("create", 7, by(**NEW)),
        *(("create", "bad", by(**(NEW | bad))) for bad in BAD),
        ("names",),
        ("open", "promts"),
        ("open", "a/b"),
        ("open", ""),
        ("open", 7),
    ),
    *on(
        "prompts",
        ("ask", "r1"),
        ("ask", "r1"),
        ("ask", "r2", by(arms=["large"], labels={"tenant": "acme"})),
        ("ask", "r2", by(arms=["small"])),
        ("ask", "r2", by(arms=["large"], labels={"tenant": "other"})),
        ("ask", "r3", by(arms=["medium"])),
        ("ask", "r3", by(arms="small")),
        ("ask", "r3", by(arms=[])),
        ("ask", "r3", by(arms={"small": "0.02"})),
        ("ask", "frage 3 ü", by(arms={"small": "0.004"}, labels={"tenant": "ü", "team": "x"})),
        ("ask", "r4", by(context=[1])),
        ("ask", ""),
        ("ask", "a\nb"),
        ("ask", 5),
        ("ask", "r4", by(labels={"a=b": "c"})),
        ("ask", "r4", by(labels={"tenant": ""})),
        ("ask", "r4", by(labels=[1])),
        ("ask", "s1", by(arms={"small": "0.004"}, session="talk")),
        ("ask", "s1", by(arms={"small": "0.004"}, session="other")),
        ("ask", "r4", by(session="")),
        ("ask", "r4", by(session=7)),
        ("ask_many", 3, "m1"),
        ("ask_many", 3, "m1"),
        ("ask_many", 2, "m1"),
        ("ask_many", 2, "m2", by(arms={"large": Decimal("0.02")}, labels={"tenant": "acme"})),
        ("ask_many", 0, "m3"),
        ("ask_many", 1001, "m3"),
        ("ask_many", "3", "m3"),
        ("ask_many", 2, "m3", by(contexts=[[1]])),
        ("probabilities",),
        ("probabilities", ["large"]),
        ("probabilities", ["lrge"]),
        ("tell", 1, 0.5, "0.002"),
        ("tell", 1, 0.5, "0.002"),
        ("tell", 1, 0.6, "0.002"),
        ("tell", 99, 0.5, "0.002"),
        ("tell", 0, 0.5, "0.002"),
        ("tell", 1.5, 0.5, "0.002"),
        ("tell", "x", 0.5, "0.002"),
        ("tell", True, 0.5, "0.002"),
        ("tell", 2, 2, "0.002"),
        ("tell", 2, "much", "0.002"),
        ("tell", 2, math.nan, "0.002"),
        ("tell", 2, True, "0.002"),
        ("tell", 2, 0.5, "-1"),
        ("tell", 2, 0.5, math.nan),
        ("tell", 2, 0.5, "1e-3x"),
        ("tell", 2, 0.5, {"EUR": 1}),
        ("tell", 2, 0.5, [1, 2]),
        ("tell", 2, 0.5, None),
        ("tell", 2, [0.5, 0.5], "0.002"),
        ("settle", 2, Decimal("0.02")),
        ("settle", 2, "0.03"),
        ("settle", 3, None),
        ("reward", 3, 0.25),
        ("fail", 4, "0.001", "429"),
        ("fail", 4, "0.001", "429"),
        ("fail", 4, "0.002"),
        ("fail", 5, 0, 5),
        ("fail", 5, None, "time-out"),
        ("fail", 5),
        ("void", 5),
        ("void", 5),
        ("void", 1),
        ("void", "1"),
        ("tell_many", [(6, 0.1, "0.001"), (99, 1, 1), (7, 2, 1), ("x", 1, 1), (7, 0.3, "0.5")]),
        ("tell_many", [(8, 1, math.nan), (8, 1, None), (8, True, 1), (6, 0.1, "0.001")]),
        ("tell_many", []),
        ("tell_many", 7),
        ("tell_many", [(6, 0.1, "0.001"), (7, 1)]),
        ("top_up", "1.5", "t1"),
        ("top_up", "1.5", "t1"),
        ("top_up", "2", "t1"),
        ("top_up", "-2", "t2"),
        ("top_up", 0, "t2"),
        ("top_up", [1, 2], "t2"),
        ("top_up", 1, ""),
        ("set_budget", "30", "b1"),
        ("set_budget", "30", "b1"),
        ("set_budget", "31", "b1"),
        ("set_budget", "-2", "b2"),
        ("charge", "0.25", None, "a bill", "c1"),
        ("charge", "0.25", None, "a bill", "c1"),
        ("charge", "0.5", None, "a bill", "c1"),
        ("charge", "-0.25", None, "a credit", "c2"),
        ("charge", "-50", None, "", "c3"),
        ("charge", 0, None, "", "c4"),
        ("tickets",),
        ("tickets", ["told", "failed"], 2),
        ("tickets", ["told", "failed"], 2, by(after=1)),
        ("tickets", ["hold"]),
        ("tickets", None),
        ("tickets", ["held"], 0),
        ("tickets", ["held"], 5, -1),
        ("ticket", 4),
        ("ticket", 99),
        ("ticket", "x"),
        ("labels",),
        ("labels", "tenant", 1),
        ("labels", "a=b"),
        ("labels", None, 0),
        ("labels", "tenant", 9, "day"),
        ("labels", by(by="week")),
        ("recommend",),
        ("recommend", "ratio", by(cap="0.04", confidence=0.5, within=0.5)),
        ("recommend", by(cap=Decimal("1e-7"))),
        ("recommend", by(cap=1e-5, resource="USD")),
        ("recommend", "price"),
        ("recommend", by(confidence=2)),
        ("recommend", by(within=-1)),
        ("recommend", by(cap="x")),
        ("recommend", by(cap=0)),
        ("recommend", by(resource="EUR")),
        ("certificate",),
        ("certificate", 0.5),
        ("certificate", 1),
        *(
            call
            for arm in STRANGE
            for call in (
                ("add_arm", arm, by(cost_min="0.001", cost_max="0.03")),
                ("set_arm", arm, by(cost_max=0.02)),
                ("ask", f"of {arm}", by(arms=[arm])),
                ("retire_arm", arm),
                ("ask", "no more", by(arms=[arm])),
            )
        ),
        ("add_arm", "sixth"),
        ("add_arm", "seventh"),
        ("add_arm", "eighth"),
        ("add_arm", ""),
        ("retire_arm", "nope"),
        ("set_arm", "small", by(cost_max="0.02")),
        ("set_arm", "small", by(cost_max="1")),
        ("set_arm", "small", by(cost_min="x")),
        ("set_limit", "usr", "5"),
        ("set_limit", "tenant", "5"),
        ("ask", "r8a"),
        ("set_limit", "tenant", "0", "ada"),
        ("ask", "r8b", by(labels={"tenant": "ada"})),
        ("set_limit", "tenant", None, "ada"),
        ("set_limit", "tenant", None),
        ("set_limit", "team", "5", "ada"),
        ("hand_over",),
        ("labels",),
        ("set_alerts", ["80%", "expired"]),
        ("set_alerts", ["x"]),
        ("set_alerts", []),
        ("pause",),
        ("ask", "r9"),
        ("status",),
        ("reward", 2, 0.7),
        ("reward", 2, 0.8),
        ("resume",),
        ("expire",),
        ("audit", by(full=True, acknowledged=[1, 6])),
        ("audit", by(acknowledged=[77])),
        ("audit", by(acknowledged="7")),
        ("audit", by(noted=(3, "x"))),
        ("audit", by(noted=7)),
        ("audit", by(full="yes")),
        ("journal",),
        ("journal", 20),
        ("journal", -1),
        ("export",),
    ),
    *on(
        "hot",
        ("ask", "r1", by(arms=["small"])),
        ("fail", 1, "0.001", "down"),
        ("ask", "r2", by(arms=["small"])),
        ("probabilities", ["small"]),
        ("ask", "r2"),
        ("status",),
        ("ask_many", 9, "m", by(arms=["large"])),
        ("ask", "r3", by(arms=["large"])),
    ),
    *on(
        "late",
        ("ask", "r1"),
        ("settle", 1, "0.001"),
        ("ask", "r2"),
        ("tell", 2, -0.5, "0.001"),
        ("tell", 2, 1.5, "0.001"),
        ("journal",),
    ),
    *on(
        "seen",
        ("ask", "r1", by(context={"länge": 812.5, "kind": "a"})),
        ("ask", "r2", by(context=[1e-7, "b"])),
        ("ask", "r3"),
        ("ask", "r3", by(context={"länge": "x", "kind": "a"})),
        ("ask", "r3", by(context={"länge": 1, "kind": "c"})),
        ("ask", "r3", by(context={"länge": 1})),
        ("ask_many", 2, "m1", by(contexts=[[1, "a"], {"länge": 2, "kind": "b"}])),
        ("ask_many", 2, "m2", by(contexts=[[1, "a"]])),
        ("probabilities", by(context=[3, "a"])),
        ("export", by(contexts=False)),
        ("export",),
        ("export", by(contexts="no")),
    ),
    *on(
        "two",
        ("ask_many", 2, "m"),
        ("tell", 1, 0.5, ["0.002", 20]),
        ("tell", 2, 0.5, {"tokens": 700, "USD": "0.003"}),
        ("tell", 2, 0.5, "0.002"),
        ("settle", 2, {"USD": 1}),
        ("top_up", {"USD": 1, "tokens": 0}, "t"),
        ("top_up", "1", "t2"),
        ("recommend", by(resource="tokens", cap=300)),
        ("status",),
    ),
    *on(
        "team",
        ("status",),
        ("top_up", "5", "t"),
        ("top_up", "5", "t"),
        ("top_up", "6", "t"),
        ("set_budget", "150", "b"),
        ("charge", "1", None, "a bill", "c"),
        ("charge", "-1", None, "a credit", "c2"),
        ("charge", "1", {"tenant": "x"}, "", "c3"),
        ("top_up", 0, "t2"),
        ("set_alerts", ["90%"]),
        ("set_alerts", ["cooling-down"]),
        ("pause",),
    ),
    *on("prompts", ("ask", "below a pause")),
    *on("team", ("resume",), ("journal",), ("journal", 2), ("audit",), ("export",)),
    *on("clock", ("forward", 2 * HOUR)),
    *on("prompts", ("expire",), ("tickets", ["presumed"]), ("tell", 8, 0.5, "0.003"), ("status",)),
    *on("late", ("expire",), ("status",), ("reward", 1, 0.5)),
    *on("clock", ("forward", 24 * HOUR)),
    *on("two", ("status",), ("ask", "next period"), ("status",)),
    *on("prompts", ("end",), ("ask", "z"), ("resume",), ("top_up", 1, "z"), ("end",)),
    *on("prompts", ("tell", 3, 0.25, 0), ("tell", 8, 1, "0.01")),
    *on("team", ("end",), ("top_up", 1, "z")),
    *on("company", ("status",), ("audit",)),
    *on("Campaign", ("create", "orphan", by(**NEW, account="team"))),
]  # fmt: skip


def shape(answer: Any) -> Any:
    """An answer with its types; of an error the class, the words and the numbers."""
    if isinstance(answer, PurseError):
        return type(answer).__name__, str(answer), vars(answer).get("seconds")
    if is_dataclass(answer) and not isinstance(answer, type):
        found = {each.name: shape(getattr(answer, each.name)) for each in fields(answer)}
        return type(answer).__name__, found
    if hasattr(answer, "_asdict"):
        return type(answer).__name__, {key: shape(value) for key, value in answer._asdict().items()}
    if isinstance(answer, (list, tuple)):
        return type(answer).__name__, [shape(each) for each in answer]
    if isinstance(answer, dict):
        return {key: shape(value) for key, value in answer.items()}
    return answer


@contextmanager
def still() -> Iterator[list[int]]:
    """All storages of this process show one time, in ms, that moves when a test moves it; ids count
    up, and salts are 0, so that digests are the same, too.
    """
    clock, ids, make = [START], itertools.count(1), Storage.__init__

    def init(self: Storage, *given: Any) -> None:
        make(self, *given)
        self.now = lambda: clock[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Storage, "__init__", init)
        patch.setattr("secrets.token_hex", lambda size: f"{next(ids):0{2 * size}x}")
        patch.setattr("purse.campaign.ledger.entry.urandom", bytes)
        yield clock
