"""A budget that is spent in several places: whoever is killed, the parent never counts less for a
site than the site may still take, and what lies idle at a site is in its open leases.
"""

import random
import runpy
import subprocess
import sys
import time
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import purse
from purse.campaign.storage.connect import in_memory
from purse.errors import AskRefused
from tests.support.paths import EXAMPLES
from tests.support.soak import scale

START = 1_790_000_000_000  # ms since 1970
SOURCE = (EXAMPLES / "sites.py").read_text()


class Killed(BaseException):
    """A process dies here."""


class Mortal:
    """A campaign whose verbs may kill before or after their work, amid which the site may ask."""

    def __init__(self, campaign: purse.Campaign, draw: random.Random, meanwhile: Any) -> None:
        self.campaign, self.draw, self.meanwhile = campaign, draw, meanwhile

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self.campaign, name)
        if name not in ("ask", "tell", "top_up", "set_budget"):
            return verb

        def fatal(*args: Any, **kwargs: Any) -> Any:
            luck = self.draw.random()
            if luck < 0.15:
                raise Killed
            if luck < 0.5:
                self.meanwhile()
            answer = verb(*args, **kwargs)
            if luck > 0.85:
                raise Killed
            return answer

        return fatal


class Place:
    """A site and its parent in memory."""

    def __init__(self, example: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
        self.storage, self.above = in_memory(), in_memory()
        self.storage.now = self.above.now = lambda: START  # no call expires while it stands still
        arms = {"arms": {"paris": "1"}, "cost_min": "0.000001", "policy": "uniform"}
        self.parent = example["created"]("sites", "6", self.above, **arms)
        self.reached: Any = self.parent
        monkeypatch.setattr(purse.Campaign, "open", lambda *_, **__: self.reached)
        self.site = example["Site"]("paris", self.above, self.storage)
        self.local, self.open = self.site.local, list[Any]()

    def ask(self, arm: str = "large") -> None:
        with suppress(AskRefused):
            self.open.append(self.local.ask(arms=[arm]))

    def spend(self, cost: str) -> None:
        """Make a call that costs so much."""
        self.ask()
        self.tell(cost)

    def tell(self, cost: str) -> None:
        if self.open:
            self.local.tell(self.open.pop(0), reward=1, cost=cost)

    def counted(self) -> tuple[float, float]:
        """What the parent says that the site has spent, and may still spend, in USD."""
        (purse,) = self.parent.status().purses
        return float(purse.spent), float(purse.held)


@pytest.fixture
def example() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / "sites.py"))


@pytest.fixture
def place(example: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(example, monkeypatch)


def test_leases_by_hand(place: Place) -> None:
    site = place.site
    assert site.below() == (0, 0, 0, 0)  # whatever its policy plans for
    site.follow()  # a sixth of 6
    assert (site.below().budget, place.counted()) == (0, (0, 1))
    site.follow()  # 5 / 6 is the next lease, and more is left
    assert (site.below().budget, place.counted()) == (1, (0, 1))
    for _ in range(4):
        place.spend("0.05")
    site.follow()  # 0.8 is left
    assert place.counted() == (0, 1.83)
    place.spend("0.05")
    site.follow()
    assert (site.below().budget, place.counted()) == (Decimal("1.83"), (0, 1.83))
    for _ in range(15):
        place.spend("0.05")
    site.follow()  # the first lease is used up, and 0.83 is left
    assert place.counted() == (1, 0.83)
    place.ask()
    assert not site.follow(ends=True)  # the call is open
    assert (site.below(), place.counted()) == ((Decimal("1.05"), 1, Decimal("0.05"), 0), (1, 0.83))
    place.tell("0.02")
    assert not site.follow(ends=True)  # the second lease came to 0.02, and was open before
    assert site.follow(ends=True)
    assert (site.below().budget, place.counted()) == (Decimal("1.02"), (1.02, 0))
    assert place.parent.audit().ok
    site.follow()  # it opens again
    site.follow()
    assert (site.below().left, place.counted()) == (Decimal("0.83"), (1.02, 0.83))


def test_a_call_above_its_hold_is_above_the_lease(place: Place) -> None:
    place.site.follow()
    place.site.follow()
    place.spend("1.5")
    place.site.follow()
    assert place.counted() == (1.5, 0.75)  # a sixth of 4.5


def trials(example: dict[str, Any], monkeypatch: pytest.MonkeyPatch, number: int) -> int:
    """How often a site died in so many trials."""
    return sum(trial(example, monkeypatch, seed) for seed in range(number))


def trial(example: dict[str, Any], monkeypatch: pytest.MonkeyPatch, seed: int) -> int:
    """Work, die amid any step, and begin again; check the books after each step. Return deaths."""
    place, draw, deaths = Place(example, monkeypatch), random.Random(seed), 0
    site, meanwhile = place.site, place.ask
    place.reached = Mortal(place.parent, draw, meanwhile)
    site.local = Mortal(place.local, draw, meanwhile)
    for _ in range(40):
        for _ in range(draw.randrange(12)):
            draw.choice(
                [place.ask, place.ask, lambda: place.tell("0.05"), lambda: place.tell("0.01")]
            )()
        try:
            site.follow(ends=draw.random() < 0.4)
        except Killed:
            deaths += 1
        below, above = site.below(), site.above(place.parent)
        assert below.most <= above.budget <= 6, seed
        assert below.left <= above.held, seed
    place.reached, site.local = place.parent, place.local
    while place.open:
        place.tell("0.02")
    while not site.follow(ends=True):
        pass
    below, above = site.below(), site.above(place.parent)
    assert below.most == below.spent == above.spent, seed
    assert place.parent.audit().ok
    assert place.local.audit().ok
    return deaths


def test_books_agree_whichever_step_is_the_last(
    example: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert trials(example, monkeypatch, scale(5, 100)) > scale(50, 1_000)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        # asks that were granted meanwhile are forgotten
        ("return max(self.budget, self.spent + self.held)", "return self.budget"),
        # a lease is closed as used up before it is
        ("            if cost > used:\n                break\n", ""),
        # each look adds the lease again
        (', request_id=f"lease-{lease.id}"', ""),
    ],
)
def test_the_trial_sees_what_is_wrong(
    line: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert SOURCE.count(line) == 1
    file = tmp_path / "sites.py"
    file.write_text(SOURCE.replace(line, wrong))
    example = runpy.run_path(str(file))
    with pytest.raises((AssertionError, purse.PurseError)):
        trials(example, monkeypatch, 5)


def test_a_new_storage_under_an_old_name_gets_no_lease_of_the_old_one(
    example: dict[str, Any], place: Place
) -> None:
    old, new = place.site, example["Site"]("paris", place.above, in_memory())
    for _ in range(2):
        old.follow()
    place.spend("0.05")
    new.follow()
    new.follow()
    assert (new.below().budget, new.above(place.parent).held) == (Decimal("0.83"),) * 2
    assert place.counted() == (0, 1.83)  # the old lease stays, as the old storage may spend it
    new.label = old.label  # the trap: it would get the old lease, too, and give back what is spent
    new.follow()
    most = sum(site.below().most for site in (old, new))
    assert most == Decimal("2.83") > Decimal("1.83")


def gain_of(campaign: purse.Campaign) -> int:
    return sum(entry.body["reward"] > 0 for entry in campaign.journal() if entry.kind == "told")


def test_sites_that_are_killed_overspend_nothing(example: dict[str, Any], tmp_path: Path) -> None:
    kills, budget, draw = scale(3, 50), str(scale(3, 40)), random.Random(7)
    parent, idle = example["created_parent"](tmp_path, budget), list[Decimal]()
    sites = {name: example["site_of"](tmp_path, name) for name in example["SITES"]}

    def started(name: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, EXAMPLES / "sites.py", tmp_path, name])

    running = {name: started(name) for name in sites}
    try:
        while len(idle) < kills and (alive := [n for n in sites if running[n].poll() is None]):
            name = draw.choice(alive)
            local = sites[name].local
            until = local.status().entries + draw.randrange(1, 20)
            while running[name].poll() is None and local.status().entries < until:
                time.sleep(0.005)
            running[name].kill()
            running[name].wait()
            below, above = sites[name].below(), sites[name].above(parent)
            assert below.spent + below.held <= below.budget <= above.budget
            assert below.left <= above.held
            idle.append(below.left)
            running[name] = started(name)
        assert [process.wait(600) for process in running.values()] == [0] * len(sites)
    finally:
        for process in running.values():
            process.kill()
            process.wait()
    for site in sites.values():
        below, above = site.below(), site.above(parent)
        assert (below.budget, below.held, above.held) == (below.spent, 0, 0)
        assert below.spent == above.spent
        assert site.local.audit().ok
    assert parent.audit().ok
    spent, left = (float(getattr(parent.status().purses[0], part)) for part in ("spent", "left"))
    assert 0 <= left < 0.1
    alone = example["created"]("alone", budget, in_memory())
    with suppress(AskRefused):
        while True:
            example["call"](alone, draw, 0)
    gain, most = sum(gain_of(site.local) for site in sites.values()), gain_of(alone)
    assert gain > 0.6 * most
    print(f"{len(idle)} kills: {spent} of {budget} spent, at most {max(idle)} idle;", end=" ")
    print(f"gain {gain}, of one site {most}")
