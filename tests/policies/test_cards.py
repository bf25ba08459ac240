"""One card per policy: the checks, a campaign, and all machine code that its tests need.

The tests of a policy compile its loop for one play, one resource and no masks, and the look at its
probabilities; for the archetypes all steps. Everything else runs in plain Python, which the checks
hold to machine code. A fixture of this folder counts the pieces.
"""

from typing import Any

import numpy as np
import pytest

from purse import AskRefused, InvalidInput, Policy, policies, worlds
from purse.base import amounts
from purse.campaign.campaign import Campaign
from purse.campaign.run.learner import Learner
from purse.engine.draws import draws
from purse.engine.job import make_job
from purse.testing import check_policy
from purse.testing.games import suitable
from tests.support.policies import ARCHETYPES, compile_steps, passes, tell_all
from tests.support.soak import SOAK
from tests.support.storages import MemoryHarness

ROUNDS = 12
NO_CAMPAIGN = {
    "oracle": "which only a simulated world whose means do not change can tell",
    "lin-cbwk:model=shared": "each may have its own in simulations and with purse.Policy",
}
# the engine compiles another loop for masks, which the kernels see as they do in live use: one
# policy with initial pulls and one without play it in `make test`, all in soak
WITH_MASKS = ["exp3.bwk", "ucb-bv1"]


@pytest.mark.parametrize("name", policies.names())
def test_passes_the_checks(name: str) -> None:
    if name in ARCHETYPES:
        compile_steps(live_policy(name))
    check_policy(name, quick=not SOAK and name not in WITH_MASKS)


@pytest.mark.parametrize("name", [name for name in policies.names() if name != "oracle"])
def test_passes_with_one_arm_and_a_horizon(name: str) -> None:
    passes(name, worlds.function("bernoulli")([0.5], [0.6]), horizon=50)


@pytest.mark.parametrize(
    "name", [name for name in policies.names() if name not in ("oracle", "semi-bwk")]
)
def test_one_arm_comes_in_every_round(name: str) -> None:
    told: dict[str, Any] = {"costs": 0.5, "cost_min": 0.5, "n_arms": 1, "budget": 10}
    live = Policy(name, **told)
    assert tell_all(live, (1, 0.5), (0, 0.5), (1, 0.5)) == [0, 0, 0]
    if live._steps.look is not None:
        assert live.probabilities() == pytest.approx([1.0], abs=1e-15)


@pytest.mark.parametrize("name", [name for name in policies.names() if name not in NO_CAMPAIGN])
def test_a_campaign_and_a_policy_in_memory_agree(name: str) -> None:
    world, horizon = suitable(name, 1, None)
    live = live_policy(name)
    names = [f"arm {arm}" for arm in range(world.n_arms)]
    campaign = MemoryHarness().create(
        "test",
        arms=dict(zip(names, text(live.problem.cost_max), strict=True)),
        budget=30,
        cost_min=text(live.problem.cost_min),
        horizon=horizon,
        skip=horizon is not None,
        policy=name,
        seed=5,
    )
    rewards, costs = draws(world, ROUNDS, seed=5)
    scratch: set[str] = set()  # fields that a choice writes for itself, and no later round reads
    for t in range(ROUNDS):
        before = in_bytes(live.state._asdict())
        try:
            expected = live.ask()
        except AskRefused as error:
            with pytest.raises(type(error)):
                campaign.ask()
            break
        scratch |= {
            field for field, now in in_bytes(live.state._asdict()).items() if now != before[field]
        }
        ticket = campaign.ask()
        assert (ticket.t, ticket.skipped, ticket.probability) == (
            expected.t,
            expected.skipped,
            expected.probability,
        )
        if not expected.skipped:
            assert ticket.arm == names[expected.arm]
            reward, cost = float(rewards[t][expected.arm]), amounts.text(costs[t][expected.arm, 0])
            live.tell(expected, reward, cost)
            campaign.tell(ticket, reward, cost)
    if live._steps.look is not None:
        assert list(campaign.probabilities().values()) == live.probabilities().tolist()
        look_in_machine_code(live)
    ours, theirs = in_bytes(fold(campaign)), in_bytes(live.state._asdict())
    assert {name: held for name, held in ours.items() if name not in scratch} == {
        name: held for name, held in theirs.items() if name not in scratch
    }
    assert len(scratch) < len(ours)
    assert not campaign.audit().findings


def look_in_machine_code(live: Policy) -> None:
    """Check that machine code computes the probabilities of plain Python."""
    steps, here, there = live._steps, *np.zeros((2, live.problem.n_arms))
    look = steps._kind.look
    assert look is not None
    look.compile()
    assert look.machine is not None
    for masked in (False, True):
        live._mask([0, 2] if masked else None)
        assert look.machine(steps._block.address, live.t + 1, masked, here) == look.plain(
            steps._live, live.t + 1, masked, there
        )
        assert here.tobytes() == there.tobytes()


@pytest.mark.parametrize(("name", "where"), NO_CAMPAIGN.items())
def test_others_say_what_a_campaign_lacks(name: str, where: str) -> None:
    terms = {"arms": {"a": 1, "b": 1}, "budget": 9, "cost_min": 1, "horizon": 9, "features": 2}
    with pytest.raises(InvalidInput) as caught:
        MemoryHarness().create("test", **terms, policy=name)
    assert where in str(caught.value)
    assert "\n" not in str(caught.value)


def live_policy(name: str) -> Policy:
    world, horizon = suitable(name, 1, None)
    problem = make_job(name, world, 30, horizon=horizon).problem
    return Policy.of(problem, name, seed=5, stop="hold")


def text(units: Any) -> Any:
    return [[amounts.text(unit) for unit in row] for row in units.tolist()]


def fold(campaign: Campaign) -> dict[str, Any]:
    """The policy's state that the journal comes to."""
    mind = Learner(campaign.terms)
    told = [(entry.seq, entry.body) for entry in campaign.journal() if entry.kind == "told"]
    mind.learn(told, told[-1][0], "")
    return mind.state


def in_bytes(state: dict[str, Any]) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in state.items()}
