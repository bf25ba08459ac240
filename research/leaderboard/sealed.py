"""The sealed suite: cases that nobody has chosen, drawn by a seed from a generator of worlds.

The seed is a digest of the default's file, `python -m research.leaderboard.sealed` prints it: a
rule that is changed after a look at these cases gets others. What is drawn are means, costs over up
to three decades, budgets, changes, kinds of requests, delays, a second resource and contexts.
"""

from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from random import Random

from purse import policies
from research.leaderboard.case import Case
from research.leaderboard.games import write_list

SEED = 0x5ED5D7AE  # of the cases; renewed when the rule is frozen, before the suite is played
EACH, PATHS, DEAREST = 6, 40, 2000  # cases of a kind, their paths, and dearest pulls at most


def seed_of_default() -> int:
    """Return the seed for the default as it is now: 32 bits of the digest of its file."""
    file = policies.load(policies.DEFAULT).__file__
    return int(sha256(Path(str(file)).read_bytes()).hexdigest()[:8], 16)


class Draw:
    """Numbers of one case, the same in every version of Python."""

    def __init__(self, seed: int, kind: str, number: int) -> None:
        self.chance = Random(f"{seed} {kind} {number}").random
        self.n_arms = self.whole(2, 12)
        decades = 3 * self.chance()
        self.costs = [round(10 ** (-decades * self.chance()), 4) for _ in range(self.n_arms)]
        self.dearest = max(self.costs)
        self.pulls = round(10 ** (1 + 2 * self.chance()))  # of the dearest arm

    def whole(self, low: int, high: int) -> int:
        """Return a whole number between two, both of them included."""
        return low + int((high - low + 1) * self.chance())

    def means(self) -> list[float]:
        """Return a mean reward for each arm; dear arms tend to pay more in half of the cases."""
        scale, tilt = 10 ** (-1.3 * self.chance()), self.chance() < 0.5
        return [
            scale * self.chance() * (0.3 + 0.7 * (cost / self.dearest) ** 0.3 if tilt else 1.0)
            for cost in self.costs
        ]

    def rounds(self) -> int:
        """Return a number of rounds, for some of which the dearest arm could be paid."""
        return min(10 * DEAREST, round(self.pulls * (1.2 + 8 * self.chance() ** 2)))

    def arms(self) -> str:
        """Return arms of fixed costs or of costs that are the least or the most, as text."""
        rewards, costs = write_list(self.means()), write_list(self.costs)
        if self.chance() < 0.5:
            return f"bernoulli:rewards={rewards},costs={costs}"
        least = min(self.costs) * self.chance()
        return f"two_point:rewards={rewards},costs={costs},cost_min={least:.4g}"

    @property
    def budget(self) -> float:
        """Money for so many of the dearest pulls, at their mean cost."""
        return round(self.pulls * self.dearest, 4)


def money(draw: Draw, case: Case) -> Case:
    return case._replace(world=draw.arms())


def horizon(draw: Draw, case: Case) -> Case:
    return case._replace(world=draw.arms(), horizon=draw.rounds(), stop="retry")


def late(draw: Draw, case: Case) -> Case:
    delay = f"geometric:{draw.whole(5, 200)}" if draw.chance() < 0.5 else draw.whole(5, 200)
    return case._replace(world=draw.arms(), stop="hold", delay=delay)


def drift(draw: Draw, case: Case) -> Case:
    rows = ",".join(write_list(draw.means()) for _ in range(draw.whole(2, 3)))
    length = max(20, draw.pulls * draw.whole(1, 4) // 2)
    costs = write_list(draw.costs)
    if draw.chance() < 0.5:
        return case._replace(world=f"drifting:rounds={length},rewards=[{rows}],costs={costs}")
    return case._replace(world=f"switching:segments={length},rewards=[{rows}],costs={costs}")


def masks(draw: Draw, case: Case) -> Case:
    kinds = [[int(draw.chance() < 0.6) for _ in range(draw.n_arms)] for _ in range(3)]
    for kind in kinds:
        kind[draw.whole(0, draw.n_arms - 1)] = 1
    shares = [[0.1 + draw.chance() for _ in kinds] for _ in range(draw.whole(1, 2))]
    world = (
        f'requests:world="{draw.arms()}",rounds={draw.rounds()},'
        f"kinds=[{','.join(map(write_list, kinds))}],shares=[{','.join(map(write_list, shares))}]"
    )
    return case._replace(world=world, stop="retry")


def resources(draw: Draw, case: Case) -> Case:
    pairs = [[cost, 0.1 + 0.9 * draw.chance()] for cost in draw.costs]
    rows = ",".join(map(write_list, pairs))
    world = f"bernoulli:rewards={write_list(draw.means())},costs=[{rows}]"
    second = round(draw.pulls * (0.3 + draw.chance()), 2)
    return case._replace(
        world=world, budget=(draw.budget, second), horizon=draw.rounds(), stop="retry"
    )


def contexts(draw: Draw, case: Case) -> Case:
    name = ("linear_contexts", "logistic_contexts")[draw.whole(0, 1)]
    rounds = draw.whole(500, 4000)
    world = f"{name}:horizon={rounds},seed={draw.whole(0, 999)}"
    return case._replace(world=world, budget=round(rounds * (0.02 + 0.2 * draw.chance()), 2))


KINDS: dict[str, Callable[[Draw, Case], Case]] = {
    "money alone": money,
    "money and rounds": horizon,
    "late reports": late,
    "means that change": drift,
    "requests that allow some arms": masks,
    "two resources": resources,
    "contexts": contexts,
}


def draw_cases(seed: int, each: int = EACH) -> Iterator[Case]:
    """Yield so many cases of each kind."""
    for kind, finish in KINDS.items():
        for number in range(1, each + 1):
            draw = Draw(seed, kind, number)
            yield finish(draw, Case(f"{kind}, {number}", kind, "", draw.budget, PATHS))


CASES = tuple(draw_cases(SEED))

if __name__ == "__main__":
    print(hex(seed_of_default()))
