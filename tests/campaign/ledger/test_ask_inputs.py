"""Campaigns with contexts: what is checked, what is stored, and what the policy sees of it."""

import io
import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purse import AskRefused, InvalidInput, Policy, PurseError
from purse.campaign.campaign import Campaign
from purse.campaign.ledger import ask_inputs
from purse.campaign.run import committer
from purse.campaign.run.learner import recovered
from purse.campaign.terms import terms
from purse.errors import BudgetHeld
from purse.lab import prior_from_log
from tests.support.campaigns import (
    ARMS,
    FEATURES,
    SEES,
    context,
    exported,
    last_ask,
    refusal,
    with_contexts,
)
from tests.support.storages import MemoryHarness


def learnt(campaign: Campaign) -> Any:
    """What the policy has learnt, from what is stored."""
    return recovered(campaign.terms, campaign.storage).state["coefficients"]


def test_terms_hold_the_declaration_and_nothing_where_there_is_none() -> None:
    campaign = with_contexts(
        features={"length": (0, 8000, "optional"), "kind": ("code", "chat"), "x": None}
    )
    assert campaign.terms.as_dict()["features"] == {
        "length": {"low": 0, "high": 8000, "optional": True},
        "kind": {"classes": ["code", "chat"]},
        "x": {},
    }
    assert campaign.terms.context.columns == (
        "length", "length is missing", "kind=code", "kind=chat", "x",
    )  # fmt: skip
    read = terms.Terms.from_dict(json.loads(json.dumps(campaign.terms.as_dict())))
    assert read.checked() == campaign.terms
    empty: list[Any] = [None, 0, [], {}]
    for none in empty:
        facts = with_contexts(features=none).terms.as_dict()
        assert "features" not in facts
    assert with_contexts(features=2).terms.context.names == ("x0", "x1")


def test_a_policy_with_a_large_state_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert terms._MOST_STATE == 1_000_000  # the megabyte of the page on contexts
    campaign = with_contexts()  # 3 arms, 22 numbers of 8 bytes each
    with monkeypatch.context() as patch:
        patch.setattr(terms, "_MOST_STATE", 527)
        message = refusal(InvalidInput, with_contexts)
        assert "at most 527 bytes in a campaign, and has 528 with 3 arms and 2 features" in message
        assert campaign.terms.checked() == campaign.terms, "what exists goes on"
    monkeypatch.setattr(terms, "_MOST_STATE", 528)
    with_contexts()


@given(st.lists(st.floats(-1000, 1000, width=32), min_size=1))
def test_short_numbers_are_read_back_to_the_bit(numbers: list[float]) -> None:
    short = json.loads(json.dumps(ask_inputs._shortest(numbers)))
    assert np.array(short, np.float32).tobytes() == np.array(numbers, np.float32).tobytes()
    assert all(len(repr(number)) <= 16 for number in short)


def test_the_journal_has_the_numbers_that_were_seen() -> None:
    campaign = with_contexts(features={"length": (0, 8000), "kind": ("code", "chat"), "x": None})
    campaign.ask(context={"length": 812, "kind": "chat", "x": 0.1})
    assert last_ask(campaign)["context"] == [-0.797, 0.0, 1.0, 0.1]
    assert "clipped" not in last_ask(campaign)
    campaign.ask(context=[9000, "other", -3])
    ticket = last_ask(campaign)
    assert (ticket["context"], ticket["clipped"]) == ([1.0, 0.0, 0.0, -3.0], 1)
    campaign.tell(2, 1, "0.5")
    told = [entry for entry in campaign.journal() if entry.kind == "told"]
    assert told[0].body["context"] == ticket["context"]
    assert campaign.audit(full=True).ok


def test_a_context_that_does_not_fit() -> None:
    campaign = with_contexts()
    wrong: list[tuple[Any, str]] = [
        (None, "the features are length, code"),
        ({"length": 1}, "has no features: 'code'"),
        ({"length": 1, "code": 0, "more": 1}, "has unknown features: 'more'"),
        ([1], "must have 2 values: length, code"),
        ([1, float("nan")], "context['code']=nan"),
        ([1, float("inf")], "context['code']=inf"),
        ([1, 1e9], "context['code']=1000000000.0"),
        ([1, "text"], "context['code']='text'"),
        ([10**400, 1], "context['length']="),
        ({"length": None, "code": 0}, "context['length']=None"),
        ("text", "must be an object by names, or a list"),
        (3, "must be an object by names, or a list"),
    ]
    for seen, text in wrong:
        assert text in refusal(InvalidInput, campaign.ask, context=seen)
        assert text in refusal(InvalidInput, campaign.probabilities, context=seen)
        if seen is not None:
            bad = [[1, 1], seen]
            assert text in refusal(InvalidInput, campaign.ask_many, 2, contexts=bad)
    assert campaign.status().entries == 1


def test_contexts_come_where_features_are_declared_and_only_there() -> None:
    plain = with_contexts(features=None)
    for call in (plain.ask, plain.probabilities):
        assert "no features are declared" in refusal(InvalidInput, call, context=[1])
    assert "no features" in refusal(InvalidInput, plain.ask_many, 2, contexts=[[1], [2]])
    campaign = with_contexts()
    assert "length, code" in refusal(InvalidInput, campaign.ask_many, 2)
    for wrong in ([[1, 1]], [[1, 1]] * 3):
        assert "asked for, 2" in refusal(InvalidInput, campaign.ask_many, 2, contexts=wrong)
    others: list[Any] = ["ab", {"a": 1, "b": 2}, 2]
    for other in others:
        assert "must be a list" in refusal(InvalidInput, campaign.ask_many, 2, contexts=other)
    assert campaign.status().entries == 1


@pytest.mark.parametrize("map", [None, "fourier:5,seed=2"])
def test_a_campaign_chooses_as_a_policy_in_memory_does(
    map: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With reports in any order, apart and whole, and with voids; every few turns from another
    process, from a checkpoint or from the journal.
    """
    monkeypatch.setattr(committer, "CHECKPOINT_EVERY", 20)
    known = {"budget": 30, "cost_min": "0.1", "features": FEATURES, "map": map}
    live = Policy(SEES, n_arms=3, cost_max=1, stop="fit", **known)
    harness, rng = MemoryHarness(), Random(1)
    campaign = with_contexts(harness, **known)
    out: list[Any] = []
    for turn in range(150):
        if turn % 7 == 0:
            campaign = harness.open("test")
        if turn % 21 == 0:
            harness.drop_checkpoints("test")
        seen = context(rng)
        if rng.random() < 0.6:
            try:
                expected = live.ask(context=seen)
            except AskRefused:
                refusal(BudgetHeld, campaign.ask, context=seen)
                continue
            ticket = campaign.ask(context=seen)
            assert (ticket.t, ticket.probability) == (expected.t, expected.probability)
            assert ticket.arm == ARMS[expected.arm]
            out.append((expected, ticket))
        elif out:
            expected, ticket = out.pop(rng.randrange(len(out)))
            end, reward, cost = rng.random(), rng.random(), f"{rng.uniform(0.1, 0.9):.3f}"
            if end < 0.2:
                live.void(expected)
                campaign.void(ticket)
                continue
            live.tell(expected, reward, cost)
            if end < 0.6:
                campaign.tell(ticket, reward, cost)
            elif end < 0.8:
                campaign.settle(ticket, cost)
                campaign.reward(ticket, reward)
            else:
                campaign.reward(ticket, reward)
                campaign.settle(ticket, cost)
        if live.left > 5:
            chances = campaign.probabilities(context=seen)
            assert list(chances.values()) == live.probabilities(context=seen).tolist()
    assert live.t > 40
    assert learnt(campaign).tobytes() == live.state.coefficients.tobytes()
    assert campaign.audit(full=True).findings == ()
    assert len(last_ask(campaign)["context"]) == 2, "a journal has the numbers before the map"
    copy = Campaign.restore(exported(campaign), storage=MemoryHarness().storage())
    assert copy.terms.map == map
    assert learnt(copy).tobytes() == live.state.coefficients.tobytes()


def test_a_late_report_is_learnt_with_the_context_of_its_ask() -> None:
    harness = MemoryHarness()
    campaign = with_contexts(harness, reward_within=60, missing_reward=0, expires_after=10)
    contexts = zip(ARMS, [[0, 1], [8000, 2], [4000, 3]], strict=True)
    tickets = [campaign.ask(arms=[arm], context=context) for arm, context in contexts]
    campaign.settle(tickets[1], "0.5")
    harness.clock += 61_000
    assert campaign.expire() == 3, "one reward did not come in time, two holds are presumed spent"
    campaign.tell(tickets[0], 1, "0.5")
    # 1/2 for the constant, and (reward - 1/2) / (1 + x'x) of each number of the context x
    red, green = 0.5 / 4 * np.array([-1, 1, 1]), -0.5 / 7 * np.array([1, 2, 1])
    assert learnt(campaign)[:, 0] - [0, 0, 0.5] == pytest.approx(np.array([red, green, 0 * red]))
    assert campaign.audit(full=True).ok


def test_a_blind_policy_has_contexts_checked_and_stored_and_does_not_see_them() -> None:
    campaign, without = (
        with_contexts(policy="uniform"),
        with_contexts(policy="uniform", features=None),
    )
    for turn in range(10):
        ticket = campaign.ask(context=[turn, turn])
        assert ticket.arm == without.ask().arm
    assert last_ask(campaign)["context"] == [-0.99775, 9.0]
    assert "length, code" in refusal(InvalidInput, campaign.ask)
    assert campaign.audit(full=True).ok


def test_the_status_says_what_was_clipped_and_what_was_seen() -> None:
    campaign = with_contexts()
    assert campaign.status().features == ()
    campaign.ask_many(3, contexts=[[-100, 1], [9000, 3], [2000, -2]])
    status = campaign.status()
    assert status.counts["clipped"] == 2
    assert [(each.column, each.least, each.most) for each in status.features] == [
        ("length", 0.0, 8000.0),
        ("code", -2.0, 3.0),
    ]
    assert "  context code: -2 to 3" in str(status)
    assert "  values clipped to their ranges: 2" in str(status)
    assert campaign.audit(full=True).ok


def played(**changes: Any) -> Campaign:
    campaign, rng = with_contexts(budget=6, **changes), Random(4)
    for _ in range(2):
        first, second = campaign.ask_many(2, contexts=[context(rng), context(rng)])
        campaign.tell(first, rng.random(), "0.5")
        campaign.void(second)
    campaign.ask_many(9, contexts=[context(rng) for _ in range(9)])
    return campaign


def test_an_export_without_contexts_is_restored_where_nobody_sees_them() -> None:
    campaign = played()
    text = exported(campaign, contexts=False).getvalue()
    head, created, *rest = text.splitlines()
    assert json.loads(head)["without_contexts"] is True
    assert json.loads(created)["body"]["features"] == campaign.terms.features
    assert not any(word in line for line in rest for word in ("context", "clipped", "unused"))
    harness = MemoryHarness()
    message = refusal(InvalidInput, Campaign.restore, io.StringIO(text), storage=harness.storage())
    assert "exported without its contexts" in message
    assert "greedy_contexts.py sees them" in message
    assert harness.memory.names() == []
    blind = played(policy="uniform")
    copy = Campaign.restore(exported(blind, contexts=False), storage=harness.storage())
    assert copy.audit(full=True).ok
    assert copy.status().purses == blind.status().purses
    assert copy.end().status == "ended"


WRONG_CONTEXTS: list[Any] = [[1.0], [1.0, 2.0, 3.0], [1.0, "x"], [1.0, 1e9], [1.0, True]]


@pytest.mark.parametrize(
    "edit",
    [
        {"t": "1"},
        {"arm": None},
        {"held": 3},
        {"context": None},
        {"p": [0.5]},
        *({"context": wrong} for wrong in WRONG_CONTEXTS),
    ],
)
def test_an_ask_that_cannot_be_is_refused_as_such(edit: dict[str, Any]) -> None:
    lines = exported(played()).getvalue().splitlines()
    ask = json.loads(lines[2])
    ask["body"] |= edit
    lines[2] = json.dumps(ask)
    with pytest.raises(PurseError, match=r"entry 2|without its contexts"):
        Campaign.restore(io.StringIO("\n".join(lines)), storage=MemoryHarness().storage())


def test_a_prior_is_part_of_the_terms_by_its_hash(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 300).round(3)
    arm = rng.choice(["left", "right"], 300)
    right = np.where(arm == "left", x < 0, x >= 0)
    log = pl.DataFrame({"arm": arm, "reward": right.astype(float), "cost": 0.5, "x": x})
    features = {"x": (-1, 1)}
    prior_from_log(log, tmp_path / "prior.npz", features=features)
    terms: dict[str, Any] = {
        "arms": {"left": 1, "right": 1},
        "budget": 10,
        "cost_min": 0.1,
        "horizon": 40,
        "features": features,
        "policy": f"lin-ucb.price:prior={str(tmp_path / 'prior.npz')!r},prior_most=100",
        "storage": f"sqlite:///{tmp_path}/warm.db",
    }
    campaign = Campaign.create("warm", **terms)
    assert "prior_hash=" in campaign.terms.policy
    for value, best in ((-0.9, "left"), (0.9, "right"), (-0.8, "left"), (0.8, "right")):
        ticket = campaign.ask(context={"x": value})
        assert ticket.arm == best  # from the first ask on
        campaign.tell(ticket, 1, 0.5)
    assert Campaign.open("warm", storage=terms["storage"]).audit().findings == ()
    with pytest.raises(InvalidInput, match="must be those of the campaign in the same order"):
        Campaign.create("other", **{**terms, "arms": {"right": 1, "left": 1}})
    with pytest.raises(InvalidInput, match="was learnt with other features"):
        Campaign.create("other", **{**terms, "features": {"x": (-1, 2)}})
    with pytest.raises(InvalidInput, match="was learnt with map=None, and the features have 'four"):
        Campaign.create("other", **{**terms, "map": "fourier:4"})
    prior_from_log(log[:200], tmp_path / "prior.npz", features=features)
    with pytest.raises(PurseError, match="is not the file that it was"):
        Campaign.open("warm", storage=terms["storage"]).ask(context={"x": 0})
