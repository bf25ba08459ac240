"""The benchmarks: plain C plays the same game, and pages are those of the numbers beside them."""

import re
import shutil
import threading
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

import purse
from benchmarks import (
    bench,
    break_even,
    by_size,
    campaigns,
    doors,
    engine,
    families,
    gpu,
    http_page,
    http_service,
    load,
    long_journal,
    page,
    record,
    recovery,
)
from tests.support.soak import SOAK, scale

PLAIN = Path(families.__file__).parent / "plain"
MILLION = 1_000_000
FEW = 1  # thousands, in a short test
MOST_MEMORY = 300  # MB


@pytest.fixture(scope="module")
def gcc() -> None:
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc: the plain C programs did not run")


def on_record(path: Path) -> dict[str, Any]:
    """Return the numbers that the page of the docs is written from."""
    facts = record.load(path)
    assert facts is not None
    return facts


# plain C


def test_every_policy_has_a_family_and_every_family_a_program() -> None:
    assert families.without_family() == []
    assert set(families.HEAD) <= set(purse.policies.names())
    assert sorted(
        f"{Path(str(purse.policies.load(head).__file__)).stem}.c" for head in families.FAMILIES
    ) == sorted(path.name for path in PLAIN.glob("*.c"))


# `make bench` holds the gain of every program against that of its policy
@pytest.mark.parametrize("head", [*families.FAMILIES][:: scale(6, 1)])
def test_plain_programs_play(gcc: None, head: str) -> None:
    found = families.play(head, 4, 60, 50)
    assert found is not None
    assert found.rounds_per_second > 0
    # between the worst arm alone and the best
    assert 60 * 0.1 / 0.9 < found.gain < 60 * 0.82 / 0.36
    assert 0 < found.error < found.gain


def test_a_program_and_its_policy_are_held_to_the_same_mean_gain(
    gcc: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = families.check_gain("uniform")
    assert check is not None
    assert check["gain"] == pytest.approx(check["plain_gain"], rel=0.01)
    monkeypatch.setattr(
        families, "play", lambda *_: families.Outcome(1e6, 1.1 * check["gain"], 1.0)
    )
    with pytest.raises(AssertionError, match="standard errors apart"):
        families.check_gain("uniform")


# measuring


def test_ratios_are_rounds_per_second_over_the_rivals() -> None:
    rates = {"C exp3++.bwk": 1e7, "C exp3.bwk": 8e6, "river EXP3": 1e5, "mabwiser UCB1": 1e3}
    rivals = [{"name": name, "arms": 10, "rounds_per_second": rate} for name, rate in rates.items()]
    facts = {
        "policy": "exp3.bwk",
        "arms": 10,
        "family": families.HEAD["exp3.bwk"],
        "rounds_per_second": 1.6e7,
    }
    row = engine.with_ratios(facts, rivals)
    keys = ("nanoseconds", "floor", "plain", "river", "mabwiser")
    assert [row[key] for key in keys] == [62.5, 1.6, 2.0, 160.0, 16_000.0]
    assert engine.with_ratios({**facts, "arms": 7}, rivals)["plain"] is None


def test_a_gpu_pays_from_the_first_number_of_paths_at_which_it_is_done_before_the_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def seconds(policy: str, n_paths: int, device: str) -> float:
        return 0.1 if device == "cuda" else n_paths / (1_000 if policy == "uniform" else 1e9)

    monkeypatch.setattr(break_even, "seconds", seconds)
    monkeypatch.setattr(break_even, "POLICIES", ("uniform", "fixed"))
    found = break_even.measure()
    pays, never = found["rows"]
    assert (pays["policy"], pays["paths"]) == ("uniform", 128)
    assert pays["seconds"] == {"cuda": 0.1, "cpu": 0.128}
    assert never == {"policy": "fixed", "paths": None, "seconds": None}


# campaigns


def test_a_crowd_is_summed_up_by_what_each_got_done_and_how_long_pairs_took() -> None:
    quick, slow = [load.Turn(1, 0.001, 0.003)] * 99, [load.Turn(1, 0.1, 0.4)]
    found = load.summary([quick, slow], 0.4)
    assert found["pairs_per_second"] == pytest.approx(99 / 0.4 + 1 / 0.5)
    assert found["asks_per_second"] == pytest.approx(1_000 + 10)
    assert (found["median_ms"], found["p99_ms"], found["longest_ms"]) == pytest.approx(
        (4, 500, 500)
    )
    assert found["least_share"] == pytest.approx(2 * 2 / (99 / 0.4 + 2))


def test_all_threads_of_a_crowd_ask_and_tell_what_they_are_sent_to(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'purse.db'}"
    name = campaigns.created(storage)
    for batch, crowd in ((1, load.Crowd(1, 2)), (5, load.Crowd(1, 2, 0.001))):
        results: Queue[list[list[load.Turn]]] = Queue()
        load.work(doors.Purse(storage, name, batch), crowd, threading.Barrier(2), 0.01, results)
        turns = results.get()
        assert [{turn.pairs for turn in mine} for mine in turns] == [{batch}, {batch}]
    status = purse.Campaign.open(name, storage=storage).status()
    assert status.counts["told"] == status.counts["tickets"] >= 2 * (load.WARM + 1) * 6
    asker = doors.Purse(storage, name, 5, tells=False).enter()
    assert asker.tell(asker.ask()) == 5
    assert purse.Campaign.open(name, storage=storage).status().counts["held"] == 5
    two = [campaigns.created(storage) for _ in range(2)]
    spread = doors.Spread(tuple(doors.Purse(storage, each) for each in two), 2)
    load.work(spread, load.Crowd(1, 2), threading.Barrier(2), 0.01, Queue())
    counts = [purse.Campaign.open(each, storage=storage).status().counts for each in two]
    assert min(count["told"] for count in counts) > load.WARM
    floor = doors.PlainFile(str(tmp_path / "plain")).enter()
    assert floor.tell(floor.ask()) == 1
    assert (tmp_path / "plain").read_bytes().count(b"\n") == 2


def test_every_way_back_to_a_long_campaign_is_timed_and_its_books_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "AT_ONCE", 50)
    found = recovery.measure(str(tmp_path / "long.db"), 200)
    assert found["entries"] >= 200
    assert len(found["seconds"]) == 7
    assert min(found["seconds"].values()) > 0


@pytest.mark.skipif(not SOAK, reason="services of their own, for a page that is seldom renewed")
def test_what_http_costs_is_measured_beside_a_bare_route(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(doors.TERMS, "policy", "uniform")  # which is compiled in a moment
    with http_service.subjects(tmp_path) as found:
        taken = http_service.costs(found, http_service.Effort(1, 1))
    assert set(taken) == {each.name for each in found}
    assert all(client > 0 for _, client in taken.values())
    assert [name for name, (service, _) in taken.items() if service is None] == [http_page.LOCAL]


# the page


def test_plain_c_plays_the_game_with_contexts(gcc: None) -> None:
    found = families.play("lin-ucb.price", 4, 60, 50, by_size.CONTEXT_LIMITS, features=3)
    assert found is not None
    # above the best arm in every round, which the budget does not pay for, nobody comes
    assert 60 * 0.15 < found.gain < 120 * 0.92


def test_a_run_without_a_gpu_keeps_what_the_last_one_with_a_gpu_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured: dict[str, Any] = {
        "CPU": (bench, "measure"),
        "CAMPAIGNS": (campaigns, "measure"),
        "REPLAN": (by_size, "measure_plans"),
        "CONTEXTS": (by_size, "measure_contexts"),
        "HTTP": (http_service, "measure"),
    }
    stored = {name: on_record(getattr(record, name)) for name in measured}
    card = on_record(record.GPU)
    monkeypatch.setattr(record, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(record, "GPU", tmp_path / "GPU")
    record.save(record.GPU, {**card, "machine": {**card["machine"], "GPU": "Tabulator"}})
    for name, (module, function) in measured.items():
        monkeypatch.setattr(record, name, tmp_path / name)
        monkeypatch.setattr(module, function, lambda facts=stored[name]: facts)
    monkeypatch.setattr(gpu, "usable", lambda: False)
    bench.main()
    assert "Tabulator" in record.PAGE.read_text()
    for name, facts in stored.items():
        assert on_record(tmp_path / name) == record.rounded(facts)
    printed = capsys.readouterr().out
    assert "exp3.bwk" in printed
    assert "cuda, Tabulator" in printed


def test_what_was_not_measured_is_not_on_the_page() -> None:
    text = page.markdown(on_record(record.CPU), None, None, None)
    assert not re.search("billion rounds a second|fsync|starlette", text)


def test_the_page_in_the_docs_is_that_of_the_numbers_beside_it() -> None:
    text = page.markdown(on_record(record.CPU), *page.others())
    assert record.PAGE.read_text() == text, "stale: run `python -m benchmarks.page`"


def test_a_long_journal_is_audited_and_used(tmp_path: Path) -> None:
    path = tmp_path / "long.db"
    if SOAK:
        found = long_journal.measure(path, MILLION)
        assert max(memory for _, _, memory in found) <= MOST_MEMORY
        return
    long_journal.fill(path, FEW * long_journal.AT_ONCE)
    for step in long_journal.STEPS:
        assert all(value > 0 for value in step(path).values())
    campaign = long_journal.opened(path)
    assert campaign.status().counts["told"] == FEW * long_journal.AT_ONCE + 201
