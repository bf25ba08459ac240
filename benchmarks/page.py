"""The page on performance, written from the files of `benchmarks.record` and nothing else: no
number in it is typed. Renew it with `python -m benchmarks.page`; `make bench` measures first.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import break_even, http_page, live, record
from benchmarks.families import FLOOR
from benchmarks.instance import USUAL, say
from benchmarks.memory import HORIZON
from benchmarks.rivals import MABWISER, RIVER
from benchmarks.startup import COLD
from benchmarks.tables import (
    at,
    contexts_part,
    memory_sentence,
    number,
    plans_part,
    policies_table,
    sizes,
    waits_table,
    widest,
)

TWICE = 0.5  # of the rounds of plain C: what no policy should fall below


def renew() -> None:
    """Write the page from what is on record."""
    cpu = record.load(record.CPU)
    assert cpu is not None, f"{record.CPU} is not there: run `make bench`"
    record.PAGE.write_text(markdown(cpu, *others()))


def publish(path: Path, facts: dict[str, Any]) -> None:
    """Keep the numbers of one part, and renew the page."""
    record.save(path, facts)
    renew()
    say(f"written to {path} and {record.PAGE}")


def others() -> list[dict[str, Any] | None]:
    """Return all else that is on record, in the order in which `markdown` takes it."""
    paths = (record.GPU, record.CAMPAIGNS, record.REPLAN, record.CONTEXTS, record.HTTP)
    return [record.load(path) for path in paths]


def described(machine: dict[str, str]) -> str:
    """Return the machine in a line."""
    parts = [machine[name] for name in ("GPU", "architecture", "processor") if machine.get(name)]
    versions = [
        f"{name} {version}"
        for name, version in machine.items()
        if name not in ("GPU", "architecture", "processor", "cores") and version
    ]
    return ", ".join([*parts, f"{machine['cores']} cores", *versions])


def listed(names: list[str]) -> str:
    """Names of policies in a sentence."""
    return ", ".join(f"`{name}`" for name in names) or "none"


def markdown(
    cpu: dict[str, Any],
    cuda: dict[str, Any] | None,
    campaigns: dict[str, Any] | None,
    plans: dict[str, Any] | None,
    contexts: dict[str, Any] | None = None,
    http: dict[str, Any] | None = None,
) -> str:
    """Return the page."""
    apart = max(abs(check["standard_errors_apart"]) for check in cpu["checks"])
    parts = [
        "# Performance",
        "`make bench` measures what is on this page and writes it; the numbers beside it, in "
        "`docs/performance`, are more. Speed depends on the machine; ratios travel better.",
        in_short(cpu, cuda, campaigns),
        "## Policies",
        f"On {described(cpu['machine'])}. Bernoulli arms with fixed costs, a budget of "
        f"{cpu['budget']:,}; one core's processor time a round, the best of {cpu['repeats']}, with "
        "setting up and gathering. “× plain C” is how many times as many rounds purse makes as "
        "plain C of the same family of rules (`benchmarks/plain`, `gcc -O3 -march=native`): above "
        f"1 it is faster. Mean gains of both are at most {apart:.1f} standard errors apart. "
        "`docs/performance/cpu.json` has all policies, with more K; these are the quickest, the "
        "slowest, the paper's and the default.",
        policies_table(cpu, cuda),
        rivals_sentence(cpu),
        *([plans_part(plans, cuda)] if plans else []),
        *([contexts_part(contexts)] if contexts else []),
        "## What one waits for",
        waits_table(cpu),
        *memory_part(cpu),
        *([live.part(campaigns)] if campaigns else []),
        *([http_page.part(http)] if http else []),
        *gpu_part(cuda),
        "## Where it is not fast",
        where_not(cpu),
    ]
    return "\n\n".join(parts) + "\n"


def rivals_sentence(cpu: dict[str, Any]) -> str:
    """Return how other libraries were asked, and how long that takes."""
    times = {
        rival["name"]: number(1e6 / rival["rounds_per_second"])
        for rival in cpu["rivals"]
        if rival["arms"] == USUAL
    }
    return (
        f"From Python, with K = {USUAL} and without a budget: `river`'s EXP3, pulled and updated, "
        f"takes {times[RIVER]} µs a round, and `mabwiser`'s UCB1 (it has no EXP3), which predicts "
        f"and is fitted, {times[MABWISER]} µs."
    )


def in_short(
    cpu: dict[str, Any], cuda: dict[str, Any] | None, campaigns: dict[str, Any] | None
) -> str:
    """Return the page in a few lines."""
    rows = {row["policy"]: row for row in at(cpu, USUAL)}
    ratios = [row["plain"] for row in cpu["rows"] if row["plain"] is not None]
    ahead, behind = sum(r >= 1 for r in ratios), sum(r < TWICE for r in ratios)
    lines = [
        f"With {USUAL} arms one core plays "
        f"{number(rows['exp3.bwk']['rounds_per_second'] / 1e6)} million rounds a second "
        "of `exp3.bwk`, "
        f"{number(rows[FLOOR]['rounds_per_second'] / 1e6)} of `{FLOOR}`; half of the "
        "policies take at most "
        f"{number(median(row['nanoseconds'] for row in rows.values()))} ns a round.",
        f"Of {len(ratios)} pairs of a policy and a K, {ahead} are at least as fast as "
        f"plain C of the same family, {len(ratios) - ahead - behind} "
        f"take up to twice as long, and {behind} longer.",
        f"`exp3.bwk` plays {number(rows['exp3.bwk']['river'])} times as many rounds as "
        "`river`'s EXP3, and `ucb-bv1` "
        f"{number(rows['ucb-bv1']['mabwiser'])} times as many as `mabwiser`'s UCB1.",
    ]
    for count in next(iter(rows.values()))["workers"]:
        times, cores = (
            median(row[key][count] for row in rows.values()) for key in ("workers", "cores")
        )
        lines.append(
            f"{count} workers play {times:.2f} times as many rounds as one (the median "
            f"policy); other work left them {cores:.2f} cores."
        )
    if cuda:
        on_gpu = {row["policy"]: row["rounds_per_second"] / 1e9 for row in cuda["rows"]}
        lines.append(
            f"An {cuda['machine']['GPU']} plays {number(on_gpu['exp3.bwk'])} billion "
            f"rounds a second of `exp3.bwk`, {number(on_gpu[FLOOR])} of `{FLOOR}`."
        )
    if campaigns:
        lines += live.in_short(campaigns)
    return "\n".join(f"- {line}" for line in lines)


def memory_part(cpu: dict[str, Any]) -> list[str]:
    """Return the most memory that processes take, and the size of an installation."""
    if "memory" not in cpu:
        return []
    sizes = cpu["sizes"]
    largest = ", ".join(f"{name} {number(sizes[name])}" for name in list(sizes)[:6])
    return [
        "## Memory and disk",
        "The most memory that a fresh process has, the code compiled before; logs and tables are "
        f"text files, and a replay plays {HORIZON:,} rounds of them with its default policies.",
        memory_sentence(cpu),
        f"An installation without extras takes {number(sum(sizes.values()))} MB as pip unpacks "
        f"it, and what Python compiles from it besides. The largest: {largest} MB. With the extra "
        f"`lab` it takes {number(cpu['lab'])} MB.",
    ]


def gpu_part(cuda: dict[str, Any] | None) -> list[str]:
    """Return the section on the GPU, on the machine that had one."""
    if cuda is None:
        return []
    refused = f" Not there: {listed(list(cuda['refused']))}." if cuda["refused"] else ""
    lead = (
        f"On {described(cuda['machine'])}; {cuda['paths']:,} paths, K = {USUAL}, a budget of up to "
        f"{cuda['budget']:,}; setting up and fetching count. The numbers that come out are the "
        f"CPU's, to the last bit. The first table has the speed of each policy.{refused}"
    )
    few = [break_even.part(cuda["break_even"])] if "break_even" in cuda else []
    return ["## On a GPU", lead, *few]


def where_not(cpu: dict[str, Any]) -> str:
    """Return the slow policies and operations, by name."""
    worst: dict[str, dict[str, Any]] = {}
    for row in sorted(
        (row for row in cpu["rows"] if row["plain"] is not None and row["plain"] < TWICE),
        key=lambda row: row["plain"],
    ):
        worst.setdefault(row["policy"], row)
    named = (
        ", ".join(
            f"`{name}` ({number(1 / row['plain'])} times at K = {row['arms']:,})"
            for name, row in list(worst.items())[:3]
        )
        or "none"
    )
    few, many = sizes(cpu)[0], widest(cpu)
    behind = sum(row["plain"] is not None and row["plain"] < 1 for row in at(cpu, few))
    heavy = sorted(at(cpu, many), key=lambda row: -row["bytes_per_path"])[:3]
    large = ", ".join(
        f"`{row['policy']}` ({number(row['bytes_per_path'] / 1e3)} kB)" for row in heavy
    )
    lines = [
        f"{len(worst)} policies take more than twice as long as plain C of their family at some "
        f"K, most of all {named}. If a "
        "rule does next to nothing, the game itself is what is measured.",
        f"With {few} arms {behind} of {len(at(cpu, few))} policies are slower than plain C.",
        f"A path with {many:,} arms needs most memory for {large}.",
        f"A first simulation takes {cpu['startup'][COLD]:.0f} s, nearly all of it compiling, once "
        "for each policy.",
    ]
    return "\n".join(f"- {line}" for line in lines)


if __name__ == "__main__":
    renew()
