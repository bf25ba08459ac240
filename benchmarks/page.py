"""The page on performance, written from the files of `benchmarks.record` and nothing else: no
number in it is typed. Renew it with `python -m benchmarks.page`; `make bench` measures first.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from benchmarks import asks, break_even, http_page, linear, live, record, replan
from benchmarks.families import FLOOR
from benchmarks.instance import USUAL
from benchmarks.memory import HORIZON
from benchmarks.startup import COLD
from benchmarks.tables import (
    arms_table,
    asks_table,
    at,
    budget_table,
    gpu_table,
    memory_table,
    number,
    rivals_table,
    sizes,
    usual_table,
    waits_table,
    widest,
)

TWICE = 0.5  # of the rounds of plain C: what no policy should fall below


def renew() -> None:
    """Write the page from what is on record."""
    cpu = record.load(record.CPU)
    assert cpu is not None, f"{record.CPU} is not there: run `make bench`"
    record.PAGE.write_text(markdown(cpu, *others()))


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


def span(cpu: dict[str, Any], name: str) -> str:
    """Return the first arm's number and the last one's."""
    return " to ".join(f"{value:g}" for value in cpu["instance"][name])


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
    parts = [
        "# Performance",
        "`make bench` measures what is on this page and writes it, in minutes; the first "
        "time it has to compile every policy, which takes as long "
        "again. Speed depends on the machine; ratios, to rivals that were measured in "
        "the same run, travel better.",
        in_short(cpu, cuda, campaigns),
        "## What was measured",
        f"On {described(cpu['machine'])}. A simulation plays Bernoulli arms with fixed "
        f"costs (mean rewards from {span(cpu, 'rewards')}, costs from "
        f"{span(cpu, 'costs')}, so that the last arm is the best) until a budget of "
        f"{cpu['budget']:,} is gone; setting up and gathering the results count. "
        f"Rounds a second are those of one core, the best of {cpu['repeats']}, rivals in "
        "between, and of processor time, so that other work on the machine "
        "does not count; workers, GPUs and waiting go by the clock on the wall. “× C” is "
        "how many times as many rounds purse makes in the same time: "
        "above 1 it is faster.",
        f"## Every policy, K = {USUAL}",
        usual_table(cpu),
        "The floor is EXP3++.BwK in plain C, the same for all; “own plain C” is the "
        f"program of the policy's own family, below. {rivals_said()}",
        "## Growth with K",
        arms_table(cpu),
        "## Growth with B",
        f"K = {USUAL}. Where a policy keeps a window of rounds, memory grows with the budget.",
        budget_table(cpu),
        *([replan.part(plans, cuda)] if plans else []),
        *([linear.part(contexts)] if contexts else []),
        "## Plain C, and other libraries",
        "`benchmarks/plain` has one program for each family of rules, written as the "
        "formulas stand, without tricks, compiled with `gcc -O3 "
        "-march=native`. They play the same game: on the same instance the mean gains of "
        "both agree within their standard errors. The program of "
        "`exp3.bwk` takes all weights from their logarithms in every round, so that "
        "nothing can overflow; to keep weights and multiply that of the "
        "pulled arm is quicker.",
        rivals_table(cpu),
        "## What one waits for",
        waits_table(cpu),
        *asks_part(cpu),
        *memory_part(cpu),
        *([live.part(campaigns)] if campaigns else []),
        *([http_page.part(http)] if http else []),
        *gpu_part(cuda),
        "## What makes it fast",
        *what_makes_it_fast(cpu),
        "## Where it is not fast",
        *where_not(cpu),
    ]
    return "\n\n".join(parts) + "\n"


def rivals_said() -> str:
    """Return how other libraries were asked."""
    return (
        "`river`'s EXP3 is pulled and updated, `mabwiser`'s UCB1 (it has no EXP3) "
        "predicts and is fitted, once a round, from Python, which is how "
        "they are used; neither has a budget."
    )


def in_short(
    cpu: dict[str, Any], cuda: dict[str, Any] | None, campaigns: dict[str, Any] | None
) -> str:
    """Return the page in a few lines."""
    rows = {row["policy"]: row for row in at(cpu, USUAL)}
    held = [row for row in cpu["rows"] if row["plain"] is not None]
    ahead, behind = (
        [row for row in held if row["plain"] >= 1],
        [row for row in held if row["plain"] < TWICE],
    )
    lines = [
        f"With {USUAL} arms one core plays "
        f"{number(rows['exp3.bwk']['rounds_per_second'] / 1e6)} million rounds a second "
        "of `exp3.bwk`, "
        f"{number(rows[FLOOR]['rounds_per_second'] / 1e6)} of `{FLOOR}`; half of the "
        "policies take at most "
        f"{number(median(row['nanoseconds'] for row in rows.values()))} ns a round.",
        f"Of {len(held)} pairs of a policy and a K, {len(ahead)} are at least as fast as "
        f"plain C of the same family, {len(held) - len(ahead) - len(behind)} "
        f"take up to twice as long, and {len(behind)} longer.",
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
        there = {row["policy"]: row["rounds_per_second"] / 1e9 for row in cuda["rows"]}
        lines.append(
            f"An {cuda['machine']['GPU']} plays {number(there['exp3.bwk'])} billion "
            f"rounds a second of `exp3.bwk`, {number(there[FLOOR])} of `{FLOOR}`."
        )
    if campaigns:
        lines += live.in_short(campaigns)
    return "\n".join(f"- {line}" for line in lines)


def asks_part(cpu: dict[str, Any]) -> list[str]:
    """Asks with masks and contexts."""
    if "asks" not in cpu:
        return []
    return [
        f"With masks and contexts, K = {USUAL}; `{asks.BLIND}` sees no contexts, but they are "
        "checked:",
        asks_table(cpu),
    ]


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
        memory_table(cpu),
        f"An installation without extras takes {number(sum(sizes.values()))} MB as pip unpacks "
        f"it, and what Python compiles from it besides. The largest: {largest} MB. With the extra "
        f"`lab` it takes {number(cpu['lab'])} MB.",
    ]


def gpu_part(cuda: dict[str, Any] | None) -> list[str]:
    """Return what a GPU does, on the machine that had one."""
    if cuda is None:
        return []
    refused = f"Not there: {listed(list(cuda['refused']))}." if cuda["refused"] else ""
    lead = (
        f"On {described(cuda['machine'])}; {cuda['paths']:,} paths, K = {USUAL}, a budget "
        f"of up to {cuda['budget']:,}, less for slow policies; setting up and "
        "fetching the results count. Plain C on one core of the same machine. The "
        f"numbers that come out are the CPU's, [to the last bit](gpu.md). {refused}"
    )
    few = [break_even.part(cuda["break_even"])] if "break_even" in cuda else []
    return ["## On a GPU", lead.strip(), gpu_table(cuda), *few]


def what_makes_it_fast(cpu: dict[str, Any]) -> list[str]:
    """Return a paragraph for each idea; the docstrings say more."""
    found = {(row["policy"], row["arms"]): row["nanoseconds"] for row in cpu["rows"]}
    low, high = sizes(cpu)[0], sizes(cpu)[-1]
    return [
        "**No reference counts** (`purse.compiler.machine_code`). The loop and the policy's "
        "kernels are compiled into one function without numba's run-time: nothing in it "
        "allocates, raises or counts references, and the machine code is kept on disk "
        "under a fingerprint of all the code that it reaches.",
        "**Randomness without state** (`purse.kernels.random`). A random number is one mix of a "
        "counter made from seed, path, role, round and index. There is "
        "nothing to carry from draw to draw, so paths can be cut into threads and blocks "
        "in any way and give the same numbers.",
        "**Arrays as an address and a shape** (`purse.compiler.spans`). numba keeps seven numbers "
        "or more of an array and hands them all from function to function. Two to four are enough, "
        "which takes a sixth off the time to compile.",
        "**An exp that vectorises** (`purse.kernels.fastmath`). A table and a short series "
        "without branches or calls, so that a loop over arms becomes vector "
        "code; the same bits on every machine.",
        "**A sum tree** (`purse.kernels.sumtree`). Where a round changes one weight only, a draw "
        "and an update take O(log K): `exp3.bwk` takes "
        f"{number(found['exp3.bwk', low])} ns with {low:,} arms and "
        f"{number(found['exp3.bwk', high])} ns with {high:,}.",
        "**An anchor instead of K exps** (`purse.policies.exp3pp_bwk`). The rate of "
        "EXP3++.BwK falls a little in every round, which changes all weights. An "
        "anchor holds the weights of a recent rate, and what has changed since is a "
        "short series, exact to rounding; the confidence bounds are left out "
        f"while they provably cannot matter. With {USUAL} arms that is "
        f"{number(found['exp3++.bwk', USUAL])} ns.",
    ]


def where_not(cpu: dict[str, Any]) -> list[str]:
    """Return what is slow, by name."""
    worst: dict[str, dict[str, Any]] = {}
    for row in sorted(
        (row for row in cpu["rows"] if row["plain"] is not None and row["plain"] < TWICE),
        key=lambda row: row["plain"],
    ):
        worst.setdefault(row["policy"], row)
    named = (
        ", ".join(
            f"`{name}` ({number(1 / row['plain'])} times at K = {row['arms']:,})"
            for name, row in worst.items()
        )
        or "none"
    )
    few, many = sizes(cpu)[0], widest(cpu)
    slowest = at(cpu, many)[:-4:-1]
    behind = sum(row["plain"] is not None and row["plain"] < 1 for row in at(cpu, few))
    heavy = sorted(at(cpu, many), key=lambda row: -row["bytes_per_path"])[:3]
    return [
        "**Against plain C.** These take more than twice as long as plain C of their "
        f"family at some K: {named}. Where a rule does next to nothing, "
        "the game itself is what is measured: purse counts in whole units, looks for "
        "marks and stop signals, and keeps pulls and efficiencies, which "
        "the C programs do not.",
        f"**Few arms.** With {few} arms {behind} of {len(at(cpu, few))} policies are "
        "slower than plain C: little to vectorise, no tree to gain from.",
        f"**Many arms.** Most rules look at every arm in every round. With {many:,} arms "
        "the slowest are "
        + ", ".join(f"`{row['policy']}` ({number(row['nanoseconds'] / 1e3)} µs)" for row in slowest)
        + ".",
        "**The first time.** A first simulation in a fresh environment takes "
        f"{cpu['startup'][COLD]:.0f} s, nearly all of it compiling, once for each policy.",
        "**Live.** An ask and a tell take "
        f"{number(median(cpu['ask_tell_microseconds'].values()))} µs (the median policy): "
        "Python's own work, checks and "
        "exact amounts, not the policy's.",
        f"**Memory.** With {many:,} arms a path needs most for "
        + ", ".join(
            f"`{row['policy']}` ({number(row['bytes_per_path'] / 1e3)} kB)" for row in heavy
        )
        + ".",
    ]


if __name__ == "__main__":
    renew()
