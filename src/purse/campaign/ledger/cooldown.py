"""Arms whose calls fail cool down: a circuit breaker for each arm.

A failure begins a cool-down, in which the arm is not allowed. After it one ticket of the arm at a
time is allowed, the probe: a success ends this state, and another failure begins a cool-down of
twice the length. A ticket that was issued before a cool-down began says nothing about what the arm
does after it.
"""

from typing import NamedTuple

from purse.campaign.ledger.records import Head

_LONGEST = 300_000  # ms, unless the first one is longer


class CoolDown(NamedTuple):
    """The last cool-down of one arm; times in ms."""

    arm: int
    begun: int
    length: int  # 0 after a success
    last_ticket: int  # issued when it began
    probe: int = 0  # the ticket that is the probe, while it is open; 0: no ticket
    probed: int = 0  # when the probe was issued

    def wait(self, now: int) -> int:
        """Return for how many ms the arm is not allowed.

        A clock that went back never makes a cool-down longer. A probe without a report keeps
        others away for at most the longest cool-down.
        """
        if self.length and self.begun <= now < self.begun + self.length:
            return self.begun + self.length - now
        given_up = self.probed + max(self.length, _LONGEST)
        if self.length and self.probe and self.probed <= now < given_up:
            return min(self.length, given_up - now)
        return 0


def _find(head: Head, arm: int) -> CoolDown | None:
    """Return the cool-down of an arm."""
    return next((CoolDown(*row) for row in head.cooling if row[0] == arm), None)


def wait(head: Head, arm: int, now: int) -> int:
    """Return for how many ms an arm is not allowed."""
    cool = _find(head, arm)
    return 0 if cool is None else cool.wait(now)


def _put(head: Head, new: CoolDown) -> None:
    """Record a cool-down."""
    head.cooling = sorted([*(row for row in head.cooling if row[0] != new.arm), list(new)])


def issued(head: Head, arm: int, ticket: int, now: int) -> None:
    """Take in a new ticket: it is the probe of an arm that has not recovered."""
    if (cool := _find(head, arm)) and cool.length:
        _put(head, cool._replace(probe=ticket, probed=now))


def ended(head: Head, arm: int, ticket: int) -> None:
    """Take in a ticket that is voided or expires: if it was a probe, the next may follow."""
    if (cool := _find(head, arm)) and cool.probe == ticket:
        _put(head, cool._replace(probe=0, probed=0))


def succeeded(head: Head, arm: int, ticket: int) -> None:
    """End the cool-down of an arm with a call that worked and was asked for after it began."""
    if (cool := _find(head, arm)) and ticket > cool.last_ticket:
        _put(head, cool._replace(length=0, probe=0, probed=0))


def failed(head: Head, arm: int, ticket: int, now: int, first: int, rest: int) -> None:
    """Begin a cool-down after a failed call, unless that was asked for before the last began.

    first   ms of the first of several cool-downs
    rest    ms that it lasts at least, in the place of twice as long as before; 0: none are known
    """
    before = _find(head, arm)
    if before is None or ticket > before.last_ticket:
        again = 0 if before is None or rest else min(2 * before.length, _LONGEST)
        _put(head, CoolDown(arm, now, max(first, rest, again), head.counts["tickets"]))
