"""Masks: the arms that an ask may choose, money aside, and how often asks had each.

Policies that look at the masks of earlier rounds see these counts. They are a fold of the journal:
the ask of round t counts t times, so that what came last weighs more. An ask counts with the arms
that it named and that were there, did not cool down and were not left out for their silence.
Whether their money was there does not matter. If arms are added or retired, earlier asks are
counted as if they were asked now.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from purse.campaign.ledger import cooldown
from purse.campaign.ledger.records import Head
from purse.campaign.terms.arms import Arms, MaskRows
from purse.engine.rules import least_row
from purse.engine.workspace import COUNTED_MASKS
from purse.types import Bools, Ints

SILENT = 20  # tickets after which an arm that has brought no reward yet may be left out
SILENT_SHARE = 5  # tickets, of which it gets one


def ready(head: Head, places: list[int], now: int) -> list[int]:
    """Return those of some arms that do not cool down and are not left out for their silence."""
    if head.cooling:
        places = [arm for arm in places if not cooldown.wait(head, arm, now)]
    quiet = silent(head, places)
    return [arm for arm in places if arm not in quiet] if quiet else places


def silent(head: Head, places: list[int]) -> set[int]:
    """Return the arms to be left out because they have had their share of tickets and none has
    brought a reward; none if no other arm is allowed.
    """
    counts = head.silent
    if not counts or max(counts) < SILENT:
        return set()
    threshold = max(SILENT, (head.counts.get("tickets", 0) + 1) / SILENT_SHARE)
    quiet = {arm for arm in places if counts[arm] >= threshold}
    return quiet if len(places) > len(quiet) else set()


def counted(rows: MaskRows, t: int, places: Sequence[int], n_arms: int) -> MaskRows:
    """Return the counts after round t allowed these arms, as the engine's `count_mask` has them."""
    if len(places) == n_arms:
        return rows
    bits = _as_bits(places)
    row = next((row for row, (other, _) in enumerate(rows) if other == bits), None)
    if row is None:
        row = least_row(_seen_of(rows))
    count = rows[row][1] if row < len(rows) else 0
    return [*rows[:row], [bits, count + t], *rows[row + 1 :]]


def after_change(rows: MaskRows, rounds: int, before: Arms, arms: Arms) -> MaskRows:
    """Return the counts after other arms are there: what allowed all of them goes on doing so, and
    nothing allows an arm that is gone.

    rounds   asked for so far; those without a row allowed all places
    """
    every = _as_bits(range(before.n_places))
    whole, now = int(_as_bits(before.there), 16), int(_as_bits(arms.there), 16)
    counts: dict[str, int] = {}
    unmasked = rounds * (rounds + 1) // 2 - sum(count for _, count in rows)
    for bits, count in [*rows, [every, unmasked]]:
        number = int(bits, 16)
        left = f"{now if number & whole == whole else number & now:x}"
        counts[left] = counts.get(left, 0) + count
    counts.pop(_as_bits(range(arms.n_places)), None)
    return [[bits, count] for bits, count in counts.items() if count][:COUNTED_MASKS]


def _as_bits(places: Iterable[int]) -> str:
    """Return arms as the bits of a hexadecimal number."""
    return f"{sum(1 << arm for arm in places):x}"


def _seen_of(rows: MaskRows) -> Ints:
    """(C,) Return the counts alone."""
    counts = [count for _, count in rows]
    return np.array(counts + [0] * (COUNTED_MASKS - len(counts)))


def write(rows: MaskRows, before: MaskRows, masks: Bools, counts: Ints) -> None:
    """Write counts where policies see them; what was written before is there."""
    for row, (bits, _) in enumerate(rows):
        if row >= len(before) or before[row][0] != bits:
            number = int(bits, 16)
            masks[row] = [number >> arm & 1 for arm in range(masks.shape[1])]
    counts[:] = _seen_of(rows)
