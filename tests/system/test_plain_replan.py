"""The rule of `replan` in plain C, held round by round against the policy: the same reports give
the same probabilities.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from benchmarks import families
from benchmarks.instance import LIMITS, terms

import purse
from tests.support.soak import scale

LONG = scale(200, 1_000)
PLAIN = Path(families.__file__).parent / "plain" / "replan.c"
# writes the probabilities of every round; reads what was left in it, the arm and its report
DRIVER = """
#define main play_game
#include "%s"
#undef main

int main(int argc, char **argv) {
  int arm;
  double left, reward;
  arms = atoi(argv[1]), budget = atof(argv[2]), horizon = (long)(2 * budget);
  begin();
  for (long t = 1; scanf("%%lf %%lf %%d %%lf", &left, &second_left, &arm, &reward) == 4; t++) {
    plan(t, left);
    for (int i = 0; i < arms; i++) printf("%%.17g ", chance[i]);
    if (scanf("%%lf %%lf", cost + arm, second_cost + arm) != 2) return 1;
    learn(t, arm, 1, reward);
  }
}
"""


@pytest.fixture(scope="module", params=LIMITS)
def limits(request: pytest.FixtureRequest) -> int:
    """One limit is a resource, the second are rounds, the third is another resource."""
    return int(request.param)


@pytest.fixture(scope="module")
def program(limits: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rule in plain C, for so many limits."""
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc: the rule in plain C did not run")
    source = tmp_path_factory.mktemp("plain") / "driver.c"
    source.write_text(DRIVER % PLAIN)
    made = source.with_suffix("")
    subprocess.run(["gcc", "-O1", f"-DLIMITS={limits}", "-o", made, source, "-lm"], check=True)
    return made


@pytest.mark.parametrize(("n_arms", "budget"), [(2, LONG), (7, LONG), (7, 12)])
def test_plain_c_makes_the_plans_of_the_policy(
    program: Path, n_arms: int, budget: int, limits: int
) -> None:
    rng = np.random.default_rng(limits)
    resources = max(1, limits - 1)
    live = purse.Policy("replan", n_arms=n_arms, n_resources=resources, **terms(limits, budget))
    plans, lines = [], []
    grid = np.arange(n_arms) / (n_arms - 1)
    for t in range(2 * budget):
        left = np.broadcast_to(live.left, resources)
        if left.min() < 1:
            break
        plans.append(live.probabilities())
        ticket = live.ask()
        good = (grid[::-1] if t < budget / 2 else grid)[ticket.arm]
        reward = float(rng.random() < 0.1 + 0.8 * good)
        # what is cheap pays more at first, so that the guard has to act with a small budget; of the
        # second resource arms use more where they use less of the first
        dear = 0.25 + 0.6 * np.array([grid[ticket.arm] ** 2, (1 - grid[ticket.arm]) ** 2])
        costs = np.round(dear * rng.uniform(0.8, 1.15, 2), 4)
        live.tell(ticket, reward, costs[:resources])
        lines.append([left[0], left[-1], ticket.arm, reward, *costs])
    done = subprocess.run(
        [program, str(n_arms), str(budget)],
        input="\n".join(" ".join(map(str, line)) for line in lines),
        capture_output=True,
        text=True,
        check=True,
    )
    found = np.array(done.stdout.split(), float).reshape(-1, n_arms)
    assert live.state.changes[0] > 0 or budget < 100
    np.testing.assert_allclose(found, plans, atol=1e-9)
