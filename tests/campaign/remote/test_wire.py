from __future__ import annotations

from typing import Any

import orjson
import pytest

from purse import errors
from purse.campaign.archived_ticket import ArchivedTicket
from purse.campaign.checkpoint import checkpoint
from purse.campaign.group_commit import JournalRewound
from purse.campaign.journal import Entry
from purse.campaign.labels import LabelRow
from purse.campaign.records import Balance, CampaignRecord, TicketRecord
from purse.campaign.results import Receipt
from purse.campaign.storage.base import LabelTable, Overview, Reports, WriteSet
from purse.campaign.storage.remote.wire import decode, encode, error_of, write_set
from purse.errors import PurseError

OURS = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, PurseError)
]
TICKET = TicketRecord(7, "held", 5, None, {"t": 3, "arms": [1], "probabilities": [0.1]})
ENTRY = Entry(4, 5, "told", None, 7, {"rewards": [1 / 3]})
RECEIPT = Receipt(7, "told", False, True, ("0.1",), ("0.9",), ("0",))
HEAD = CampaignRecord("id", rounds=3, again=[[1, [0], [0.5]]], open=[2, 0])
PLAIN = CampaignRecord("id")
CHECKPOINT = checkpoint("policy", 4, "digest", b"\x00\xff")
LABEL = LabelRow("tenant", "x", 0, 1, 2, 3, 4, 5)
ARCHIVED = ArchivedTicket(1, 3, b"\x00\x01", "[]")


def sent(value: Any) -> Any:
    return orjson.loads(encode(value))


@pytest.mark.parametrize("kind", OURS, ids=lambda kind: kind.__name__)
def test_an_error_keeps_its_class_and_text(kind: type[PurseError]) -> None:
    found = error_of(sent(kind("ticket 7: no")))
    assert type(found) is kind
    assert str(found) == "ticket 7: no"


def test_an_error_of_a_class_that_clients_do_not_know_comes_as_the_nearest_one() -> None:
    found = error_of(sent(JournalRewound("replaced")))
    assert type(found) is errors.StorageUnavailable
    assert str(found) == "replaced"
    other = error_of(sent(KeyError("a\nb")))
    assert type(other) is PurseError
    assert str(other) == "the server failed: KeyError: 'a\\nb'"
    for name in ("Exception", "invalid", "Unheard"):
        assert type(error_of({"error": name, "text": ""})) is PurseError


@pytest.mark.parametrize(
    ("verb", "answer"),
    [
        ("ask", [TICKET]),
        ("void", RECEIPT),
        ("tell", [RECEIPT]),
        ("overview", Overview(4, HEAD, [Balance(10, 1)], 2, 5, "danger")),
        ("overview", Overview(4, PLAIN, [Balance(2**62)], 0, None)),
        ("entries", [ENTRY]),
        ("told", Reports("digest", [(4, "{}")], 4, None)),
        ("tickets", [TICKET]),
        ("archived", [ARCHIVED, ARCHIVED._replace(told=None, request=None)]),
        ("checkpoint", CHECKPOINT),
        ("checkpoint", None),
        ("labels", LabelTable(4, [LABEL])),
        ("top_up", None),
        ("probabilities", [0.1, 1 / 3]),
        ("names", ["a", "ü"]),
        ("now", 1_800_000_000_000),
    ],
)
def test_an_answer_arrives_as_it_was(verb: str, answer: Any) -> None:
    found = decode(verb, sent(answer))
    assert found == answer
    assert type(found) is type(answer)
    if isinstance(answer, list):
        assert [type(each) for each in found] == [type(each) for each in answer]


def test_the_error_of_one_report_stays_in_its_place() -> None:
    first, second = decode("tell", sent([errors.TicketError("no"), RECEIPT]))
    assert type(first) is errors.TicketError
    assert second == RECEIPT


def test_what_is_to_be_written_arrives_as_it_was() -> None:
    change = WriteSet(4, HEAD, [Balance(1)], [TICKET], [ENTRY], ["d"], [CHECKPOINT], [ARCHIVED])
    change = change._replace(labels=[LABEL])
    assert write_set(sent(change)) == change


def test_what_json_has_no_word_for_is_refused() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        encode(object())
