"""When an event is sent again: back-off with a ceiling, and an end. Nothing here reads a clock."""

from __future__ import annotations

from purse.campaign.webhooks.records import Lease, Settlement

FIRST_WAIT = 5_000  # ms after the first failure; twice as long after each further one
LONGEST_WAIT = 3_600_000  # ms
GIVE_UP = 3 * 86_400_000  # ms after the first attempt
SLACK = 60_000  # ms by which the clocks of two deliverers may differ


def times_ahead(now: int) -> tuple[int, int]:
    """Return the first and the last time that is still to come and may be waited for.

    What lies behind the last was written by a clock that was wrong.
    """
    return now + 1, now + LONGEST_WAIT + SLACK


def delivered(event: int, now: int) -> Settlement:
    """An event has arrived: the next may follow, by whatever clock."""
    return Settlement(event, 0, 0, now - SLACK, "", delivered=1)


def failed(lease: Lease, event: int, error: str, now: int) -> Settlement:
    """An event has not arrived: it is tried again later or, after three days, given up."""
    since = min(lease.since or now, now)  # a clock that was ahead keeps nothing for ever
    if now - since >= GIVE_UP:
        return Settlement(event, 0, 0, now - SLACK, error, failed=1, skipped=1)
    return Settlement(
        lease.cursor, lease.attempts + 1, since, now + wait(lease.attempts), error, failed=1
    )


def wait(attempts: int) -> int:
    """Return ms until the next attempt, after so many failures before this one.

    >>> [wait(attempts) // 1000 for attempts in (0, 1, 2, 9, 10, 1000)]
    [5, 10, 20, 2560, 3600, 3600]
    """
    return min(FIRST_WAIT << min(attempts, 20), LONGEST_WAIT)
