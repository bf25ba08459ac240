from __future__ import annotations

import shutil
import threading
from pathlib import Path
from queue import Queue
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from benchmarks import (
    bench,
    break_even,
    campaigns,
    context_page,
    doors,
    engine,
    families,
    gpu,
    http_page,
    http_service,
    linear,
    live,
    load,
    page,
    record,
    recovery,
    replan,
    startup,
)
from benchmarks.prompt_features import shape_of

import purse

PLAIN = Path(families.__file__).parent / "plain"
MACHINE = {"architecture": "abacus", "processor": "", "cores": "2", "Python": "3.11.0", "gcc": ""}


@pytest.fixture
def gcc() -> None:
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc: the plain C programs did not run")


def row(
    policy: str, arms: int, rate: float, rivals: list[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    facts = {
        "policy": policy,
        "arms": arms,
        "device": "cpu",
        "family": families.HEAD[policy],
        "rounds_per_second": rate,
    }
    return engine.with_ratios(
        {
            **facts,
            "workers": {"2": 1.9},
            "cores": {"2": 1.95},
            "bytes_per_path": 100 * arms,
            **more,
        },
        rivals,
    )


def measured() -> dict[str, Any]:
    rates = {
        "C exp3++.bwk": 1e7,
        "C exp3.bwk": 8e6,
        "C ucb-bv1": 2e7,
        "river EXP3": 1e5,
        "mabwiser UCB1": 1e3,
    }
    rivals = [
        {"name": name, "arms": arms, "rounds_per_second": rate}
        for arms in (3, 10, 1000)
        for name, rate in rates.items()
    ]
    names = {"exp3.bwk": 1.6e7, "exp3++.bwk": 1.1e7, "ucb-bv1": 6e6}
    return {
        "machine": MACHINE,
        "instance": {"rewards": [0.25, 0.75], "costs": [0.5, 0.125]},
        "budget": 3000,
        "repeats": 3,
        "rows": [
            row(policy, arms, rate, rivals)
            for arms in (3, 10, 1000)
            for policy, rate in names.items()
        ],
        "rivals": rivals,
        "checks": [
            {"policy": "exp3.bwk", "plain_gain": 512.0, "gain": 511.0, "standard_errors_apart": 0.5}
        ],
        "growth": [
            {"policy": "exp3.bwk", "budget": budget, "nanoseconds": 62.0, "bytes_per_path": 457}
            for budget in (1e3, 1e6)
        ],
        "startup": {"python alone": 0.01, startup.COLD: 7.0},
        "ask_tell_microseconds": {"exp3.bwk": 7.0, "exp3++.bwk": 8.0, "ucb-bv1": 9.0},
        "asks": [{"policy": "replan", "asked": "both", "microseconds": 6.5}],
        "memory": {"a simulation": 117.5},
        "sizes": {"numpy": 53.0, "purse-bandits": 9.0},
        "lab": 480.0,
    }


def on_gpu() -> dict[str, Any]:
    rivals = [{"name": "C exp3++.bwk", "arms": 10, "rounds_per_second": 1e7}]
    rows = [row(policy, 10, 5e9, rivals, device="cuda") for policy in ("exp3.bwk", "exp3++.bwk")]
    return {
        "machine": {"GPU": "Tabulator", **MACHINE},
        "paths": 1 << 20,
        "budget": 3000,
        "rows": rows,
        "rivals": rivals,
        "refused": {"kube": "no"},
        "replan": [{"limits": 2, "nanoseconds": 0.5}],
    }


def of_replan() -> dict[str, Any]:
    return {
        "machine": MACHINE,
        "load_before": 0.25,
        "budget": 3000,
        "apart": [0.5, -1.0],
        "rows": [
            {"limits": 1, "arms": 3, "replan": 400.0, "primal-dual-bwk": 50.0, "plain": 200.0},
            {"limits": 2, "arms": 10, "replan": 800.0, "primal-dual-bwk": 100.0, "plain": None},
        ],
    }


def of_contexts() -> dict[str, Any]:
    return {
        "machine": MACHINE,
        "load_before": 0.25,
        "apart": [0.5, -1.0],
        "rows": [
            {"arms": 5, "numbers": 3, "lin-ucb.price": 400.0, "plain": 800.0},
            {"arms": 5, "numbers": 6, "lin-ucb.price": 600.0, "plain": None, "lin-cbwk": 300.0},
        ],
    }


def crowd(who: str, where: str, processes: int, rate: float, batch: int = 1) -> dict[str, Any]:
    found = load.summary([[load.Turn(batch, 0.002, 0.003)] * 100], 0.5)
    return {
        "who": who,
        "where": where,
        "processes": processes,
        "threads": 1,
        "batch": batch,
        **found,
        "pairs_per_second": rate,
    }


def of_campaigns() -> dict[str, Any]:
    return {
        "machine": {**MACHINE, "apsw": "3.54.1.0", "optuna": "5.0.0"},
        "load_before": 0.1,
        "seconds": 4,
        "postgres": {"server_version": "18.4", "fsync": "on", "synchronous_commit": "on"},
        "rows": [
            crowd(live.FLOOR, "SQLite", 1, 5_000),
            crowd(live.PURSE, "SQLite", 8, 1_200),
            crowd(live.RDB, "SQLite", 8, 30),
            crowd(live.JOURNAL, "SQLite", 8, 400),
            crowd(live.PURSE, "SQLite", 32, 1_100),
            crowd(live.PURSE, "PostgreSQL", 1, 9_000, batch=64),
            crowd(live.ASKS, "PostgreSQL", 1, 9_000, batch=1_000),
        ],
        "recovery": {
            "entries": 1_000_037,
            "seconds": {"open and ask, from the checkpoint": 0.0321, "audit": 72.4},
        },
    }


def of_http() -> dict[str, Any]:
    return {
        "machine": {**MACHINE, "starlette": "1.10.0"},
        "load_before": 0.1,
        "seconds": 4,
        "rows": [
            {
                "what": name,
                "service_ms": service,
                "client_ms": 0.25,
                "pairs": {"1": rate, "8": 2 * rate, "32": 2 * rate},
            }
            for name, service, rate in (
                (http_page.BARE, 0.3, 800.0),
                (http_page.PLAIN, 0.9, 400.0),
                (http_page.LOCAL, None, 1000.0),
            )
        ],
    }


# plain C


def test_every_policy_has_a_family_and_every_family_a_program() -> None:
    assert families.without_family() == []
    assert set(families.HEAD) <= set(purse.policies.names())
    assert sorted(
        f"{Path(str(purse.policies.load(head).__file__)).stem}.c" for head in families.FAMILIES
    ) == sorted(path.name for path in PLAIN.glob("*.c"))


@pytest.mark.parametrize("head", families.FAMILIES)
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


def test_without_gcc_there_is_nothing_to_compare_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "program", lambda *_: None)
    assert families.plain_rate("uniform", 3, 10) is None
    assert families.check_gain("uniform") is None


# measuring


def test_policies_for_many_arms_are_those_that_say_so() -> None:
    assert "exp3.bwk" in engine.quick_policies()
    assert "ucb-bv1" not in engine.quick_policies()


def test_ratios_are_rounds_per_second_over_the_rivals() -> None:
    found = measured()["rows"][3]
    assert (found["policy"], found["arms"], found["nanoseconds"]) == ("exp3.bwk", 10, 62.5)
    assert (found["floor"], found["plain"], found["river"], found["mabwiser"]) == (
        1.6,
        2.0,
        160.0,
        16_000.0,
    )
    assert engine.with_ratios({**found, "arms": 7}, measured()["rivals"])["plain"] is None


def test_the_gpu_is_measured_at_a_million_paths_and_refusals_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def simulate(
        policy: str,
        place: purse.lab.World,
        budget: float,
        *,
        n_paths: int,
        device: str,
        **told: float,
    ) -> Any:
        if policy == "kube":
            raise purse.PurseError("kube does not")
        asked.append((policy, n_paths, device))
        return SimpleNamespace(rounds=np.full(4, 1_000_000))

    monkeypatch.setattr("benchmarks.gpu.purse.simulate", simulate)
    monkeypatch.setattr(gpu, "device_name", lambda: "Tabulator")
    monkeypatch.setattr(gpu, "plain_rate", lambda *_: 1e6)
    monkeypatch.setattr(break_even, "measure", lambda: {"cores": 2, "rows": []})
    found = gpu.measure()
    assert ("exp3.bwk", 1 << 20, "cuda") in asked
    assert found["refused"] == {"kube": "kube does not"}
    assert len(found["rows"]) == len(purse.policies.names()) - 1
    assert all(each["floor"] == each["rounds_per_second"] / 1e6 for each in found["rows"])
    assert [each["limits"] for each in found["replan"]] == [1, 2, 3]
    assert found["break_even"] == {"cores": 2, "rows": []}


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
    text = page.markdown(measured(), {**on_gpu(), "break_even": found}, None, None)
    assert "| `uniform` | 128 | 100 | 128 |" in text
    assert "`fixed`: not up to 1,048,576." in text


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


def test_the_part_on_campaigns_has_purse_beside_optuna() -> None:
    text = live.part(of_campaigns())
    assert "| SQLite | 8 processes | 1,200 | 5 | 5 | 5 | 30 | 40 | 400 | 3 |" in text
    assert "| PostgreSQL | 1 process, 64 at a time | 9,000 | 5 | 5 | 5 |  |  |  |  |" in text
    assert "| audit | 72.4 s |" in text
    assert "fsync on, synchronous_commit on" in text
    assert "PostgreSQL, 1,000 at a time: 500,000" in text
    assert live.said({"processes": 4, "threads": 8}, 1) == "4 processes of 8 threads"
    assert live.part(of_campaigns()) in page.markdown(measured(), None, of_campaigns(), None)


def test_the_part_on_http_has_a_bare_route_beside_it() -> None:
    text = http_page.part(of_http())
    assert "| ask and tell, plain generator | 0.9 | 0.25 | 400 | 0.50 | 800 | 0.50 | 800 |" in text
    assert "| ask and tell, without HTTP |  | 0.25 | 1,000 | 1.25 |" in text
    assert "starlette 1.10.0" in text
    assert text in page.markdown(measured(), None, None, None, None, of_http())


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


def test_the_page_says_what_was_measured_and_on_what() -> None:
    text = page.markdown(measured(), None, None, None)
    assert "abacus, 2 cores, Python 3.11.0." in text
    assert "mean rewards from 0.25 to 0.75, costs from 0.5 to 0.125" in text
    assert "| `exp3.bwk` | 16 | 62.5 | 1.6 | 2 | 160 | 16,000 | 1.90 | 1,000 | 7 |" in text
    assert "| C exp3.bwk | 125 | 125 | 125 | 512 | 511 | +0.5 |" in text
    assert "`ucb-bv1` (3.33 times at K = 3)" in text
    assert (
        "2 workers play 1.90 times as many rounds as one (the median policy); other work "
        "left them 1.95 cores." in text
    )
    assert "billion rounds a second" not in text
    assert "| both | `replan` | 6.5 |" in text
    assert "| a simulation | 118 MB |" in text
    assert "An installation without extras takes 62 MB" in text
    assert "With the extra `lab` it takes 480 MB." in text


def test_the_page_has_the_gpu_with_its_own_machine() -> None:
    text = page.markdown(measured(), on_gpu(), None, None)
    assert "On Tabulator, abacus, 2 cores" in text
    assert "| `exp3++.bwk` | 5,000 | 0.2 | 500 | 500 |" in text
    assert "Not there: `kube`." in text


def test_the_part_on_replan_has_plain_c_and_the_rival_beside_it() -> None:
    text = replan.part(of_replan(), on_gpu())
    assert "| 1: one resource | 3 | 400 | 200 | 0.5 | 50 | 0.125 |  |" in text
    assert "| 2: one resource and a horizon | 10 | 800 |  |  | 100 | 0.125 | 0.5 |" in text
    assert "after 6,000 rounds" in text
    assert "0.25 processes were busy on the machine's 2 cores" in text
    assert "GPU" not in replan.part(of_replan(), None)
    assert replan.part(of_replan(), None) in page.markdown(measured(), None, None, of_replan())


def test_the_part_on_contexts_has_plain_c_and_the_other_policies_beside_it() -> None:
    text = linear.part(of_contexts())
    assert "| 5 | 3 | 400 | 800 | 2 |" in text
    assert "| 5 | 6 | 600 |  |  |" in text
    assert "ns a round: `lin-cbwk` 300." in text
    assert text in page.markdown(measured(), None, None, None, of_contexts())


def test_plain_c_plays_the_game_with_contexts(gcc: None) -> None:
    found = families.play("lin-ucb.price", 4, 60, 50, linear.LIMITS, features=3)
    assert found is not None
    # above the best arm in every round, which the budget does not pay for, nobody comes
    assert 60 * 0.15 < found.gain < 120 * 0.92


def test_a_run_without_a_gpu_keeps_what_the_last_one_with_a_gpu_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    for name in ("CPU", "GPU", "CAMPAIGNS", "REPLAN", "CONTEXTS", "HTTP", "PAGE"):
        monkeypatch.setattr(record, name, tmp_path / name)
    record.save(record.GPU, on_gpu())
    monkeypatch.setattr(bench, "measure", measured)
    monkeypatch.setattr(campaigns, "measure", of_campaigns)
    monkeypatch.setattr(replan, "measure", of_replan)
    monkeypatch.setattr(linear, "measure", of_contexts)
    monkeypatch.setattr(http_service, "measure", of_http)
    monkeypatch.setattr(gpu, "usable", lambda: False)
    bench.main()
    assert record.load(record.GPU) == on_gpu()
    assert "Tabulator" in record.PAGE.read_text()
    assert record.load(record.CAMPAIGNS) == record.rounded(of_campaigns())
    assert record.load(record.REPLAN) == of_replan()
    assert record.load(record.CONTEXTS) == of_contexts()
    assert record.load(record.HTTP) == of_http()
    assert replan.part(of_replan(), on_gpu()) in record.PAGE.read_text()
    printed = capsys.readouterr().out
    assert "exp3.bwk" in printed
    assert "cuda, Tabulator" in printed


def test_the_page_in_the_docs_is_that_of_the_numbers_beside_it() -> None:
    cpu = record.load(record.CPU)
    assert cpu is not None
    assert record.PAGE.read_text() == page.markdown(cpu, *page.others()), (
        "stale: run `python -m benchmarks.page`"
    )


def test_the_page_on_contexts_is_that_of_the_shares_beside_it() -> None:
    shares = record.load(record.SHARES)
    assert shares is not None
    assert record.SHARES.with_name("measured.md").read_text() == context_page.markdown(shares), (
        "stale: run `python -m benchmarks.contexts`"
    )


def test_the_shape_of_a_prompt_is_eight_numbers() -> None:
    found = shape_of("(A) 12, or\nnot?")
    assert found[2:] == pytest.approx([20 / 16, 1 / 5, 1, 1, 1, 0])
    assert np.exp(found[:2]) == pytest.approx([16, 5])
