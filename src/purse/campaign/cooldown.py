"""Arms whose calls fail cool down: a circuit breaker for each arm.

A failure begins a cool-down, in which the arm is not allowed. After it one ticket of the arm at a
time is allowed, the probe: a success ends this state, and another failure begins a cool-down of
twice the length. Tickets are told apart by their numbers: one that was issued before a cool-down
began says nothing about what the arm does after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

LONGEST = 300_000  # ms; a first cool-down that is longer stays as long


class CoolDown(NamedTuple):
    """The last cool-down of one arm; times in ms."""

    arm: int
    begun: int
    length: int  # 0 after a success
    last_ticket: int  # issued when it began
    probe: int = 0  # the ticket that is the probe, while it is open; 0: there is none
    probed: int = 0  # when the probe was issued

    def wait(self, now: int) -> int:
        """For how many ms the arm is not allowed; 0 where it is.

        A clock that went back never makes a cool-down longer.
        """
        if not self.length:
            return 0
        if self.begun <= now < self.begun + self.length:
            return self.begun + self.length - now
        longest = max(self.length, LONGEST)  # for which a silent probe keeps others away
        if self.probe and self.probed <= now < self.probed + longest:
            return min(self.length, self.probed + longest - now)
        return 0


CoolDowns = dict[int, CoolDown]  # by arm


def read(rows: Iterable[Sequence[int]]) -> CoolDowns:
    """Cool-downs as a campaign's record has them."""
    return {row[0]: CoolDown(*row) for row in rows}


def write(cooling: CoolDowns) -> list[list[int]]:
    """Cool-downs for a campaign's record."""
    return [list(cooling[arm]) for arm in sorted(cooling)]


def issued(cooling: CoolDowns, arms: Iterable[int], ticket: int, now: int) -> None:
    """A ticket is issued: it is the probe of an arm that has not recovered."""
    for arm in arms:
        if arm in cooling and cooling[arm].length:
            cooling[arm] = cooling[arm]._replace(probe=ticket, probed=now)


def ended(cooling: CoolDowns, arms: Iterable[int], ticket: int) -> None:
    """A ticket is voided or expires: where it was a probe, the next may follow."""
    for arm in arms:
        if arm in cooling and cooling[arm].probe == ticket:
            cooling[arm] = cooling[arm]._replace(probe=0, probed=0)


def succeeded(cooling: CoolDowns, arms: Iterable[int], ticket: int) -> None:
    """A call worked: where it was asked for after the cool-down began, the arm has recovered."""
    for arm in arms:
        if arm in cooling and ticket > cooling[arm].last_ticket:
            cooling[arm] = cooling[arm]._replace(length=0, probe=0, probed=0)


def failed(
    cooling: CoolDowns,
    arms: Iterable[int],
    ticket: int,
    now: int,
    last_ticket: int,
    first: int,
) -> None:
    """A call failed: a cool-down begins, unless it was asked for before the last one began."""
    for arm in arms:
        before = cooling.get(arm)
        if before is None or ticket > before.last_ticket:
            length = first if before is None else max(first, min(2 * before.length, LONGEST))
            cooling[arm] = CoolDown(arm, now, length, last_ticket)
