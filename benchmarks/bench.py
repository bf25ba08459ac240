"""`make bench`: how fast every policy is, beside plain C and other libraries in one run; one table,
its JSON, and the page of the docs.
"""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import (
    asks,
    by_size,
    campaigns,
    engine,
    families,
    gpu,
    http_service,
    memory,
    page,
    record,
    startup,
)
from benchmarks.instance import BUDGET, REPEATS, USUAL, say, world
from benchmarks.machine import machine
from benchmarks.tables import number


def measure() -> dict[str, Any]:
    """Everything but the GPU."""
    startup.prepare_all()
    checks = [check for head in families.FAMILIES if (check := families.check_gain(head))]
    say(f"plain C and purse play the same game: {len(checks)} programs")
    rows, rivals = engine.measure_all()
    grown, waits, live = engine.growth(), startup.waits(), asks.measure_policies()
    return {
        "machine": machine(),
        "instance": ends(),
        "budget": BUDGET,
        "repeats": REPEATS,
        "rows": rows,
        "rivals": rivals,
        "checks": checks,
        "growth": grown,
        "startup": waits,
        "ask_tell_microseconds": live,
        "asks": asks.measure(),
        "memory": memory.measure(),
        "sizes": memory.sizes(),
        "lab": sum(memory.sizes("lab").values()),
    }


def ends() -> dict[str, list[float]]:
    """Mean rewards and costs of the first and the last arm of the instance."""
    instance = world(USUAL)
    assert instance.reward_means is not None
    assert instance.cost_means is not None
    return {
        "rewards": instance.reward_means[[0, -1]].tolist(),
        "costs": instance.cost_means[[0, -1], 0].tolist(),
    }


def table(cpu: dict[str, Any], cuda: dict[str, Any] | None) -> Table:
    """Everything that has a policy, a K and a device; rivals below."""
    counts = list(cpu["rows"][0]["workers"])
    grid = Table(
        title=f"Rounds per second on one core, and on a GPU; budget {cpu['budget']:,}; "
        f"{page.described(cpu['machine'])}"
    )
    for column in (
        "policy",
        "K",
        "device",
        "million rounds/s",
        "ns a round",
        "× C floor",
        "× own C",
        "× river",
        "× mabwiser",
    ):
        grid.add_column(column, justify="left" if column in ("policy", "device") else "right")
    for column in (*(f"{count} workers ×" for count in counts), "bytes a path", "ask + tell, µs"):
        grid.add_column(column, justify="right")
    on_card = (
        [{**row, "device": f"{row['device']}, {cuda['machine']['GPU']}"} for row in cuda["rows"]]
        if cuda
        else []
    )
    for row in [*cpu["rows"], *on_card]:
        here = row["device"] == "cpu"
        scaling = [f"{row['workers'][count]:.2f}" if here else "" for count in counts]
        live = (
            f"{cpu['ask_tell_microseconds'][row['policy']]:.1f}"
            if here and row["arms"] == USUAL
            else ""
        )
        grid.add_row(
            *speed(row["policy"], row), *scaling, f"{row['bytes_per_path']:,}" if here else "", live
        )
    for rival in cpu["rivals"]:
        grid.add_row(*speed(rival["name"], {**rival, "device": "cpu"}))
    return grid


def speed(name: str, row: dict[str, Any]) -> list[str]:
    """Return the cells that rows of policies and of rivals have in common."""
    ratios = [number(row.get(key)) for key in ("floor", "plain", "river", "mabwiser")]
    return [
        name,
        f"{row['arms']:,}",
        row["device"],
        number(row["rounds_per_second"] / 1e6),
        number(1e9 / row["rounds_per_second"]),
        *ratios,
    ]


def main() -> None:
    """Measure, print one table, and write its JSON and the page."""
    if missing := families.without_family():
        raise SystemExit(f"no plain C in benchmarks/families.py for {', '.join(missing)}")
    cpu = record.rounded(measure())
    record.save(record.CPU, cpu)
    record.save(record.REPLAN, by_size.measure_plans())
    record.save(record.CONTEXTS, by_size.measure_contexts())
    if gpu.usable():
        record.save(record.GPU, gpu.measure())
    record.save(record.CAMPAIGNS, campaigns.measure())
    record.save(record.HTTP, http_service.measure())
    page.renew()
    Console(width=190).print(table(cpu, record.load(record.GPU)))
    for name, seconds in cpu["startup"].items():
        say(f"{name}: {seconds:.2f} s")
    say(f"written to {record.CPU.parent} and {record.PAGE}")


if __name__ == "__main__":
    main()
