"""A learner runs as plain Python at once, and as machine code after some seconds of use."""

import json
import logging
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis.stateful import invariant

from purse import AskRefused, InvalidInput, Policy
from purse.campaign.api.results import CampaignTicket
from purse.campaign.campaign import Campaign
from purse.campaign.run import committer
from purse.campaign.storage.connect import in_memory
from purse.campaign.terms.terms import Terms
from purse.engine import steps
from purse.lab import Ticket
from purse.policies import replan
from purse.testing import check_policy
from tests.support.campaigns import exported
from tests.support.machine_verbs import CampaignMachine
from tests.support.paths import FRUGAL
from tests.support.processes import fresh_process
from tests.support.soak import SOAK, scale
from tests.support.storages import MemoryHarness, StorageHarness
from tests.system.test_campaign_machine import run

FIRST = """
import json, sys
import purse
campaign = purse.Campaign.create(
    "c", arms={"a": 1, "b": 3}, budget=1_000, policy="replan", storage="memory:"
)
chosen = []
for _ in range(20):
    ticket = campaign.ask()
    chosen.append([ticket.arm, ticket.probability])
    campaign.tell(ticket, 0.5, 1)
print(json.dumps([chosen, campaign.audit().ok, "numba" in sys.modules]))
"""


def make(policy: str = "uniform") -> Campaign:
    return Campaign.create(
        "c", arms={"a": 1, "b": 3}, budget=10_000, policy=policy, storage=in_memory()
    )


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> dict[Any, steps._StepsOfKind]:
    """The steps of all games of the test; none of an earlier one is compiled."""
    made: dict[Any, steps._StepsOfKind] = {}
    monkeypatch.setattr(steps, "_steps", made)
    return made


def play(campaign: Campaign, rounds: int) -> list[tuple[str, float]]:
    chosen = []
    for _ in range(rounds):
        ticket = campaign.ask()
        chosen.append((ticket.arm, ticket.probability))
        campaign.tell(ticket, 0.5, 1)
    return chosen


def test_a_first_ask_imports_no_compiler(tmp_path: Path) -> None:
    _, right, compiler = fresh_process(FIRST, cache=tmp_path)
    assert right
    assert not compiler


def test_steps_are_compiled_in_the_background_after_some_use(
    monkeypatch: pytest.MonkeyPatch, kinds: dict[Any, steps._StepsOfKind]
) -> None:
    campaign = make("exp3.bwk")
    first = play(campaign, 20)
    (kind,) = kinds.values()
    assert kind.ask.machine is kind.tell.machine is None
    monkeypatch.setattr(steps, "_PATIENCE_S", 0.0)
    first += play(campaign, 1)
    assert kind._thread is not None
    kind._thread.join()
    assert kind.ask.machine is not None
    assert kind.tell.machine is not None
    first += play(campaign, 20)
    plain = make("exp3.bwk")
    monkeypatch.setattr(steps, "_steps", {})
    monkeypatch.setattr(steps, "is_installed", lambda package: False)
    assert play(plain, 41) == first
    assert campaign.audit().ok


def test_steps_that_do_not_compile_stay_in_plain_python(
    monkeypatch: pytest.MonkeyPatch,
    kinds: dict[Any, steps._StepsOfKind],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(steps, "_PATIENCE_S", 0.0)
    monkeypatch.setattr(steps._Step, "compile", lambda step: 1 / 0)
    campaign = make()
    play(campaign, 1)
    (kind,) = kinds.values()
    assert kind._thread is not None
    kind._thread.join()
    play(campaign, 3)
    assert caplog.messages == ["steps of uniform stay in plain Python: division by zero"]


def test_without_a_compiler_a_long_journal_says_how_long_it_takes(
    monkeypatch: pytest.MonkeyPatch,
    kinds: dict[Any, steps._StepsOfKind],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(steps, "is_installed", lambda package: False)
    monkeypatch.setattr(steps, "_SAMPLE", 30)
    campaign = make()
    play(campaign, 40)
    assert not caplog.messages
    with caplog.at_level(logging.WARNING):
        assert campaign.audit().ok
    (said,) = caplog.messages
    assert said.startswith("plain Python takes 0.")
    assert said.endswith(
        "s for 30 steps of uniform, numba a hundredth of it: pip install 'purse-bandits[lab]'"
    )


ARMS = ["red", "green", "blue", "white", "black"]
COUNTED_TERMS: dict[str, Any] = {
    "arms": dict(zip(ARMS, [1, "0.5", "0.8", 1, "0.3"], strict=True)),
    "budget": 40,
    "cost_min": "0.01",
    "policy": "replan",
    "seed": 3,
}
SEVERAL: dict[str, Any] = {
    **COUNTED_TERMS,
    "budget": [40, 30],
    "arms": dict(
        zip(ARMS, [[1, 1], ["0.5", 1], ["0.8", "0.2"], [1, "0.3"], ["0.3", "0.9"]], strict=True)
    ),
    "horizon": 150,
}


def made(harness: StorageHarness | None = None, name: str = "test", **changes: Any) -> Campaign:
    terms = {**COUNTED_TERMS, **changes}
    campaign: Campaign = (harness or MemoryHarness()).create(name, **terms)
    return campaign


def policy_in_memory(terms: dict[str, Any]) -> Policy:
    facts = {name: value for name, value in terms.items() if name not in ("arms", "resources")}
    facts |= {"cost_max": list(terms["arms"].values()), "stop": "fit"}
    return Policy(n_arms=len(ARMS), n_resources=len(terms.get("resources", "1")), **facts)


def open_of(campaign: Campaign) -> list[int]:
    return list(campaign.storage.overview(campaign.name).head.open)


def foreseen(campaign: Campaign) -> list[float]:
    """The chances of all arms; none where no arm may be chosen."""
    try:
        return list(campaign.probabilities().values())
    except AskRefused:
        return []


def chosen(tickets: list[CampaignTicket]) -> list[tuple[Any, ...]]:
    return [(ticket.t, ticket.arm, ticket.probability, ticket.held) for ticket in tickets]


def pulls(tickets: list[Any]) -> list[int]:
    arms = [ticket.arm for ticket in tickets]
    return [arms.count(arm) for arm in (ARMS if isinstance(arms[0], str) else range(len(ARMS)))]


@pytest.mark.parametrize(
    "terms",
    [COUNTED_TERMS, {**SEVERAL, "resources": ["euros", "hours"]}],
    ids=["one resource", "two resources and a horizon"],
)
def test_a_campaign_chooses_as_a_policy_in_memory_does(terms: dict[str, Any]) -> None:
    """With reports in any order and with voids; every few turns from another process."""
    harness, live, rng = MemoryHarness(), policy_in_memory(terms), random.Random(1)
    campaign = made(harness, skip="horizon" in terms, **terms)
    out: list[tuple[Ticket, CampaignTicket]] = []
    most = 0
    for turn in range(scale(180, 300)):
        if turn % 7 == 0:
            campaign = harness.open("test")
        if rng.random() < 0.6:
            try:
                expected = live.ask()
            except AskRefused:
                with pytest.raises(AskRefused):
                    campaign.ask()
            else:
                ticket = campaign.ask()
                assert (ticket.t, ticket.probability) == (expected.t, expected.probability)
                assert ticket.arm == ARMS[expected.arm]
                out.append((expected, ticket))
        elif out:
            expected, ticket = out.pop(rng.randrange(len(out)))
            if rng.random() < 0.2:
                live.void(expected)
                campaign.void(ticket)
            else:
                reward = float(rng.random() < 0.2 * expected.arm)
                cost = [f"{0.01 + rng.random() * float(held) * 0.9:.4f}" for held in ticket.held]
                live.tell(expected, reward, cost)
                campaign.tell(ticket, reward, cost)
        assert open_of(campaign) == ([0] * 5 if not out else pulls([pair[0] for pair in out]))
        most = max(most, *open_of(campaign))
        if turn % 10 == 0 and (chances := foreseen(campaign)):
            assert chances == live.probabilities().tolist()
    assert live.t > 60
    assert most > 2
    assert campaign.audit().findings == ()


def test_asks_before_any_report_spread_over_the_arms() -> None:
    assert pulls(made(arms=dict.fromkeys(ARMS, 1)).ask_many(10)) == [2] * 5


def test_one_ask_for_ten_is_ten_asks_for_one_also_in_another_process() -> None:
    whole, harness = made(), MemoryHarness()
    made(harness)
    singles = [harness.open("test").ask() for _ in range(10)]
    assert chosen(whole.ask_many(10)) == chosen(singles)
    assert whole.audit().ok
    assert harness.open("test").audit().ok


def test_terms_say_whether_the_policy_counts() -> None:
    terms, others = made().terms, made(policy="uniform").terms
    assert (terms.pending, others.pending) == (True, False)
    assert terms.as_dict()["pending"] is True
    for each in (terms, others):
        assert Terms.from_dict(json.loads(json.dumps(each.as_dict()))).checked() == each
    for wrong in (replace(others, pending=True), replace(terms, pending=1)):
        with pytest.raises(InvalidInput, match="not the terms of a campaign"):
            wrong.checked()


def test_a_journal_without_a_count_stays_without(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(replan, "PENDING", False)
        before = made()
        tickets = before.ask_many(6)
        before.tell(tickets[5], 1, "0.2")
    file = exported(before)
    assert "pending" not in file.getvalue()
    file.seek(0)
    campaign = Campaign.restore(file, storage=MemoryHarness().storage())
    assert (campaign.terms.pending, campaign.terms.restored_from) == (False, before.terms.id)
    assert campaign.audit() == before.audit()
    assert campaign.audit().ok
    assert chosen([campaign.ask()]) == chosen([before.ask()])
    assert open_of(campaign) == []


class CountingMachine(CampaignMachine):
    """The machine of all campaigns, with the count."""

    @invariant()
    def counts_agree(self) -> None:
        assert open_of(self.campaign) == self.ledger.open()


@pytest.mark.parametrize("kind", ["memory", "sqlite"] if SOAK else ["memory"])
def test_no_sequence_of_calls_breaks_the_count(
    make_harness: Callable[[str], StorageHarness], kind: str
) -> None:
    run(CountingMachine, make_harness(kind), "replan", 2)


PERIOD_TERMS: dict[str, Any] = {
    "arms": {"small": "0.1", "large": "0.5", "middle": "0.2"},
    "budget": 20,
    "every": "6h",
    "policy": FRUGAL,
}
PERIOD = 6 * 3_600_000  # ms


def told(campaign: Campaign) -> int:
    """The reports that the policy counts, which begin at 2."""
    campaign.ask()  # it learns what is in the journal
    policy = campaign._local.committer.policy
    assert policy is not None
    return int(policy.state["told"][0])


def report(campaign: Campaign, times: int) -> None:
    for _ in range(times):
        campaign.tell(campaign.ask(), 1, "0.01")


@pytest.mark.parametrize("every", [2, 5_000])
def test_a_period_begins_with_what_init_gives(monkeypatch: pytest.MonkeyPatch, every: int) -> None:
    """Here, in another process, from a checkpoint, in an audit and in a copy."""
    monkeypatch.setattr(committer, "CHECKPOINT_EVERY", every)
    harness = MemoryHarness()
    first = harness.create("test", **PERIOD_TERMS)
    second = harness.open("test")
    report(first, 3)
    late = first.ask()
    assert (told(first), told(second)) == (5, 5)
    harness.clock += PERIOD
    first.tell(late, 1, "0.01")  # it begins the period, and counts in it
    assert (told(first), told(second)) == (3, 3)
    report(second, 4)
    assert (told(first), told(second), told(harness.open("test"))) == (7, 7, 7)
    harness.clock += 3 * PERIOD
    chances = first.probabilities()  # of a period that nothing has begun yet: 2 of 3 arms
    assert chances == {"small": 0.0, "large": 0.0, "middle": 1.0}
    assert second.ask().arm == "middle"
    assert (told(first), told(second)) == (2, 2)
    report(first, 2)
    assert (told(first), told(second), told(harness.open("test"))) == (4, 4, 4)
    policy = first._local.committer.policy
    assert policy.state["rewards"].sum() == 10  # the rest stays
    assert first.audit().findings == ()
    assert first.audit(full=True).findings == ()
    elsewhere = MemoryHarness()
    elsewhere.clock = harness.clock
    copy = Campaign.restore(exported(first), storage=elsewhere.storage())
    assert told(copy) == 4


def test_what_the_default_has_learnt_goes_on_in_the_next_period() -> None:
    """In two processes, and decided again by an audit; rounds pass and masks go on, too."""
    harness, rng = MemoryHarness(), Random(1)
    terms = {**PERIOD_TERMS, "policy": "replan", "horizon": 80, "skip": True, "seed": 1}
    campaigns = [harness.create("test", **terms)]
    campaigns.append(harness.open("test"))
    for turn in range(90):
        campaign = rng.choice(campaigns)
        if turn % 30 == 0:
            harness.clock += PERIOD * (turn > 0)
            campaign.ask()
        ticket = campaign.ask(arms=rng.choice([None, ["large"], ["small", "middle"]]))
        if not ticket.skipped:
            campaign.tell(ticket, float(rng.random() < 0.5), "0.1")
    assert campaigns[0].audit(full=True).findings == ()
    assert campaigns[0].probabilities() == campaigns[1].probabilities()
    assert sum(count for _, count in harness.storage().overview("test").head.masks) > 30


def test_names_must_be_those_of_the_state(tmp_path: Path) -> None:
    faulty = tmp_path / "faulty.py"
    for wrong in ('("tell",)', '"told"', '["told"]'):
        faulty.write_text(Path(FRUGAL).read_text().replace('("told",)', wrong))
        with pytest.raises(InvalidInput, match=r"PERIOD is .* must be a tuple of fields of the"):
            check_policy(str(faulty))
