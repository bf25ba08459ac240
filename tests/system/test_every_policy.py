"""Every policy plays the same game in a campaign as in memory, to the last bit of what it has
learnt.
"""

from __future__ import annotations

from typing import Any

import pytest

from purse import AskRefused, InvalidInput, Policy, policies
from purse.base import amounts
from purse.campaign.campaign import Campaign
from purse.campaign.learner import Learner
from purse.engine.draws import draws
from purse.engine.job import make_job
from purse.testing.games import suitable
from tests.support.storages import MemoryHarness

ROUNDS = 12
NEED_MORE = {
    "oracle": "which only a simulated world whose means do not change can tell",
    "lin-cbwk:model=shared": "each may have its own in simulations and with purse.Policy",
}


def text(units: Any) -> Any:
    return [[amounts.text(unit) for unit in row] for row in units.tolist()]


@pytest.mark.parametrize("policy", [name for name in policies.names() if name not in NEED_MORE])
def test_a_campaign_and_a_policy_in_memory_agree(policy: str) -> None:
    world, horizon = suitable(policy, 1, None)
    problem = make_job(policy, world, 30, horizon=horizon).problem
    live = Policy.of(problem, policy, seed=5, stop="hold")
    names = [f"arm {arm}" for arm in range(problem.n_arms)]
    campaign = MemoryHarness().create(
        "test",
        arms=dict(zip(names, text(problem.cost_max), strict=True)),
        budget=30,
        cost_min=text(problem.cost_min),
        horizon=horizon,
        policy=policy,
        seed=5,
    )
    rewards, costs = draws(world, ROUNDS, seed=5)
    scratch: set[str] = set()  # what a choice writes down for itself, and no later round reads
    for t in range(ROUNDS):
        before = in_bytes(live.state._asdict())
        try:
            expected = live.ask()
        except AskRefused as error:
            with pytest.raises(type(error)):
                campaign.ask()
            break
        scratch |= {
            name for name, held in in_bytes(live.state._asdict()).items() if held != before[name]
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
    ours, theirs = in_bytes(fold(campaign)), in_bytes(live.state._asdict())
    assert {name: held for name, held in ours.items() if name not in scratch} == {
        name: held for name, held in theirs.items() if name not in scratch
    }
    assert len(scratch) < len(ours)
    assert not campaign.audit().findings


@pytest.mark.parametrize(("policy", "where"), NEED_MORE.items())
def test_others_need_what_no_campaign_has_and_say_where_there_is_it(
    policy: str, where: str
) -> None:
    terms = {"arms": {"a": 1, "b": 1}, "budget": 9, "cost_min": 1, "horizon": 9, "features": 2}
    with pytest.raises(InvalidInput) as caught:
        MemoryHarness().create("test", **terms, policy=policy)
    assert where in str(caught.value)
    assert "\n" not in str(caught.value)


def fold(campaign: Campaign) -> dict[str, Any]:
    """What the journal comes to."""
    mind = Learner(campaign.terms)
    told = [(entry.seq, entry.body) for entry in campaign.journal() if entry.kind == "told"]
    mind.learn(told, told[-1][0], "")
    return mind.state


def in_bytes(state: dict[str, Any]) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in state.items()}
