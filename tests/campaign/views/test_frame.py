"""The tickets of a campaign as a frame, and what a notebook shows of it."""

from typing import Any

from purse import AsyncCampaign, Campaign
from purse.campaign.storage.connect import in_memory
from tests.support.processes import in_loop

TERMS: dict[str, Any] = {
    "arms": {"a": "0.1", "b": "0.2"}, "budget": 5, "resources": ["USD"], "policy": "uniform",
    "capacity": 3,
}  # fmt: skip


def test_a_row_for_each_ticket_with_what_was_reported() -> None:
    one = Campaign.create("one", **TERMS, storage=in_memory())
    one.tell(one.ask(arms=["a"], labels={"user": "ada"}), 1, "0.05")
    later, failed, void, _ = (one.ask(arms=["b"]) for _ in range(4))
    one.settle(later, "0.01")
    one.reward(later, 0.5)
    one.fail(failed, "0.02", "timeout")
    one.void(void)
    one.add_arm("c")
    one.reward(one.ask(arms=["c"]), 0.25)
    frame = one.frame()
    names = ("ticket", "arm", "probability", "state", "reward", "cost_USD", "label_user")
    assert frame.select(names).rows() == [
        (1, "a", 1.0, "told", 1.0, 0.05, "ada"),
        (2, "b", 1.0, "told", 0.5, 0.01, None),
        (3, "b", 1.0, "failed", None, 0.02, None),
        (4, "b", 1.0, "void", None, None, None),
        (5, "b", 1.0, "held", None, None, None),
        (6, "c", 1.0, "held", 0.25, None, None),
    ]
    first = one.ticket(1).asked_at
    assert frame["asked_at"][0].timestamp() == first
    assert in_loop(AsyncCampaign(one).frame()).equals(frame)
    assert Campaign.create("none", **TERMS, storage=one.storage).frame().is_empty()


def test_a_campaign_and_its_certificate_show_themselves() -> None:
    one = Campaign.create("one", **TERMS, storage=in_memory())
    one.tell(one.ask(), 1, "0.05")
    assert one._repr_html_() == one.status()._repr_html_()
    assert "<td" in one._repr_html_()
    found = one.certificate()
    assert found._repr_html_().startswith(f"<p>{found.answer}</p>")
